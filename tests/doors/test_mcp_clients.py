"""The official Python client at the door, in both eras of the protocol, and over pipes."""

import asyncio
import os
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from keeproom.vault import listing
from keeproom.vault.listing import Listed
from keeproom.vault.vault import Vault
from tests.agents import CLAUDE, LEGACY, MODERN, URL, Place, place_of
from tests.terminal import KEEPROOM

ERAS = {"auto": MODERN, "legacy": LEGACY[-1]}
COMMAND = [*KEEPROOM, "mcp"]


@asynccontextmanager
async def connected(site: Place, mode: str) -> AsyncGenerator[Client]:
    transport = httpx2.ASGITransport(app=site.app, client=("127.0.0.1", 50_000))
    headers = {"Authorization": f"Bearer {CLAUDE}"}
    async with (
        site.door.opened(),
        httpx2.AsyncClient(transport=transport, headers=headers) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield client


def told(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def visit(client: Client) -> None:
    """What every client must be able to do. The client checks each answer against its schema."""
    assert len((await client.list_tools()).tools) == 7
    assert told(await client.call_tool("get_operating_guide", {}))["approval_mode"] == "review"
    saved = told(await client.call_tool("remember", {"content": "Ada drinks tea"}))
    found = told(await client.call_tool("recall", {"query": "tea"}))
    assert [hit["id"] for hit in found["hits"]] == [saved["id"]]
    brought = told(await client.call_tool("bulk_remember", {"text": "- Sings\n- Paints\n"}))
    assert brought["stored"] == 2
    listed = told(await client.call_tool("list_memories", {"batch_id": brought["batch_id"]}))
    assert len(listed["memories"]) == 2
    gone = told(await client.call_tool("forget", {"id": saved["id"]}))
    assert gone["outcome"] == "withdrawn"
    assert told(await client.call_tool("recall", {"query": "tea"}))["hits"] == []
    refused = await client.call_tool("recall", {"question": "tea"})
    assert refused.is_error


@pytest.mark.parametrize("mode", ERAS)
def test_the_official_client_uses_every_tool(vault: Vault, mode: str) -> None:
    async def run() -> None:
        async with connected(place_of(vault), mode) as client:
            assert client.protocol_version == ERAS[mode]
            await visit(client)

    asyncio.run(run())


@pytest.mark.parametrize("mode", ERAS)
def test_many_calls_at_once_are_each_answered(vault: Vault, mode: str) -> None:
    async def run() -> None:
        async with connected(place_of(vault), mode) as client:
            texts = [{"content": f"Fact number {n}"} for n in range(50)]
            answers = await asyncio.gather(*(client.call_tool("remember", one) for one in texts))
            assert len({told(answer)["id"] for answer in answers}) == 50

    asyncio.run(run())
    assert len(listing.memories(vault, Listed(), limit=100).items) == 50


@pytest.mark.parametrize("mode", ERAS)
def test_the_same_tools_are_served_over_pipes(tmp_path: Path, mode: str) -> None:
    server = StdioServerParameters(
        command=COMMAND[0], args=COMMAND[1:], env=_environment(tmp_path), cwd=tmp_path
    )

    async def run() -> None:
        async with Client(stdio_client(server), mode=mode) as client:
            assert client.protocol_version == ERAS[mode]
            await visit(client)
            listed = told(await client.call_tool("list_memories", {}))
            assert {one["source"] for one in listed["memories"]} == {"agent (via stdio)"}

    asyncio.run(run())


def test_nothing_but_the_protocol_is_printed_and_the_end_of_the_input_ends_it(
    tmp_path: Path,
) -> None:
    sent = (
        b"no message\n"
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": '
        b'"2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}\n'
        b'{"jsonrpc": "2.0", "id": 2, "method": "ping"}\n'
    )
    done = subprocess.run(
        COMMAND, input=sent, capture_output=True, cwd=tmp_path, env=_environment(tmp_path),
        timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines
    assert all(line.startswith(b'{"jsonrpc":"2.0"') for line in lines)
    assert done.stderr == b""


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "KEEPROOM_HOME": str(home), "KEEPROOM_EMBEDDER": "none"}
