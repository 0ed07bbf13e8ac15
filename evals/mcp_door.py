"""What the door for agents costs: a recall through all of it, and a tool that does nothing.

added   a recall with its query's embedding cached, sent as HTTP to the whole application in this
        process (token looked up and its use recorded, MCP, the tool, the answer in JSON), in turns
        with calling the verb.
door    a tool that does nothing behind our door, in turns with the same one on a bare server of
        the library that both speak MCP with.

All differences are of medians. `python evals/bench.py` runs it on the vault it has imported.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from corpus import questions
from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic import BaseModel
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Scope
from vaults import opened

from keeproom import compose
from keeproom.api import build_app
from keeproom.mcp import PATHS, Guarded, McpDoor, Served, build_door, caller_of
from keeproom.mcp.asked import Asked
from keeproom.mcp.calls import Call
from keeproom.mcp.server import build_server
from keeproom.mcp.tool import Tool
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.model import ACCESS, ALL, Change, Grant, Kind, Token, Use, hashed
from keeproom.oauth.verify import authenticated
from keeproom.settings import read_settings
from keeproom.vault.ports import Embedder, Encoded, EncodedQuery
from keeproom.vault.recall import Query, recall
from keeproom.vault.vault import Vault

URL = "http://localhost:8787"
TOKEN = "a-token-for-measuring"
TIMED, WARMING = 300, 30
ADDED, DOOR = 5.0, 2.0  # ms, at most
VERSION = "2026-07-28"

type Numbers = dict[str, float]
type Timed = Callable[[], Awaitable[None]]


class Kept:
    """The embedder, with every query embedded once; for any thread."""

    def __init__(self, inner: Embedder) -> None:
        self.model, self.dims, self._inner = inner.model, inner.dims, inner
        self._queries: dict[str, EncodedQuery] = {}

    def passages(self, texts: Sequence[str]) -> Sequence[Encoded]:
        return self._inner.passages(texts)

    def query(self, text: str) -> EncodedQuery:
        if text not in self._queries:
            self._queries[text] = self._inner.query(text)
        return self._queries[text]


class Nothing(Asked):
    """No arguments."""


class Done(BaseModel):
    done: bool


def _nothing(_: Call, __: Nothing) -> Done:
    return Done(done=True)


NOTHING = Tool(
    name="nothing",
    title="Nothing",
    description="Do nothing.",
    needs=ALL,
    takes=Nothing,
    gives=Done,
    run=_nothing,
)


def door_numbers(home: Path, embedder: Embedder) -> Numbers:
    """Of the vault in the folder, in milliseconds."""
    settings = read_settings(KEEPROOM_HOME=home)
    with (
        opened(home, Kept(embedder)) as vault,
        compose.local_authorization(settings, URL) as authorization,
    ):
        _let_in(authorization)
        return asyncio.run(_numbers(vault, authorization))


def _let_in(authorization: Authorization) -> None:
    at = authorization.clock()
    grant = Grant(
        id="grt_1",
        client_id="cli_1",
        client_name="Bench",
        verified_by="",
        redirect_host="localhost",
        vault="personal",
        permissions=ALL,
        resource=authorization.resource,
        created=at,
        expires=at + timedelta(days=90),
    )
    token = Token(
        id=hashed(TOKEN),
        kind=Kind.ACCESS,
        grant_id=grant.id,
        client_id=grant.client_id,
        resource=grant.resource,
        expires=at + ACCESS,
    )
    authorization.grants.commit(Change(put=(grant, token, Use(id=grant.id))))


async def _numbers(vault: Vault, authorization: Authorization) -> Numbers:
    verify = partial(authenticated, authorization)
    served = Served(vaults=lambda _: vault)
    asked = questions(40, seed=7)
    turn = iter(asked * (2 * (TIMED + WARMING)))
    async with AsyncExitStack() as open_doors:
        whole = build_door(served, verify=verify, url=URL)
        idle = McpDoor(
            build_server(served, caller_of=caller_of, tools=[NOTHING]),
            verify=verify,
            guarded=Guarded.at(URL),
        )
        bare = _bare()
        for door in (whole.opened(), idle.opened(), bare.run()):
            await open_doors.enter_async_context(door)

        async def by_verb() -> None:
            recall(vault, Query(text=next(turn)))

        async def by_door() -> None:
            await _called(everything, "recall", query=next(turn))

        everything, nothing = (_application(vault, door) for door in (whole, idle))
        verb, door = await _in_turns(by_verb, by_door)
        theirs, ours = await _in_turns(
            lambda: _called(bare.handle_request, "nothing"), lambda: _called(nothing, "nothing")
        )
    return {"added_p50_ms": door - verb, "door_p50_ms": ours - theirs, "bare_p50_ms": theirs}


def _application(vault: Vault, door: McpDoor) -> ASGIApp:
    """All that a request passes."""
    app = build_app(vault, owner="owner@localhost")
    app.router.routes[:0] = [Route(path, door) for path in PATHS]
    return app


def _bare() -> StreamableHTTPSessionManager:
    server = MCPServer("bare", subscriptions=False, log_level="WARNING")

    @server.tool(name="nothing", description="Do nothing.")
    def nothing() -> Done:
        return Done(done=True)

    _ = nothing
    server.streamable_http_app(stateless_http=True, json_response=True)
    return server.session_manager


async def _in_turns(one: Timed, other: Timed) -> tuple[float, float]:
    """Medians, in milliseconds."""
    times: list[tuple[float, float]] = []
    for _ in range(WARMING + TIMED):
        times.append((await _timed(one), await _timed(other)))
    ones, others = zip(*times[WARMING:], strict=True)
    return median(ones), median(others)


async def _timed(work: Timed) -> float:
    begun = perf_counter()
    await work()
    return 1000 * (perf_counter() - begun)


async def _called(app: ASGIApp, tool: str, **arguments: object) -> None:
    """One call as a server hands it over. Raises `RuntimeError` unless it is answered well."""
    meta: dict[str, object] = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    body, answer = json.dumps(message).encode(), bytearray()

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(part: Message) -> None:
        answer.extend(part.get("body", b""))

    await app(_scope(tool), receive, send)
    if json.loads(answer).get("result", {}).get("isError") is not False:
        raise RuntimeError(f"{tool} was answered: {answer.decode()}")


def _scope(tool: str) -> Scope:
    headers = {
        "host": "localhost:8787",
        "authorization": f"Bearer {TOKEN}",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": VERSION,
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 50_000),
        "server": ("localhost", 8787),
    }


def rows(told: Numbers) -> list[list[str]]:
    return [
        [
            "recall through the whole door, over calling it",
            f"+{told['added_p50_ms']:.1f} ms (p50)",
            f"<= {ADDED:.0f} ms",
        ],
        [
            "a tool that does nothing behind our door, over a bare server",
            f"+{told['door_p50_ms']:.1f} ms (p50, bare {told['bare_p50_ms']:.1f} ms)",
            f"<= {DOOR:.0f} ms",
        ],
    ]
