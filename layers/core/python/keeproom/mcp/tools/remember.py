"""`remember` and `propose_memory`: save one fact, and hear what it is similar to."""

from enum import StrEnum
from functools import partial
from typing import Annotated

from pydantic import Field

from keeproom.mcp.answers import NOTICE, SHORT, Answer, Record, read_whole, sentences
from keeproom.mcp.asked import Asked, Day, Id, RequestId, Tags, Text
from keeproom.mcp.calls import Call
from keeproom.mcp.tool import Tool
from keeproom.oauth.model import Permission
from keeproom.vault.batch import ImportItem, Skipped
from keeproom.vault.model import MemoryType, Status
from keeproom.vault.remember import Remembered, remember

MOST_SIMILAR = 5


class Fact(Asked):
    content: Annotated[
        Text, Field(description="One fact that is understood alone, 1 to 8,000 characters.")
    ]
    type: MemoryType | None = None
    tags: Tags | None = None
    source: Annotated[
        Text | None, Field(description="Where it comes from, such as chat or a file's name.")
    ] = None
    source_date: Annotated[Day, Field(description="Since when it is true: YYYY-MM-DD.")] = None
    supersedes: Annotated[
        Id | None, Field(description="Id of the active memory that this one replaces.")
    ] = None
    request_id: RequestId | None = None


class Told(StrEnum):
    STORED = "stored"
    PROPOSED = "proposed"
    KNOWN = "already_known"


class Similar(Record):
    """A memory that the new one is close to."""

    may_conflict: bool


class Saved(Answer):
    """`id`: of the memory that says it now. `already_known`: nothing was stored."""

    notice: str | None = None
    outcome: Told
    id: str
    status: Status
    similar: list[Similar] | None = None
    next: str


def _run(call: Call, fact: Fact, *, propose: bool) -> Saved:
    item = ImportItem(
        content=fact.content,
        type=fact.type or MemoryType.OTHER,
        source=call.sourced(fact.source),
        source_date=fact.source_date,
        tags=tuple(fact.tags or ()),
    )
    told = remember(
        call.vault,
        item,
        by=call.by,
        supersedes=fact.supersedes or "",
        propose=propose or call.only_proposes,
        request_id=call.request(fact.request_id),
    )
    similar = _similar(call, told)
    outcome = _outcome(told)
    return Saved(
        notice=NOTICE if similar else None,
        outcome=outcome,
        id=told.memory.id,
        status=told.memory.status,
        similar=similar or None,
        next=_next(outcome, similar),
    )


def _outcome(told: Remembered) -> Told:
    if isinstance(told.outcome, Skipped):
        return Told.KNOWN
    return Told.PROPOSED if told.outcome.status is Status.PROPOSED else Told.STORED


def _similar(call: Call, told: Remembered) -> list[Similar]:
    """Only for who may read; shortened."""
    if isinstance(told.outcome, Skipped) or not call.may_read:
        return []
    wanted = told.outcome.similar_to[:MOST_SIMILAR]
    found = call.vault.memories.read(wanted)
    conflicts = told.outcome.conflicts_with
    return [
        Similar.of(found[one], may_conflict=one in conflicts).shortened(SHORT)
        for one in wanted
        if one in found and not found[one].withdrawn
    ]


def _next(outcome: Told, similar: list[Similar]) -> str:
    said = {
        Told.STORED: "It is saved.",
        Told.PROPOSED: "It is saved and waits for the owner's approval; recall finds it already.",
        Told.KNOWN: "A memory says this already, so nothing was stored.",
    }[outcome]
    rival = (
        "Compare it with `similar`: if one of them is out of date, ask the owner, or forget it."
        if similar
        else ""
    )
    return sentences(said, rival, read_whole(similar)) or ""


REMEMBER = Tool(
    name="remember",
    title="Remember",
    description=(
        "Save one durable fact about the owner or their work when you learn it: a preference, "
        "decision, plan, fact or way of doing things. One self-contained sentence or two, with "
        "names and dates. To correct a memory, recall it and pass its id as `supersedes`. Never "
        "save secrets or passing states."
    ),
    needs=frozenset({Permission.PROPOSE, Permission.WRITE}),
    takes=Fact,
    gives=Saved,
    run=partial(_run, propose=False),
    repeatable=True,
)

PROPOSE_MEMORY = Tool(
    name="propose_memory",
    title="Propose a memory",
    description=(
        "Suggest one fact for the owner to approve, whatever the approval mode. Use it instead of "
        "remember when you are not sure that it is true, lasting or welcome."
    ),
    needs=frozenset({Permission.PROPOSE, Permission.WRITE}),
    takes=Fact,
    gives=Saved,
    run=partial(_run, propose=True),
    repeatable=True,
)
