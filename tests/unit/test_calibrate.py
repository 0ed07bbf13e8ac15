from array import array
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import cos, sin, sumprod

import pytest

from keeproom.engines.pairs import labelled_pairs, read_pairs, superset_pairs
from keeproom.vault.calibrate import (
    Label,
    LabelledPair,
    background,
    calibrate,
    provisional,
    provisional_texts,
    separation,
    texts,
)
from keeproom.vault.model import Embedding


class PlainScorer:
    def cosines(self, vector: bytes, embeddings: Sequence[Embedding]) -> Sequence[float]:
        return self.mean_cosine([vector] * len(embeddings), [each.vectors for each in embeddings])

    def late_interaction(
        self, tokens: bytes, weights: Sequence[float], embeddings: Sequence[Embedding]
    ) -> Sequence[float]:
        return [0.0] * len(embeddings)

    def mean_cosine(self, left: Sequence[bytes], right: Sequence[bytes]) -> Sequence[float]:
        return [
            sumprod(array("f", one), array("f", other))
            for one, other in zip(left, right, strict=True)
        ]


SCORER = PlainScorer()
SUBJECTS = ("tyre", "kettle", "ladder", "piano", "rabbit", "violin", "anchor", "basket", "candle")
SUBJECTS_IN_RUSSIAN = ("шина", "чайник", "лестница", "рояль", "кролик", "скрипка", "якорь", "свеча")


def row(angle: float) -> bytes:
    """A unit vector in the plane, its angle to the x axis in radians."""
    return array("f", (cos(angle), sin(angle))).tobytes()


def pair(a: str, b: str, label: Label, lang: str = "en") -> LabelledPair:
    return LabelledPair(a=a, b=b, label=label, lang=lang)


FILLERS = {"en": "aaa bbb ccc ddd", "ru": "ааа ббб ввв ггг", "zh": "甲 乙 丙 丁"}


def world(subjects: Sequence[str], lang: str) -> tuple[LabelledPair, ...]:
    """Of each subject a rewording and something related."""
    one, two, three, four = FILLERS[lang].split()
    return tuple(
        made
        for subject in subjects
        for made in (
            pair(f"{subject} {one} {two}", f"{two} {one} {subject}", Label.SAME, lang),
            pair(f"{subject} {one} {two}", f"{subject} {three} {four}", Label.RELATED, lang),
        )
    )


def laid_out(pairs: Sequence[LabelledPair], *, near: float, far: float) -> dict[str, bytes]:
    """Subjects about 0.5 apart, rewordings `near` radians away from the text, related `far`."""
    vectors: dict[str, bytes] = {}
    for each in pairs:
        angle = (sum(map(ord, each.a.split()[0])) % 7) * 0.5
        vectors[each.a] = row(angle)
        vectors[each.b] = row(angle + (near if each.label is Label.SAME else far))
    return vectors


def test_mu_is_the_mean_cosine_of_texts_on_different_subjects() -> None:
    pairs = [
        pair("first", "first again", Label.SAME),
        pair("second", "second again", Label.UPDATE),
        pair("first", "second", Label.UNRELATED),
    ]
    vectors = {
        "first": row(0.0),
        "first again": row(0.1),
        "second": row(1.0),
        "second again": row(1.2),
    }
    expected = (cos(1.0) + cos(1.2) + cos(0.9) + cos(1.1)) / 4
    assert background(pairs, vectors, scorer=SCORER) == {"": pytest.approx(expected)}


def test_texts_joined_by_a_chain_of_pairs_are_one_subject() -> None:
    pairs = [
        pair("kettle", "kettle again", Label.SAME),
        pair("kettle", "kettle gone", Label.UPDATE),
        pair("piano", "piano again", Label.SAME),
    ]
    at = {"kettle": 0.0, "kettle again": 0.0, "kettle gone": 0.0, "piano": 1.0, "piano again": 1.0}
    vectors = {text: row(angle) for text, angle in at.items()}
    assert background(pairs, vectors, scorer=SCORER)[""] == pytest.approx(cos(1.0))


def test_pairs_on_one_subject_only_cannot_calibrate() -> None:
    pairs = [pair("kettle", "kettle again", Label.SAME)]
    with pytest.raises(ValueError, match="subject"):
        background(pairs, {"kettle": row(0), "kettle again": row(0)}, scorer=SCORER)


