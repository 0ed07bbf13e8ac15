"""The function behind the HTTP API, with the real handler."""

import json
import re
from pathlib import Path

import httpx

from tests.agents import Agent
from tests.functions.container import Container
from tests.functions.gateway import ADDRESS
from tests.functions.place import EVERYTHING
from tests.letting_in import Door, registered, signed_in

EVENTS = Path(__file__).with_name("events")


def test_an_agent_remembers_recalls_and_forgets_in_one_container(agent: Agent) -> None:
    assert len(agent.tools()) == 7
    kept = agent.call("remember", content="Ana keeps bees on the roof")
    (found,) = agent.call("recall", query="bees")["hits"]
    assert found["id"] == kept["id"]
    agent.call("forget", id=kept["id"])
    assert agent.call("recall", query="bees")["hits"] == []


def test_a_stranger_is_challenged_twice_alike(api: Container) -> None:
    event = json.loads((EVENTS / "challenged.json").read_text())

    answers = [api.invoke(event) for _ in range(2)]

    for answer in answers:
        assert answer["statusCode"] == 401
        headers = answer["headers"]
        assert headers["www-authenticate"] == headers["x-mcp-challenge"]
        assert f'{ADDRESS}/.well-known/oauth-protected-resource/mcp"' in headers["x-mcp-challenge"]


def test_an_app_may_register_and_the_addresses_are_public(web: httpx.Client, door: Door) -> None:
    metadata = web.get("/.well-known/oauth-authorization-server").json()

    assert metadata["issuer"] == ADDRESS
    assert registered(Door(http=web, auth=door.auth, watch=door.watch, papers=door.papers))


def test_nobody_is_the_owner_without_signing_in(web: httpx.Client) -> None:
    for path in ("/api/memories", "/api/memories/mem_1%2Fhistory", "/api/recall?q=a&q=b"):
        for _ in range(2):
            assert web.get(path).status_code in (401, 403)


def test_what_is_logged_and_counted_is_never_content(
    api: Container, web: httpx.Client, door: Door
) -> None:
    app = signed_in(door, allow=EVERYTHING)
    agent = Agent(web, app.access)
    kept = agent.call("remember", content="Ana whispers zanzibarish words")
    agent.call("recall", query="zanzibarish")
    agent.call("forget", id=kept["id"])

    log = api.log

    assert "zanzibarish" not in log
    assert app.access not in log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    (requests,) = [
        {line["correlation_id"] for line in lines if "request=" in str(line.get("message"))}
    ]
    assert len(requests) > 3
    counted = {name for line in lines if "_aws" in line for name in line}
    assert {"Latency", "RecallsKeywordOnly", "ColdStart"} <= counted
    assert re.search(r"method=POST route=\S+ status=200", log)
