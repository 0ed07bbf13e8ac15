"""The owner is asked, and decides: a request waits as pending, and becomes a code or a refusal."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hmac import compare_digest

from keeproom.oauth.authorization import Authorization, decided
from keeproom.oauth.clients import resolved
from keeproom.oauth.errors import (
    AccessDenied,
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
    OAuthError,
    UnsupportedResponseType,
)
from keeproom.oauth.limits import limited
from keeproom.oauth.model import (
    ACCESS,
    ALL,
    CODE,
    PENDING,
    SCOPES,
    Change,
    Client,
    Code,
    Grant,
    Pending,
    Permissions,
    has_expired,
    hashed,
)
from keeproom.oauth.parameters import Parameters
from keeproom.oauth.redirects import destination, matches, with_query
from keeproom.oauth.tokens import is_ours

MOST_PENDING = 300  # in ten minutes: more than one person can look at
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class Waiting:
    """The request is sound, and the owner is to be asked. `transaction`: what the decision must
    name; it is told to nobody else."""

    transaction: str
    pending: Pending
    client: Client


@dataclass(frozen=True, slots=True)
class SentBack:
    """The browser goes to the client with an answer."""

    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """What the owner allows."""

    vault: str
    permissions: Permissions


def ask(auth: Authorization, asked: Parameters, *, browser: str) -> Waiting | SentBack:
    """Check what an app asks for. `browser`: a secret that only the owner's browser holds. Raises
    `OAuthError` for the owner's eyes alone while it is not sure where an answer may go, and answers
    `SentBack` from then on."""
    client = resolved(auth, asked.needed("client_id"))
    redirect_uri = _redirect_uri(client, asked)
    state = asked.get("state") or None
    try:
        permissions = _checked(auth, asked)
    except OAuthError as error:
        return SentBack(_refusal(auth, redirect_uri, state, error))
    limited(auth, "ask", most=MOST_PENDING, within=PENDING)
    transaction = secrets.token_urlsafe(32)
    pending = Pending(
        id=hashed(transaction),
        browser=hashed(browser),
        client_id=client.id,
        redirect_uri=redirect_uri,
        explicit=bool(asked.get("redirect_uri")),
        state=state,
        challenge=asked.get("code_challenge"),
        asked=permissions,
        resource=auth.resource,
        expires=auth.clock() + PENDING,
    )
    auth.grants.commit(Change(put=(pending,)))
    return Waiting(transaction, pending, client)


def _redirect_uri(client: Client, asked: Parameters) -> str:
    named = asked.get("redirect_uri")
    if not named and len(client.redirect_uris) == 1:
        return client.redirect_uris[0]
    if not matches(named, client.redirect_uris):
        raise InvalidRequest("The redirect_uri is not one that this app has registered.")
    return named


def _checked(auth: Authorization, asked: Parameters) -> Permissions:
    """The permissions asked for."""
    if asked.get("response_type") != "code":
        raise UnsupportedResponseType("response_type must be code.")
    if asked.get("response_mode") not in ("", "query"):
        raise InvalidRequest("response_mode must be query.")
    if asked.get("code_challenge_method") != "S256":
        raise InvalidRequest("PKCE is required: code_challenge_method must be S256.")
    if not _CHALLENGE.fullmatch(asked.get("code_challenge")):
        raise InvalidRequest("code_challenge must be a SHA-256 in base64url.")
    if not all(is_ours(auth, one) for one in asked.resources):
        raise InvalidTarget("Tokens are given for this vault only.")
    return permissions_of(asked.get("scope"))


def permissions_of(scope: str) -> Permissions:
    """All when nothing is asked for; words we do not know are left out. Raises `InvalidScope` when
    nothing is left."""
    words = scope.split()
    found = frozenset(SCOPES[word] for word in words if word in SCOPES)
    if words and not found:
        raise InvalidScope(f"The scopes here are {' '.join(SCOPES)}.")
    return found or ALL


def approve(
    auth: Authorization, transaction: str, approval: Approval, *, browser: str, by: str
) -> SentBack:
    """Let the app in: its grant is made, and its code is on the way. Once only. Raises
    `InvalidRequest` when the request is unknown, expired, decided already or another browser's, and
    `InvalidScope`, with the request still waiting, when nothing is allowed."""
    code = secrets.token_urlsafe(32)

    def decide() -> SentBack:
        pending, client = _waiting(auth, transaction, browser)
        permissions = approval.permissions & pending.asked
        if not permissions:
            raise InvalidScope("Allow at least one thing, or deny.")
        auth.grants.commit(
            _admission(auth, pending, client, replace(approval, permissions=permissions), code, by)
        )
        return SentBack(_answer(auth, pending.redirect_uri, pending.state, {"code": code}))

    return decided(auth, decide)


def _admission(
    auth: Authorization,
    pending: Pending,
    client: Client,
    approval: Approval,
    code: str,
    by: str,
) -> Change:
    now = auth.clock()
    kept = Code(
        id=hashed(code),
        grant_id=auth.new_id("grt"),
        client_id=client.id,
        redirect_uri=pending.redirect_uri,
        explicit=pending.explicit,
        challenge=pending.challenge,
        resource=pending.resource,
        good_until=now + CODE,
        expires=now + ACCESS,
    )
    grant = Grant(
        id=kept.grant_id,
        client_id=client.id,
        client_name=client.name,
        verified_by=client.verified_by,
        redirect_host=destination(pending.redirect_uri).host,
        vault=approval.vault,
        permissions=approval.permissions,
        resource=pending.resource,
        created=now,
        expires=kept.good_until,
        anchor=kept.id,
    )
    return Change(
        put=(kept, grant, replace(client, expires=None)),
        drop=(pending,),
        entry=auth.audit("approve", client.id, by=by, grant=grant.id),
    )


def deny(auth: Authorization, transaction: str, *, browser: str, by: str) -> SentBack:
    """Tell the app that the owner said no. Once only. Raises `InvalidRequest` as `approve` does."""

    def decide() -> SentBack:
        pending, client = _waiting(auth, transaction, browser)
        auth.grants.commit(Change(drop=(pending,), entry=auth.audit("deny", client.id, by=by)))
        error = AccessDenied("The owner said no.")
        return SentBack(_refusal(auth, pending.redirect_uri, pending.state, error))

    return decided(auth, decide)


def waiting(auth: Authorization, transaction: str, *, browser: str) -> Waiting:
    """The request once more, for a page that is shown again. Raises `InvalidRequest`."""
    return Waiting(transaction, *_waiting(auth, transaction, browser))


def _waiting(auth: Authorization, transaction: str, browser: str) -> tuple[Pending, Client]:
    pending = auth.grants.find(Pending, hashed(transaction))
    if pending is None or has_expired(pending, auth.clock()):
        raise InvalidRequest("This request has expired, or it was decided already.")
    if not compare_digest(pending.browser, hashed(browser)):
        raise InvalidRequest("This request was not shown in this browser.")
    client = auth.grants.find(Client, pending.client_id)
    if client is None:
        raise InvalidRequest("This app is no longer registered. Start again in the app.")
    return pending, client


def _refusal(auth: Authorization, uri: str, state: str | None, error: OAuthError) -> str:
    return _answer(auth, uri, state, {"error": error.code, "error_description": str(error)})


def _answer(auth: Authorization, uri: str, state: str | None, parameters: Mapping[str, str]) -> str:
    """With `iss` on success and on error (RFC 9207)."""
    return with_query(uri, {**parameters, "state": state, "iss": auth.issuer})
