"""Cleaning up over HTTP, and the settings it goes by."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from keeproom.clock import utc_now
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.http import client_of
from tests.letting_in import Door, signed_in


@pytest.fixture
def later(vault: Vault) -> Iterator[httpx.Client]:
    """The same vault two months on."""
    ahead = replace(vault, clock=lambda: utc_now() + timedelta(days=60))
    with client_of(application(ahead)) as opened:
        yield opened


def rejected(client: httpx.Client, text: str) -> str:
    """Its id."""
    asked = {"content": text, "propose": True}
    memory = client.post("/api/memories", json=asked).raise_for_status().json()["memory"]
    client.post(f"/api/memories/{memory['id']}/reject").raise_for_status()
    return memory["id"]


def test_what_the_settings_keep_no_longer_goes(client: httpx.Client, later: httpx.Client) -> None:
    memory = rejected(client, "Anna drinks gin")
    assert client.post("/api/cleanup").json() == {
        "superseded": 0, "rejected": 0, "earlier_texts": 0, "audit": 0, "apps": 0, "more": False,
    }  # fmt: skip
    assert later.post("/api/cleanup").json()["rejected"] == 1
    assert client.get(f"/api/memories/{memory}").status_code == 404
    entry = client.get("/api/audit").json()["data"][0]
    assert (entry["actor"], entry["verb"], entry["touched"]) == ("owner", "clean_up", [memory])


def test_the_owner_sets_how_long_that_is(client: httpx.Client, later: httpx.Client) -> None:
    memory = rejected(client, "Anna drinks gin")
    kept = client.put("/api/settings", json={"keep_rejected_days": 90}).json()
    assert (kept["keep_superseded_days"], kept["keep_rejected_days"]) == (365, 90)
    assert later.post("/api/cleanup").json()["rejected"] == 0
    assert client.get(f"/api/memories/{memory}").json()["status"] == "rejected"
    client.put("/api/settings", json={"keep_rejected_days": 0}).raise_for_status()
    assert later.post("/api/cleanup").json()["rejected"] == 0


def test_what_apps_have_left_behind_goes_too(door: Door) -> None:
    signed_in(door)
    door.watch.forward(timedelta(days=2))
    assert door.http.post("/api/cleanup").json()["apps"] > 0
    assert door.http.post("/api/cleanup").json()["apps"] == 0
