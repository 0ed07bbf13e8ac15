"""An application that tells what has reached it, and sets two cookies."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from keeproom.aws.lambda_asgi import lambda_handler

opened: list[str] = []


@asynccontextmanager
async def _running(_: Starlette) -> AsyncGenerator[None]:
    opened.append("opened")
    yield
    opened.append("closed")


async def _echo(request: Request) -> JSONResponse:
    told = JSONResponse(
        {
            "path": request.url.path,
            "query": request.query_params.multi_items(),
            "cookies": request.cookies,
            "body": (await request.body()).hex(),
            "client": request.client and request.client.host,
            "scheme": request.url.scheme,
            "opened": opened,
        }
    )
    told.set_cookie("one", "1")
    told.set_cookie("two", "2", secure=True, httponly=True, samesite="lax")
    return told


_app = Starlette(routes=[Route("/{rest:path}", _echo, methods=["GET", "POST"])], lifespan=_running)
handler = lambda_handler(_app, _app.router.lifespan_context(_app))
