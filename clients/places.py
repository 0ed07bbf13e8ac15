"""Where the vault runs while clients come to it."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[1]
PYTHON = Path(sys.executable)
DOCUMENTS = Path(__file__).with_name("documents.json")  # no client's own server is asked
SERVE = ["-c", "from keeproom.cli import main; main()", "serve", "--port"]
START = 30.0  # seconds


class Place(StrEnum):
    UVICORN = "uvicorn"  # `keeproom serve`
    LAMBDA = "lambda"  # behind the bridge
    RENAMED = "renamed"  # behind a bridge that renames `WWW-Authenticate`


def clean_environment(**more: str) -> dict[str, str]:
    """Nothing of the person's own, and nothing by chance."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **more}


def product_environment(home: Path) -> dict[str, str]:
    """For the product's own programs. No model, since nothing here is about how well recall is."""
    return clean_environment(
        KEEPROOM_HOME=str(home / "vault"),
        KEEPROOM_EMBEDDER="none",
        CIMD_TEST_DOCS=str(DOCUMENTS),
        PYTHONPATH=os.pathsep.join([str(ROOT / "layers/core/python"), str(ROOT)]),
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextmanager
def served(place: Place, home: Path) -> Generator[str]:
    """A new vault in the folder: its address."""
    port = free_port()
    command = SERVE if place is Place.UVICORN else ["-m", "clients.bridge"]
    environment = product_environment(home)
    if place is Place.RENAMED:
        environment["WITHOUT_CHALLENGE"] = "1"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "server.log").open("ab") as log:
        run = subprocess.Popen(
            [PYTHON, *command, str(port)], env=environment, cwd=home, stdout=log, stderr=log
        )
        try:
            yield _when_open(run, f"http://localhost:{port}", home / "server.log")
        finally:
            run.terminate()
            _end(run)


def _when_open(run: "subprocess.Popen[bytes]", address: str, log: Path) -> str:
    until = time.monotonic() + START
    while time.monotonic() < until and run.poll() is None:
        try:
            if httpx.get(f"{address}/health", timeout=5).is_success:
                return address
        except httpx.TransportError:
            time.sleep(0.1)
    raise RuntimeError(f"the vault did not open: {log.read_text()[-600:]}")


def _end(run: "subprocess.Popen[bytes]") -> None:
    try:
        run.wait(10)
    except subprocess.TimeoutExpired:
        run.kill()
