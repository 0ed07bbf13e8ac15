"""How much one request may bring."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keeproom.api.problem import problem
from keeproom.errors import TooLarge

LARGEST_BODY = 4_500_000  # bytes: what AWS Lambda takes of a body, which reaches it as base64
# A client that is still sending when the connection closes never reads the answer.
DISCARDED = 64_000_000


class BodyLimit:
    """A larger body is answered with 413. It is never held: what still arrives is thrown away."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, taken = Headers(scope=scope), 0
        announced = headers.get("content-length", "0")
        if not announced.isascii() or not announced.isdigit():
            await problem(400, code="invalid", message="Content-Length must be a number.")(
                scope, receive, send
            )
            return
        if len(announced) > 12 or int(announced) > LARGEST_BODY:
            if "expect" not in headers:
                await _discard(receive)
            await _too_large()(scope, receive, send)
            return

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST_BODY:
                if message.get("more_body"):
                    await _discard(receive)
                raise HTTPException(413)
            return message

        await self.app(scope, counted, send)


async def _discard(receive: Receive) -> None:
    gone = 0
    while gone < DISCARDED:
        message = await receive()
        gone += len(message.get("body", b""))
        if not message.get("more_body"):
            return


def _too_large() -> ASGIApp:
    return problem(
        413,
        code=TooLarge.code,
        message=f"The body is larger than {LARGEST_BODY:,} bytes. Send it in parts.",
    )
