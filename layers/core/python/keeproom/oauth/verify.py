"""Who is calling: an access token becomes the app the owner let in."""

from keeproom.oauth.authorization import Authorization
from keeproom.oauth.errors import NotAuthenticated
from keeproom.oauth.model import Caller, Credential, Kind, has_expired, hashed
from keeproom.oauth.uses import failed, used

_SENTENCES = {
    "revoked": "The owner has revoked this access. Sign in again.",
    "expired": "The access token has expired. Refresh it.",
    "wrong_resource": "The access token is for another resource.",
}


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
    used(auth, found.use)
    grant, narrowed = found.grant, found.token.narrowed
    return Caller(
        client_id=grant.client_id,
        client_name=grant.client_name,
        grant_id=grant.id,
        vault=grant.vault,
        permissions=grant.permissions & narrowed if narrowed else grant.permissions,
    )


def _refusal(auth: Authorization, found: Credential) -> str:
    """In one word, empty when there is none."""
    if found.grant.revoked:
        return "revoked"
    if has_expired(found.token, auth.clock()):
        return "expired"
    return "" if found.token.resource == auth.resource else "wrong_resource"
