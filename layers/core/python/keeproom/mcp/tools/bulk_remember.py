"""`bulk_remember`: bring many memories in as one import that can be undone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal, Self, cast

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from keeproom.errors import Unavailable
from keeproom.mcp.answers import Answer
from keeproom.mcp.asked import Asked, Day, RequestId, Tags, Text, unpacked
from keeproom.mcp.calls import Call
from keeproom.mcp.tool import Tool
from keeproom.oauth.model import Permission
from keeproom.pages import every
from keeproom.vault import batch as nouns
from keeproom.vault import imports, listing
from keeproom.vault.batch import BatchState, ImportItem, SkipReason, Stored
from keeproom.vault.model import MemoryType, Status
from keeproom.vault.split import FIELDS, from_text, from_values
from keeproom.vault.work import import_of


class Item(Asked):
    """A text with what is known about it."""

    content: Text
    type: MemoryType | None = None
    source: Text | None = None
    source_date: Day = None
    tags: Tags | None = None


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else "object"


OneItem = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Item, Tag("object")], Discriminator(_kind)
]


def _listed(value: object) -> object:
    """One object alone, or an object that holds the list, as well."""
    held = unpacked(value)
    if isinstance(held, dict):
        found = cast("Mapping[str, object]", held)
        return found["items"] if set(found) == {"items"} else [found]
    return held


class Many(Asked):
    items: Annotated[
        list[OneItem] | None,
        BeforeValidator(_listed),
        Field(description="Texts, or objects with content and what else is known."),
    ] = None
    text: Annotated[
        Text | None,
        Field(description="Or one text, split on --- lines, bullets or blank lines."),
    ] = None
    source: Annotated[Text | None, Field(description="Where they come from.")] = None
    request_id: RequestId | None = None

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.items is None) is (self.text is None):
            raise ValueError("Send either `items` or `text`.")
        return self


class Outcome(Answer):
    """What became of the text at `position`, counted from 0. `by`: the memory that stands in its
    place."""

    position: int
    outcome: Literal["stored", "skipped"]
    id: str | None = None
    status: Status | None = None
    similar_to: list[str] | None = None
    may_conflict_with: list[str] | None = None
    reason: SkipReason | None = None
    by: str | None = None


class Imported(Answer):
    """`done` of `total` texts have their outcome by now. `keyword_only`: without an embedding
    model, only exact duplicates were noticed."""

    batch_id: str
    state: BatchState
    total: int
    done: int
    stored: int
    skipped: int
    keyword_only: bool | None = None
    outcomes: list[Outcome]
    next: str


def _run(call: Call, many: Many) -> Imported:
    source = call.sourced(many.source)
    batch = imports.begin(
        call.vault,
        [_sourced(call, item) for item in _items(many)],
        by=call.by,
        source=source,
        propose=call.only_proposes,
        request_id=call.request(many.request_id),
    )
    batch = _worked(call, batch)
    if batch.state is BatchState.RUNNING:
        call.served.wake(import_of(batch.id))
    return Imported(
        batch_id=batch.id,
        state=batch.state,
        total=batch.total,
        done=batch.position,
        stored=batch.stored,
        skipped=batch.skipped,
        keyword_only=batch.keyword_only or None,
        outcomes=_outcomes(call, batch.id),
        next=_next(batch),
    )


def _items(many: Many) -> Sequence[ImportItem]:
    if many.items is None:
        return from_text(many.text or "")
    return from_values([_plain(item) for item in many.items])


def _plain(item: str | Item) -> object:
    if isinstance(item, str):
        return item
    told = {name: getattr(item, name) for name in FIELDS}
    return told | {"source_date": item.source_date and item.source_date.isoformat()}


def _sourced(call: Call, item: ImportItem) -> ImportItem:
    return replace(item, source=call.sourced(item.source)) if item.source.strip() else item


def _worked(call: Call, batch: nouns.Batch) -> nouns.Batch:
    """As far as time allows. The batch is safe already, so nothing is raised."""
    try:
        return imports.carry_on(call.vault, batch.id, seconds=call.served.import_seconds)
    except Unavailable:
        return batch


def _outcomes(call: Call, batch_id: str) -> list[Outcome]:
    outcomes = every(
        lambda cursor: listing.outcomes(
            call.vault, batch_id, cursor=cursor, limit=listing.LARGEST_PAGE
        )
    )
    return [_told(call, position, outcome) for position, outcome in outcomes]


def _told(call: Call, position: int, outcome: nouns.Outcome) -> Outcome:
    if isinstance(outcome, Stored):
        return Outcome(
            position=position,
            outcome="stored",
            id=outcome.memory_id,
            status=outcome.status,
            similar_to=list(outcome.similar_to) or None if call.may_read else None,
            may_conflict_with=list(outcome.conflicts_with) or None if call.may_read else None,
        )
    return Outcome(
        position=position, outcome="skipped", reason=outcome.reason, by=outcome.by or None
    )


def _next(batch: nouns.Batch) -> str:
    if batch.state is BatchState.RUNNING:
        return (
            f"{batch.total - batch.position} go on in the background under this batch_id: do not "
            "send them again. list_memories with batch_id tells how far it has come."
        )
    return "The owner can undo this import as a whole."


BULK_REMEMBER = Tool(
    name="bulk_remember",
    title="Remember many",
    description=(
        "Save many facts at once, for example when the owner asks you to bring over your own "
        "saved memories or a list. Send `items` or one `text`, each a fact that is understood "
        "alone. Duplicates are skipped, possible conflicts go to the owner, and all of it can be "
        "undone."
    ),
    needs=frozenset({Permission.PROPOSE, Permission.WRITE}),
    takes=Many,
    gives=Imported,
    run=_run,
    repeatable=True,
)
