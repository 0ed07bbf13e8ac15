"""The owner on one's own machine: whoever sits at it."""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from keeproom.api.origins import came_by_link, no_other_site, same_origin
from keeproom.api.owner import LOOPBACK_HOST, Owner, TurnedAway, Verdict, is_loopback_url

_PASSED_ON = ("forwarded", "x-forwarded-for", "x-forwarded-host")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOwner:
    """Takes every request from this machine for the owner's, if no web page of another site can
    have sent it. Signs nobody in without an `address` to sign in as, or where `public_url` names
    anything but this machine.

    A page elsewhere shows itself by `Origin` (every browser sends it with a POST, and the API
    never allows another one by CORS) or `Sec-Fetch-Site`; one whose name was rebound to this
    machine's address shows itself by `Host`; a tunnel that makes this machine public shows itself
    by what it forwards."""

    address: str
    public_url: str = ""

    def calls(self, request: HTTPConnection) -> Verdict:
        return self._verdict(request, _RULES)

    def visits(self, request: HTTPConnection) -> Verdict:
        return self._verdict(request, _VISIT_RULES)

    def scripts(self, request: HTTPConnection) -> TurnedAway | None:
        verdict = self.calls(request)
        return verdict if isinstance(verdict, TurnedAway) else None

    def _verdict(self, request: HTTPConnection, rules: "_Rules") -> Verdict:
        if not self.address or (self.public_url and not is_loopback_url(self.public_url)):
            return TurnedAway(
                "Signing in is not set up, and the local owner is for loopback addresses only."
            )
        why = next((why for ours, why in rules if not ours(request)), "")
        return TurnedAway(why) if why else Owner(address=self.address)


def _from_this_machine(request: HTTPConnection) -> bool:
    try:
        address = ipaddress.ip_address(request.client.host if request.client else "")
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _not_passed_on(request: HTTPConnection) -> bool:
    return not any(name in request.headers for name in _PASSED_ON)


def _for_loopback(request: HTTPConnection) -> bool:
    hosts = request.headers.getlist("host")
    return len(hosts) == 1 and bool(LOOPBACK_HOST.fullmatch(hosts[0]))


def _same_origin(request: HTTPConnection) -> bool:
    return same_origin(request, f"{request.scope['scheme']}://{request.headers['host']}".lower())


def _window_or_own(request: HTTPConnection) -> bool:
    return came_by_link(request) or (_same_origin(request) and no_other_site(request))


type _Rules = tuple[tuple[Callable[[HTTPConnection], bool], str], ...]

_OTHERS = "Pages of other sites may not use this vault."
_HERE: _Rules = (
    (_from_this_machine, "The local owner is signed in on this machine only."),
    (_not_passed_on, "The local owner is not signed in through a proxy or tunnel."),
    (_for_loopback, "Use http://localhost, http://127.0.0.1 or http://[::1] as the address."),
)
_RULES: _Rules = (*_HERE, (_same_origin, _OTHERS), (no_other_site, _OTHERS))
_VISIT_RULES: _Rules = (*_HERE, (_window_or_own, _OTHERS))
