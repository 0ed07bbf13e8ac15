"""An app that has signed in, at the door for agents."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from keeproom.oauth.verify import authenticated
from keeproom.vault import listing
from keeproom.vault.listing import Listed
from keeproom.vault.vault import Vault
from tests.agents import Agent, agent_of, place_of
from tests.letting_in import Door, door_in, refreshed, signed_in

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def door(tmp_path: Path, vault: Vault) -> Iterator[Door]:
    with door_in(tmp_path, vault) as door:
        yield door


@pytest.fixture
def stranger(door: Door, vault: Vault) -> Iterator[Agent]:
    """With no token yet."""
    site = place_of(vault, verify=partial(authenticated, door.auth), alone=True)
    with agent_of(site, token="") as agent:
        yield agent


def challenge(agent: Agent) -> str:
    answer = agent.post(PING)
    return answer.headers["www-authenticate"] if answer.status_code == 401 else ""


def test_an_app_gets_what_the_owner_ticked_and_its_registered_name(
    door: Door, stranger: Agent, vault: Vault
) -> None:
    codex = Agent(stranger.http, signed_in(door, allow={"read", "propose"}).access)

    assert "forget" not in codex.tools()
    codex.call("remember", content="Ada drinks tea", source="notes")
    (memory,) = listing.memories(vault, Listed()).items
    assert (memory.source, memory.actor) == ("notes (via Codex)", "mcp:Codex")
    (grant,) = door.http.get("/api/oauth/grants").json()["data"]
    assert listing.audit(vault).items[0].grant == grant["id"]
    assert grant["last_used_at"]


def test_revoking_bites_on_the_very_next_call(door: Door, stranger: Agent) -> None:
    codex = Agent(stranger.http, signed_in(door).access)
    assert challenge(codex) == ""
    (grant,) = door.http.get("/api/oauth/grants").json()["data"]

    door.http.delete(f"/api/oauth/grants/{grant['id']}")

    assert 'error="invalid_token"' in challenge(codex)


def test_an_expired_token_is_refused_until_it_is_refreshed(door: Door, stranger: Agent) -> None:
    app = signed_in(door)
    codex = Agent(stranger.http, app.access)
    door.watch.forward(timedelta(hours=1, seconds=1))
    assert 'error="invalid_token"' in challenge(codex)

    renewed = refreshed(door, app.client_id, app.refresh).json()
    assert challenge(Agent(stranger.http, renewed["access_token"])) == ""


def test_a_refresh_token_opens_nothing(door: Door, stranger: Agent) -> None:
    assert challenge(Agent(stranger.http, signed_in(door).refresh))


def test_the_challenge_leads_to_the_document_that_names_the_authorization_server(
    door: Door, stranger: Agent
) -> None:
    address = challenge(stranger).partition('resource_metadata="')[2].partition('"')[0]

    told = door.http.get(address).json()
    assert told["authorization_servers"] == [door.auth.issuer]
    assert told["resource"] == door.auth.resource
