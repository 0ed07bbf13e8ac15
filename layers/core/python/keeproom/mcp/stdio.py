"""The same tools over standard input and output, for clients that start their servers."""

import asyncio
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from keeproom.mcp.calls import Served
from keeproom.mcp.server import build_server
from keeproom.oauth.model import ALL, Caller

NAME = "stdio"


def local_caller(vault: str) -> Caller:
    """Whoever has started us. What a client says of itself is not trusted with a name."""
    return Caller(client_id=NAME, client_name=NAME, grant_id="", vault=vault, permissions=ALL)


def serve(served: Served, *, vault: str) -> None:
    """Answer until the input ends. Nothing but MCP may be printed meanwhile."""
    caller = local_caller(vault)
    server = build_server(served, caller_of=lambda _: caller)
    asyncio.run(_serve(server))


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
