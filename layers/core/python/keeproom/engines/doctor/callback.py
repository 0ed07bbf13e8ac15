"""Waiting on this machine for the browser to come back from an approval page."""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Empty, Queue
from typing import override
from urllib.parse import parse_qsl, urlsplit

_THANKS = b"You can close this page and go back to the terminal.\n"


class Callback:
    """`address`: where the browser is to be sent."""

    def __init__(self, address: str, came: Queue[Mapping[str, str]]) -> None:
        self.address, self._came = address, came

    def wait(self, *, seconds: float) -> Mapping[str, str] | None:
        """The parameters it came with; None when it did not come in time."""
        try:
            return self._came.get(timeout=seconds)
        except Empty:
            return None


@contextmanager
def listening() -> Generator[Callback]:
    """Listens on a free port of this machine."""
    came: Queue[Mapping[str, str]] = Queue()

    class Handler(BaseHTTPRequestHandler):
        @override
        def log_message(self, format: str, *args: object) -> None: ...

        def do_GET(self) -> None:
            target = urlsplit(self.path)
            if target.path != "/callback":  # browsers also ask for an icon
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.end_headers()
            self.wfile.write(_THANKS)
            came.put(dict(parse_qsl(target.query)))

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield Callback(f"http://127.0.0.1:{server.server_address[1]}/callback", came)
        finally:
            server.shutdown()
            thread.join()
