"""Who gets in at `/mcp`, and what odd requests are answered."""

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from keeproom.errors import Unavailable
from keeproom.mcp.body import LARGEST
from keeproom.oauth.model import Caller
from keeproom.vault import listing
from keeproom.vault.listing import Listed
from keeproom.vault.vault import Vault
from tests.agents import CLAUDE, LEGACY, MODERN, Agent, Place, agent_of, place_of
from tests.doors.conftest import SECRET, store_in
from tests.embedders import WordEmbedder
from tests.http import HERE
from tests.vaults import vault_on

METADATA = f'resource_metadata="{HERE}/.well-known/oauth-protected-resource/mcp"'
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[Place]:
    """Shared by all that leave it as it is."""
    with closing(store_in("sqlite", folder)) as store:
        yield place_of(vault_on(store, WordEmbedder()))


@pytest.fixture
def agent(site: Place) -> Iterator[Agent]:
    with agent_of(site) as agent:
        yield agent


# ---- who gets in


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_without_a_token_every_method_is_told_where_to_get_one(
    agent: Agent, method: str, path: str
) -> None:
    answer = agent.http.request(method, path, content=b"{}" if method == "POST" else None)

    assert answer.status_code == 401
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    assert METADATA in challenge
    assert 'scope="memory:read memory:propose memory:write memory:forget"' in challenge
    assert "error=" not in challenge
    assert answer.headers["x-mcp-challenge"] == challenge


@pytest.mark.parametrize(
    "authorization", ["Bearer wrong", "Bearer", "bearer  ", "Basic dTpw", SECRET, "Bearer \xff"]
)
def test_what_is_no_good_token_is_told_so(agent: Agent, authorization: str) -> None:
    headers = [(b"authorization", authorization.encode("latin-1"))]
    answer = agent.http.post("/mcp", json=LIST, headers=headers)

    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert SECRET not in answer.text + str(answer.headers)


def test_the_scheme_is_read_in_any_case(agent: Agent) -> None:
    answer = agent.post(LIST, {"Authorization": f"bEARER  {agent.token}"})
    assert answer.status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_with_a_token_only_post_is_answered(agent: Agent, method: str) -> None:
    headers = {"Authorization": f"Bearer {agent.token}", "Accept": "text/event-stream"}
    answer = agent.http.request(method, "/mcp", headers=headers)

    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST, OPTIONS"


def test_both_addresses_answer_without_a_redirect(agent: Agent) -> None:
    for path in ("/mcp", "/mcp/"):
        headers = {"Authorization": f"Bearer {agent.token}"}
        assert agent.http.post(path, json=LIST, headers=headers).status_code == 200
    assert agent.http.post("/mcp/x", json=LIST).status_code == 404


def test_a_store_that_is_busy_is_no_reason_to_sign_in_again(vault: Vault) -> None:
    def busy(_: str) -> Caller:
        raise Unavailable("The table is busy.")

    with agent_of(place_of(vault, verify=busy)) as agent:
        answer = agent.post(LIST)

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "2"


# ---- pages of other sites


