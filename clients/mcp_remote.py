"""mcp-remote: for clients that start their servers as commands."""

import json
import sys
from pathlib import Path
from typing import override

from clients.instructions import MCP_REMOTE, command
from clients.libraries import PROGRAMS
from clients.node import node, script, version_of
from clients.program import Program, running
from clients.scenario import go_through
from clients.session import Failed
from clients.visit import Visit


class Remote(Program):
    """Keeps its tokens in a file."""

    visit: Visit | None = None

    @override
    def asks_again(self) -> bool:
        return self.visit is not None and self.visit.asked() > 1

    @override
    def spoil(self) -> None:
        path = self._tokens()
        path.write_text(json.dumps({**json.loads(path.read_text()), "access_token": "spoilt"}))

    @override
    def refresh_token(self) -> str:
        return json.loads(self._tokens().read_text())["refresh_token"]

    def _tokens(self) -> Path:
        found = list((self.visit.home / ".mcp-auth").rglob("*_tokens.json")) if self.visit else []
        if len(found) != 1:
            raise Failed("no tokens were kept")
        return found[0]


def drive(visit: Visit) -> str:
    told = command(visit.address, MCP_REMOTE)
    # What npx would start, from the packages that are pinned.
    proxy = [node(), script("mcp-remote", "dist", "proxy.js"), *told[len(MCP_REMOTE) :]]
    proxied = [sys.executable, PROGRAMS / "stdio.py", "{}", *proxy]
    with running(proxied, visit.environment(), kind=Remote) as session:
        session.visit = visit
        go_through(session, visit, "mcpremote")
        return f"{version_of('mcp-remote')} ({session.protocol})"
