from dataclasses import replace

import pytest

from keeproom.vault.model import Profile
from keeproom.vault.similarity import BUNDLED, Kinship, Lines, calibrated, kinship, mu_between

OLD = "The spare tyre is in the garage."
REWORDED = "In the garage is the spare tyre."
UPDATED = "The spare tyre is in the attic."
EXTENDED = "The spare tyre is in the garage, behind the skis."


def found(
    new: str, similarity: float, *, whole: bool = True, profile: Profile = BUNDLED
) -> Kinship:
    return kinship(OLD, new, similarity=similarity, whole=whole, profile=profile)


def test_unrelated_texts_have_similarity_zero_and_equal_ones_one_under_every_model() -> None:
    for mu in (0.03, 0.43, 0.79):
        assert calibrated(mu, mu) == 0
        assert calibrated(1.0, mu) == 1
    assert calibrated(0.5, 0.75) == pytest.approx(-1)


def test_mu_is_that_of_the_script_both_texts_share() -> None:
    profile = Profile(model="m", dims=2, mu={"": 0.3, "han": 0.6})
    assert mu_between(profile, "han", "han") == 0.6
    assert mu_between(profile, "han", "latin") == 0.3
    assert mu_between(profile, "latin", "latin") == 0.3


def test_a_very_similar_rewording_is_a_near_duplicate() -> None:
    assert found(REWORDED, Lines.NEAR_DUPLICATE) is Kinship.NEAR_DUPLICATE


def test_a_less_similar_rewording_is_only_linked() -> None:
    assert found(REWORDED, 0.89) is Kinship.SIMILAR
    assert found(REWORDED, Lines.SIMILAR) is Kinship.SIMILAR


def test_a_difference_is_a_conflict_however_similar_the_texts() -> None:
    assert found(UPDATED, 0.99) is Kinship.CONFLICT
    assert found(UPDATED, Lines.CONFLICT) is Kinship.CONFLICT


def test_between_conflict_and_similar_only_a_difference_links() -> None:
    assert found(UPDATED, 0.60) is Kinship.CONFLICT
    assert found(REWORDED, 0.60) is Kinship.UNRELATED


def test_below_the_conflict_line_a_difference_is_no_conflict() -> None:
    assert found(UPDATED, 0.56) is Kinship.UNRELATED


def test_a_text_that_says_more_is_never_a_near_duplicate() -> None:
    assert found(EXTENDED, 0.99) is Kinship.SIMILAR


def test_a_text_the_model_has_not_read_to_its_end_is_never_a_near_duplicate() -> None:
    assert found(REWORDED, 0.99, whole=False) is Kinship.SIMILAR


def test_an_uncalibrated_profile_never_gives_a_near_duplicate() -> None:
    profile = replace(BUNDLED, calibrated=False)
    assert found(REWORDED, 0.99, profile=profile) is Kinship.SIMILAR


def test_a_script_the_model_does_not_cover_has_no_near_duplicates() -> None:
    profile = replace(BUNDLED, covers=BUNDLED.covers - {"latin"})
    assert found(REWORDED, 0.99, profile=profile) is Kinship.SIMILAR


def test_texts_in_two_scripts_are_never_near_duplicates() -> None:
    found_across = kinship(
        "アレルギーがある。", "Аллергия.", similarity=0.95, whole=True, profile=BUNDLED
    )
    assert found_across is not Kinship.NEAR_DUPLICATE


def test_the_bundled_profile_has_a_mu_for_every_script_it_covers() -> None:
    assert BUNDLED.calibrated
    assert BUNDLED.covers <= BUNDLED.mu.keys()
    assert all(0 < mu < 1 for mu in BUNDLED.mu.values())
