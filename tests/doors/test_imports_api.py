"""`/api/bulk` and `/api/batches`, as the owner has them."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from keeproom.vault import imports
from keeproom.vault.vault import Vault
from keeproom.vault.work import Task, import_of
from tests.applications import application
from tests.doors.conftest import PLACES
from tests.embedders import WordEmbedder
from tests.http import client_of

MARKDOWN = "# About me\n\n- Drinks tea\n- Rides a bike\n  to work\n- Drinks   TEA\n"


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest) -> str:
    return request.param


def brought(client: httpx.Client, content: str, kind: str, **query: Any) -> dict[str, Any]:
    answer = client.post(
        "/api/bulk", content=content.encode(), headers={"Content-Type": kind}, params=query
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def contents(client: httpx.Client, **query: Any) -> list[str]:
    return [one["content"] for one in client.get("/api/memories", params=query).json()["data"]]


def test_markdown_becomes_one_batch_with_an_outcome_for_every_item(client: httpx.Client) -> None:
    batch = brought(client, MARKDOWN, "text/markdown; charset=utf-8", source="notes.md")

    assert (batch["state"], batch["source"]) == ("done", "notes.md")
    assert (batch["total"], batch["done"], batch["stored"], batch["skipped"]) == (3, 3, 2, 1)
    tea, bike, again = batch["outcomes"]["data"]
    assert (tea["outcome"], tea["status"], bike["position"]) == ("stored", "active", 1)
    assert (again["reason"], again["by"]) == ("duplicate", tea["memory_id"])
    assert sorted(contents(client, batch_id=batch["id"])) == ["Drinks tea", "Rides a bike\nto work"]
    memory = client.get(f"/api/memories/{bike['memory_id']}").json()
    assert (memory["source"], memory["batch_id"]) == ("notes.md", batch["id"])


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("Drinks tea\n---\nRides a bike", "text/plain"),
        ('{"text": "- Drinks tea\\n- Rides a bike"}', "application/json"),
        ('{"items": ["Drinks tea", {"content": "Rides a bike"}]}', "application/json"),
        ('["Drinks tea", {"content": "Rides a bike", "app": "x"}]', "application/json"),
        ('{"memories": [{"text": "Drinks tea"}, {"memory": "Rides a bike"}]}', "application/json"),
        ('{"content": "Drinks tea"}\n"Rides a bike"\n', "application/x-ndjson"),
        ('{"content": "Drinks tea"}\n"Rides a bike"\n', "application/json"),
    ],
)
def test_every_form_of_body_gives_the_same_memories(
    client: httpx.Client, content: str, kind: str
) -> None:
    assert brought(client, content, kind)["stored"] == 2
    assert sorted(contents(client)) == ["Drinks tea", "Rides a bike"]


def test_everything_said_with_an_item_is_kept(client: httpx.Client) -> None:
    item = {
        "content": "Flies to Porto",
        "type": "event",
        "source": "chat",
        "source_date": "2026-12-14",
        "tags": ["Travel"],
    }
    body = {"items": [item], "source": "export.json", "propose": True}

    batch = brought(client, json.dumps(body), "application/json")

    memory = client.get("/api/memories").json()["data"][0]
    assert {name: memory[name] for name in item} == {**item, "tags": ["travel"]}
    assert (memory["status"], batch["source"]) == ("proposed", "export.json")


def test_one_bad_item_fails_no_other(client: httpx.Client) -> None:
    secret = "password: Tr0ub4dor&3x-Lq"
    items = ["Drinks tea", "", secret, "x" * 8001, "a\x00b", "Rides a bike"]

    batch = brought(client, json.dumps({"items": items}), "application/json")

    reasons = [one["reason"] for one in batch["outcomes"]["data"]]
    assert reasons == [None, "empty", "secret_like", "invalid", "invalid", None]
    assert sorted(contents(client)) == ["Drinks tea", "Rides a bike"]


def test_undo_takes_back_what_has_not_been_approved_or_edited_since(client: httpx.Client) -> None:
    batch = brought(client, MARKDOWN, "text/markdown")
    kept = batch["outcomes"]["data"][0]["memory_id"]
    client.patch(
        f"/api/memories/{kept}", json={"tags": ["mine"], "expected_revision": 1}
    ).raise_for_status()

    undone = client.post(f"/api/batches/{batch['id']}/undo")
    again = client.post(f"/api/batches/{batch['id']}/undo")

    assert (undone.json()["state"], undone.json()["undone"]) == ("undone", 1)
    assert again.json() == undone.json()
    assert contents(client) == ["Drinks tea"]


def test_without_a_model_the_batch_says_that_only_words_were_compared(
    client: httpx.Client, embedder: WordEmbedder
) -> None:
    embedder.down = True

    batch = brought(client, MARKDOWN, "text/markdown")

    assert (batch["state"], batch["stored"], batch["keyword_only"]) == ("done", 2, True)


def test_a_repeated_key_imports_once(client: httpx.Client) -> None:
    def send(content: str) -> httpx.Response:
        headers = {"Content-Type": "text/plain", "Idempotency-Key": "one"}
        return client.post("/api/bulk", content=content, headers=headers)

    first = send("Drinks tea")

    assert send("Drinks tea").json()["id"] == first.json()["id"]
    assert send("Drinks milk").json()["error"]["code"] == "request_id_reused"
    assert len(client.get("/api/batches").json()["data"]) == 1


class Hurried:
    """A door with no time for imports, which rings for the worker."""

    def __init__(self, vault: Vault) -> None:
        self.rung = list[Task]()
        self.app = application(vault, wake=self._ring, import_seconds=0)

    def _ring(self, task: Task) -> None:
        self.rung.append(task)


@pytest.fixture
def hurried(vault: Vault) -> Hurried:
    return Hurried(vault)


@pytest.fixture
def hurried_client(hurried: Hurried) -> Iterator[httpx.Client]:
    with client_of(hurried.app) as client:
        yield client


def begun(client: httpx.Client) -> dict[str, Any]:
    items = [f"Fact number {n} about subject {n}" for n in range(12)]
    answer = client.post("/api/bulk", json={"items": items})
    assert answer.status_code == 202, answer.text
    return answer.json()


def test_what_does_not_fit_into_the_call_goes_on_in_the_background(
    vault: Vault, hurried: Hurried, hurried_client: httpx.Client
) -> None:
    batch = begun(hurried_client)
    assert (batch["state"], batch["done"], batch["outcomes"]["data"]) == ("running", 0, [])
    assert hurried.rung == [import_of(batch["id"])]

    imports.resume(vault, seconds=60)

    address = f"/api/batches/{batch['id']}"
    first = hurried_client.get(address, params={"limit": 7}).json()
    cursor = first["outcomes"]["next"]
    rest = hurried_client.get(address, params={"limit": 7, "cursor": cursor}).json()
    assert (first["state"], first["done"]) == ("done", 12)
    positions = [one["position"] for one in first["outcomes"]["data"] + rest["outcomes"]["data"]]
    assert positions == list(range(12))
    assert rest["outcomes"]["next"] is None


def test_a_running_import_is_cancelled(vault: Vault, hurried_client: httpx.Client) -> None:
    batch = begun(hurried_client)

    cancelled = hurried_client.post(f"/api/batches/{batch['id']}/cancel")
    imports.resume(vault, seconds=60)

    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    assert contents(hurried_client) == []
    assert hurried_client.get(f"/api/batches/{batch['id']}").json()["done"] == 0


def test_a_finished_import_cannot_be_cancelled(client: httpx.Client) -> None:
    batch = brought(client, "Drinks tea", "text/plain")

    answer = client.post(f"/api/batches/{batch['id']}/cancel")

    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "wrong_state")


def test_imports_are_listed_newest_first(client: httpx.Client) -> None:
    ids = [brought(client, f"Fact number {n}", "text/plain")["id"] for n in range(3)]

    page = client.get("/api/batches", params={"limit": 2}).json()
    rest = client.get("/api/batches", params={"limit": 2, "cursor": page["next"]}).json()

    assert [one["id"] for one in page["data"] + rest["data"]] == ids[::-1]
    assert rest["next"] is None
