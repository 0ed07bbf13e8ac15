"""Who may use `/api`: the owner. On one's own machine that is whoever sits at it."""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Protocol, cast
from urllib.parse import urlsplit

from fastapi import Depends
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from keeproom.api.problem import problem
from keeproom.vault.model import OWNER, Actor

_LOOPBACK_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_FROM_HERE = {"same-origin", "none"}  # `none`: typed into the address line
_PASSED_ON = ("forwarded", "x-forwarded-for", "x-forwarded-host")


class OwnerDoor(Protocol):
    """How the owner is recognised."""

    def refusal(self, request: HTTPConnection) -> str:
        """Why this request is not the owner's, in a sentence; empty when it is."""
        ...

    def visit_refusal(self, request: HTTPConnection) -> str:
        """The same for a page that a link anywhere may lead to, and that changes nothing by being
        shown."""
        ...

    def name(self, request: HTTPConnection) -> str:
        """The address the owner is signed in as."""
        ...


def is_loopback_url(url: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return bool(_LOOPBACK_HOST.fullmatch(urlsplit(url).netloc))
    except ValueError:
        return False


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

    def refusal(self, request: HTTPConnection) -> str:
        return self._refusal(request, _RULES)

    def visit_refusal(self, request: HTTPConnection) -> str:
        return self._refusal(request, _VISIT_RULES)

    def name(self, request: HTTPConnection) -> str:
        return self.address

    def _refusal(self, request: HTTPConnection, rules: "_Rules") -> str:
        if not self.address or (self.public_url and not is_loopback_url(self.public_url)):
            return "Signing in is not set up, and the local owner is for loopback addresses only."
        return next((why for ours, why in rules if not ours(request)), "")


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
    return len(hosts) == 1 and bool(_LOOPBACK_HOST.fullmatch(hosts[0]))


def _same_origin(request: HTTPConnection) -> bool:
    own = f"{request.scope['scheme']}://{request.headers['host']}".lower()
    return all(origin.lower() == own for origin in request.headers.getlist("origin"))


def _no_other_site(request: HTTPConnection) -> bool:
    return set(request.headers.getlist("sec-fetch-site")) <= _FROM_HERE


def _came_by_link(request: HTTPConnection) -> bool:
    """The browser's own window went there, so that no other page can read what it shows. A browser
    that says nothing of this is old, or a program."""
    headers = request.headers
    window = headers.getlist("sec-fetch-mode") == ["navigate"]
    return window and headers.getlist("sec-fetch-dest") == ["document"]


def _window_or_own(request: HTTPConnection) -> bool:
    return _came_by_link(request) or (_same_origin(request) and _no_other_site(request))


type _Rules = tuple[tuple[Callable[[HTTPConnection], bool], str], ...]

_OTHERS = "Pages of other sites may not use this vault."
_HERE: _Rules = (
    (_from_this_machine, "The local owner is signed in on this machine only."),
    (_not_passed_on, "The local owner is not signed in through a proxy or tunnel."),
    (_for_loopback, "Use http://localhost, http://127.0.0.1 or http://[::1] as the address."),
)
_RULES: _Rules = (*_HERE, (_same_origin, _OTHERS), (_no_other_site, _OTHERS))
_VISIT_RULES: _Rules = (*_HERE, (_window_or_own, _OTHERS))


class OwnerGate:
    """Lets only the owner reach `/api`, whatever is there and whatever the method."""

    def __init__(self, app: ASGIApp, *, door: OwnerDoor) -> None:
        self.app = app
        self.door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_guarded(scope):
            why = self.door.refusal(HTTPConnection(scope))
            if why:
                await problem(403, code="forbidden", message=why)(scope, receive, send)
                return
            scope.setdefault("state", {})["actor"] = OWNER
        await self.app(scope, receive, send)


def _is_guarded(scope: Scope) -> bool:
    """By the path as routes see it."""
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    return path == "/api" or path.startswith("/api/")


async def signed_in(connection: HTTPConnection) -> Actor:
    """Who the gate has let in."""
    return cast("Actor", connection.state.actor)


Signed = Annotated[Actor, Depends(signed_in)]
