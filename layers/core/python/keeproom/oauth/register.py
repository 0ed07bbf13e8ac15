"""Dynamic registration (RFC 7591): an app makes itself known, and is nobody until approved."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from keeproom.oauth.authorization import Authorization
from keeproom.oauth.described import UNNAMED, described
from keeproom.oauth.limits import limited, neighbourhood
from keeproom.oauth.model import UNUSED, AuthMethod, Change, Client, hashed

HOURLY = 100  # from one neighbourhood: a client that registers at every start stays far below
DAILY = 1000  # in all, 8 KB each: what a flood from everywhere may fill


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """`secret`: told this once, and empty for a public client."""

    client: Client
    secret: str


def register(auth: Authorization, content: Mapping[str, object], *, address: str) -> Registered:
    """Keep what the client says of itself, for a day unless the owner approves it. `address`: where
    it connects from. Raises `InvalidClientMetadata`, `InvalidRedirectUri`, `TooMany`."""
    told = described(content)
    where = neighbourhood(address)
    limited(auth, f"register:{where}", most=HOURLY, within=timedelta(hours=1))
    limited(auth, "register", most=DAILY, within=timedelta(days=1))
    method = told.auth_method or AuthMethod.BASIC  # the RFC's default
    secret = "" if method is AuthMethod.NONE else f"kr_cs_{secrets.token_urlsafe(32)}"
    now = auth.clock()
    client = Client(
        id=auth.new_id("cli"),
        name=told.name or UNNAMED,
        flagged=told.flagged,
        redirect_uris=told.redirect_uris,
        auth_method=method,
        secret_hash=hashed(secret) if secret else "",
        created=now,
        expires=now + UNUSED,
    )
    auth.grants.commit(Change(put=(client,)))
    return Registered(client=client, secret=secret)
