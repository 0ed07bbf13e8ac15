"""An app makes itself known: whatever sensible apps say is taken, and nobody fills the store."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from keeproom.oauth.cleanup import clean_up
from keeproom.oauth.model import Client
from tests.letting_in import CALLBACK, Door, asked, exchanged, registered, signed_in


def registrations(door: Door) -> list[Client]:
    return list(door.auth.grants.page(Client, limit=1000).items)


def refusal(door: Door, **metadata: Any) -> str:
    answer = door.http.post(
        "/register",
        json={"client_name": "x", "redirect_uris": [CALLBACK], **metadata},
    )
    assert answer.status_code == 400, answer.text
    assert set(answer.json()) == {"error", "error_description"}
    assert registrations(door) == []
    return answer.json()["error"]


def test_a_public_client_gets_an_id_and_no_secret(door: Door) -> None:
    told = registered(door, client_uri="https://x.example", software_version="1", jwks={"keys": []})

    assert told["client_id"].startswith("cli_")
    assert "client_secret" not in told
    assert told["redirect_uris"] == [CALLBACK]
    assert told["token_endpoint_auth_method"] == "none"
    assert told["grant_types"] == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_confidential_client_is_told_its_secret_once(door: Door, method: str) -> None:
    told = registered(door, token_endpoint_auth_method=method)

    assert told["token_endpoint_auth_method"] == method
    assert told["client_secret_expires_at"] == 0
    (kept,) = registrations(door)
    assert told["client_secret"] not in repr(kept), "only its hash is kept"


def test_a_client_that_names_no_method_gets_the_default_of_the_rfc(door: Door) -> None:
    told = door.http.post("/register", json={"redirect_uris": [CALLBACK]}).json()

    assert told["token_endpoint_auth_method"] == "client_secret_basic"
    assert told["client_name"] == "Unnamed app"


def test_a_client_that_would_rather_sign_is_public_when_it_says_it_can_be(door: Door) -> None:
    preferring = {
        "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_methods_supported": ["private_key_jwt", "none"],
    }

    assert registered(door, **preferring)["token_endpoint_auth_method"] == "none"


def test_private_use_schemes_register_together_with_others(door: Door) -> None:
    uris = [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    ]

    assert registered(door, redirect_uris=uris)["redirect_uris"] == uris


@pytest.mark.parametrize(
    "uri", ["http://LOCALHOST:80/cb", "https://App.example:443/cb", "https://app.example"]
)
def test_redirect_uris_stay_as_the_client_spelled_them(door: Door, uri: str) -> None:
    answer = door.http.post("/register", json={"redirect_uris": [uri]})

    if answer.status_code == 201:
        assert answer.json()["redirect_uris"] == [uri]
    else:
        assert answer.json()["error"] == "invalid_redirect_uri"


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(document.cookie)",
        "data:text/html,x",
        "file:///tmp/x",
        "vbscript:x",
        "http://app.example/cb",
        "https://app.example/cb#frag",
        "https://user@app.example/cb",
        "https://сlaude.ai/cb",
    ],
)
def test_redirects_that_run_or_leak_are_refused_with_all_beside_them(door: Door, uri: str) -> None:
    assert refusal(door, redirect_uris=[CALLBACK, uri]) == "invalid_redirect_uri"


@pytest.mark.parametrize(
    "metadata",
    [
        {"redirect_uris": []},
        {"redirect_uris": None},
        {"redirect_uris": CALLBACK},
        {"redirect_uris": [7]},
        {"redirect_uris": [f"http://localhost/{n}" for n in range(21)]},
        {"client_name": 7},
        {"client_name": ["x"]},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"token_endpoint_auth_method": "tls_client_auth"},
        {"token_endpoint_auth_method": 1},
        {"token_endpoint_auth_method": ["none"]},
        {"grant_types": ["client_credentials"]},
        {"grant_types": "authorization_code"},
        {"response_types": ["token"]},
    ],
)
def test_metadata_that_makes_no_sense_is_refused(door: Door, metadata: dict[str, Any]) -> None:
    assert refusal(door, **metadata) == "invalid_client_metadata"


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'"x"', b"{", b"\xff", b"[" * 5000, b"redirect_uris=x"]
)
def test_a_body_that_is_no_object_is_refused(door: Door, body: bytes) -> None:
    answer = door.http.post("/register", content=body)

    assert answer.status_code == 400
    assert answer.json()["error"] in ("invalid_client_metadata", "invalid_request")


def test_a_huge_body_is_refused(door: Door) -> None:
    for size, status in ((70_000, 400), (5_000_000, 413)):
        answer = door.http.post("/register", content=b'{"client_name": "' + b"x" * size + b'"}')
        assert answer.status_code == status
    assert registrations(door) == []


@pytest.mark.parametrize(
    ("name", "kept", "flagged"),
    [
        ("Claude\u202egnp.exe", "Claudegnp.exe", True),
        ("Cl\u200baude\U000e0041", "Claude", True),
        ("Two\nlines", "Two lines", True),
        ("x" * 61, "x" * 59 + "…", False),
        ("  Žluťoučký 🐎  ", "Žluťoučký 🐎", False),
        ("\u200b", "Unnamed app", True),
    ],
)
def test_a_name_is_one_visible_line(
    door: Door,
    name: str,
    kept: str,
    flagged: bool,  # noqa: FBT001
) -> None:
    told = registered(door, client_name=name)

    assert told["client_name"] == kept
    (client,) = registrations(door)
    assert client.flagged is flagged


def test_an_unused_registration_expires_after_a_day(door: Door) -> None:
    client = registered(door)["client_id"]

    door.watch.forward(timedelta(hours=23, minutes=59))
    assert asked(door, client).status_code == 200
    door.watch.forward(timedelta(minutes=1))
    assert "no such client" in asked(door, client).text
    assert exchanged(door, client, "x").json()["error"] == "invalid_client"
    clean_up(door.auth)
    assert registrations(door) == []


def test_a_used_registration_outlives_its_tokens(door: Door) -> None:
    app = signed_in(door)

    door.watch.forward(timedelta(days=400))
    clean_up(door.auth)
    assert [one.id for one in registrations(door)] == [app.client_id]
    assert asked(door, app.client_id).status_code == 200


def flood(door: Door, count: int) -> list[httpx.Response]:
    told = {"redirect_uris": [CALLBACK]}
    return [door.http.post("/register", json=told) for _ in range(count)]


def test_a_registration_flood_ends_in_429_and_passes(door: Door) -> None:
    answers = flood(door, 102)

    assert [one.status_code for one in answers] == [201] * 100 + [429] * 2
    assert answers[-1].json()["error"] == "temporarily_unavailable"
    assert 0 < int(answers[-1].headers["retry-after"]) <= 3600
    assert len(registrations(door)) == 100
    door.watch.forward(timedelta(hours=1))
    assert flood(door, 1)[0].status_code == 201


def test_what_a_flood_left_is_gone_after_a_day(door: Door) -> None:
    flood(door, 30)
    app = signed_in(door)

    door.watch.forward(timedelta(days=1))
    assert clean_up(door.auth) >= 30
    assert [one.id for one in registrations(door)] == [app.client_id]
