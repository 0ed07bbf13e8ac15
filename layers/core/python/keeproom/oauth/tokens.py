"""Making credentials: random texts that mean nothing, kept as hashes."""

import secrets
from dataclasses import dataclass, replace

from keeproom.oauth.authorization import Authorization
from keeproom.oauth.model import (
    ACCESS,
    REFRESH,
    Change,
    Grant,
    Kind,
    Permissions,
    Token,
    hashed,
    scope_of,
)

ACCESS_PREFIX, REFRESH_PREFIX = "kr_at_", "kr_rt_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """What a client is given. `expires_in`: seconds until the access token expires."""

    access: str
    refresh: str
    scope: str
    expires_in: int


def issue(
    auth: Authorization, grant: Grant, *, parent: str, narrowed: Permissions = frozenset()
) -> tuple[Issued, Change]:
    """An access and a refresh token under the grant, as it is to be put, and what keeps all three.
    `parent`: hash of what they are given for; `narrowed`: what the access token is confined to."""
    now = auth.clock()
    access = ACCESS_PREFIX + secrets.token_urlsafe(32)
    refresh = REFRESH_PREFIX + secrets.token_urlsafe(32)
    renewed = Token(
        id=hashed(refresh),
        kind=Kind.REFRESH,
        grant_id=grant.id,
        client_id=grant.client_id,
        resource=grant.resource,
        expires=now + REFRESH,
        parent=parent,
    )
    given = replace(
        renewed, id=hashed(access), kind=Kind.ACCESS, expires=now + ACCESS, narrowed=narrowed
    )
    allowed = grant.permissions & narrowed if narrowed else grant.permissions
    issued = Issued(
        access=access,
        refresh=refresh,
        scope=scope_of(allowed),
        expires_in=int(ACCESS.total_seconds()),
    )
    return issued, Change(put=(replace(grant, expires=renewed.expires), given, renewed))


def is_ours(auth: Authorization, resource: str) -> bool:
    """Clients name the endpoint, or the origin it is found at, with or without a slash."""
    return resource.removesuffix("/") in (auth.resource, auth.issuer)
