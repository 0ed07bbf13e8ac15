"""`/api/reindex`, as the owner has it."""

from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest

from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.vault.vault import Vault
from keeproom.vault.work import INDEX, Task, index_step
from tests.applications import application
from tests.embedders import WordEmbedder
from tests.http import client_of
from tests.search_engine.paper import PaperIndex
from tests.search_engine.places import Watch, asking
from tests.vaults import vault_on

TEXTS = ("Ana must not eat hazelnuts", "Flies to Porto with Teo", "Flew to Oslo with Teo")


def remembered(client: httpx.Client) -> None:
    client.put("/api/settings", json={"approval_mode": "auto"}).raise_for_status()
    for text in TEXTS:
        client.post("/api/memories", json={"content": text}).raise_for_status()


def hits(client: httpx.Client) -> list[str]:
    told = client.get("/api/recall", params={"q": "flew with Teo"}).raise_for_status().json()
    return [hit["content"] for hit in told["data"]]


def progress(client: httpx.Client) -> dict[str, object]:
    return client.get("/api/reindex").raise_for_status().json()


def test_a_rebuild_runs_in_the_background_and_tells_how_far_it_is(
    vault: Vault, embedder: WordEmbedder
) -> None:
    told: list[Task] = []
    with client_of(application(vault, wake=told.append)) as client:
        remembered(client)
        assert progress(client)["running"] is False
        before, calls = hits(client), embedder.calls

        answer = client.post("/api/reindex", params={"reembed": 1})

        assert answer.status_code == 202
        assert answer.json()["running"] is True
        assert (progress(client)["done"], progress(client)["total"]) == (0, 3)
        assert (told, hits(client)) == ([INDEX], before)
        calls = embedder.calls
        while index_step(vault):
            assert embedder.calls == calls + 1
        done = progress(client)
        assert (done["running"], done["done"], done["waiting"]) == (False, 3, 0)
        assert done["finished_at"] is not None
        assert hits(client) == before
        assert client.get("/api/audit").json()["data"][0]["verb"] == "reindex"


def test_without_reembed_no_embedding_is_made_anew(vault: Vault, embedder: WordEmbedder) -> None:
    with client_of(application(vault)) as client:
        remembered(client)
        calls = embedder.calls
        assert client.post("/api/reindex").status_code == 202
        while index_step(vault):
            pass
        assert progress(client)["running"] is False
        assert embedder.calls == calls


@pytest.fixture
def paper(embedder: WordEmbedder) -> PaperIndex:
    return PaperIndex(embedder.model, embedder.dims)


@pytest.fixture
def shared(
    store: ItemMemoryStore, embedder: WordEmbedder, paper: PaperIndex
) -> Iterator[httpx.Client]:
    """A vault whose index asks a collection that is complete."""
    watch = Watch()
    index = asking(paper, embedder, watch)
    vault = vault_on(store, embedder, clock=watch, index=index)
    index_step(vault)
    watch.wait(timedelta(minutes=10))
    with client_of(application(vault)) as client:
        remembered(client)
        yield client


def test_recall_says_when_a_stand_in_has_answered(shared: httpx.Client, paper: PaperIndex) -> None:
    asked = {"q": "flew with Teo"}
    told = shared.get("/api/recall", params=asked).json()
    assert (told["mode"], told["stand_in"], len(told["data"])) == ("hybrid", False, 2)
    paper.down = True
    again = shared.get("/api/recall", params=asked).json()
    assert (again["mode"], again["stand_in"]) == ("hybrid", True)
    assert [hit["id"] for hit in again["data"]] == [hit["id"] for hit in told["data"]]


def test_writes_succeed_while_the_search_service_is_down(
    shared: httpx.Client, paper: PaperIndex
) -> None:
    paper.down = True
    answer = shared.post("/api/memories", json={"content": "Kim bakes bread with Teo"})
    assert answer.status_code == 201
    assert "Kim bakes bread with Teo" in hits(shared)
    assert progress(shared)["waiting"] == 1
