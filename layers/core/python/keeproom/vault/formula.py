"""How a memory's score is made, and where the constants come from.

score = 0.45 similarity + 0.12 keyword + 1.00 late interaction + 0.20 date, over the sum of the
weights that apply to the query. Chosen on LoCoMo (categories 1-4, R@10 .724 on dialogue and .676
on facts, against .650 and .648 for 0.70 similarity + 0.30 keyword) as a compromise with questions
in five other languages; see docs/evals.md.
"""

from dataclasses import dataclass

from keeproom.vault.ports import Bm25


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What a score was made of; each 0 to 1, save a similarity below its floor. None: did not
    apply."""

    similarity: float | None
    keyword: float
    late: float | None
    date: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A memory is found by its meaning at `floor` of similarity, in plain cosine where
    `calibrated` is False."""

    similarity: float
    keyword: float
    late: float
    date: float
    depth: int
    floor: float
    bm25: Bm25
    calibrated: bool = True


DEFAULT = Formula(
    similarity=0.45, keyword=0.12, late=1.00, date=0.20, depth=100, floor=0.20,
    bm25=Bm25(k1=0.8, b=0.2),
)  # fmt: skip
WITHOUT_TOKENS = Formula(
    similarity=0.70, keyword=0.30, late=0.0, date=0.15, depth=100, floor=0.20,
    bm25=Bm25(k1=0.8, b=0.2),
)  # fmt: skip
CLASSIC = Formula(
    similarity=0.75, keyword=0.25, late=0.0, date=0.0, depth=20, floor=0.60,
    bm25=Bm25(k1=1.2, b=0.75), calibrated=False,
)  # fmt: skip


def is_found(signals: Signals, formula: Formula) -> bool:
    """By its meaning or by its words."""
    near = signals.similarity is not None and signals.similarity >= formula.floor
    return near or signals.keyword > 0


def whole(formula: Formula, *, embedded: bool, dated: bool) -> float:
    """The sum of the weights that apply to a query with an embedding, with a date in it."""
    by_meaning = formula.similarity + formula.late if embedded else 0.0
    return formula.keyword + by_meaning + (formula.date if dated else 0.0)


def weighted(signals: Signals, formula: Formula) -> float:
    """Their weighted sum, still to be divided by `whole`."""
    return (
        formula.keyword * signals.keyword
        + formula.similarity * (signals.similarity or 0.0)
        + formula.late * (signals.late or 0.0)
        + formula.date * (signals.date or 0.0)
    )
