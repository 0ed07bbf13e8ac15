"""Starting the server as its user does."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx

PATIENCE = 60.0  # seconds until a server that does not answer is given up
_COMMAND = "from keeproom.cli import main; main()"  # what the `keeproom` script does


def start(home: Path) -> dict[str, float | None]:
    """Seconds from the command to the first answer of /health, and the server's memory then."""
    port = _free_port()
    begun = time.perf_counter()
    with _serving(home, port) as server:
        _await_health(server, port)
        seconds = time.perf_counter() - begun
        return {"seconds": seconds, "rss_mb": resident_mb(server.pid)}


def resident_mb(process: int | None = None) -> float | None:
    """Memory of a process, by default this one. None where the system has no /proc."""
    try:
        pages = Path(f"/proc/{process or os.getpid()}/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def _serving(home: Path, port: int) -> Generator[subprocess.Popen[bytes]]:
    server = subprocess.Popen(
        [sys.executable, "-c", _COMMAND, "serve", "--port", str(port)],
        env={**os.environ, "KEEPROOM_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield server
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


def _await_health(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.01)
    raise RuntimeError("The server did not start.")
