"""What OpenSearch Serverless refuses, delays and forgets, before a real node.

A vector search collection: signed calls of the documented kinds only, names given by the service,
no refresh, no scripts, writes that show late, sleep. Tests steer it, unsigned:

    GET  /_control            how it behaves, and the calls since the last look
    PUT  /_control            change that, for example {"faults": [{"status": 429, "api": "bulk"}]}
    POST /_control/refresh    show every write now
    POST /_control/sleep      be as after a long time without a call
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, fields

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tests.search_engine import signature
from tests.search_engine.refusals import (
    APIS,
    NO_IDS,
    Api,
    Item,
    Json,
    Refused,
    Side,
    illegal,
    operations,
    read,
    refuse_scripts,
    refuse_settings,
    vector_fields,
)


@dataclass(slots=True)
class Fault:
    """`times` answers of `status` to the call `api` (any, if empty), or to the first `items` of a
    bulk. 0 as the status does what was asked, and breaks the connection instead of answering."""

    status: int
    api: str = ""
    times: int = 1
    items: int = 0


class Lost(Response):
    """Begins, and breaks off."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        raise ConnectionResetError


@dataclass(slots=True)
class Behaviour:
    """`visible_after`: seconds until a write shows; 0 at once. `idle_after`: seconds until it
    sleeps. While it wakes for `wake_seconds` a call waits, or gets `wake_status`. `refused`: names
    of calls it does not know. `secret`: of the key that calls are signed with; empty for any."""

    visible_after: float = 10.0
    idle_after: float = 600.0
    wake_seconds: float = 30.0
    wake_status: int = 0
    secret: str = signature.SECRET
    refused: list[str] = field(default_factory=list[str])
    faults: list[Fault] = field(default_factory=list[Fault])


