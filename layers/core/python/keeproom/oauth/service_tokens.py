"""Service tokens: the owner's leave for scripts, at `/api` only."""

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from hmac import compare_digest

from keeproom.errors import Contended, Invalid, LimitReached, NotFound, Unavailable
from keeproom.oauth.authorization import Authorization, decided
from keeproom.oauth.described import visible_name
from keeproom.oauth.errors import NotAuthenticated
from keeproom.oauth.model import Change, Page, Scopes, ServiceToken, has_expired, hashed
from keeproom.pages import every

PREFIX = "krm_"
MOST = 100  # that are good at once
NOTED = timedelta(minutes=1)  # uses closer together than this count as one
_FORM = re.compile(r"krm_([0-9a-z]{10,40})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class Made:
    """`text`: the token itself, told this once."""

    text: str
    token: ServiceToken


def create(
    auth: Authorization,
    name: str,
    scopes: Scopes,
    *,
    by: str,
    lasts: timedelta | None = None,
) -> Made:
    """Raises `Invalid` without a name or a scope, and `LimitReached`."""
    shown = visible_name(name)
    if not shown:
        raise Invalid("Give the token a name, to know it by later.", param="name")
    if not scopes:
        raise Invalid("Give the token at least one scope.", param="scopes")
    now = auth.clock()
    token_id, secret = auth.new_id("tok"), secrets.token_urlsafe(32)
    token = ServiceToken(
        id=token_id,
        hash=hashed(secret),
        name=shown,
        scopes=scopes,
        created=now,
        expires=None if lasts is None else now + lasts,
    )
    kept = every(lambda cursor: tokens(auth, cursor=cursor))
    if sum(1 for _ in kept) >= MOST:
        raise LimitReached(f"There are {MOST} tokens already. Revoke one first.")
    auth.grants.commit(Change(put=(token,), entry=auth.audit("create_token", token_id, by=by)))
    return Made(f"{PREFIX}{token_id.removeprefix('tok_')}_{secret}", token)


def tokens(auth: Authorization, *, cursor: str = "", limit: int = 50) -> Page[ServiceToken]:
    """Every token that is good, oldest first. Raises `Invalid` for a foreign cursor."""
    page = auth.grants.page(ServiceToken, cursor=cursor, limit=limit)
    good = (one for one in page.items if not has_expired(one, auth.clock()))
    return Page(tuple(good), page.next)


def revoke_token(auth: Authorization, token_id: str, *, by: str) -> None:
    """It opens nothing from the next call on. Raises `NotFound`."""

    def decide() -> None:
        found = auth.grants.find(ServiceToken, token_id)
        if found is None:
            raise NotFound("There is no such token.")
        entry = auth.audit("revoke_token", found.id, by=by)
        auth.grants.commit(Change(drop=(found,), entry=entry))

    decided(auth, decide)


def script_of(auth: Authorization, text: str) -> ServiceToken:
    """The token behind its text. Raises `NotAuthenticated` when it is unknown, expired, revoked or
    something else, and `Unavailable`."""
    parts = _FORM.fullmatch(text)
    found = auth.grants.find(ServiceToken, f"tok_{parts[1]}") if parts else None
    if parts is None or found is None or not compare_digest(found.hash, hashed(parts[2])):
        raise NotAuthenticated("This is no service token, or it was revoked.")
    now = auth.clock()
    if has_expired(found, now):
        raise NotAuthenticated("This service token has expired.")
    if found.last_used is None or now - found.last_used >= NOTED:
        with suppress(Contended, Unavailable):
            auth.grants.commit(Change(put=(replace(found, last_used=now),)))
    return found
