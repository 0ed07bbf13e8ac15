"""How good a ranking is."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

DEEPEST = 50  # ranks looked at: a first find below counts as none
CUTS = (5, 10, 20)


@dataclass(frozen=True, slots=True)
class Ranked:
    """What one question got. `category`: the kind of question, under which it is counted apart.
    `recall`: by cut, the share of the evidence among the first so many. `first`: the reciprocal
    rank of the first hit that covers any of it, 0 when there is none."""

    category: str
    recall: Mapping[int, float]
    first: float


def ranked(
    covers: Sequence[Collection[str]], evidence: Collection[str], *, category: str = ""
) -> Ranked:
    """Judge one ranking. `covers`: for each hit, best first, what it is evidence for."""
    wanted, got = frozenset(evidence), set[str]()
    recall: dict[int, float] = dict.fromkeys(CUTS, 0.0)
    first = 0.0
    for rank, hit in enumerate(covers[:DEEPEST], start=1):
        found = wanted & frozenset(hit)
        if found and not first:
            first = 1 / rank
        got |= found
        for cut in CUTS:
            if rank <= cut:
                recall[cut] = len(got) / len(wanted)
    return Ranked(category=category, recall=recall, first=first)


def recall_at(cut: int, questions: Iterable[Ranked]) -> float:
    return fmean(question.recall[cut] for question in questions)


def mean_reciprocal_rank(questions: Iterable[Ranked]) -> float:
    return fmean(question.first for question in questions)


def reciprocal_rank(ids: Sequence[str], relevant: Collection[str]) -> float:
    """Of the first relevant id; 0 when there is none."""
    return next((1 / rank for rank, one in enumerate(ids, start=1) if one in relevant), 0.0)
