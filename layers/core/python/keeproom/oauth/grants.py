"""Connected apps: what the owner has allowed, and taking it back."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from keeproom.errors import Invalid, NotFound
from keeproom.oauth.authorization import Authorization, decided
from keeproom.oauth.model import (
    REVOKED,
    Change,
    Client,
    Grant,
    Page,
    Permissions,
    Use,
    has_expired,
)
from keeproom.pages import every


@dataclass(frozen=True, slots=True)
class Connected:
    """A grant and what became of its app's calls."""

    grant: Grant
    use: Use


def connected(auth: Authorization, *, cursor: str = "", limit: int = 50) -> Page[Connected]:
    """Every grant that is good, and for a month those that were revoked, oldest first. Raises
    `Invalid` for a foreign cursor."""
    page = auth.grants.page(Grant, cursor=cursor, limit=limit)
    shown = [grant for grant in page.items if not has_expired(grant, auth.clock())]
    uses = auth.grants.uses([grant.id for grant in shown])
    return Page(tuple(Connected(one, uses.get(one.id, Use(id=one.id))) for one in shown), page.next)


def one(auth: Authorization, grant_id: str) -> Connected:
    """Raises `NotFound`."""
    grant = _grant(auth, grant_id)
    uses = auth.grants.uses([grant.id])
    return Connected(grant, uses.get(grant.id, Use(id=grant.id)))


def change(auth: Authorization, grant_id: str, permissions: Permissions, *, by: str) -> Connected:
    """Allow exactly this from the next call on. Raises `NotFound`, and `Invalid` when that is
    nothing: revoke it then."""
    if not permissions:
        raise Invalid("Allow at least one thing, or revoke the grant.", param="permissions")

    def decide() -> None:
        grant = _grant(auth, grant_id)
        if grant.revoked:
            raise NotFound("This grant was revoked. The app must sign in again.")
        if grant.permissions != permissions:
            entry = auth.audit("change_grant", grant.client_id, by=by, grant=grant.id)
            auth.grants.commit(Change(put=(replace(grant, permissions=permissions),), entry=entry))

    decided(auth, decide)
    return one(auth, grant_id)


def revoke_grant(auth: Authorization, grant_id: str, *, by: str) -> None:
    """Nothing under it opens anything from the next call on. Harmless when repeated. Raises
    `NotFound`."""
    decided(auth, lambda: end(auth, _grant(auth, grant_id), by=by, verb="revoke"))


def end(auth: Authorization, grant: Grant, *, by: str, verb: str) -> None:
    """Revoke the grant as it was read. It and its tokens are kept a while, so that the app which
    still comes is recognised. Raises `Contended`."""
    if grant.revoked is None:
        now = auth.clock()
        ended = replace(grant, revoked=now, expires=now + REVOKED)
        entry = auth.audit(verb, grant.client_id, by=by, grant=grant.id)
        auth.grants.commit(Change(put=(ended,), entry=entry))


def clients(auth: Authorization, *, cursor: str = "", limit: int = 50) -> Page[Client]:
    """Every app that is registered, approved or not."""
    page = auth.grants.page(Client, cursor=cursor, limit=limit)
    shown = (one for one in page.items if not has_expired(one, auth.clock()))
    return Page(tuple(shown), page.next)


def client(auth: Authorization, client_id: str) -> Client:
    """Raises `NotFound`."""
    found = auth.grants.find(Client, client_id)
    if found is None or has_expired(found, auth.clock()):
        raise NotFound("There is no such app.")
    return found


def remove_client(auth: Authorization, client_id: str, *, by: str) -> None:
    """Revoke all that the app was allowed, then forget its registration. Raises `NotFound`."""

    def decide() -> None:
        client = auth.grants.find(Client, client_id)
        if client is None:
            raise NotFound("There is no such app.")
        for grant in _grants_of(auth, client_id):
            end(auth, grant, by=by, verb="revoke")
        entry = auth.audit("remove_client", client_id, by=by)
        auth.grants.commit(Change(drop=(client,), entry=entry))

    decided(auth, decide)


def _grants_of(auth: Authorization, client_id: str) -> Iterator[Grant]:
    grants = every(lambda cursor: auth.grants.page(Grant, cursor=cursor, limit=500))
    return (grant for grant in grants if grant.client_id == client_id)


def _grant(auth: Authorization, grant_id: str) -> Grant:
    grant = auth.grants.find(Grant, grant_id)
    if grant is None or has_expired(grant, auth.clock()):
        raise NotFound("There is no such grant.")
    return grant
