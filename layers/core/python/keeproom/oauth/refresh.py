"""`refresh_token`: tokens are renewed, and a stolen one shows.

Every refresh token has children: the ones it was exchanged for. The token used last is the grant's
anchor. The anchor is good, so that a client whose answer was lost may ask again, and each of its
children is. The first child to be used becomes the anchor: from then on neither its parent nor its
siblings are good. A sibling is refused, since two processes of one app may have asked at once;
anything older has been copied, or is a backup, and ends the grant (OAuth 2.1, 4.3.1).
"""

from dataclasses import replace

from keeproom.oauth.authorization import Authorization, decided
from keeproom.oauth.authorize import permissions_of
from keeproom.oauth.errors import InvalidGrant, InvalidScope, InvalidTarget
from keeproom.oauth.grants import end
from keeproom.oauth.model import (
    Client,
    Grant,
    Kind,
    Permission,
    Token,
    Use,
    has_expired,
    hashed,
)
from keeproom.oauth.parameters import Parameters
from keeproom.oauth.tokens import Issued, is_ours, issue
from keeproom.oauth.uses import failed

_BAD = "The refresh token is not valid, or no longer. Sign in again."


def refresh(auth: Authorization, client: Client, asked: Parameters) -> Issued:
    """Raises `InvalidGrant` for a token that is unknown, expired, revoked, replaced or another
    client's, `InvalidScope` and `InvalidTarget`."""
    name = hashed(asked.needed("refresh_token"))
    if not all(is_ours(auth, one) for one in asked.resources):
        raise InvalidTarget("Tokens are given for this vault only.")
    wanted = permissions_of(asked.get("scope"))

    def decide() -> Issued:
        token = auth.grants.find(Token, name)
        if token is None or (token.kind, token.client_id) != (Kind.REFRESH, client.id):
            raise InvalidGrant(_BAD)
        grant = auth.grants.find(Grant, token.grant_id)
        if grant is None or grant.revoked or has_expired(token, auth.clock()):
            raise _refused(auth, token, "refresh_refused")
        if grant.anchor not in (token.id, token.parent):
            if not _is_sibling(auth, token, grant.anchor):
                end(auth, grant, by=grant.actor, verb="refresh_reused")
            raise _refused(auth, token, "refresh_reused")
        if not wanted & grant.permissions:
            raise InvalidScope("Nothing of that was allowed.")
        narrowed = frozenset[Permission]() if wanted >= grant.permissions else wanted
        issued, change = issue(
            auth, replace(grant, anchor=token.id), parent=token.id, narrowed=narrowed
        )
        auth.grants.commit(change)
        return issued

    return decided(auth, decide)


def _is_sibling(auth: Authorization, token: Token, anchor: str) -> bool:
    used = auth.grants.find(Token, anchor)
    return used is not None and used.parent == token.parent


def _refused(auth: Authorization, token: Token, reason: str) -> InvalidGrant:
    """The error, when it has been counted."""
    failed(auth, auth.grants.find(Use, token.grant_id) or Use(id=token.grant_id), reason)
    return InvalidGrant(_BAD)
