"""The browsers in which the owner is signed in."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import batched

from keeproom.errors import Contended, Unavailable
from keeproom.oauth.addresses import masked
from keeproom.oauth.authorization import Authorization, decided
from keeproom.oauth.model import Change, Session, has_expired, hashed

IDLE = timedelta(days=7)  # a browser that does not come for so long is signed out
LONGEST = timedelta(days=30)  # and one that comes every day, then
NOTED = timedelta(hours=1)  # visits closer together than this cost no write
_AT_ONCE = 25


def session_of(auth: Authorization, secret: str) -> Session | None:
    """The session under this secret, if it is still good: its life is prolonged by being used."""
    found = auth.grants.find(Session, hashed(secret)) if secret else None
    now = auth.clock()
    if found is None or has_expired(found, now):
        return None
    until = min(now + IDLE, found.created + LONGEST)
    if until - found.expires >= NOTED:
        # Lost to a sign-out or to a busy store: this visit is good all the same.
        with suppress(Contended, Unavailable):
            auth.grants.commit(Change(put=(replace(found, expires=until),)))
    return found


def sign_out(auth: Authorization, secret: str) -> None:
    """End this session, from its next request on. Harmless when repeated."""

    def decide() -> None:
        found = auth.grants.find(Session, hashed(secret))
        if found is not None:
            entry = auth.audit("sign_out", masked(found.address), by="owner")
            auth.grants.commit(Change(drop=(found,), entry=entry))

    decided(auth, decide)


def sign_out_everywhere(auth: Authorization) -> None:
    """End every session there is, this one too."""
    while found := auth.grants.page(Session, limit=500).items:
        for some in batched(found, _AT_ONCE):
            with suppress(Contended):  # one was prolonged or ended meanwhile: it is read again
                auth.grants.commit(Change(drop=some))
    auth.grants.commit(Change(entry=auth.audit("sign_out", "everywhere", by="owner")))


def replaced(auth: Authorization, secret: str) -> None:
    """A browser has signed in anew: what it held before opens nothing any more."""
    found = auth.grants.find(Session, hashed(secret))
    if found is not None:
        with suppress(Contended):
            auth.grants.commit(Change(drop=(found,)))
