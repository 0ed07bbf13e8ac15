"""The page at /connect, as somebody who follows it reads it."""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, cast

import httpx

from clients.session import Failed

PROGRAMS = ("claude", "codex", "gemini", "keeproom", "npx")

# How the commands on the page begin, each followed as it stands by the client it is for.
CLAUDE_ADD = ("claude", "mcp", "add")
CLAUDE_LOGIN = ("claude", "mcp", "login")
CODEX_ADD = ("codex", "mcp", "add")
MCP_REMOTE = ("npx", "-y", "mcp-remote")
STDIO = ("keeproom", "mcp")
DOCTOR = ("keeproom", "doctor")
FOLLOWED = (CLAUDE_ADD, CLAUDE_LOGIN, CODEX_ADD, MCP_REMOTE, STDIO, DOCTOR)
NOT_HERE = (("gemini", "mcp", "add"),)  # signs in from inside a session, which takes an account


def page_at(address: str) -> str:
    return httpx.get(f"{address}/connect", timeout=20).raise_for_status().text


def commands(page: str) -> list[list[str]]:
    """Every command on the page: indented lines that begin with a program's name, and what the
    configurations start."""
    lines = re.findall(r"^    ([a-z]+ [a-z].*)$", page, re.MULTILINE)
    typed = [shlex.split(line) for line in lines if line.split()[0] in PROGRAMS]
    started = [
        [cast("str", server["command"]), *cast("list[str]", server["args"])]
        for server in _servers(page)
        if "command" in server
    ]
    return typed + started


def command(address: str, words: Sequence[str]) -> list[str]:
    """The one command at /connect that begins with these words. Raises `Failed`."""
    found = [one for one in commands(page_at(address)) if one[: len(words)] == list(words)]
    if len(found) != 1:
        raise Failed(f"/connect has {len(found)} commands that begin with {' '.join(words)}")
    return found[0]


def _servers(page: str) -> Iterator[dict[str, Any]]:
    for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL):
        for servers in json.loads(block).values():
            yield from servers.values()
