"""Stateless Streamable HTTP at `/mcp`: who calls is checked first, then MCP begins."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

from anyio.to_thread import run_sync
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keeproom.errors import Unavailable
from keeproom.mcp.access import Guarded, browser_headers, challenge
from keeproom.mcp.body import LARGEST, Unreadable, discarded, read
from keeproom.oauth.errors import NotAuthenticated
from keeproom.oauth.model import Caller

METHODS = "POST, OPTIONS"
PATHS = ("/mcp", "/mcp/")  # and no redirect between them: it would drop the token
_CALLER = "keeproom.caller"

type Verify = Callable[[str], Caller]


def caller_of(context: ServerRequestContext[Any, Any]) -> Caller:
    """Whom the door has let in."""
    request = cast("HTTPConnection", context.request)
    return cast("Caller", request.scope[_CALLER])


class McpDoor:
    """The ASGI endpoint, at each of `PATHS`, of a server that was built with `caller_of`. `verify`:
    who has sent a token; raises `NotAuthenticated` and may block. `guarded`: whose requests are
    answered. Open while `opened` is entered; that can be done again."""

    def __init__(self, server: Server[Any], *, verify: Verify, guarded: Guarded) -> None:
        self._server, self._verify, self._guarded = server, verify, guarded
        self._security = TransportSecuritySettings(
            allowed_hosts=guarded.hosts, allowed_origins=guarded.origins
        )
        self._inside: ASGIApp | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """With a session manager of its own: each runs only once."""
        manager = StreamableHTTPSessionManager(
            self._server,
            stateless=True,
            json_response=True,
            security_settings=self._security,
            max_request_body_size=LARGEST,
        )
        async with manager.run():
            self._inside = manager.asgi_app
            try:
                yield
            finally:
                self._inside = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        send = partial(_sent, send, browser_headers(headers, self._guarded))
        if scope["method"] == "OPTIONS":
            await Response(status_code=204, headers={"Allow": METHODS})(scope, receive, send)
            return
        try:
            caller = await self._caller(headers)
        except NotAuthenticated as error:
            await discarded(receive)
            told = error.code if "authorization" in headers else ""
            await challenge(told, str(error), self._guarded)(scope, receive, send)
        except Unavailable:
            await discarded(receive)
            await _refusal(503, "Try again.", {"Retry-After": "2"})(scope, receive, send)
        else:
            await self._answer({**scope, _CALLER: caller}, receive, send)

    async def _caller(self, headers: Headers) -> Caller:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise NotAuthenticated("Send an access token.")
        return await run_sync(self._verify, token.strip())

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A GET must not go in: it would be answered by a stream without an end."""
        if scope["method"] != "POST":
            await discarded(receive)
            await _refusal(405, "Use POST.", {"Allow": METHODS})(scope, receive, send)
            return
        if self._inside is None:
            raise RuntimeError("The door is not open.")
        try:
            scope, body = await read(scope, receive)
        except Unreadable as error:
            await _refusal(error.status, str(error))(scope, receive, send)
            return
        await self._inside(scope, _replayed(body, receive), send)


def _replayed(body: bytes, receive: Receive) -> Receive:
    told = False

    async def once() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once


async def _sent(send: Send, more: list[tuple[bytes, bytes]], message: Message) -> None:
    if message["type"] == "http.response.start":
        message = {**message, "headers": [*message.get("headers", ()), *more]}
    await send(message)


def _refusal(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    error = {"code": -32600, "message": message}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status, headers=headers)
