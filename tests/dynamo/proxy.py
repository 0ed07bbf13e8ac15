"""A machine between boto3 and a DynamoDB emulator that does to calls what networks and DynamoDB
do."""

import http.client
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase
from threading import Event, Lock
from typing import Any
from urllib.parse import urlsplit

from tests.http import server_of


class Fault(Enum):
    CONFLICT = auto()  # with another transaction
    THROTTLED = auto()  # the transaction
    OVERRUN = auto()  # the whole table
    BROKEN = auto()  # status 500, and nothing was done
    RESET = auto()  # the call never arrived
    LOST = auto()  # it was done, but the answer never arrives
    STUCK = auto()  # it was done, and whoever waits for the answer waits until they end


@dataclass(slots=True)
class Proxy:
    """`faults`: what befalls the next calls of an operation, one each. `seen`: every call.
    `stuck`: set when one is."""

    url: str = ""
    faults: dict[str, list[Fault]] = field(default_factory=dict[str, list[Fault]])
    seen: list[str] = field(default_factory=list[str])
    lock: Lock = field(default_factory=Lock)
    stuck: Event = field(default_factory=Event)

    def next(self, operation: str) -> Fault | None:
        with self.lock:
            self.seen.append(operation)
            waiting = self.faults.get(operation)
            return waiting.pop(0) if waiting else None

    def hold(self, fault: Fault, asker: BufferedIOBase) -> None:
        """Until who asks has ended, if they are to be stuck."""
        if fault is Fault.STUCK:
            self.stuck.set()
            asker.read()


def _told(fault: Fault, actions: int) -> tuple[int, dict[str, Any]]:
    """Status and body, as AWS shapes them."""
    reasons = {Fault.CONFLICT: "TransactionConflict", Fault.THROTTLED: "ThrottlingError"}
    if fault in reasons:
        cancelled = [{"Code": reasons[fault]}, *[{"Code": "None"}] * (actions - 1)]
        return 400, {"__type": "TransactionCanceledException", "CancellationReasons": cancelled}
    if fault is Fault.OVERRUN:
        return 400, {"__type": "ProvisionedThroughputExceededException"}
    return 500, {"__type": "InternalServerError"}


@contextmanager
def proxy(to: str) -> Generator[Proxy]:
    told = Proxy()
    with server_of(_handler(told, urlsplit(to).netloc)) as told.url:
        yield told


def _handler(told: Proxy, address: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            fault = told.next(self.headers["X-Amz-Target"].rpartition(".")[2])
            if fault is Fault.RESET:
                self.close_connection = True
            elif fault in (None, Fault.LOST, Fault.STUCK):
                self._pass_on(body, fault)
            else:
                actions = len(json.loads(body).get("TransactItems", ()))
                status, content = _told(fault, actions)
                self._tell(status, json.dumps(content).encode())

        def _pass_on(self, body: bytes, fault: Fault | None) -> None:
            there = http.client.HTTPConnection(address, timeout=20)
            there.request("POST", "/", body, dict(self.headers.items()))
            came = there.getresponse()
            content = came.read()
            there.close()
            if fault is None:
                self._tell(came.status, content)
                return
            told.hold(fault, self.rfile)
            self.close_connection = True

        def _tell(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None: ...

    return Handler
