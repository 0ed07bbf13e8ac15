"""Which client is at the token endpoint, and whether it can prove it."""

import base64
import binascii
from dataclasses import dataclass
from hmac import compare_digest
from urllib.parse import unquote

from keeproom.oauth.authorization import Authorization
from keeproom.oauth.clients import known
from keeproom.oauth.errors import InvalidClient, InvalidRequest
from keeproom.oauth.model import AuthMethod, Client, hashed
from keeproom.oauth.parameters import Parameters


@dataclass(frozen=True, slots=True)
class _Presented:
    client_id: str
    secret: str


def authenticate(auth: Authorization, header: str, asked: Parameters) -> Client:
    """`header`: the request's `Authorization`, empty for none. A client with a secret may send it
    either way, whichever it registered. Raises `InvalidClient` and `InvalidRequest`."""
    presented = _presented(header, asked)
    client = known(auth, presented.client_id)
    if client.auth_method is AuthMethod.NONE:
        return client
    if not presented.secret or not compare_digest(hashed(presented.secret), client.secret_hash):
        raise InvalidClient("The client secret is missing or wrong.")
    return client


def _presented(header: str, asked: Parameters) -> _Presented:
    scheme, _, credentials = header.partition(" ")
    if scheme.lower() != "basic":
        if not asked.get("client_id"):
            raise InvalidClient("client_id is missing.")
        return _Presented(asked.get("client_id"), asked.get("client_secret"))
    basic = _decoded(credentials)
    if asked.get("client_id") not in ("", basic.client_id):
        raise InvalidRequest("Header and body name different clients.")
    if asked.get("client_secret") not in ("", basic.secret):
        raise InvalidRequest("Header and body hold different secrets.")
    return basic


def _decoded(credentials: str) -> _Presented:
    """Both halves are percent-encoded (RFC 6749, 2.3.1)."""
    try:
        text = base64.b64decode(credentials.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        raise InvalidClient("The Basic credentials cannot be read.") from None
    name, colon, secret = text.partition(":")
    if not colon:
        raise InvalidClient("The Basic credentials cannot be read.")
    return _Presented(unquote(name), unquote(secret))
