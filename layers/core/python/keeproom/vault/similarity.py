"""How alike two memories are, in a unit that means the same under every embedding model."""

from enum import StrEnum
from typing import Final

from keeproom.vault.guard import adds_something, differs
from keeproom.vault.model import Profile
from keeproom.vault.words import script_of


class Lines:
    """Calibrated similarities at which something happens, the same for each of thirteen models
    measured. Among the most alike facts of long conversations one in six of those skipped was
    wrong with `NEAR_DUPLICATE` at 0.88, one in sixteen at 0.90."""

    FLOOR: Final = 0.20  # below, a memory is no semantic hit
    CONFLICT: Final = 0.57
    SIMILAR: Final = 0.65
    NEAR_DUPLICATE: Final = 0.90


class Kinship(StrEnum):
    NEAR_DUPLICATE = "near_duplicate"
    CONFLICT = "conflict"
    SIMILAR = "similar"
    UNRELATED = "unrelated"


# Texts are embedded as passages, also when they are compared. Measured by `keeproom calibrate`.
BUNDLED = Profile(
    model="multilingual-e5-small-q4/1",
    dims=384,
    mu={"": 0.7835, "latin": 0.7897, "cyrillic": 0.8207, "han": 0.8717, "kana": 0.8465},
    query_mu=0.7644,
    covers=frozenset({"latin", "cyrillic", "han", "kana"}),
    calibrated=True,
)


def calibrated(cosine: float, mu: float) -> float:
    """0 for texts that have nothing to do with each other, 1 for equal ones. `mu`: the mean
    cosine of unrelated texts, below 1."""
    return (cosine - mu) / (1 - mu)


def mu_between(profile: Profile, left_script: str, right_script: str) -> float:
    """Of two memories. Texts of one script are nearer to each other than to those of another.
    Raises `KeyError` when nothing at all was measured."""
    if left_script == right_script and left_script in profile.mu:
        return profile.mu[left_script]
    return profile.mu[""]


def mu_for_queries(profile: Profile) -> float:
    """Of a query and a memory. Raises `KeyError` when nothing at all was measured."""
    return profile.mu[""] if profile.query_mu is None else profile.query_mu


def kinship(old: str, new: str, *, similarity: float, whole: bool, profile: Profile) -> Kinship:
    """What a new text is to one that is known. `similarity` is calibrated. `whole`: the model has
    read both to their end. Nothing is a near-duplicate unless the profile is calibrated and
    covers the script both are written in: what is skipped is lost, what is linked is not."""
    if similarity < Lines.CONFLICT:
        return Kinship.UNRELATED
    if differs(old, new):
        return Kinship.CONFLICT
    if similarity < Lines.SIMILAR:
        return Kinship.UNRELATED
    near = similarity >= Lines.NEAR_DUPLICATE and whole and _covered(old, new, profile)
    return Kinship.NEAR_DUPLICATE if near and not adds_something(old, new) else Kinship.SIMILAR


def _covered(old: str, new: str, profile: Profile) -> bool:
    script = script_of(old)
    return profile.calibrated and script == script_of(new) and script in profile.covers
