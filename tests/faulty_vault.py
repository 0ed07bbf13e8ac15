"""A little server that lets an app in as a vault does, and is faulty wherever a test says so."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, override
from urllib.parse import parse_qsl, urlsplit

import httpx

ADDRESS = "https://memory.example.org"
MCP = f"{ADDRESS}/mcp"
REDIRECT = "http://127.0.0.1:50000/callback"
METADATA = f"{ADDRESS}/.well-known/oauth-protected-resource/mcp"
SERVER = f"{ADDRESS}/.well-known/oauth-authorization-server"

CHALLENGE = {"WWW-Authenticate": f'Bearer resource_metadata="{METADATA}", scope="memory:read"'}
RESOURCE = {"resource": MCP, "authorization_servers": [ADDRESS]}
SERVED = {
    "issuer": ADDRESS,
    "authorization_endpoint": f"{ADDRESS}/authorize",
    "token_endpoint": f"{ADDRESS}/token",
    "registration_endpoint": f"{ADDRESS}/register",
    "revocation_endpoint": f"{ADDRESS}/revoke",
    "code_challenge_methods_supported": ["S256"],
}
TOKENS = {
    "access_token": "at",
    "refresh_token": "rt",
    "token_type": "Bearer",
    "expires_in": 3600,
}
RESULTS: Mapping[str, Any] = {
    "initialize": {"protocolVersion": "2025-06-18"},
    "tools/list": {"tools": [{"name": "get_operating_guide"}, {"name": "recall"}]},
    "tools/call": {"content": [], "isError": False},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the server answers."""

    status: int = 200
    content: Any = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    text: str = ""

    def response(self) -> httpx.Response:
        if self.text:
            return httpx.Response(self.status, headers=dict(self.headers), text=self.text)
        return httpx.Response(self.status, headers=dict(self.headers), json=self.content)


HEALTHY: Mapping[str, Told] = {
    "POST /mcp": Told(status=401, headers=CHALLENGE),
    "GET /.well-known/oauth-protected-resource/mcp": Told(content=RESOURCE),
    "GET /.well-known/oauth-authorization-server": Told(content=SERVED),
    "POST /register": Told(status=201, content={"client_id": "cli_1"}),
    "POST /token": Told(content=TOKENS),
    "POST /revoke": Told(content={}),
}


class FaultyVault(httpx.BaseTransport):
    """`faulty`: the answers that differ, by method and path, and for calls with a token by the name
    of their method. `fails`: what goes wrong with the connection itself, by the same names."""

    def __init__(
        self,
        faulty: Mapping[str, Told] | None = None,
        *,
        fails: Mapping[str, Callable[[], Exception]] | None = None,
    ) -> None:
        self._faulty, self._fails = dict(faulty or {}), dict(fails or {})
        self.revoked: list[str] = []

    @override
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = request.read().decode()
        name = f"{request.method} {request.url.path}"
        calls = name == "POST /mcp" and "authorization" in request.headers
        if calls:
            name = json.loads(body)["method"]
        if name in self._fails:
            raise self._fails[name]()
        if name == "POST /revoke":
            self.revoked.append(dict(parse_qsl(body))["token"])
        if name in self._faulty:
            return self._faulty[name].response()
        if calls:
            return Told(content={"jsonrpc": "2.0", "id": 1, "result": RESULTS[name]}).response()
        return HEALTHY[name].response()


def approving(**changed: str | None) -> Callable[[str], Mapping[str, str]]:
    """A browser that comes back at once with a code, and with these parameters changed."""

    def visit(address: str) -> Mapping[str, str]:
        asked = dict(parse_qsl(urlsplit(address).query))
        came = {"code": "c", "state": asked["state"], "iss": ADDRESS, **changed}
        return {name: value for name, value in came.items() if value is not None}

    return visit
