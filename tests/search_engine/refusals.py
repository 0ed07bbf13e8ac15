"""What the service does not do: calls, settings, and parts of a body."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from starlette.responses import JSONResponse, Response

type Json = dict[str, Any]
type Side = Literal["search", "write"]

NO_IDS = "Document ID is not supported in create/index operation request"
MOST_BYTES = 10 * 2**20
_SCRIPTS = {"script", "script_fields", "script_score", "scripted_metric", "runtime_mappings"}
_SETTINGS = {"knn", "knn.algo_param.ef_search"}
_ACTIONS = {"index", "create", "update", "delete"}


class Refused(Exception):
    """An answer of the service, not of the node behind it."""

    def __init__(self, status: int, kind: str = "", reason: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.error: Json = {"type": kind, "reason": reason}

    def answer(self) -> Response:
        if not self.error["type"]:
            return Response(status_code=self.status)
        error = self.error | {"root_cause": [self.error]}
        return JSONResponse({"error": error, "status": self.status}, self.status)


def illegal(reason: str) -> Refused:
    return Refused(400, "illegal_argument_exception", reason)


@dataclass(frozen=True, slots=True)
class Api:
    name: str
    side: Side
    methods: frozenset[str]
    path: "re.Pattern[str]"


def _api(name: str, side: Side, methods: str, path: str) -> Api:
    path = path.replace("{index}", r"(?P<index>[^/_][^/]*)").replace("{id}", "(?P<id>[^/]+)")
    return Api(name, side, frozenset(methods.split()), re.compile(path))


APIS = (
    _api("bulk", "write", "POST PUT", "(?:/{index})?/_bulk"),
    _api("index", "write", "POST", "/{index}/_doc"),
    _api("index_by_id", "write", "POST PUT", "/{index}/_(?:doc|create)/{id}"),
    _api("update", "write", "POST", "/{index}/_update/{id}"),
    _api("delete", "write", "DELETE", "/{index}/_doc/{id}"),
    _api("get", "search", "GET HEAD", "/{index}/_doc/{id}"),
    _api("search", "search", "GET POST", "(?:/{index})?/_search"),
    _api("msearch", "search", "GET POST", "(?:/{index})?/_msearch"),
    _api("count", "search", "GET POST", "(?:/{index})?/_count"),
    _api("create_index", "write", "PUT", "/{index}"),
    _api("delete_index", "write", "DELETE", "/{index}"),
    _api("read_index", "search", "GET HEAD", "/{index}(?:/_mapping|/_settings)?"),
    _api("cat_indices", "search", "GET", "/_cat/indices(?:/{index})?"),
)


@dataclass(slots=True)
class Item:
    """One operation of a bulk. `refusal`: the answer of the service, where it is not the node's."""

    action: str
    about: Json
    source: bytes | None
    refusal: Refused | None = None

    def lines(self) -> list[bytes]:
        first = json.dumps({self.action: self.about}).encode()
        return [first] if self.source is None else [first, self.source]

    def answer(self, index: str) -> Json:
        assert self.refusal
        named = {"_index": index, "_id": self.about.get("_id")}
        return {self.action: named | {"status": self.refusal.status, "error": self.refusal.error}}


def read(body: bytes) -> Json:
    try:
        return json.loads(body or b"{}")
    except ValueError:
        raise Refused(400, "parsing_exception", "the body is not JSON") from None


def operations(body: bytes) -> list[Item]:
    if len(body) > MOST_BYTES:
        raise Refused(413)
    found = list(_operations(body))
    if not found:
        raise Refused(400, "parse_exception", "request body is required")
    return found


def _operations(body: bytes) -> Iterator[Item]:
    lines = iter([line for line in body.split(b"\n") if line.strip()])
    for line in lines:
        action, about = next(iter(read(line).items()), ("", None))
        if action not in _ACTIONS or not isinstance(about, dict):
            raise illegal("malformed action line")
        item = Item(action, cast("Json", about), None if action == "delete" else next(lines, b"{}"))
        if action == "update" or (action != "delete" and "_id" in item.about):
            item.refusal = illegal(NO_IDS)
        yield item


def refuse_scripts(document: Json) -> None:
    for one in _objects(document):
        if found := _SCRIPTS & one.keys():
            raise illegal(f"{min(found)} is not supported")


def refuse_settings(document: Json) -> None:
    """Of a new index."""
    for name in _flat(document.get("settings", {})):
        short = name.removeprefix("index.")
        if short not in _SETTINGS and not short.startswith("analysis."):
            raise illegal(f"unknown setting [{name}]")
    for field in _objects(document.get("mappings", {})):
        method = field.get("method", {"name": "hnsw"})
        if field.get("type") == "knn_vector" and (
            method.get("engine", "faiss") != "faiss"
            or method.get("name") != "hnsw"
            or "encoder" in method.get("parameters", {})
        ):
            raise illegal("only the hnsw method of the faiss engine is supported")


def vector_fields(mapping: Json) -> list[str]:
    properties: Json = mapping["mappings"].get("properties", {})
    return [name for name, field in properties.items() if field.get("type") == "knn_vector"]


def _flat(settings: Json, prefix: str = "") -> Iterator[str]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(cast("Json", value), f"{prefix}{name}.")
        else:
            yield prefix + name


def _objects(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        found = cast("Json", value)
        yield found
        value = list(found.values())
    if isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _objects(one)
