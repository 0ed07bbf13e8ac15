"""`authorization_code`: a code becomes tokens, once."""

import re
from dataclasses import replace
from hmac import compare_digest

from keeproom.oauth.authorization import Authorization, decided
from keeproom.oauth.errors import InvalidGrant, InvalidRequest, InvalidTarget
from keeproom.oauth.grants import end
from keeproom.oauth.model import Change, Client, Code, Grant, hashed
from keeproom.oauth.parameters import Parameters
from keeproom.oauth.pkce import challenge_of
from keeproom.oauth.tokens import Issued, is_ours, issue

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_BAD = "The code is not valid, or no longer."


def exchange(auth: Authorization, client: Client, asked: Parameters) -> Issued:
    """Raises `InvalidGrant` for a code that is unknown, expired, used or another client's, or that
    a wrong verifier or redirect URI comes with. Of several at once one wins; a second use by
    somebody who has the verifier ends the grant (RFC 6749, 4.1.2)."""
    name = hashed(asked.needed("code"))
    verifier = asked.needed("code_verifier")
    if not _VERIFIER.fullmatch(verifier):
        raise InvalidRequest("code_verifier must be 43 to 128 unreserved characters.")
    if not all(is_ours(auth, one) for one in asked.resources):
        raise InvalidTarget("Tokens are given for this vault only.")

    def decide() -> Issued:
        code = _code(auth, client, name)
        _check(code, asked, verifier)
        grant = auth.grants.find(Grant, code.grant_id)
        if code.used:
            if grant is not None:
                end(auth, grant, by=grant.actor, verb="code_reused")
            raise InvalidGrant("The code was used before. What it gave is revoked.")
        if grant is None or grant.revoked or code.good_until <= auth.clock():
            raise InvalidGrant(_BAD)
        issued, change = issue(auth, grant, parent=code.id)
        used = Change(put=(*change.put, replace(code, used=True)))
        auth.grants.commit(used)
        return issued

    return decided(auth, decide)


def _code(auth: Authorization, client: Client, name: str) -> Code:
    code = auth.grants.find(Code, name)
    if code is None or code.client_id != client.id:
        raise InvalidGrant(_BAD)
    return code


def _check(code: Code, asked: Parameters, verifier: str) -> None:
    """A client that sent no redirect URI with its request need not send one now; the code goes
    nowhere else either way."""
    if asked.get("redirect_uri") not in ("", code.redirect_uri):
        raise InvalidGrant("The redirect_uri is not the one the code was sent to.")
    if not compare_digest(challenge_of(verifier), code.challenge):
        raise InvalidGrant("The code_verifier is wrong.")
