"""`/api/statistics` and `/`: what the vault holds and what is wrong, as the owner sees it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.errors import Unavailable
from keeproom.vault.batch import ImportItem
from keeproom.vault.forget import forget
from keeproom.vault.model import Actor, MemoryType
from keeproom.vault.remember import remember
from keeproom.vault.vault import Vault
from tests.applications import OWNER, application
from tests.doors.conftest import PLACES
from tests.embedders import WordEmbedder
from tests.http import client_of
from tests.letting_in import Door
from tests.vaults import vault_on

CLAUDE = Actor("mcp:Claude")


@pytest.fixture(scope="session", params=PLACES)
def place(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def months(vault: Vault, store: ItemMemoryStore, embedder: WordEmbedder) -> Vault:
    """Written to in two months, by an app and by the owner."""
    october = vault_on(store, embedder, clock=lambda: datetime(2026, 10, 31, 23, tzinfo=UTC))
    remember(october, ImportItem(content="Ana plays the violin"), by=CLAUDE)
    preference = ImportItem(content="Ana prefers tea", type=MemoryType.PREFERENCE)
    november = vault_on(store, embedder, clock=lambda: datetime(2026, 11, 1, tzinfo=UTC))
    remember(november, preference, by=CLAUDE)
    gone = remember(november, ImportItem(content="Ana moved to Porto"), by=Actor("owner"))
    forget(november, gone.memory.id, by=CLAUDE)
    return vault


@pytest.fixture
def client(months: Vault) -> Iterator[httpx.Client]:
    with client_of(application(months)) as opened:
        yield opened


def statistics(client: httpx.Client) -> dict[str, Any]:
    return client.get("/api/statistics").raise_for_status().json()


def test_it_counts_by_status_type_month_and_who_wrote(client: httpx.Client) -> None:
    told = statistics(client)

    assert told["by_status"] == {"proposed": 2, "active": 0, "superseded": 0, "rejected": 0}
    assert told["withdrawn"] == 1
    assert {k: n for k, n in told["by_type"].items() if n} == {"other": 1, "preference": 1}
    assert told["by_month"] == {"2026-10": 1, "2026-11": 1}
    assert told["by_actor"] == {"mcp:Claude": 2}


def test_an_empty_vault_has_every_count_at_nothing(vault: Vault) -> None:
    with client_of(application(vault)) as client:
        told = statistics(client)

    assert set(told["by_status"].values()) | set(told["by_type"].values()) == {0}
    assert (told["withdrawn"], told["by_month"], told["waiting"]) == (0, {}, 0)


def test_it_says_why_the_model_does_not_answer(
    client: httpx.Client, embedder: WordEmbedder
) -> None:
    assert statistics(client)["embedding"] == {
        "model": embedder.model,
        "problem": None,
        "calibrated": True,
    }

    embedder.down = True

    assert statistics(client)["embedding"]["problem"] == "The model is down."


def test_what_waits_for_the_index_is_counted(vault: Vault, embedder: WordEmbedder) -> None:
    remember(vault, ImportItem(content="Ana has a cat"), by=CLAUDE)
    embedder.down = True
    remember(vault, ImportItem(content="Ana has a dog"), by=CLAUDE)

    with client_of(application(vault)) as client:
        assert statistics(client)["waiting"] == 1


def test_the_first_page_has_the_address_and_what_is_held_and_nothing_that_was_said(
    door: Door, months: Vault
) -> None:
    page = door.http.get("/", headers={"accept": "text/html"}).raise_for_status()

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert f"{door.auth.issuer}/mcp" in page.text
    assert "0 active memories, 3 waiting for your review" in page.text
    assert f"Signed in as {OWNER}" in page.text
    assert "does not answer" not in page.text
    assert not any(word in page.text for word in ("violin", "tea", "Porto"))
    assert page.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_the_first_page_says_what_is_wrong(client: httpx.Client, embedder: WordEmbedder) -> None:
    embedder.down = True

    page = client.get("/").raise_for_status()

    assert "Recall goes by words alone" in page.text
    assert "The model is down." in page.text


def test_the_first_page_says_when_the_vault_cannot_be_read(
    client: httpx.Client, months: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: object, **__: object) -> None:
        raise Unavailable("The table is busy.")

    monkeypatch.setattr(type(months.memories), "memories", unavailable)

    page = client.get("/")

    assert page.status_code == 503
    assert "The table is busy. Try again in a moment." in page.text


def test_pages_of_other_sites_cannot_read_the_numbers(client: httpx.Client) -> None:
    headers = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}

    assert client.get("/api/statistics", headers=headers).status_code == 403
    assert client.get("/", headers=headers).status_code == 403


def test_the_first_page_of_an_empty_vault_says_so(vault: Vault) -> None:
    with client_of(application(vault)) as client:
        assert "Nothing is in it yet." in client.get("/").text
