"""HTTP to a function in its container, as an HTTP API hands it over."""

import base64
from email.message import Message
from typing import Any, override

import httpx

from clients.bridge import event_of
from tests.functions.container import Container

ADDRESS = "https://vault.example.com"
CALLER = "203.0.113.7"


def event(request: httpx.Request) -> dict[str, Any]:
    headers = Message()
    for name, value in request.headers.multi_items():
        headers[name] = value
    target = request.url.raw_path.decode()
    made = event_of(request.method, target, headers, request.read())
    made["requestContext"]["http"]["sourceIp"] = CALLER
    made["headers"] |= {"x-forwarded-proto": "https", "x-forwarded-for": CALLER}
    return made


def response(told: dict[str, Any]) -> httpx.Response:
    body = told.get("body") or ""
    content = base64.b64decode(body) if told.get("isBase64Encoded") else body.encode()
    headers = [
        *told.get("headers", {}).items(),
        *(("set-cookie", c) for c in told.get("cookies", ())),
    ]
    return httpx.Response(told["statusCode"], headers=headers, content=content)


class Gateway(httpx.BaseTransport):
    def __init__(self, container: Container) -> None:
        self._container = container

    @override
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return response(self._container.invoke(event(request)))
