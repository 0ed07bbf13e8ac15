"""Measuring a model's profile from labelled pairs of texts."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import batched, combinations

from keeproom.vault.model import Profile
from keeproom.vault.scoring import Scorer
from keeproom.vault.similarity import Kinship, calibrated, kinship, mu_between
from keeproom.vault.words import script_of

_PAIRS_OF_SUBJECTS = 20_000  # of more, as many are drawn; always the same ones
_FEWEST_PAIRS_OF_SUBJECTS = 100
_PROVISIONAL_TEXTS = 48
_SEPARATED = 0.95
_FEWEST_A_SIDE = 3
_CROSS_LANGUAGE = "x-"
_BATCH = 1_000


class Label(StrEnum):
    """What `b` is to `a`."""

    SAME = "same"
    UPDATE = "update"
    SUPERSET = "superset"  # all of a, and more
    RELATED = "related"
    UNRELATED = "unrelated"


_ALIKE = frozenset({Label.SAME, Label.UPDATE})
_UNLIKE = frozenset({Label.RELATED, Label.UNRELATED})
_NEVER_SKIPPED = frozenset({Label.UPDATE, Label.SUPERSET})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """`lang`: ISO 639 code, or `x-en-de` for a pair across two languages."""

    a: str
    b: str
    label: Label
    lang: str


def calibrate(
    model: str,
    dims: int,
    *,
    pairs: Sequence[LabelledPair],
    vectors: Mapping[str, bytes],
    queries: Mapping[str, bytes],
    scorer: Scorer,
    at: datetime | None = None,
) -> Profile:
    """Measure mu, for memories and for queries, and which script groups the model covers: those
    where it puts rewordings and updates above what is merely related (AUC >= 0.95) and no update
    or superset would be skipped. `vectors`: the float32 row of every text in `pairs` as a memory,
    `queries`: as a query. Raises `KeyError` when one is missing, `ValueError` when the pairs
    speak of one subject only."""
    every_script = frozenset(_script(pair) for pair in pairs)
    trial = Profile(
        model=model,
        dims=dims,
        mu=background(pairs, vectors, scorer=scorer),
        covers=every_script,
        calibrated=True,
        measured_at=at,
    )
    areas = separation(pairs, vectors, scorer=scorer)
    separated = frozenset(script for script, area in areas.items() if area >= _SEPARATED)
    losing = _scripts_losing_something(pairs, vectors, scorer=scorer, profile=trial)
    return Profile(
        model=model,
        dims=dims,
        mu=trial.mu,
        query_mu=background(pairs, vectors, asked=queries, scorer=scorer)[""],
        covers=separated - losing,
        calibrated=True,
        measured_at=at,
    )


def provisional(
    model: str,
    dims: int,
    *,
    pairs: Sequence[LabelledPair],
    vectors: Mapping[str, bytes],
    queries: Mapping[str, bytes],
    scorer: Scorer,
) -> Profile:
    """A first guess of mu from `provisional_texts(pairs)`, whose rows `vectors` and `queries`
    hold. Covers nothing."""
    few = frozenset(provisional_texts(pairs))
    among = [pair for pair in pairs if pair.a in few and pair.b in few]
    return Profile(
        model=model,
        dims=dims,
        mu=background(among, vectors, scorer=scorer),
        query_mu=background(among, vectors, asked=queries, scorer=scorer)[""],
    )


def texts(pairs: Iterable[LabelledPair]) -> tuple[str, ...]:
    """Every text once, in order."""
    return tuple(dict.fromkeys(text for pair in pairs for text in (pair.a, pair.b)))


def provisional_texts(pairs: Sequence[LabelledPair]) -> tuple[str, ...]:
    """As few as are embedded within a second; they give mu to about 0.015."""
    return texts(pairs)[:_PROVISIONAL_TEXTS]


def background(
    pairs: Sequence[LabelledPair],
    vectors: Mapping[str, bytes],
    *,
    scorer: Scorer,
    asked: Mapping[str, bytes] | None = None,
) -> dict[str, float]:
    """mu by script group and, under `""`, over all: the mean cosine of texts on different
    subjects, one of them embedded as a query when there are rows in `asked`. Script groups with
    too few texts are left out."""
    left = vectors if asked is None else asked
    strangers = _strangers(pairs)
    if not strangers:
        raise ValueError("the pairs must speak of more than one subject")
    mu = {"": _mean_cosine(strangers, left, vectors, scorer=scorer)}
    script = {text: script_of(text) for text in texts(pairs)}
    for group in sorted(set(script.values())):
        inside = [(a, b) for a, b in strangers if script[a] == group == script[b]]
        if len(inside) >= _FEWEST_PAIRS_OF_SUBJECTS:
            mu[group] = _mean_cosine(inside, left, vectors, scorer=scorer)
    return mu


def separation(
    pairs: Sequence[LabelledPair], vectors: Mapping[str, bytes], *, scorer: Scorer
) -> dict[str, float]:
    """By script group: how often a rewording or update is nearer than a related or unrelated
    pair (area under the ROC curve). Groups with fewer than three of either are left out."""
    alike, unlike = (
        _cosines_by_script([pair for pair in pairs if pair.label in labels], vectors, scorer=scorer)
        for labels in (_ALIKE, _UNLIKE)
    )
    return {
        script: _area(alike[script], unlike[script])
        for script in alike.keys() & unlike.keys()
        if min(len(alike[script]), len(unlike[script])) >= _FEWEST_A_SIDE
    }


def _strangers(pairs: Sequence[LabelledPair]) -> list[tuple[str, str]]:
    """All pairs of texts on different subjects. Texts of a pair have one subject, unless it is
    labelled unrelated, and so have texts that a chain of such pairs joins."""
    subject: dict[str, str] = {text: text for text in texts(pairs)}

    def root(text: str) -> str:
        while subject[text] != text:
            text = subject[text]
        return text

    for pair in pairs:
        if pair.label is not Label.UNRELATED:
            subject[root(pair.a)] = root(pair.b)
    return [(a, b) for a, b in combinations(subject, 2) if root(a) != root(b)]


def _mean_cosine(
    pairs: Sequence[tuple[str, str]],
    left: Mapping[str, bytes],
    right: Mapping[str, bytes],
    *,
    scorer: Scorer,
) -> float:
    if len(pairs) > _PAIRS_OF_SUBJECTS:
        pairs = random.Random(0).sample(pairs, _PAIRS_OF_SUBJECTS)
    total = 0.0
    for some in batched(pairs, _BATCH):
        rows = [left[a] for a, _ in some], [right[b] for _, b in some]
        total += sum(scorer.mean_cosine(*rows))
    return total / len(pairs)


def _cosines_by_script(
    pairs: Sequence[LabelledPair], vectors: Mapping[str, bytes], *, scorer: Scorer
) -> dict[str, list[float]]:
    within = [pair for pair in pairs if not pair.lang.startswith(_CROSS_LANGUAGE)]
    by_script: dict[str, list[float]] = {}
    for pair, cosine in zip(within, _cosines(within, vectors, scorer=scorer), strict=True):
        by_script.setdefault(_script(pair), []).append(cosine)
    return by_script


def _cosines(
    pairs: Sequence[LabelledPair], vectors: Mapping[str, bytes], *, scorer: Scorer
) -> Sequence[float]:
    left, right = [vectors[pair.a] for pair in pairs], [vectors[pair.b] for pair in pairs]
    return scorer.mean_cosine(left, right)


def _script(pair: LabelledPair) -> str:
    """Of both texts together: one of them may be little more than a name in Latin letters."""
    return script_of(f"{pair.a} {pair.b}")


def _area(above: Sequence[float], below: Sequence[float]) -> float:
    won = sum((high > low) + (high == low) / 2 for high in above for low in below)
    return won / (len(above) * len(below))


def _scripts_losing_something(
    pairs: Sequence[LabelledPair],
    vectors: Mapping[str, bytes],
    *,
    scorer: Scorer,
    profile: Profile,
) -> frozenset[str]:
    risky = [pair for pair in pairs if pair.label in _NEVER_SKIPPED]
    losing: set[str] = set()
    for pair, cosine in zip(risky, _cosines(risky, vectors, scorer=scorer), strict=True):
        mu = mu_between(profile, script_of(pair.a), script_of(pair.b))
        similarity = calibrated(cosine, mu)
        found = kinship(pair.a, pair.b, similarity=similarity, whole=True, profile=profile)
        if found is Kinship.NEAR_DUPLICATE:
            losing.add(_script(pair))
    return frozenset(losing)
