"""Clients that publish a document about themselves: who vouches for them, and for how long."""

from datetime import timedelta
from typing import Any

import pytest

from tests.letting_in import (
    Door,
    answer_of,
    asked,
    code_for,
    decided,
    exchanged,
    refreshed,
    registered,
)

ADDRESS = "https://app.example/client.json"
LOOPBACK = {
    "client_id": ADDRESS,
    "client_name": "App",
    "redirect_uris": ["http://127.0.0.1/callback"],
    "token_endpoint_auth_method": "none",
}


@pytest.fixture
def published(door: Door) -> str:
    door.papers.kept[ADDRESS] = LOOPBACK
    return ADDRESS


def test_a_client_signs_in_by_the_address_of_its_document(door: Door, published: str) -> None:
    tokens = exchanged(door, published, code_for(door, published)).json()

    assert refreshed(door, published, tokens["refresh_token"]).status_code == 200
    (grant,) = door.http.get("/api/oauth/grants").json()["data"]
    assert (grant["client_name"], grant["verified_by"]) == ("App", "app.example")


def test_a_document_is_read_again_only_when_that_is_due(door: Door, published: str) -> None:
    for _ in range(3):
        exchanged(door, published, code_for(door, published))
    assert door.papers.asked == [published]

    door.watch.forward(timedelta(hours=1))
    asked(door, published)
    assert door.papers.asked == [published] * 2


def test_only_the_owners_requests_make_us_read_an_address(door: Door, published: str) -> None:
    assert exchanged(door, published, "code").status_code == 401
    assert door.http.post("/revoke", data={"client_id": published, "token": "x"}).status_code == 401
    url = asked(door, "cli_nobody").request.url
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    door.http.get(url.copy_set_param("client_id", published), headers=elsewhere)

    assert door.papers.asked == []


@pytest.mark.parametrize(
    "lie",
    [
        {"client_id": "https://claude.ai/oauth/claude-code-client-metadata"},
        {"client_id": ADDRESS + "/"},
        {"client_id": None},
        {"client_name": ""},
        {"client_name": None},
        {"client_name": "\u200b"},
        {"redirect_uris": []},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": ["http://app.example/cb"]},
        {"redirect_uris": "http://127.0.0.1/callback"},
        {"client_secret": "shared with everybody"},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"grant_types": ["client_credentials"]},
    ],
)
def test_a_document_that_lies_lets_nobody_in(door: Door, lie: dict[str, Any]) -> None:
    door.papers.kept[ADDRESS] = {**LOOPBACK, **lie}

    answer = asked(door, ADDRESS)
    assert answer.status_code == 400
    assert "document" in answer.text
    assert door.http.get("/api/oauth/clients").json()["data"] == []


def test_a_document_that_cannot_be_read_lets_nobody_in(door: Door) -> None:
    assert "cannot be read" in asked(door, ADDRESS).text


def test_what_was_read_is_believed_for_a_month_when_it_cannot_be_read_again(
    door: Door, published: str
) -> None:
    exchanged(door, published, code_for(door, published))
    door.papers.kept.clear()

    door.watch.forward(timedelta(days=30))
    assert asked(door, published).status_code == 200
    door.watch.forward(timedelta(hours=2))
    assert "cannot be read" in asked(door, published).text


def test_a_new_document_counts_from_when_it_is_read(door: Door, published: str) -> None:
    assert asked(door, published).status_code == 200
    door.papers.kept[ADDRESS] = {**LOOPBACK, "redirect_uris": ["https://app.example/cb"]}

    door.watch.forward(timedelta(hours=1))
    assert asked(door, published).status_code == 400
    assert asked(door, published, redirect_uri="https://app.example/cb").status_code == 200


@pytest.mark.parametrize(
    ("address", "uri", "name", "domain"),
    [
        ("https://claude.ai/oauth/mcp-oauth-client-metadata",
         "https://claude.ai/api/mcp/auth_callback", "Claude", "claude.ai"),
        ("https://claude.ai/oauth/claude-code-client-metadata",
         "http://localhost:3118/callback", "Claude Code", "claude.ai"),
        ("https://chatgpt.com/oauth/client.json",
         "https://chatgpt.com/connector_platform_oauth_redirect", "ChatGPT", "chatgpt.com"),
        ("https://chatgpt.com/oauth/codex/client.json",
         "http://127.0.0.1:1455/callback", "Codex", "chatgpt.com"),
    ],
)  # fmt: skip
def test_well_known_clients_connect_when_their_document_does_not_answer(
    door: Door, address: str, uri: str, name: str, domain: str
) -> None:
    page = asked(door, address, redirect_uri=uri)

    assert f"{name}</bdi> asks" in page.text
    assert f"Name verified by {domain}" in page.text
    code = answer_of(decided(door, page))["code"]
    assert exchanged(door, address, code, redirect_uri=uri).status_code == 200
    assert asked(door, address, redirect_uri="https://evil.example/cb").status_code == 400


def test_a_well_known_client_is_taken_by_its_own_document_when_that_answers(door: Door) -> None:
    address = "https://chatgpt.com/oauth/client.json"
    door.papers.kept[address] = {
        "client_id": address,
        "client_name": "ChatGPT",
        "redirect_uris": ["https://chatgpt.com/new"],
        "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_methods_supported": ["private_key_jwt", "none"],
    }

    page = asked(door, address, redirect_uri="https://chatgpt.com/new")
    assert "Name verified by chatgpt.com" in page.text


@pytest.mark.parametrize(
    "client_id",
    [
        "http://app.example/client.json",
        "https://app.example",
        "https://app.example/",
        "https://app.example/client.json#x",
        "https://user@app.example/client.json",
        "https://app.example/../client.json",
        "https://app.example/a/%2e%2E/client.json",
        "https://App.example/client.json",
        "https://сlaude.ai/client.json",
        "https://app.example\\@claude.ai/client.json",
        "https://app.example/client json",
        "https://app.example/" + "x" * 600,
        "ftp://app.example/client.json",
    ],
)
def test_an_id_that_is_no_clean_address_is_never_read(door: Door, client_id: str) -> None:
    assert asked(door, client_id).status_code == 400
    assert door.papers.asked == []


def test_nobody_can_register_as_somebody_who_is_verified(door: Door) -> None:
    told = registered(door, client_name="Claude", client_id=ADDRESS, verified_by="claude.ai")

    assert told["client_id"] != ADDRESS
    assert "Self-declared name" in asked(door, told["client_id"]).text
