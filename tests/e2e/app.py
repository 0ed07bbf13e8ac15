"""An app on somebody's machine: the official MCP library, from an address to the tools there."""

import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

from clients.places import free_port
from tests.e2e.cloud import Cloud


@dataclass
class _Kept:
    """What the app keeps between its runs, and where the browser came back to."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None
    came_back: str = ""

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@asynccontextmanager
async def connected(
    cloud: Cloud, lets_in: Callable[[str], Awaitable[str]]
) -> AsyncGenerator[Client]:
    """To the deployed vault. `lets_in`: shows this address to the owner, and gives the
    one the browser is sent back to."""
    kept, url = _Kept(), cloud.outputs()["McpUrl"]

    async def show(address: str) -> None:
        kept.came_back = await lets_in(address)

    async def come_back() -> AuthorizationCodeResult:
        sent = dict(parse_qsl(urlsplit(kept.came_back).query))
        return AuthorizationCodeResult(code=sent["code"], state=sent["state"], iss=sent.get("iss"))

    told: dict[str, Any] = {
        "client_name": "Diary",
        "redirect_uris": [f"http://127.0.0.1:{free_port()}/callback"],
        "token_endpoint_auth_method": "none",
    }
    provider = OAuthClientProvider(url, OAuthClientMetadata(**told), kept, show, come_back)
    trusted = ssl.create_default_context(cafile=cloud.environment["SSL_CERT_FILE"])
    proxy = cloud.environment["HTTPS_PROXY"]
    async with (
        httpx2.AsyncClient(auth=provider, proxy=proxy, verify=trusted, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What it answers."""
    told = await client.call_tool(tool, arguments)
    assert not told.is_error, told.content
    assert told.structured_content is not None
    return told.structured_content
