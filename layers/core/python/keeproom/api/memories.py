"""`/api/memories`: list, read, remember, edit, forget."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from keeproom.api.asked import Cursor, IfMatch, Key, Limit, MemoryId, Opened, etag, seen
from keeproom.api.errors import documented
from keeproom.api.owner import Signed
from keeproom.api.schemas import Answer, Body, Day, Id, Memory, Page, Text, page
from keeproom.errors import Invalid
from keeproom.vault import imports, listing, model
from keeproom.vault.batch import ImportItem, Skipped
from keeproom.vault.edit import Edit, edit
from keeproom.vault.forget import forget
from keeproom.vault.model import MemoryType, Status
from keeproom.vault.remember import remember
from keeproom.vault.text import cleaned_tags

router = APIRouter(prefix="/api/memories", tags=["memories"])


class NewMemory(Body):
    """One fact to remember. `supersedes`: the memory it replaces. `propose`: let it wait for
    review even where memories take effect at once."""

    content: Text = Field(description="1 to 8,000 characters, one self-contained fact.")
    type: MemoryType = MemoryType.OTHER
    source: Text = ""
    source_date: Day | None = Field(None, description="Since when it is true: YYYY-MM-DD.")
    tags: list[Text] = Field(default_factory=list[str], description="At most 8.")
    supersedes: Id | None = None
    propose: bool = Field(default=False, strict=True)


class Changes(Body):
    """What to change; a field left out or null stays as it is, save that a null `source_date`
    takes the date away."""

    content: Text | None = None
    type: MemoryType | None = None
    source: Text | None = None
    source_date: Day | None = None
    tags: list[Text] | None = None
    expected_revision: int | None = Field(
        None, strict=True, ge=1, le=10**9, description="The same as `If-Match`."
    )

    def edit(self) -> Edit:
        return Edit(
            content=self.content,
            type=self.type,
            source=self.source,
            source_date=self.source_date,
            no_source_date="source_date" in self.model_fields_set and self.source_date is None,
            tags=None if self.tags is None else tuple(self.tags),
        )

    def changes_something(self) -> bool:
        return self.edit() != Edit()


class Memories(Page[Memory]):
    """One page of memories."""


class Remembered(Answer):
    """`duplicate`: nothing was stored, `memory` says it already."""

    outcome: Literal["stored", "duplicate"]
    memory: Memory


@router.get("", responses=documented(404))
def list_memories(
    vault: Opened,
    status: Annotated[Status | None, Query()] = None,
    type: Annotated[MemoryType | None, Query()] = None,
    tags: Annotated[
        list[str] | None, Query(max_length=8, description="All of them; repeat it.")
    ] = None,
    batch_id: Annotated[Id | None, Query(description="What this import has stored.")] = None,
    ids: Annotated[
        list[Id] | None,
        Query(max_length=listing.LARGEST_PAGE, description="Just these, in this order; repeat it."),
    ] = None,
    withdrawn: Annotated[  # noqa: FBT002  a query parameter
        bool, Query(description="What apps asked to forget, and nothing else.")
    ] = False,
    cursor: Cursor = "",
    limit: Limit = 50,
) -> Memories:
    """List memories, in the order they were made; with a status, in the order they took it. What
    is withdrawn is in no other list."""
    which = listing.Listed(
        status=status,
        type=type,
        tags=frozenset(cleaned_tags(tags or ())),
        batch_id=batch_id or "",
        withdrawn=withdrawn,
    )
    if ids is not None:
        if which != listing.Listed() or cursor:
            raise Invalid("`ids` goes with no filter and no cursor.", param="ids")
        return Memories(data=[Memory.of(one) for one in listing.some(vault, ids)], next=None)
    if batch_id is not None:
        imports.found(vault, batch_id)
    found = listing.memories(vault, which, cursor=cursor, limit=limit)
    data, following = page(found, Memory.of)
    return Memories(data=data, next=following)


@router.post(
    "",
    status_code=201,
    responses={
        200: {"model": Remembered, "description": "Known already: nothing was stored."},
        **documented(404, 409, 413, 422, 503),
    },
)
def remember_one(
    vault: Opened, owner: Signed, wish: NewMemory, response: Response, key: Key = ""
) -> Remembered:
    """Store one fact. What the owner says is active at once, unless it is to be `propose`d."""
    item = ImportItem(
        content=wish.content,
        type=wish.type,
        source=wish.source,
        source_date=wish.source_date,
        tags=tuple(wish.tags),
    )
    told = remember(
        vault,
        item,
        by=owner,
        supersedes=wish.supersedes or "",
        propose=wish.propose,
        request_id=key,
    )
    known = isinstance(told.outcome, Skipped)
    if known:
        response.status_code = 200
    response.headers["Location"] = f"/api/memories/{told.memory.id}"
    return Remembered(
        outcome="duplicate" if known else "stored", memory=tagged(told.memory, response)
    )


@router.get("/{id}", responses=documented(404))
def read(vault: Opened, memory_id: MemoryId, response: Response) -> Memory:
    """One memory, whole."""
    return tagged(listing.memory(vault, memory_id), response)


@router.patch("/{id}", responses=documented(404, 409, 413, 422, 503))
def change(
    vault: Opened,
    owner: Signed,
    memory_id: MemoryId,
    wanted: Changes,
    response: Response,
    if_match: IfMatch = None,
    key: Key = "",
) -> Memory:
    """Edit the text or what is known about it. The earlier text is kept in its history."""
    if not wanted.changes_something():
        raise Invalid("There is nothing to change. Send at least one field.")
    now = edit(
        vault,
        memory_id,
        wanted.edit(),
        revision=seen(if_match, wanted.expected_revision),
        by=owner,
        request_id=key,
    )
    return tagged(now, response)


@router.delete("/{id}", status_code=204, responses=documented(404, 409, 422, 503))
def delete(vault: Opened, owner: Signed, memory_id: MemoryId, key: Key = "") -> None:
    """Forget it: the text is removed everywhere, now, and kept from coming back."""
    forget(vault, memory_id, by=owner, request_id=key)


def tagged(memory: model.Memory, response: Response) -> Memory:
    """The memory, with its revision as the answer's ETag."""
    response.headers["ETag"] = etag(memory.revision)
    return Memory.of(memory)
