"""`/api/recall`: find memories, best first."""

from typing import Annotated

from fastapi import APIRouter, Query

from keeproom.api.asked import Opened
from keeproom.api.errors import documented
from keeproom.api.schemas import Answer, Day, Memory, memory_fields
from keeproom.vault import recall
from keeproom.vault.model import MemoryType, Preset
from keeproom.vault.recall import RecallMode
from keeproom.vault.text import cleaned_tags

router = APIRouter(prefix="/api/recall", tags=["recall"])


class Signals(Answer):
    """What a score was made of; null where a signal did not apply."""

    similarity: float | None
    keyword: float
    late: float | None
    date: float | None


class Hit(Memory):
    """One memory with its score. `may_conflict_with`: active memories it may contradict."""

    score: float
    may_conflict_with: list[str]
    signals: Signals | None


class Recalled(Answer):
    """`mode` says whether meaning was searched too; `reason` why there is nothing. `stand_in`: the
    search service did not answer, and the vault's own copy of the index did."""

    data: list[Hit]
    mode: RecallMode
    reason: str | None
    stand_in: bool


@router.get("", responses=documented(503))
def recall_memories(
    vault: Opened,
    q: Annotated[str, Query(description="Any text, in any language.")],
    limit: Annotated[
        int | None, Query(ge=1, le=recall.MOST_HITS, description="As set, 8 at first.")
    ] = None,
    types: Annotated[
        list[MemoryType] | None, Query(max_length=8, description="Any of them; repeat it.")
    ] = None,
    tags: Annotated[
        list[str] | None, Query(max_length=8, description="All of them; repeat it.")
    ] = None,
    since: Annotated[Day | None, Query(description="True since this day or later.")] = None,
    until: Annotated[Day | None, Query(description="True since this day or earlier.")] = None,
    include_history: Annotated[  # noqa: FBT002  a query parameter
        bool, Query(description="Also what was superseded or rejected.")
    ] = False,
    preset: Annotated[Preset | None, Query(description="Another formula than the one set.")] = None,
    explain: Annotated[  # noqa: FBT002  a query parameter
        bool, Query(description="With each hit's signals.")
    ] = True,
) -> Recalled:
    """Find memories, best first. What any client has changed before is already right."""
    told = recall.recall(
        vault,
        recall.Query(
            text=q,
            limit=limit,
            types=frozenset(types) if types else None,
            tags=frozenset(cleaned_tags(tags or ())),
            since=since,
            until=until,
            include_history=include_history,
            preset=preset,
        ),
    )
    return Recalled(
        data=[_shown(hit, explain=explain) for hit in told.hits],
        mode=told.mode,
        reason=told.reason or None,
        stand_in=told.stand_in,
    )


def _shown(hit: recall.Hit, *, explain: bool) -> Hit:
    signals = hit.signals
    return Hit.model_validate(
        {
            **memory_fields(hit.memory),
            "score": round(hit.score, 4),
            "may_conflict_with": list(hit.may_conflict_with),
            "signals": Signals(
                similarity=_rounded(signals.similarity),
                keyword=round(signals.keyword, 4),
                late=_rounded(signals.late),
                date=_rounded(signals.date),
            )
            if explain
            else None,
        }
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
