"""`/api/audit`: who did what, and whether the record is whole."""

from collections.abc import Callable, Sequence
from typing import Self

from fastapi import APIRouter

from keeproom.api.asked import Cursor, LettingIn, Limit, Opened
from keeproom.api.errors import documented
from keeproom.api.schemas import Answer, Page, Time
from keeproom.errors import Invalid
from keeproom.oauth import model as oauth
from keeproom.vault import listing, model

router = APIRouter(prefix="/api/audit", tags=["audit"])

_OVER = "~"  # the cursor of a chain that has been read to its end


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
    def of(cls, entry: model.AuditEntry | oauth.AuditEntry) -> Self:
        return cls(
            id=entry.id,
            at=entry.at,
            actor=entry.actor,
            verb=entry.verb,
            subject=entry.subject,
            grant=entry.grant or None,
            touched=list(entry.touched) if isinstance(entry, model.AuditEntry) else [],
        )


class Entries(Page[Entry]):
    """One page of the audit."""


class Verification(Answer):
    """`faults`: one sentence for each chain in which an entry was removed or altered."""

    intact: bool
    faults: list[str]


type _Chain = Callable[[str, int], tuple[Sequence[Entry], str]]  # cursor, limit; entries, next


@router.get("", responses=documented(503))
def list_entries(vault: Opened, auth: LettingIn, cursor: Cursor = "", limit: Limit = 50) -> Entries:
    """Who did what, newest first; never what was said. Memories and connected apps in one list."""

    def of_vault(cursor: str, limit: int) -> tuple[Sequence[Entry], str]:
        found = listing.audit(vault, cursor=cursor, limit=limit)
        return [Entry.of(one) for one in found.items], found.next

    def of_apps(cursor: str, limit: int) -> tuple[Sequence[Entry], str]:
        if auth is None:
            return [], ""
        found = auth.grants.audit(cursor=cursor, limit=limit)
        return [Entry.of(one) for one in found.items], found.next

    data, following = _merged((of_vault, of_apps), cursor, limit)
    return Entries(data=data, next=following or None)


def _merged(chains: Sequence[_Chain], cursor: str, limit: int) -> tuple[list[Entry], str]:
    """The next entries of all chains by time. The cursor holds one for each chain. Raises
    `Invalid`."""
    places = cursor.split(".") if cursor else [""] * len(chains)
    if len(places) != len(chains):
        raise Invalid("The cursor does not belong to this list.", param="cursor")
    read = [_read(chain, place, limit) for chain, place in zip(chains, places, strict=True)]
    every = [(entry.at, entry.id, n) for n, (found, _) in enumerate(read) for entry in found]
    taken = [n for _, _, n in sorted(every, reverse=True)[:limit]]
    merged = [entry for n, (found, _) in enumerate(read) for entry in found[: taken.count(n)]]
    following = [
        _after(chain, place, page, taken.count(n))
        for n, (chain, place, page) in enumerate(zip(chains, places, read, strict=True))
    ]
    is_last = set(following) == {_OVER}
    merged.sort(key=lambda entry: (entry.at, entry.id), reverse=True)
    return merged, "" if is_last else ".".join(following)


def _read(chain: _Chain, place: str, limit: int) -> tuple[Sequence[Entry], str]:
    return ([], "") if place == _OVER else chain(place, limit)


def _after(chain: _Chain, place: str, page: tuple[Sequence[Entry], str], taken: int) -> str:
    """Where to go on in a chain when some of what was read is used."""
    found, following = page
    if taken == len(found):
        return following or _OVER
    return chain(place, taken)[1] if taken else place


@router.get("/verify", responses=documented(503))
def verify(vault: Opened, auth: LettingIn) -> Verification:
    """Whether an entry was removed or altered: follow the hashes from one end to the other."""
    faults = [*vault.memories.audit_faults(), *(auth.grants.audit_faults() if auth else ())]
    return Verification(intact=not faults, faults=faults)
