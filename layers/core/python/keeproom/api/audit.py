"""`/api/audit`: who did what, and whether the record is whole."""

from typing import Self

from fastapi import APIRouter

from keeproom.api.asked import Cursor, Limit, Opened
from keeproom.api.errors import documented
from keeproom.api.schemas import Answer, Page, Time, page
from keeproom.vault import listing, model

router = APIRouter(prefix="/api/audit", tags=["audit"])


class Entry(Answer):
    """Who did what to which thing, under which grant; never content. `touched`: every memory it
    reached."""

    id: str
    at: Time
    actor: str
    verb: str
    subject: str
    grant: str | None
    touched: list[str]

    @classmethod
    def of(cls, entry: model.AuditEntry) -> Self:
        return cls(
            id=entry.id,
            at=entry.at,
            actor=entry.actor,
            verb=entry.verb,
            subject=entry.subject,
            grant=entry.grant or None,
            touched=list(entry.touched),
        )


class Entries(Page[Entry]):
    """One page of the audit."""


class Verification(Answer):
    """`faults`: one sentence for each chain in which an entry was removed or altered."""

    intact: bool
    faults: list[str]


@router.get("", responses=documented(503))
def list_entries(vault: Opened, cursor: Cursor = "", limit: Limit = 50) -> Entries:
    """Who did what, newest first; never what was said."""
    data, following = page(listing.audit(vault, cursor=cursor, limit=limit), Entry.of)
    return Entries(data=data, next=following)


@router.get("/verify", responses=documented(503))
def verify(vault: Opened) -> Verification:
    """Whether an entry was removed or altered: follow the hashes from one end to the other."""
    faults = list(vault.memories.audit_faults())
    return Verification(intact=not faults, faults=faults)
