"""A client that calls an ASGI application in this process, as a server would, and a server for
what calls others."""

import asyncio
from collections.abc import AsyncIterator, Generator, Iterable, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

HERE = "http://localhost:8787"
PEER = ("127.0.0.1", 50_000)
OURS = {"Origin": HERE, "Sec-Fetch-Site": "same-origin"}  # as the vault's own page sends


class InProcess(httpx.BaseTransport):
    """Every request in an event loop of its own, so that threads may share the client. `peer`:
    who the application is told has connected."""

    def __init__(self, app: ASGIApp, *, peer: tuple[str, int] = PEER) -> None:
        self._app, self._peer = app, peer

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return asyncio.run(self._answer(request))

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        transport = httpx.ASGITransport(app=self._app, client=self._peer)
        sent = httpx.Request(
            request.method, request.url, headers=request.headers.raw, stream=_Async(request)
        )
        answer = await transport.handle_async_request(sent)
        content = await answer.aread()
        return httpx.Response(answer.status_code, headers=answer.headers.raw, content=content)


class _Async(httpx.AsyncByteStream):
    def __init__(self, request: httpx.Request) -> None:
        assert isinstance(request.stream, Iterable)
        self._parts = request.stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part


@contextmanager
def server_of(handler: type[BaseHTTPRequestHandler]) -> Generator[str]:
    """A server on this machine, each request in a thread of its own: its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def client_of(
    app: ASGIApp, *, peer: tuple[str, int] = PEER, headers: Mapping[str, str] | None = None
) -> Generator[httpx.Client]:
    """A client at the address the vault is reached at on one's own machine."""
    with httpx.Client(
        transport=InProcess(app, peer=peer), base_url=HERE, headers=headers
    ) as client:
        yield client


class Local:
    """The application as this machine reaches it, for a client that goes by other names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = [one for one in scope["headers"] if one[0] != b"host"]
            headers.append((b"host", b"localhost:8787"))
            scope = {**scope, "client": PEER, "headers": headers}
        await self._app(scope, receive, send)
