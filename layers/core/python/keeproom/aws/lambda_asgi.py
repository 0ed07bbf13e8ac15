"""An application as a function behind an HTTP API (payload version 2.0)."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from mangum import Mangum
from mangum.types import ASGI

from keeproom.aws.watched import Handler, watched

_REQUEST_ID = "requestContext.requestId"


@dataclass(frozen=True, slots=True)
class _Container:
    """`running`: kept, since a context manager that is collected closes what it has opened."""

    answer: Mangum
    running: AbstractAsyncContextManager[Any]

    def __call__(self, event: Any, context: Any) -> Any:  # noqa: ANN401  JSON in, JSON out
        return self.answer(event, context)


def lambda_handler(app: ASGI, running: AbstractAsyncContextManager[Any]) -> Handler:
    """`running`: what the application lives in, entered once for the container's life. Mangum would
    enter and leave it with every event, and what speaks MCP can be entered only once."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # the one that Mangum finds
    loop.run_until_complete(running.__aenter__())
    container = _Container(Mangum(app, lifespan="off"), running)
    return watched(container.__call__, correlation=_REQUEST_ID)
