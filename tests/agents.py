"""Agents at the door of a vault, in this process."""

import json
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from keeproom.api import build_app
from keeproom.mcp import PATHS, McpDoor, Served, build_door
from keeproom.oauth.errors import NotAuthenticated
from keeproom.oauth.model import ALL, Caller, Permission
from keeproom.vault.vault import Vault
from tests.http import HERE, client_of

URL = f"{HERE}/mcp"
MODERN = "2026-07-28"
LEGACY = ("2025-03-26", "2025-06-18", "2025-11-25")
CLAUDE, CURSOR = "token-of-claude", "token-of-cursor"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Whose they are."""

    callers: dict[str, Caller] = field(default_factory=dict[str, Caller])

    def let_in(self, token: str, name: str, *permissions: Permission) -> None:
        self.callers[token] = Caller(
            client_id=f"cli_{token}",
            client_name=name,
            grant_id=f"grt_{token}",
            vault="personal",
            permissions=frozenset(permissions) or ALL,
        )

    def verify(self, token: str) -> Caller:
        if token not in self.callers:
            raise NotAuthenticated("The access token is not known here.")
        return self.callers[token]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A vault with the doors of owner and agents."""

    vault: Vault
    tokens: Tokens
    door: McpDoor
    app: FastAPI


def place_of(
    vault: Vault,
    *,
    url: str = HERE,
    import_seconds: float = 10.0,
    verify: Callable[[str], Caller] | None = None,
    vaults: Callable[[str], Vault] | None = None,
    alone: bool = False,
) -> Place:
    """With Claude let in to do everything. `alone`: the agents' door without the owner's, and
    without what the application puts before both."""
    tokens = Tokens()
    tokens.let_in(CLAUDE, "Claude")
    served = Served(vaults=vaults or (lambda _: vault), import_seconds=import_seconds)
    door = build_door(served, verify=verify or tokens.verify, url=url)
    app = FastAPI(openapi_url=None) if alone else build_app(vault, owner="owner@localhost")
    app.router.routes[:0] = [Route(path, door) for path in PATHS]
    return Place(vault=vault, tokens=tokens, door=door, app=app)


class Reopened:
    """The application with the door opened anew for every request, as an AWS Lambda does."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._place.door.opened():
            await self._place.app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Agent:
    """Speaks JSON-RPC by itself. `version`: of the protocol, as its header."""

    http: httpx.Client
    token: str = CLAUDE
    version: str = LEGACY[-1]

    def post(self, message: object, headers: Mapping[str, str] | None = None) -> httpx.Response:
        told = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": self.version,
            **(headers or {}),
        }
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.http.post("/mcp", content=body, headers=told)

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """The result, or the error."""
        answer = self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        assert answer.status_code == 200, answer.text
        told = answer.json()
        return told["result"] if "result" in told else told["error"]

    def tools(self) -> dict[str, dict[str, Any]]:
        return {tool["name"]: tool for tool in self.ask("tools/list")["tools"]}

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """What it answers."""
        told = self.ask("tools/call", name=tool, arguments=arguments)
        assert not told.get("isError"), told
        return told["structuredContent"]

    def refused(self, tool: str, **arguments: object) -> str:
        """Why it fails."""
        told = self.ask("tools/call", name=tool, arguments=arguments)
        assert told["isError"] is True, told
        return told["content"][0]["text"]


@contextmanager
def agent_of(place: Place, token: str = CLAUDE) -> Generator[Agent]:
    with client_of(Reopened(place)) as client:
        yield Agent(client, token)


def ids(records: Collection[Mapping[str, Any]]) -> list[str]:
    return [record["id"] for record in records]
