"""`list_memories`: read what the vault holds, page by page, or memories whole."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from keeproom.mcp.answers import NOTICE, Answer, Record, read_whole, sentences
from keeproom.mcp.asked import Asked, Id, Several, Tags, Text
from keeproom.mcp.calls import Call
from keeproom.mcp.tool import Tool
from keeproom.oauth.model import Permission
from keeproom.vault import imports, listing
from keeproom.vault.batch import Batch, BatchState
from keeproom.vault.model import MemoryType, Status
from keeproom.vault.text import cleaned_tags

PAGE = 20
MOST_WHOLE = 20  # memories read whole at once: at most 160,000 characters
LONG = 250  # tokens of a memory in a list, which is read to choose from


class Which(Asked):
    ids: Annotated[
        Annotated[list[Id], Several, Field(max_length=MOST_WHOLE)] | None,
        Field(description="Just these, whole; with no other argument."),
    ] = None
    status: Status | None = None
    type: MemoryType | None = None
    tags: Tags | None = None
    batch_id: Annotated[Id | None, Field(description="What this import has stored.")] = None
    cursor: Annotated[
        Text | None, Field(max_length=4000, description="`next_cursor` of the page before.")
    ] = None
    limit: Annotated[
        int | None, Field(ge=1, le=listing.LARGEST_PAGE, description="20 if absent.")
    ] = None

    @model_validator(mode="after")
    def _alone(self) -> Self:
        sent = {name for name in self.model_fields_set if getattr(self, name) is not None}
        if "ids" in sent and sent - {"ids", "limit"}:
            raise ValueError("`ids` goes with no filter and no cursor.")
        return self


class Import(Answer):
    """How far an import has come."""

    batch_id: str
    state: BatchState
    total: int
    done: int
    stored: int
    skipped: int
    undone: int

    @classmethod
    def of(cls, batch: Batch) -> Self:
        return cls(
            batch_id=batch.id,
            state=batch.state,
            total=batch.total,
            done=batch.position,
            stored=batch.stored,
            skipped=batch.skipped,
            undone=batch.undone,
        )


class Listed(Answer):
    """`next_cursor`: where the list goes on; absent at its end."""

    notice: str = NOTICE
    memories: list[Record]
    next_cursor: str | None = None
    batch: Import | None = None
    next: str | None = None


def _run(call: Call, which: Which) -> Listed:
    if which.ids is not None:
        return Listed(memories=[Record.of(one) for one in listing.shown(call.vault, which.ids)])
    batch = imports.found(call.vault, which.batch_id) if which.batch_id else None
    wanted = listing.Listed(
        status=which.status,
        type=which.type,
        tags=frozenset(cleaned_tags(which.tags or ())),
        batch_id=which.batch_id or "",
    )
    page = listing.memories(
        call.vault, wanted, cursor=which.cursor or "", limit=which.limit or PAGE
    )
    records = [Record.of(one).shortened(LONG) for one in page.items]
    return Listed(
        memories=records,
        next_cursor=page.next or None,
        batch=Import.of(batch) if batch else None,
        next=sentences(
            read_whole(records),
            "The list goes on: call again with `cursor` = next_cursor." if page.next else "",
        ),
    )


LIST_MEMORIES = Tool(
    name="list_memories",
    title="List memories",
    description=(
        "Read what is stored, without a question: page by page, by status, type, tags or import "
        "(then with its state), or given memories whole by `ids`. To find something, use recall."
    ),
    needs=frozenset({Permission.READ}),
    takes=Which,
    gives=Listed,
    run=_run,
    reads_only=True,
)
