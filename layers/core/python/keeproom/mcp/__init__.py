"""The door for agents: seven tools over MCP, by HTTP and by standard input and output."""

from keeproom.mcp.access import Guarded
from keeproom.mcp.calls import Served, only
from keeproom.mcp.door import PATHS, McpDoor, Verify, caller_of
from keeproom.mcp.server import build_server

__all__ = [
    "PATHS",
    "Guarded",
    "McpDoor",
    "Served",
    "Verify",
    "build_door",
    "caller_of",
    "only",
]


def build_door(served: Served, *, verify: Verify, url: str) -> McpDoor:
    """The seven tools of the vault that is reached at `url`, without a trailing slash."""
    server = build_server(served, caller_of=caller_of)
    return McpDoor(server, verify=verify, guarded=Guarded.at(url))
