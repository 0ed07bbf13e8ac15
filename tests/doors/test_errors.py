"""What an error looks like from outside, and in the log."""

import logging
from dataclasses import replace

import httpx
import pytest

from keeproom.vault.vault import Vault
from tests.applications import application
from tests.embedders import WordEmbedder
from tests.http import client_of

TOLD = "the ferry to Texel leaves at nine"


class Broken(WordEmbedder):
    """A model with a fault in it, which tells what it was given."""

    def passages(self, texts: object) -> object:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise ZeroDivisionError(texts)


def test_a_fault_of_ours_tells_neither_the_caller_nor_the_log_what_was_sent(
    vault: Vault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "keeproom")
    with client_of(application(replace(vault, embedder=Broken()))) as client:
        answer = client.post("/api/memories", json={"content": TOLD})

        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert client.get("/health").status_code == 200
    request = answer.headers["Keeproom-Request-Id"]
    assert request in answer.json()["error"]["message"]
    assert "ferry" not in answer.text + caplog.text
    failed = next(one for one in caplog.messages if one.startswith("failed"))
    assert request in failed
    assert "ZeroDivisionError" in failed
    assert "Traceback" not in answer.text + caplog.text


def test_a_busy_store_says_when_to_try_again(vault: Vault) -> None:
    with client_of(application(replace(vault, tries=lambda: iter(())))) as client:
        answer = client.post("/api/memories", json={"content": TOLD})

        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
        assert int(answer.headers["Retry-After"]) >= 1
        assert client.get("/api/memories").json()["data"] == []


def test_the_log_has_a_line_for_each_request_without_what_was_asked(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "keeproom")
    memory = client.post("/api/memories", json={"content": TOLD}).json()["memory"]
    client.get("/api/recall", params={"q": "ferry to Texel"})
    client.get(f"/api/memories/{memory['id']}")
    client.get("/ferry")

    lines = [one.getMessage() for one in caplog.records if one.name == "keeproom.access"]

    routes = [line.split("route=")[1].split()[0] for line in lines]
    assert routes == ["/api/memories", "/api/recall", "/api/memories/{id}", "-"]
    assert [line.split("status=")[1].split()[0] for line in lines] == ["201", "200", "200", "404"]
    assert "ferry" not in "".join(lines)


@pytest.mark.parametrize(
    "address", ["/home", "/api", "/api/", "/api/memories/", "/docs", "/API/guide"]
)
def test_an_unknown_address_is_told_as_one(client: httpx.Client, address: str) -> None:
    answer = client.get(address)

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "address", "allowed"),
    [
        ("DELETE", "/api/memories", "GET, HEAD, POST"),
        ("OPTIONS", "/api/memories", "GET, HEAD, POST"),
        ("POST", "/api/memories/mem_1", "DELETE, GET, HEAD, PATCH"),
        ("HEAD", "/api/bulk", "POST"),
        ("POST", "/health", "GET, HEAD"),
    ],
)
def test_another_method_is_told_which_ones_there_are(
    client: httpx.Client, method: str, address: str, allowed: str
) -> None:
    answer = client.request(method, address)

    assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)


def test_head_is_get_without_a_body(client: httpx.Client) -> None:
    got, head = client.get("/api/settings"), client.head("/api/settings")

    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["ETag"] == got.headers["ETag"]
    assert head.headers["Content-Length"] == str(len(got.content))
