"""The official Python library, last of its first major version. Usage: python1.py ADDRESS WISHES.

It and its successor go by one name, so it runs in an environment of its own."""

import asyncio
import json
import sys
from importlib.metadata import version
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from lines import hear, tell
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken


class Kept:
    """What the client keeps between its runs."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def show(address: str) -> None:
    tell(authorize=address)


async def come_back() -> tuple[str, str | None]:
    heard = await asyncio.to_thread(hear)
    callback: str = heard["callback"] if heard else ""
    sent = dict(parse_qsl(urlsplit(callback).query))
    return sent["code"], sent.get("state")


def provider_of(address: str, wishes: dict[str, Any], kept: Kept) -> OAuthClientProvider:
    asked: dict[str, Any] = {"client_name": wishes["name"], "redirect_uris": [wishes["redirect"]]}
    if wishes.get("method"):
        asked["token_endpoint_auth_method"] = wishes["method"]
    return OAuthClientProvider(address, OAuthClientMetadata(**asked), kept, show, come_back)


async def call(client: ClientSession, tool: str, arguments: dict[str, Any]) -> None:
    result = await client.call_tool(tool, arguments)
    if result.isError:
        tell(refused=json.dumps([block.model_dump() for block in result.content]))
    else:
        tell(result=result.structuredContent)


async def obey(client: ClientSession, provider: OAuthClientProvider, kept: Kept) -> None:
    while command := await asyncio.to_thread(hear):
        match command["do"]:
            case "tools":
                tell(tools=[tool.name for tool in (await client.list_tools()).tools])
            case "call":
                await call(client, command["tool"], command["arguments"])
            case "spoil":
                spoilt = kept.tokens and kept.tokens.model_copy(update={"access_token": "spoilt"})
                provider.context.current_tokens, provider.context.token_expiry_time = spoilt, 1.0
                tell(spoilt=True)
            case _:
                tell(refresh_token=kept.tokens and kept.tokens.refresh_token)


async def main() -> None:
    address, wishes, kept = sys.argv[1], json.loads(sys.argv[2]), Kept()
    provider = provider_of(address, wishes, kept)
    async with (
        streamablehttp_client(address, auth=provider) as (incoming, outgoing, _),
        ClientSession(incoming, outgoing) as client,
    ):
        begun = await client.initialize()
        tell(version=version("mcp"), protocol=begun.protocolVersion)
        await obey(client, provider, kept)


asyncio.run(main())
