"""What every answer carries."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ALWAYS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
HSTS = "max-age=31536000"


class SecurityHeaders:
    """Nothing is framed, sniffed, cached or told to other sites. `hsts`: reached by HTTPS only,
    from now on; never sent on a loopback address, which other programs share."""

    def __init__(self, app: ASGIApp, *, hsts: bool) -> None:
        self.app = app
        self.added = {**ALWAYS, "Strict-Transport-Security": HSTS} if hsts else ALWAYS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.added.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, headed)


class HeadAsGet:
    """HEAD is GET without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def bodiless(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        if scope["type"] == "http" and scope["method"] == "HEAD":
            # A copy: the server goes by the method it has read.
            await self.app({**scope, "method": "GET"}, receive, bodiless)
        else:
            await self.app(scope, receive, send)