@pytest.mark.parametrize(
    "origin",
    [
        HERE,
        "http://localhost:6274",
        "http://127.0.0.1:3000",
        "https://claude.ai",
        "https://chatgpt.com",
    ],
)
def test_pages_of_known_sites_may_call_and_read(agent: Agent, origin: str) -> None:
    answer = agent.post(LIST, {"Origin": origin})
    refused = agent.http.post("/mcp", json=LIST, headers={"Origin": origin})

    assert (answer.status_code, refused.status_code) == (200, 401)
    for told in (answer, refused):
        assert told.headers["access-control-allow-origin"] == origin
        assert told.headers["vary"] == "Origin"
    assert "WWW-Authenticate" in refused.headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "https://claude.ai.evil.example",
        "http://localhost.evil.example",
        "null",
    ],
)
def test_pages_of_other_sites_may_not(agent: Agent, origin: str) -> None:
    answer = agent.post(LIST, {"Origin": origin})

    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_a_browser_may_ask_before_it_calls(agent: Agent) -> None:
    headers = {
        "Origin": "http://localhost:6274",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version",
    }
    answer = agent.http.options("/mcp", headers=headers)

    assert answer.status_code == 204
    assert "POST" in answer.headers["access-control-allow-methods"]
    allowed = answer.headers["access-control-allow-headers"].lower()
    for name in ("authorization", "content-type", "mcp-protocol-version", "mcp-session-id"):
        assert name in allowed


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8787", 200),
        ("127.0.0.1:9999", 200),
        ("[::1]:8787", 200),
        ("localhost", 200),
        ("evil.example", 421),
        ("localhost.evil.example:8787", 421),
        ("127.0.0.1.evil.example", 421),
    ],
)
def test_a_name_that_was_rebound_to_this_machine_is_not_served(
    agent: Agent, host: str, status: int
) -> None:
    assert agent.post(LIST, {"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("host", "status"),
    [("memory.example", 200), ("memory.example:443", 200), ("localhost:8787", 421), ("x", 421)],
)
def test_a_public_vault_is_served_under_its_own_name_only(
    vault: Vault, host: str, status: int
) -> None:
    with agent_of(place_of(vault, url="https://memory.example")) as agent:
        assert agent.post(LIST, {"Host": host}).status_code == status
        challenge = agent.http.post("/mcp").headers["www-authenticate"]
    assert "https://memory.example/.well-known/oauth-protected-resource/mcp" in challenge


# ---- what is sent


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Accept", "application/json, text/event-stream", 200),
        ("Accept", "application/json", 200),
        ("Accept", "*/*", 200),
        ("Accept", "application/*;q=0.8", 200),
        ("Accept", "TEXT/EVENT-STREAM, APPLICATION/JSON", 200),
        ("Accept", "", 200),
        ("Accept", "text/event-stream", 406),
        ("Accept", "application/json;q=0", 406),
        ("Accept", SECRET, 406),
        ("Content-Type", "application/json; charset=utf-8", 200),
        ("Content-Type", "Application/JSON", 200),
        ("Content-Type", "application/json;charset=latin-1", 415),
        ("Content-Type", "text/plain", 415),
        ("Content-Type", "application/x-www-form-urlencoded", 415),
        ("Content-Type", "application/jsonx", 415),
        ("Content-Type", "", 415),
        ("Mcp-Session-Id", "left-over-of-another-server", 200),
        ("Last-Event-ID", "7", 200),
    ],
)
@pytest.mark.parametrize("version", [LEGACY[-1], MODERN])
def test_odd_headers(agent: Agent, version: str, header: str, value: str, status: int) -> None:
    answer = _asked(agent, version, {header: value})

    assert answer.status_code == status, answer.text
    assert SECRET not in answer.text
    if status == 200:
        assert answer.headers["content-type"] == "application/json"
        assert len(answer.json()["result"]["tools"]) == 7
    else:
        assert answer.json()["error"]["message"].endswith(".")


def _asked(agent: Agent, version: str, headers: dict[str, str]) -> httpx.Response:
    told = {"MCP-Protocol-Version": version, **headers}
    if version in LEGACY:
        return agent.post(LIST, told)
    meta: dict[str, object] = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {**LIST, "params": {"_meta": meta}}
    return agent.post(message, {**told, "Mcp-Method": "tools/list"})


@pytest.mark.parametrize("version", [*LEGACY, MODERN])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'"' + SECRET.encode() + b'"',
        b'{"secret": "' + SECRET.encode() + b'"}',
        b"9" * 6000,
        json.dumps([LIST, {**LIST, "note": SECRET}]).encode(),
        b"[]",
        b"null",
    ],
)
def test_what_is_no_message_is_refused_and_not_repeated(
    agent: Agent, version: str, body: bytes
) -> None:
    answer = agent.post(body, {"MCP-Protocol-Version": version})

    assert answer.status_code == 400
    assert answer.json()["error"]["message"].endswith(".")
    assert answer.json()["id"] is None
    assert SECRET not in answer.text


