"""A little Amazon Bedrock on this machine: three embedding models, and whatever goes wrong."""

import json
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Event, Lock
from typing import Any
from urllib.parse import unquote

from tests.embedders import direction
from tests.http import server_of

TITAN = "amazon.titan-embed-text-v2:0"
COHERE = "cohere.embed-v4:0"
NOVA = "amazon.nova-2-multimodal-embeddings-v1:0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`error`: the type AWS gives it. `body`: an answer with status 200. `stalls`: nothing until
    the end. `breaks`: the connection, before an answer. `slowly`: seconds before the answer."""

    status: int = 200
    error: str = ""
    body: bytes | None = None
    stalls: bool = False
    breaks: bool = False
    slowly: float = 0.0


WELL = Fault()
THROTTLED = Fault(status=429, error="ThrottlingException")
DENIED = Fault(status=403, error="AccessDeniedException")
BROKEN = Fault(status=500, error="InternalServerException")
RESET = Fault(breaks=True)
STALLED = Fault(stalls=True)


@dataclass(slots=True)
class Bedrock:
    """Meets the faults in their order, the last of them for ever. `asked`: the bodies of requests
    by model. `together`: the most requests that were ever under way at once."""

    faults: list[Fault] = field(default_factory=lambda: [WELL])
    url: str = ""
    asked: list[tuple[str, dict[str, Any]]] = field(
        default_factory=list[tuple[str, dict[str, Any]]]
    )
    together: int = 0
    under_way: int = 0
    lock: Lock = field(default_factory=Lock)
    over: Event = field(default_factory=Event)

    def begin(self, model: str, asked: dict[str, Any]) -> Fault:
        with self.lock:
            self.asked.append((model, asked))
            self.under_way += 1
            self.together = max(self.together, self.under_way)
            return self.faults.pop(0) if len(self.faults) > 1 else self.faults[0]

    def end(self) -> None:
        with self.lock:
            self.under_way -= 1

    @property
    def texts(self) -> list[str]:
        """What was to be embedded, in the order it came."""
        return [text for model, asked in self.asked for text in _texts(model, asked)]


def _texts(model: str, asked: dict[str, Any]) -> Sequence[str]:
    if model.endswith(COHERE):
        return asked["texts"]
    if model.endswith(NOVA):
        return [asked["singleEmbeddingParams"]["text"]["value"]]
    return [asked["inputText"]]


def _right(model: str, asked: dict[str, Any]) -> dict[str, Any]:
    texts = _texts(model, asked)
    if model.endswith(COHERE):
        assert len(texts) <= 96
        size = asked["output_dimension"]
        return {"embeddings": {"float": [direction(text, size) for text in texts]}}
    if model.endswith(NOVA):
        size = asked["singleEmbeddingParams"]["embeddingDimension"]
        return {"embeddings": [{"embeddingType": "TEXT", "embedding": direction(texts[0], size)}]}
    size = asked["dimensions"]
    return {"embedding": direction(texts[0], size), "inputTextTokenCount": len(texts[0].split())}


@contextmanager
def bedrock() -> Generator[Bedrock]:
    told = Bedrock()
    with server_of(_handler(told)) as told.url:
        try:
            yield told
        finally:
            told.over.set()


def _handler(told: Bedrock) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            model = unquote(self.path.split("/")[2])
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fault = told.begin(model, asked)
            try:
                self._tell(fault, lambda: json.dumps(_right(model, asked)).encode())
            finally:
                told.end()

        def _tell(self, fault: Fault, right: Callable[[], bytes]) -> None:
            time.sleep(fault.slowly)
            if fault.stalls:
                told.over.wait(20)
            if fault.stalls or fault.breaks:
                self.close_connection = True
                return
            body = right() if fault.body is None else fault.body
            if fault.error:
                body = json.dumps({"message": "You sent: Anna's door code"}).encode()
            self.send_response(fault.status)
            if fault.error:
                self.send_header("x-amzn-errortype", fault.error)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    return Handler
