"""One line a request in the log, and no failure that tells more than that it happened."""

import logging
import secrets
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keeproom.api.problem import problem
from keeproom.errors import place_of

log = logging.getLogger("keeproom.access")


class AccessLog:
    """Logs method, route, status and milliseconds: never a query or a body. An error nobody
    expected is answered with its request's id, and logged by its type and place alone, since its
    message may hold what was sent."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id, status, begun = secrets.token_hex(8), 0, time.monotonic()

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"keeproom-request-id", request_id.encode()),
                ]
            await send(message)

        try:
            await self.app(scope, receive, seen)
        except Exception as error:  # noqa: BLE001  the last resort of this door
            log.error(
                "failed request=%s error=%s at=%s",
                request_id, type(error).__name__, place_of(error),
            )  # fmt: skip
            if not status:
                message = f"Something went wrong here. The log names request {request_id}."
                await problem(500, code="internal", message=message)(scope, receive, seen)
        took = 1000 * (time.monotonic() - begun)
        log.info(
            "request=%s method=%s route=%s status=%d ms=%.0f",
            request_id, scope["method"], _route(scope), status, took,
            extra={"event": "request", "status": status, "ms": round(took)},
        )  # fmt: skip


def _route(scope: Scope) -> str:
    """As it is declared: `/api/memories/{id}`."""
    return getattr(scope.get("route"), "path", "-")
