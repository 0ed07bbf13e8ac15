"""`/api/bulk` and `/api/batches`: bringing many in, following it, and taking it back."""

from typing import Annotated, Literal, Self

from fastapi import APIRouter, Depends, Response
from pydantic import Field

from keeproom.api.asked import BatchId, Behind, Cursor, Key, Limit, Opened, Served
from keeproom.api.brought import BODY, Brought, brought
from keeproom.api.errors import documented
from keeproom.api.owner import Signed
from keeproom.api.schemas import Answer, Page, Time, page
from keeproom.errors import Unavailable
from keeproom.vault import batch as nouns
from keeproom.vault import imports, listing
from keeproom.vault.batch import BatchState, Skipped, SkipReason, Stored
from keeproom.vault.model import Status
from keeproom.vault.vault import Vault
from keeproom.vault.work import import_of

router = APIRouter(prefix="/api", tags=["imports"])


class Outcome(Answer):
    """What became of the text at `position`, counted from 0. Stored: `memory_id`, `status`, and
    what it was linked with. Skipped: why, and the memory that stands in its place (`by`)."""

    position: int
    outcome: Literal["stored", "skipped"]
    memory_id: str | None = None
    status: Status | None = None
    similar_to: list[str] = Field(default_factory=list[str])
    conflicts_with: list[str] = Field(default_factory=list[str])
    reason: SkipReason | None = None
    by: str | None = None

    @classmethod
    def of(cls, entry: tuple[int, nouns.Outcome]) -> Self:
        match entry:
            case position, Stored() as stored:
                return cls(
                    position=position,
                    outcome="stored",
                    memory_id=stored.memory_id,
                    status=stored.status,
                    similar_to=list(stored.similar_to),
                    conflicts_with=list(stored.conflicts_with),
                )
            case position, Skipped() as skipped:
                return cls(
                    position=position,
                    outcome="skipped",
                    reason=skipped.reason,
                    by=skipped.by or None,
                )


class Outcomes(Page[Outcome]):
    """One page of outcomes, by position."""


class Batch(Answer):
    """One import. `done` of `total` texts have their outcome. `keyword_only`: no embedding could
    be had for some, so that of those only exact duplicates were noticed."""

    id: str
    state: BatchState
    actor: str
    source: str
    created_at: Time
    updated_at: Time
    total: int
    done: int
    stored: int
    skipped: int
    undone: int
    keyword_only: bool

    @classmethod
    def of(cls, batch: nouns.Batch) -> Self:
        return cls.model_validate(_fields(batch))


class BatchInFull(Batch):
    """With what became of its texts so far."""

    outcomes: Outcomes


class Batches(Page[Batch]):
    """One page of imports."""


def _fields(batch: nouns.Batch) -> dict[str, object]:
    return {
        "id": batch.id,
        "state": batch.state,
        "actor": batch.actor,
        "source": batch.source,
        "created_at": batch.created_at,
        "updated_at": batch.updated_at,
        "total": batch.total,
        "done": batch.position,
        "stored": batch.stored,
        "skipped": batch.skipped,
        "undone": batch.undone,
        "keyword_only": batch.keyword_only,
    }


@router.post(
    "/bulk",
    responses={
        202: {"model": BatchInFull, "description": "It goes on in the background."},
        **documented(409, 413, 422, 503),
    },
    openapi_extra={"requestBody": BODY},
)
def bring_in(
    vault: Opened,
    behind: Behind,
    owner: Signed,
    what: Annotated[Brought, Depends(brought)],
    response: Response,
    key: Key = "",
) -> BatchInFull:
    """Remember many at once, from JSON, JSON lines, Markdown or text. What does not fit into the
    time of one call goes on in the background, under the same id."""
    batch = imports.begin(
        vault, what.items, by=owner, source=what.source, propose=what.propose, request_id=key
    )
    batch = _worked(vault, behind, batch)
    if batch.state is BatchState.RUNNING:
        behind.wake(import_of(batch.id))
        response.status_code = 202
    response.headers["Location"] = f"/api/batches/{batch.id}"
    return _in_full(batch, Outcomes(data=_all_outcomes(vault, batch.id), next=None))


def _worked(vault: Vault, behind: Served, batch: nouns.Batch) -> nouns.Batch:
    """As far as time allows. The batch is safe already, so nothing is raised."""
    try:
        return imports.carry_on(vault, batch.id, seconds=behind.import_seconds)
    except Unavailable:
        return batch


def _all_outcomes(vault: Vault, batch_id: str) -> list[Outcome]:
    found: list[Outcome] = []
    cursor = ""
    while True:
        told = listing.outcomes(vault, batch_id, cursor=cursor, limit=listing.LARGEST_PAGE)
        found += [Outcome.of(one) for one in told.items]
        cursor = told.next
        if not cursor:
            return found


@router.get("/batches", responses=documented(503))
def list_batches(vault: Opened, cursor: Cursor = "", limit: Limit = 50) -> Batches:
    """The imports, newest first."""
    data, following = page(listing.batches(vault, cursor=cursor, limit=limit), Batch.of)
    return Batches(data=data, next=following)


@router.get("/batches/{id}", responses=documented(404, 503))
def read(vault: Opened, batch_id: BatchId, cursor: Cursor = "", limit: Limit = 50) -> BatchInFull:
    """Its state and one page of its outcomes."""
    batch = imports.found(vault, batch_id)
    told = listing.outcomes(vault, batch_id, cursor=cursor, limit=limit)
    data, following = page(told, Outcome.of)
    return _in_full(batch, Outcomes(data=data, next=following))


@router.post("/batches/{id}/undo", responses=documented(404, 503))
def undo(vault: Opened, owner: Signed, batch_id: BatchId) -> Batch:
    """Remove what it stored, save what has been approved or edited since. Repeating is
    harmless."""
    return Batch.of(imports.undo(vault, batch_id, by=owner))


@router.post("/batches/{id}/cancel", responses=documented(404, 422, 503))
def cancel(vault: Opened, owner: Signed, batch_id: BatchId) -> Batch:
    """Stop the work; what is stored stays, and can be undone."""
    return Batch.of(imports.cancel(vault, batch_id, by=owner))


def _in_full(batch: nouns.Batch, outcomes: Outcomes) -> BatchInFull:
    return BatchInFull.model_validate({**_fields(batch), "outcomes": outcomes})