def test_each_script_group_has_its_own_mu_when_it_has_texts_enough() -> None:
    pairs = (*world(SUBJECTS, "en"), *world(SUBJECTS_IN_RUSSIAN, "ru"), *world(["轮胎"], "zh"))
    vectors = laid_out(pairs, near=0.0, far=0.4)
    measured = background(pairs, vectors, scorer=SCORER)
    assert measured.keys() == {"", "latin", "cyrillic"}
    assert measured["latin"] != measured["cyrillic"]


def test_calibrating_twice_gives_the_same_profile() -> None:
    pairs = labelled_pairs()
    vectors = {text: row(len(text) / 40) for text in texts(pairs)}
    first, second = (
        calibrate("m", 2, pairs=pairs, vectors=vectors, queries=vectors, scorer=SCORER) for _ in range(2)
    )
    assert first == second


def test_a_model_that_separates_a_script_covers_it() -> None:
    pairs = world(SUBJECTS, "en")
    at = datetime(2030, 1, 2, tzinfo=UTC)
    vectors = laid_out(pairs, near=0.1, far=0.4)
    profile = calibrate("m", 2, pairs=pairs, vectors=vectors, queries=vectors, scorer=SCORER, at=at)
    assert (profile.model, profile.dims, profile.calibrated) == ("m", 2, True)
    assert profile.covers == {"latin"}
    assert profile.measured_at == at


def test_a_script_whose_related_texts_are_as_near_as_rewordings_is_not_covered() -> None:
    english, russian = world(SUBJECTS, "en"), world(SUBJECTS_IN_RUSSIAN, "ru")
    vectors = laid_out(english, near=0.1, far=0.4) | laid_out(russian, near=0.4, far=0.1)
    pairs = (*english, *russian)
    areas = separation(pairs, vectors, scorer=SCORER)
    assert areas == {"latin": 1.0, "cyrillic": 0.0}
    profile = calibrate("m", 2, pairs=pairs, vectors=vectors, queries=vectors, scorer=SCORER)
    assert profile.covers == {"latin"}


def test_a_script_in_which_an_update_would_be_skipped_is_not_covered() -> None:
    lost = pair("anchor aaa bbb", "aaa anchor bbb", Label.UPDATE)
    pairs = (*world(SUBJECTS, "en"), lost)
    vectors = laid_out(world(SUBJECTS, "en"), near=0.01, far=0.4)
    vectors[lost.b] = vectors[lost.a]
    assert separation(pairs, vectors, scorer=SCORER) == {"latin": 1.0}
    assert not calibrate("m", 2, pairs=pairs, vectors=vectors, queries=vectors, scorer=SCORER).covers


def test_too_few_pairs_of_a_script_say_nothing_about_it() -> None:
    pairs = world(SUBJECTS[:2], "en")
    vectors: Mapping[str, bytes] = laid_out(pairs, near=0.1, far=0.4)
    assert separation(pairs, vectors, scorer=SCORER) == {}


def test_pairs_across_two_languages_do_not_count_for_a_script() -> None:
    english = world(SUBJECTS, "en")
    across = pair("tyre aaa bbb", "Reifen", Label.SAME, "x-en-de")
    vectors = laid_out(english, near=0.1, far=0.4) | {"Reifen": row(3.0)}
    assert separation((*english, across), vectors, scorer=SCORER) == {"latin": 1.0}


def test_a_provisional_profile_needs_few_texts_and_covers_nothing() -> None:
    few = provisional_texts(labelled_pairs())
    assert len(few) == 48
    vectors = {text: row(len(text) / 40) for text in few}
    profile = provisional("m", 2, pairs=labelled_pairs(), vectors=vectors, queries=vectors, scorer=SCORER)
    assert not profile.calibrated
    assert not profile.covers
    assert 0 < profile.mu[""] < 1


def test_the_shipped_pairs_cover_six_languages() -> None:
    languages = {"en", "de", "es", "zh", "ja", "ru"}
    assert {each.lang for each in superset_pairs()} == languages
    assert {each.lang for each in labelled_pairs() if each.lang[:2] != "x-"} == languages


def test_a_pair_with_an_unknown_label_is_refused() -> None:
    with pytest.raises(ValueError, match="alike"):
        read_pairs(['{"a": "x", "b": "y", "label": "alike", "lang": "en"}'])
