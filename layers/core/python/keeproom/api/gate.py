"""What stands before every route: only the owner passes, except to what anybody may ask."""

from typing import cast
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from keeproom.api import scopes
from keeproom.api.errors import answer_of, problem
from keeproom.api.owner import Owner, OwnerDoor, TurnedAway, Verdict, Why
from keeproom.errors import VaultError
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.errors import NotAuthenticated
from keeproom.oauth.service_tokens import script_of
from keeproom.vault.model import Actor

# `/authorize` and `/auth/` ask the door themselves: they answer with pages. `/mcp` asks for tokens.
PUBLIC = {
    "/authorize", "/connect", "/health", "/mcp", "/mcp/", "/register", "/revoke", "/token",
}  # fmt: skip
_PUBLIC_BELOW = ("/.well-known/", "/auth/")
_STATUS = {
    Why.FORBIDDEN: 403,
    Why.NOT_SIGNED_IN: 401,
    Why.BAD_TOKEN: 401,
    Why.INSUFFICIENT_SCOPE: 403,
}
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="keeproom"'}


class OwnerGate:
    """Whatever is behind it, whatever the method."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_public(path_of(scope)):
            await self.app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        try:
            verdict = await run_in_threadpool(_verdict, request)
        except VaultError as error:
            await answer_of(error)(scope, receive, send)
            return
        if isinstance(verdict, TurnedAway):
            await _turned_away(request, verdict)(scope, receive, send)
            return
        scope.setdefault("state", {}).update(actor=verdict.actor, owner=verdict)
        await self.app(scope, receive, send)


def path_of(scope: Scope) -> str:
    """As routes see it."""
    return scope["path"].removeprefix(scope.get("root_path", ""))


def is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith(_PUBLIC_BELOW)


def _is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


def _verdict(request: HTTPConnection) -> Verdict:
    door, path = cast("OwnerDoor", request.app.state.door), path_of(request.scope)
    if not _is_api(path):
        is_visit = request.scope["method"] == "GET"
        return door.visits(request) if is_visit else door.calls(request)
    header = request.headers.get("authorization", "")
    kind, _, text = header.partition(" ")
    if kind.lower() != "bearer":
        return door.calls(request)
    return door.scripts(request) or _script(request, path, text.strip())


def _script(request: HTTPConnection, path: str, text: str) -> Verdict:
    auth = cast("Authorization | None", request.app.state.authorization)
    if auth is None:
        return TurnedAway("There are no service tokens here.", Why.BAD_TOKEN)
    try:
        token = script_of(auth, text)
    except NotAuthenticated as error:
        return TurnedAway(str(error), Why.BAD_TOKEN)
    wanted = scopes.needed(request.scope["method"], path)
    if wanted is None:
        return TurnedAway("Only the owner in person may do this.", Why.INSUFFICIENT_SCOPE)
    if not scopes.suffices(token.scopes, wanted):
        names = " and ".join(sorted(wanted))
        return TurnedAway(f"This needs a token with the scope {names}.", Why.INSUFFICIENT_SCOPE)
    return Owner(actor=Actor(token.actor, grant=token.id))


def _turned_away(request: HTTPConnection, verdict: TurnedAway) -> Response:
    if verdict.why is Why.NOT_SIGNED_IN and _is_visit(request):
        return RedirectResponse(login_address(request), 302)
    status = _STATUS[verdict.why]
    headers = _CHALLENGE if status == 401 else None
    return problem(status, code=verdict.why, message=verdict.sentence, headers=headers)


def _is_visit(request: HTTPConnection) -> bool:
    """A person's window, which can be sent on to sign in; not the data of a page."""
    is_page = "text/html" in request.headers.get("accept", "")
    is_get = request.scope["method"] == "GET"
    return is_get and is_page and not _is_api(path_of(request.scope))


def login_address(request: HTTPConnection) -> str:
    """Where to sign in, and come back here from."""
    back = quote(request.url.path, safe="/:@!$&'()*+,;=~")
    back += f"?{request.url.query}" if request.url.query else ""
    return f"/auth/login?back={quote(back, safe='/')}"