class Serverless:
    def __init__(self, node: httpx.AsyncClient) -> None:
        self._node = node
        self._is = Behaviour()
        self._calls: list[Json] = []
        self._vectors: dict[str, list[str]] = {}
        self._unseen: dict[str, asyncio.Task[None]] = {}
        now = time.monotonic()
        self._used: dict[Side, float] = {"search": now, "write": now}
        self._awake_at: dict[Side, float] = {"search": 0.0, "write": 0.0}

    async def answer(self, request: Request) -> Response:
        body = await request.body()
        call: Json = {"method": request.method, "path": request.url.path, "api": ""}
        self._calls.append(call)
        try:
            if not signature.is_genuine(request, body, secret=self._is.secret):
                raise Refused(403, "Forbidden", "403 Forbidden")
            api, index = self._api(request)
            call["api"] = api.name
            await self._awake(api.side)
            lost = self._fault(api.name)
            if request.query_params.get("refresh", "false") != "false":
                raise illegal("refresh is not supported")
            answer = await self._serve(api, index, request, body)
        except Refused as refused:
            return refused.answer()
        return Lost() if lost else answer

    def _api(self, request: Request) -> tuple[Api, str]:
        for api in APIS:
            found = api.path.fullmatch(request.url.path)
            if found and request.method in api.methods and api.name not in self._is.refused:
                return api, found.groupdict().get("index") or ""
        raise Refused(404)

    async def _awake(self, side: Side) -> None:
        now = time.monotonic()
        if now - self._used[side] > self._is.idle_after and now > self._awake_at[side]:
            self._awake_at[side] = now + self._is.wake_seconds
        self._used[side] = now
        if (left := self._awake_at[side] - now) > 0:
            if self._is.wake_status:
                raise Refused(self._is.wake_status)
            await asyncio.sleep(left)

    def _fault(self, name: str) -> bool:
        """Whether the answer is to be lost."""
        for fault in self._is.faults:
            if not fault.items and fault.api in ("", name) and fault.times > 0:
                fault.times -= 1
                if not fault.status:
                    return True
                raise Refused(fault.status, "rejected_execution_exception", "as asked")
        return False

    async def _serve(self, api: Api, index: str, request: Request, body: bytes) -> Response:
        if api.name == "bulk":
            return await self._bulk(index, body)
        body = await self._allowed(api, index, body)
        answer = await self._forward(request.method, _target(request), body)
        if api.name == "delete_index":
            self._vectors.pop(index, None)
        elif api.name in ("index", "delete") and answer.status_code < 400:
            await self._written({index})
        return answer

    async def _allowed(self, api: Api, index: str, body: bytes) -> bytes:
        match api.name:
            case "index_by_id" | "update":
                raise illegal(NO_IDS)
            case "create_index":
                return _created(read(body))
            case "search":
                refuse_scripts(read(body))
                return json.dumps(await self._without_vectors(index, read(body))).encode()
            case "msearch":
                return await self._searches(index, body)
            case _:
                refuse_scripts(read(body))
                return body

    async def _forward(self, method: str, path: str, body: bytes) -> Response:
        lines = path.partition("?")[0].endswith(("/_bulk", "/_msearch"))
        kind = "application/x-ndjson" if lines else "application/json"
        told = await self._node.request(method, path, content=body, headers={"content-type": kind})
        headers = {"content-type": told.headers.get("content-type", "application/json")}
        return Response(told.content, told.status_code, headers)

    async def _bulk(self, index: str, body: bytes) -> Response:
        items = operations(body)
        self._refuse_some(items)
        passed = [item for item in items if item.refusal is None]
        told: Json = {"took": 0, "errors": False, "items": []}
        if passed:
            lines = b"\n".join(line for item in passed for line in item.lines()) + b"\n"
            answer = await self._forward("POST", f"/{index}/_bulk" if index else "/_bulk", lines)
            if answer.status_code != 200:
                return answer
            told = read(bytes(answer.body))
        done = iter(told["items"])
        told["items"] = [item.answer(index) if item.refusal else next(done) for item in items]
        told["errors"] = told["errors"] or len(passed) < len(items)
        await self._written({item.about.get("_index", index) for item in passed})
        return JSONResponse(told)

    def _refuse_some(self, items: list[Item]) -> None:
        for fault in self._is.faults:
            if fault.items and fault.times > 0:
                fault.times -= 1
                for item in items[: fault.items]:
                    item.refusal = Refused(fault.status, "rejected_execution_exception", "as asked")

    async def _searches(self, index: str, body: bytes) -> bytes:
        lines = [read(line) for line in body.splitlines() if line.strip()]
        for number in range(1, len(lines), 2):
            refuse_scripts(lines[number])
            named = lines[number - 1].get("index", index)
            lines[number] = await self._without_vectors(named, lines[number])
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    async def _without_vectors(self, index: str, search: Json) -> Json:
        if "_source" in search or not index:
            return search
        if index not in self._vectors:
            answer = await self._forward("GET", f"/{index}/_mapping", b"")
            found = read(bytes(answer.body)) if answer.status_code == 200 else {}
            self._vectors[index] = [name for one in found.values() for name in vector_fields(one)]
        return search | {"_source": {"excludes": self._vectors[index]}}

    async def _written(self, indices: set[str]) -> None:
        for index in indices:
            if self._is.visible_after <= 0:
                await self._forward("POST", f"/{index}/_refresh", b"")
            elif index not in self._unseen:
                self._unseen[index] = asyncio.create_task(self._show(index))

    async def _show(self, index: str) -> None:
        await asyncio.sleep(self._is.visible_after)
        del self._unseen[index]
        await self._forward("POST", f"/{index}/_refresh", b"")

    async def control(self, request: Request) -> Response:
        match request.method, request.url.path:
            case "PUT", "/_control":
                self._change(read(await request.body()))
            case "POST", "/_control/refresh":
                for task in self._unseen.values():
                    task.cancel()
                self._unseen.clear()
                await self._forward("POST", "/_refresh", b"")
            case "POST", "/_control/sleep":
                long_ago = time.monotonic() - self._is.idle_after - 1
                self._used = {"search": long_ago, "write": long_ago}
                self._awake_at = {"search": 0.0, "write": 0.0}
            case "GET", "/_control":
                calls, self._calls = self._calls, []
                return JSONResponse({"behaviour": asdict(self._is), "calls": calls})
            case _:
                return Response(status_code=404)
        return JSONResponse(asdict(self._is))

    def _change(self, wanted: Json) -> None:
        for name in wanted.keys() & {one.name for one in fields(Behaviour)}:
            value = wanted[name]
            setattr(self._is, name, [Fault(**one) for one in value] if name == "faults" else value)


def _created(document: Json) -> bytes:
    """The index as the node gets it: checked, refreshed only by us, and without graphs, which the
    node has no library for: exact, and slower."""
    refuse_scripts(document)
    refuse_settings(document)
    own = {
        "refresh_interval": "-1",
        "number_of_replicas": 0,
        "knn.advanced.approximate_threshold": -1,
    }
    settings: Json = document.get("settings", {})
    index = {**settings.get("index", {}), **own}
    return json.dumps(document | {"settings": {**settings, "index": index}}).encode()


def _target(request: Request) -> str:
    path: bytes = request.scope["raw_path"]
    query = request.url.query
    return path.decode() + (f"?{query}" if query else "")


def application(node: str) -> Starlette:
    """Over the node at that address."""
    client = httpx.AsyncClient(base_url=node, timeout=60)
    service = Serverless(client)
    methods = ["GET", "HEAD", "POST", "PUT", "DELETE"]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with client:
            yield

    return Starlette(
        routes=[
            Route("/_control{rest:path}", service.control, methods=methods),
            Route("/{path:path}", service.answer, methods=methods),
        ],
        lifespan=lifespan,
    )
