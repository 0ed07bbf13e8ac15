"""`keeproom serve`: every door on one machine."""

import logging
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from keeproom import compose
from keeproom.cli.terminal import app, say
from keeproom.cli.upkeep import clean_up
from keeproom.errors import Unavailable
from keeproom.local.queue import Worker
from keeproom.oauth.authorization import Authorization
from keeproom.settings import Settings, read_settings

Port = Annotated[
    int | None,
    typer.Option(help="Port on localhost, 0 for any. Default: PORT, or 8787.", min=0, max=65535),
]


@app.command()
def serve(port: Port = None) -> None:
    """Run the vault on http://localhost:8787 until Ctrl-C."""
    settings = read_settings(**({} if port is None else {"PORT": port}))
    logging.getLogger("keeproom").setLevel(logging.INFO)
    with _listening(settings.port) as listener, compose.local(settings) as composed:
        address = settings.public_url or f"http://localhost:{listener.getsockname()[1]}"
        with compose.local_authorization(settings, address) as authorization:
            _serve(settings, composed, authorization, listener)


def _listening(port: int) -> socket.socket:
    """Taken before anything else is done, so that a taken port is a plain sentence."""
    listener = socket.socket(socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)  # who comes before the doors are open waits
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"Port {port} cannot be used ({error.strerror}). Is the vault running already? "
            "Choose another with --port or PORT."
        ) from error
    return listener


def _serve(
    settings: Settings,
    composed: compose.Composed,
    authorization: Authorization,
    listener: socket.socket,
) -> None:
    # Here, because no other command needs a web server, and it takes half a second to load.
    import uvicorn  # noqa: PLC0415

    from keeproom import doors  # noqa: PLC0415

    sign_in = compose.local_sign_in(settings, authorization)
    worker = Worker(
        composed.vault,
        prepare=composed.prepare,
        upkeep=lambda: clean_up(composed.vault, authorization),
    )
    port = listener.getsockname()[1]

    @asynccontextmanager
    async def running() -> AsyncGenerator[None]:
        worker.start()
        say(_welcome(port, composed, agents=f"{authorization.issuer}/mcp"))
        try:
            yield
        finally:
            worker.stop()

    door = doors.application(
        composed.vault,
        authorization,
        owner=settings.dev_owner_email,
        public_url=settings.public_url,
        sign_in=sign_in,
        wake=worker.wake,
        running=running,
    )
    config = uvicorn.Config(
        door, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=5
    )
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:  # uvicorn passes on the signal it has stopped for
        return


def _welcome(port: int, composed: compose.Composed, *, agents: str) -> str:
    address = f"http://localhost:{port}"
    return "\n".join(
        (
            f"Your vault is open at {address} (data in {composed.place}). Ctrl-C closes it.",
            f"  Is it well?     curl {address}/health",
            f"  Claude Code     claude mcp add --transport http keeproom {agents}"
            " && claude mcp login keeproom",
            f"  Codex           codex mcp add keeproom --url {agents}",
            "  Bring in what you have:  keeproom import FILE",
        )
    )
