"""The owner in a browser that has signed in."""

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from keeproom.api import cookies
from keeproom.api.origins import (
    SAFE,
    came_by_link,
    no_other_site,
    origin_of,
    same_origin,
    shows_origin,
)
from keeproom.api.owner import Owner, TurnedAway, Verdict, Why
from keeproom.oauth.sessions import session_of
from keeproom.oauth.sign_in import SignIn

_OTHERS = TurnedAway("Pages of other sites may not use this vault.")
_SIGN_IN = TurnedAway("Sign in first.", Why.NOT_SIGNED_IN)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOwner:
    """Goes by the session cookie, which a browser also sends with what another page makes it send.
    So whatever changes something must show that it comes from a page of ours; reading must not show
    that it comes from another. The owner's address must still be allowed, and be vouched for by the
    provider of today."""

    sign_in: SignIn

    def calls(self, request: HTTPConnection) -> Verdict:
        if not cookies.session(request):
            return _SIGN_IN
        own = origin_of(self.sign_in.auth.issuer)
        ours = same_origin(request, own) and no_other_site(request)
        if not ours or not (request.scope["method"] in SAFE or shows_origin(request)):
            return _OTHERS
        return self._verdict(request)

    def visits(self, request: HTTPConnection) -> Verdict:
        own = origin_of(self.sign_in.auth.issuer)
        ours = same_origin(request, own) and no_other_site(request)
        return self._verdict(request) if ours or came_by_link(request) else _OTHERS

    def scripts(self, request: HTTPConnection) -> TurnedAway | None:
        return None

    def _verdict(self, request: HTTPConnection) -> Verdict:
        session = session_of(self.sign_in.auth, cookies.session(request))
        if session is None or session.issuer != self.sign_in.provider.issuer:
            return _SIGN_IN
        if not self.sign_in.lets_in(session.address):
            return _SIGN_IN
        return Owner(address=session.address)
