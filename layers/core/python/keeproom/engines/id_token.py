"""What a provider says of a person, if it is the provider who says it, to us, now."""

from collections.abc import Mapping
from hmac import compare_digest
from typing import Any

import jwt
from jwt.exceptions import PyJWTError

from keeproom.engines.signing_keys import ALGORITHMS, NoKey, SigningKeys
from keeproom.oauth.errors import SignInFailed

SKEW = 300  # seconds that two clocks may differ
_NEEDED = ["iss", "sub", "aud", "exp", "iat"]


def claims_of(
    token: str, *, keys: SigningKeys, issuer: str, client_id: str, nonce: str
) -> Mapping[str, Any]:
    """The claims of an ID token whose signature, issuer, audience, times, use and nonce are right.
    Raises `SignInFailed`, which does not say what was in it, and `Unavailable`."""
    try:
        header = jwt.get_unverified_header(token)
        key = keys.named(str(header.get("kid", "")), str(header.get("alg", "")))
        claims = jwt.decode(
            token,
            key,
            algorithms=sorted(ALGORITHMS),
            audience=client_id,
            issuer=issuer,
            leeway=SKEW,
            options={"require": _NEEDED, "enforce_minimum_key_length": True},
        )
    except (PyJWTError, NoKey) as error:
        raise _unsound() from error
    if not _is_ours(claims, client_id, nonce):
        raise _unsound()
    return claims


def _is_ours(claims: Mapping[str, Any], client_id: str, nonce: str) -> bool:
    """Made for this sign-in of this client. `token_use` is Cognito's: its tokens for other uses are
    signed with keys of the same set."""
    audience, party = claims["aud"], claims.get("azp")
    alone = audience == client_id or audience == [client_id]
    return (
        claims.get("token_use", "id") == "id"
        and (party == client_id or (alone and party is None))
        and compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode())
    )


def _unsound() -> SignInFailed:
    return SignInFailed("What the sign-in service answered cannot be trusted.", reason="bad_token")
