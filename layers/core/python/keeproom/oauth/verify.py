"""Who is calling: an access token becomes the app the owner let in."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from keeproom.errors import Contended, Unavailable
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.errors import NotAuthenticated
from keeproom.oauth.model import Caller, Change, Credential, Kind, Use, hashed

NOTED = timedelta(minutes=1)  # uses closer together than this count as one: no write a call
COUNTED = timedelta(seconds=1)  # the same for failures: a client that loops costs one write


def authenticated(auth: Authorization, token: str) -> Caller:
    """The app behind an access token and what it may do now. Raises `NotAuthenticated`, whose
    `code` belongs into the challenge, for a token that is unknown, expired, revoked, for another
    resource or no access token; and `Unavailable`."""
    found = auth.grants.credential(hashed(token)) if token else None
    if found is None or found.token.kind is not Kind.ACCESS:
        raise NotAuthenticated("The access token is not known here. Sign in again.")
    reason = _refusal(auth, found)
    if reason:
        failed(auth, found.use, reason)
        raise NotAuthenticated(_SENTENCES[reason])
    _used(auth, found.use)
    grant, narrowed = found.grant, found.token.narrowed
    return Caller(
        client_id=grant.client_id,
        client_name=grant.client_name,
        grant_id=grant.id,
        vault=grant.vault,
        permissions=grant.permissions & narrowed if narrowed else grant.permissions,
    )


_SENTENCES = {
    "revoked": "The owner has revoked this access. Sign in again.",
    "expired": "The access token has expired. Refresh it.",
    "wrong_resource": "The access token is for another resource.",
}


def _refusal(auth: Authorization, found: Credential) -> str:
    if found.grant.revoked:
        return "revoked"
    if found.token.expires <= auth.clock():
        return "expired"
    return "" if found.token.resource == auth.resource else "wrong_resource"


def failed(auth: Authorization, use: Use, reason: str) -> None:
    """Count a call that was refused, for the owner to see."""
    now = auth.clock()
    if use.last_failure is None or now - use.last_failure >= COUNTED:
        _note(auth, replace(use, failures=use.failures + 1, last_failure=now, reason=reason))


def _used(auth: Authorization, use: Use) -> None:
    now = auth.clock()
    if use.last_used is None or use.failures or now - use.last_used >= NOTED:
        _note(auth, replace(use, last_used=now, failures=0))


def _note(auth: Authorization, use: Use) -> None:
    """A count that is lost to another one, or to a busy store, is not worth failing a call."""
    with suppress(Contended, Unavailable):
        auth.grants.commit(Change(put=(use,)))
