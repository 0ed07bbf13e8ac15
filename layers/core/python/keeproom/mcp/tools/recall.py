"""`recall`: find memories, best first, within a budget of tokens."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from keeproom.mcp.answers import NOTICE, READ_WHOLE, Answer, Record, read_whole, sentences
from keeproom.mcp.asked import Asked, Day, Tags, Text, Types
from keeproom.mcp.calls import Call
from keeproom.mcp.tokens import tokens
from keeproom.mcp.tool import Tool
from keeproom.oauth.model import Permission
from keeproom.vault import recall
from keeproom.vault.recall import RecallMode
from keeproom.vault.text import cleaned_tags

BUDGET = 2_000
LEAST, MOST = 300, 50_000
SHARE = 4  # a memory longer than this part of the budget is shown whole only if all else fits too


class Query(Asked):
    query: Annotated[Text, Field(description="What you want to know, in any language.")]
    limit: Annotated[int | None, Field(ge=1, le=recall.MOST_HITS, description="8 if absent.")] = (
        None
    )
    types: Types | None = None
    tags: Tags | None = None
    since: Annotated[Day, Field(description="True since this day or later: YYYY-MM-DD.")] = None
    until: Annotated[Day, Field(description="True since this day or earlier.")] = None
    include_history: Annotated[
        bool | None, Field(description="Also what was superseded or rejected.")
    ] = None
    max_tokens: Annotated[
        int | None, Field(ge=LEAST, le=MOST, description="Size of the answer, 2000 if absent.")
    ] = None
    explain: Annotated[bool | None, Field(description="With what each score is made of.")] = None


class Signals(Answer):
    """What a score was made of."""

    similarity: float | None = None
    keyword: float | None = None
    late: float | None = None
    date: float | None = None


class Hit(Record):
    """`may_conflict_with`: active memories it may contradict."""

    score: float
    may_conflict_with: list[str] | None = None
    signals: Signals | None = None


class Recalled(Answer):
    """`cut`: how many of the hits did not fit into the budget. `stand_in`: the search service did
    not answer, and the vault's own copy of the index did."""

    notice: str = NOTICE
    mode: RecallMode
    stand_in: bool | None = None
    hits: list[Hit]
    cut: int
    reason: str | None = None
    next: str | None = None


def _run(call: Call, asked: Query) -> Recalled:
    told = recall.recall(
        call.vault,
        recall.Query(
            text=asked.query,
            limit=asked.limit,
            types=frozenset(asked.types) if asked.types else None,
            tags=frozenset(cleaned_tags(asked.tags or ())),
            since=asked.since,
            until=asked.until,
            include_history=bool(asked.include_history),
        ),
    )
    hits = [_hit(one, explain=bool(asked.explain)) for one in told.hits]
    budget = asked.max_tokens or BUDGET
    shown = fitting(hits, budget=budget - _frame(told), query=asked.query)
    cut = len(hits) - len(shown)
    return Recalled(
        mode=told.mode,
        stand_in=told.stand_in or None,
        hits=shown,
        cut=cut,
        reason=told.reason or None,
        next=sentences(read_whole(shown), _more(cut) if cut else ""),
    )


def _hit(hit: recall.Hit, *, explain: bool) -> Hit:
    signals = hit.signals
    return Hit.of(
        hit.memory,
        score=round(hit.score, 3),
        may_conflict_with=list(hit.may_conflict_with) or None,
        signals=Signals(
            similarity=_rounded(signals.similarity),
            keyword=_rounded(signals.keyword),
            late=_rounded(signals.late),
            date=_rounded(signals.date),
        )
        if explain
        else None,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _more(cut: int) -> str:
    return f"{cut} more did not fit: ask more closely, or with a larger max_tokens."


def _frame(told: recall.Recalled) -> int:
    """Tokens of all that stands around the hits."""
    empty = Recalled(
        mode=told.mode,
        stand_in=told.stand_in or None,
        hits=[],
        cut=len(told.hits),
        reason=told.reason or None,
        next=sentences(READ_WHOLE, _more(len(told.hits))),
    )
    return _tokens(empty)


def _tokens(answer: Answer) -> int:
    return tokens(answer.model_dump_json(exclude_none=True)) + 1


def fitting(hits: Sequence[Hit], *, budget: int, query: str) -> list[Hit]:
    """The best hits, in their order, that fit together. Long ones are shortened so that others
    are seen too; then, best first, made whole again where that still fits."""
    shown: list[Hit] = []
    left = budget
    for hit in hits:
        short = hit.shortened(budget // SHARE, query=query)
        cost = _tokens(short)
        if cost > left and not shown:
            short = hit.shortened(budget // (2 * SHARE), query=query)
            cost = _tokens(short)
        if cost > left:
            break
        shown.append(short)
        left -= cost
    for n, short in enumerate(shown):
        more = _tokens(hits[n]) - _tokens(short) if short.snippet else 0
        if 0 < more <= left:
            shown[n] = hits[n]
            left -= more
    return shown


RECALL = Tool(
    name="recall",
    title="Recall",
    description=(
        "Search the owner's long-term memory. Call it before you answer whenever what the owner "
        "prefers, decided, owns, plans or has told any assistant could matter. Ask in plain words. "
        "Proposed memories are not approved yet; settle `may_conflict_with` by date or by asking "
        "the owner."
    ),
    needs=frozenset({Permission.READ}),
    takes=Query,
    gives=Recalled,
    run=_run,
    reads_only=True,
)