def test_an_unknown_version_is_answered_with_the_known_ones(agent: Agent) -> None:
    answer = _asked(agent, "2031-01-01", {})

    assert answer.status_code == 400
    assert MODERN in json.dumps(answer.json()["error"])


@pytest.mark.parametrize("version", LEGACY)
def test_without_a_session_the_old_handshake_and_its_notification_are_answered(
    agent: Agent, version: str
) -> None:
    told = agent.ask(
        "initialize",
        protocolVersion=version,
        capabilities={},
        clientInfo={"name": "test", "version": "1"},
    )
    noted = agent.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    assert told["protocolVersion"] == version
    assert told["capabilities"] == {"tools": {"listChanged": False}}
    assert "get_operating_guide" in told["instructions"]
    assert noted.status_code == 202
    assert "mcp-session-id" not in noted.headers


def test_an_older_client_is_offered_a_version_it_may_take(agent: Agent) -> None:
    info = {"name": "test", "version": "1"}
    told = agent.ask("initialize", protocolVersion="2020-01-01", capabilities={}, clientInfo=info)
    assert told["protocolVersion"] in LEGACY


def test_an_unknown_method_is_an_error_of_the_protocol(agent: Agent) -> None:
    assert agent.ask(f"memory/{SECRET}")["code"] == -32601
    assert agent.ask("resources/list")["code"] == -32601


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": "recall", "arguments": [SECRET]}])
def test_a_call_that_is_none_is_an_error_of_the_protocol(
    agent: Agent, params: dict[str, Any]
) -> None:
    told = agent.ask("tools/call", **params)
    assert told["code"] == -32602
    assert SECRET not in json.dumps(told)


def test_a_body_of_five_megabytes_is_refused_and_nothing_is_stored(
    agent: Agent, site: Place
) -> None:
    arguments = {"text": "x" * 5_000_000}
    message = {**LIST, "method": "tools/call"}
    answer = agent.post({**message, "params": {"name": "bulk_remember", "arguments": arguments}})

    assert answer.status_code == 413
    assert listing.batches(site.vault).items == ()


def test_the_door_itself_takes_no_larger_body(vault: Vault) -> None:
    with agent_of(place_of(vault, alone=True)) as agent:
        assert agent.post(b" " * (LARGEST + 1)).status_code == 413
        assert agent.post(json.dumps(LIST).encode() + b" " * (LARGEST - 100)).status_code == 200


# ---- what is left behind


def test_no_log_holds_what_was_sent_or_found(
    vault: Vault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with agent_of(place_of(vault)) as agent:
        _use(agent, "xylophone")

    logged = "".join(f"{one.getMessage()} {one.exc_text}" for one in caplog.records)
    assert caplog.records
    assert "xylophone" not in logged
    assert SECRET not in logged
    assert CLAUDE not in logged


def _use(agent: Agent, word: str) -> None:
    agent.call("remember", content=f"Ada plays the {word}", request_id=word)
    agent.call("recall", query=word)
    agent.refused("recall", query=word, **{word: word})
    agent.refused("remember", content=f"{word} {SECRET}")
    agent.ask("tools/call", name=word, arguments={word: word})
    agent.post(json.dumps([word]).encode())


def test_an_error_nobody_expected_tells_no_content(
    vault: Vault, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: str) -> Vault:
        raise KeyError(SECRET)

    with agent_of(place_of(vault, vaults=broken)) as agent:
        told = agent.refused("recall", query="tea")

    assert told.startswith("[internal]")
    assert "KeyError" in caplog.text
    assert SECRET not in told + caplog.text


def test_building_the_door_leaves_logging_as_it_is(vault: Vault) -> None:
    before = (list(logging.root.handlers), logging.root.level)
    place_of(vault)
    assert (list(logging.root.handlers), logging.root.level) == before


def test_the_door_can_be_opened_again(vault: Vault) -> None:
    site = place_of(vault)

    async def twice() -> None:
        for _ in range(2):
            async with site.door.opened():
                pass

    asyncio.run(twice())
    with agent_of(site) as agent:
        agent.call("remember", content="Ada drinks tea")
        agent.call("recall", query="tea")
    assert len(listing.memories(vault, Listed()).items) == 1
