"""Puts a token into every request, so that tools that cannot sign in reach the protected `/mcp`."""

import base64
import hashlib
import http.client
import secrets
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast, override
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from clients.person import approve

REDIRECT = "http://127.0.0.1/callback"
PER_CONNECTION = ("connection", "content-length", "transfer-encoding")


def access_token(address: str) -> str:
    """Registered, approved and exchanged, as any client's."""
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    with httpx.Client(base_url=address, timeout=20) as http:
        asked = {
            "client_name": "Conformance",
            "redirect_uris": [REDIRECT],
            "token_endpoint_auth_method": "none",
        }
        client_id = http.post("/register", json=asked).raise_for_status().json()["client_id"]
        query = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": REDIRECT,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "state": "s",
            "resource": f"{address}/mcp",
        }
        came = parse_qs(urlsplit(approve(f"{address}/authorize?{urlencode(query)}")).query)
        exchanged = {
            "grant_type": "authorization_code",
            "code": came["code"][0],
            "code_verifier": verifier,
            "client_id": client_id,
            "redirect_uri": REDIRECT,
        }
        return http.post("/token", data=exchanged).raise_for_status().json()["access_token"]


class Proxy(ThreadingHTTPServer):
    """Passes everything on to the vault at `address`, with `token`."""

    def __init__(self, address: str, token: str) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.upstream, self.token = urlsplit(address).netloc, token
        self.here = f"localhost:{self.server_port}"

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that does not wait for its answer is no error."""


class _Passing(BaseHTTPRequestHandler):
    @override
    def log_message(self, format: str, *args: Any) -> None: ...

    def answer(self) -> None:
        proxy = cast("Proxy", self.server)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with closing(http.client.HTTPConnection(proxy.upstream, timeout=60)) as onward:
            onward.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in PER_CONNECTION:
                    onward.putheader(name, value.replace(proxy.here, proxy.upstream))
            onward.putheader("Authorization", f"Bearer {proxy.token}")
            onward.putheader("Content-Length", str(len(body)))
            onward.endheaders(body)
            with closing(onward.getresponse()) as answer:
                self._pass_back(answer)

    def _pass_back(self, answer: http.client.HTTPResponse) -> None:
        body = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in PER_CONNECTION:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = do_OPTIONS = answer  # noqa: N815


@contextmanager
def with_token(address: str) -> Generator[str]:
    """The address of a proxy that signs in for everybody."""
    with Proxy(address, access_token(address)) as proxy:
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield f"http://{proxy.here}"
        finally:
            proxy.shutdown()
            thread.join()
