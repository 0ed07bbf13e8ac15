"""A collection on this machine, for as long as somebody needs it, and a hand to steer it with."""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import boto3  # pyright: ignore[reportMissingTypeStubs]
import httpx
import uvicorn

from clients.places import free_port
from keeproom.aws.search_index import signed
from keeproom.engines.opensearch.calls import Send
from tests.search_engine import signature
from tests.search_engine.serverless import application


@dataclass(frozen=True, slots=True)
class Steered:
    """`address`: where it is reached."""

    address: str

    def behave(self, **how: object) -> None:
        httpx.put(f"{self.address}/_control", json=how).raise_for_status()

    def show(self) -> None:
        """Every write, now."""
        httpx.post(f"{self.address}/_control/refresh").raise_for_status()

    def sleep(self) -> None:
        httpx.post(f"{self.address}/_control/sleep").raise_for_status()

    def calls(self) -> list[str]:
        """Their kinds, since the last look."""
        told = httpx.get(f"{self.address}/_control").raise_for_status().json()
        return [call["api"] for call in told["calls"]]

    def send(self, *, connect: float = 1.0, read: float = 10.0) -> Send:
        """As signed as it must be."""
        return signed(self.address, session=session(), connect=connect, read=read)


def session(secret: str = signature.SECRET) -> Any:
    make = cast("Any", boto3.Session)
    return make(aws_access_key_id="test", aws_secret_access_key=secret, region_name="eu-west-1")


@contextmanager
def serving(node: str, *, port: int = 0) -> Generator[Steered]:
    """A collection of its own behaviour over that node."""
    port = port or free_port()
    config = uvicorn.Config(
        application(node),
        host="127.0.0.1",
        port=port,
        log_level="critical",
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.005)
        yield Steered(f"http://127.0.0.1:{port}")
    finally:
        server.should_exit = True
        thread.join()
