"""HTTP as an HTTP API of AWS hands it to a function: every request becomes an event of payload
version 2.0, which Mangum turns back into a request for the same application. One at a time, as in
one container. Usage: `python -m clients.bridge PORT`, with the environment of `keeproom serve`.

Where it differs from AWS: plain HTTP, and no header that says for whom it was forwarded, because
the owner is signed in as the person at this machine, which no forwarded request is. With
WITHOUT_CHALLENGE=1 the header `WWW-Authenticate` is renamed, as some of AWS's gateways do.
"""

import base64
import os
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, override

from keeproom import compose, doors
from keeproom.aws.lambda_asgi import lambda_handler
from keeproom.settings import read_settings

_TEXT = ("text/", "application/json", "application/javascript", "application/xml")
_RENAMED = {"www-authenticate": "x-amzn-remapped-www-authenticate"}


type Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


class Context:
    """What a function is told of its own run."""

    function_name = "keeproom"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:eu-west-1:000000000000:function:keeproom"

    def __init__(self) -> None:
        self.aws_request_id = str(uuid.uuid4())

    def get_remaining_time_in_millis(self) -> int:
        return 29_000


def event_of(method: str, target: str, headers: Message, body: bytes) -> dict[str, Any]:
    """Header names in lower case, repeated ones joined, cookies apart; bodies that are not text in
    base64."""
    path, _, query = target.partition("?")
    joined, cookies = {"x-forwarded-proto": "http"}, list[str]()
    for name, value in ((name.lower(), value.strip()) for name, value in headers.items()):
        if name == "cookie":
            cookies += [one.strip() for one in value.split(";")]
        else:
            joined[name] = f"{joined[name]},{value}" if name in joined else value
    is_text = joined.get("content-type", "").startswith(_TEXT)
    request = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": joined,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "bridge",
            "domainName": joined.get("host", ""),
            "http": {**request, "userAgent": joined.get("user-agent", "")},
            "requestId": str(uuid.uuid4()),
            "routeKey": "$default",
            "stage": "$default",
            "timeEpoch": int(time.time() * 1000),
        },
        "isBase64Encoded": bool(body) and not is_text,
        **({"cookies": cookies} if cookies else {}),
        **({"body": body.decode() if is_text else base64.b64encode(body).decode()} if body else {}),
    }


def handler_for(function: Handler, renamed: Mapping[str, str]) -> type[BaseHTTPRequestHandler]:
    class Bridge(BaseHTTPRequestHandler):
        # One connection a request: there is one thread, and an idle connection would hold it.
        protocol_version = "HTTP/1.0"

        @override
        def log_message(self, format: str, *args: Any) -> None: ...

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            event = event_of(self.command, self.path, self.headers, body)
            self._send(function(event, Context()))

        def _send(self, told: dict[str, Any]) -> None:
            text = told.get("body") or ""
            out = base64.b64decode(text) if told.get("isBase64Encoded") else text.encode()
            self.send_response(told["statusCode"])
            for name, value in told.get("headers", {}).items():
                if name.lower() != "content-length":
                    self.send_header(renamed.get(name.lower(), name), value)
            for cookie in told.get("cookies", ()):
                self.send_header("set-cookie", cookie)
            self.send_header("content-length", str(len(out)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(out)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_HEAD = answer  # noqa: N815

    return Bridge


class Server(HTTPServer):
    request_queue_size = 64


def main() -> None:
    port = int(sys.argv[1])
    settings = read_settings(PORT=port)
    renamed = _RENAMED if os.environ.get("WITHOUT_CHALLENGE") == "1" else {}
    address = f"http://localhost:{port}"
    with (
        compose.local(settings) as composed,
        compose.local_authorization(settings, address) as authorization,
    ):
        composed.prepare()
        app = doors.application(composed.vault, authorization, owner=settings.dev_owner_email)
        function = lambda_handler(app, app.router.lifespan_context(app))
        Server(("127.0.0.1", port), handler_for(function, renamed)).serve_forever()


if __name__ == "__main__":
    main()
