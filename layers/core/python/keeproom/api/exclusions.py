"""`/api/exclusions`: what is kept out, and letting it in again."""

from typing import Annotated, Self

from fastapi import APIRouter, Path

from keeproom.api.asked import Cursor, Key, Limit, Opened
from keeproom.api.errors import documented
from keeproom.api.owner import Signed
from keeproom.api.schemas import Answer, Id, Page, Time, page
from keeproom.vault import listing, model
from keeproom.vault.forget import lift

router = APIRouter(prefix="/api/exclusions", tags=["exclusions"])

Identity = Annotated[Id, Path(description="The hash that stands for the text.")]


class Exclusion(Answer):
    """A text that must not come back, known by its hash alone. `memory_id`: the rejected memory
    that is still kept with it."""

    identity: str
    at: Time
    by: str
    memory_id: str | None

    @classmethod
    def of(cls, entry: tuple[str, model.Exclusion]) -> Self:
        identity, found = entry
        return cls(identity=identity, at=found.at, by=found.by, memory_id=found.of or None)


class Exclusions(Page[Exclusion]):
    """One page of exclusions."""


@router.get("", responses=documented(503))
def list_exclusions(vault: Opened, cursor: Cursor = "", limit: Limit = 50) -> Exclusions:
    """What must not come back, as hashes of the texts, oldest first."""
    data, following = page(listing.exclusions(vault, cursor=cursor, limit=limit), Exclusion.of)
    return Exclusions(data=data, next=following)


@router.delete("/{identity}", status_code=204, responses=documented(404, 503))
def lift_one(vault: Opened, owner: Signed, identity: Identity, key: Key = "") -> None:
    """Let the text in again. The rejected memory behind it, if it is still kept, goes."""
    lift(vault, identity, by=owner, request_id=key)
