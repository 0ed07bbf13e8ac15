"""Answers for clients that are web pages: what they may read, and nothing else of this server."""

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHODS = "GET, POST, OPTIONS"
EXPOSED = "WWW-Authenticate, Mcp-Session-Id, Mcp-Protocol-Version, Retry-After"
ALLOWED = (
    "Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, "
    "Mcp-Name, Last-Event-ID"
)
_DAY = "86400"


class CrossOrigin:
    """Lets pages of any site read these paths. None of them goes by a cookie, so a page gets
    nothing that a program would not get."""

    def __init__(self, app: ASGIApp, *, paths: Collection[str]) -> None:
        self.app = app
        self.paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in self.paths:
            await self.app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        if scope["method"] == "OPTIONS" and "access-control-request-method" in asked:
            wanted = asked.get("access-control-request-headers") or ALLOWED
            leave = {
                "Access-Control-Allow-Origin": "*",
                "Access-Control-Allow-Methods": METHODS,
                "Access-Control-Allow-Headers": wanted,
                "Access-Control-Max-Age": _DAY,
                "Vary": "Access-Control-Request-Headers",
            }
            await Response(status_code=204, headers=leave)(scope, receive, send)
            return

        async def readable(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Access-Control-Allow-Origin"] = "*"
                headers["Access-Control-Expose-Headers"] = EXPOSED
                headers["Cross-Origin-Resource-Policy"] = "cross-origin"
            await send(message)

        await self.app(scope, receive, readable)
