"""What a client reads before it comes: the same at every place it may look, and true."""

import json

import httpx
import pytest

from keeproom.vault.vault import Vault
from tests.applications import application
from tests.http import HERE, client_of
from tests.letting_in import Door, registered

RESOURCES = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
SERVERS = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/openid-configuration",
]
PAGE = {"Origin": "https://inspector.example"}


@pytest.mark.parametrize("path", RESOURCES)
def test_the_resource_names_its_server_at_both_well_known_paths(door: Door, path: str) -> None:
    told = door.http.get(path).json()

    assert told["resource"] == f"{HERE}/mcp"
    assert told["authorization_servers"] == [HERE]
    assert told["scopes_supported"] == [
        "memory:read", "memory:propose", "memory:write", "memory:forget",
    ]  # fmt: skip
    assert told["bearer_methods_supported"] == ["header"]


@pytest.mark.parametrize("path", SERVERS)
def test_the_server_describes_itself_in_every_path_style(door: Door, path: str) -> None:
    told = door.http.get(path).json()

    assert told["issuer"] == HERE, "compared as a text: no slash at its end"
    assert told["token_endpoint"] == f"{HERE}/token"
    assert told["code_challenge_methods_supported"] == ["S256"]
    assert told["token_endpoint_auth_methods_supported"] == [
        "none", "client_secret_basic", "client_secret_post",
    ]  # fmt: skip
    assert told["revocation_endpoint_auth_methods_supported"][0] == "none"
    assert told["client_id_metadata_document_supported"] is True
    assert told["authorization_response_iss_parameter_supported"] is True


def test_every_address_told_is_served(door: Door) -> None:
    told = door.http.get(SERVERS[0]).json()

    for name in ("token_endpoint", "registration_endpoint", "revocation_endpoint"):
        assert door.http.post(told[name]).status_code in (400, 401), name
    assert door.http.get(told["authorization_endpoint"]).status_code == 400


def test_the_public_address_is_the_only_one_whatever_the_request_says(door: Door) -> None:
    odd = {"Host": "internal.example:9", "X-Forwarded-Host": "evil.example"}

    told = door.http.get(RESOURCES[0], headers=odd).json()
    assert told["resource"] == f"{HERE}/mcp"
    assert "example" not in door.http.get(SERVERS[0], headers=odd).text


@pytest.mark.parametrize("path", [*RESOURCES, *SERVERS])
def test_pages_of_any_site_may_read_the_documents(door: Door, path: str) -> None:
    assert door.http.get(path, headers=PAGE).headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", ["/token", "/register", "/revoke", *RESOURCES])
def test_pages_of_any_site_are_given_leave_to_ask(door: Door, path: str) -> None:
    answer = door.http.options(
        path,
        headers={
            **PAGE,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type,mcp-protocol-version",
        },
    )

    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "mcp-protocol-version" in answer.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("path", ["/token", "/register", "/revoke"])
def test_errors_can_be_read_by_pages_too(door: Door, path: str) -> None:
    answer = door.http.post(path, headers=PAGE)

    assert answer.headers["access-control-allow-origin"] == "*"
    assert "WWW-Authenticate" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize("path", ["/authorize", "/api/oauth/grants", "/health"])
def test_no_page_of_another_site_may_read_anything_else(door: Door, path: str) -> None:
    for method in ("GET", "OPTIONS"):
        headers = {**PAGE, "Access-Control-Request-Method": "GET"}
        answer = door.http.request(method, path, headers=headers)
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_nothing_of_a_sign_in_is_kept_by_caches(door: Door) -> None:
    client = registered(door)
    answers: list[httpx.Response] = [
        door.http.post("/token", data={"client_id": client["client_id"]}),
        door.http.post("/register", json={}),
        door.http.get("/authorize", params={"client_id": client["client_id"]}),
        *(door.http.get(path) for path in (*RESOURCES, *SERVERS)),
    ]

    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}


@pytest.mark.parametrize("path", ["/token", "/register", "/revoke"])
def test_other_methods_are_named(door: Door, path: str) -> None:
    answer = door.http.get(path)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_without_sign_in_nothing_of_it_is_served(vault: Vault) -> None:
    with client_of(application(vault)) as client:
        for path in (*RESOURCES, *SERVERS, "/authorize", "/api/oauth/grants"):
            assert client.get(path).status_code == 404, path
        for path in ("/token", "/register", "/revoke", "/authorize"):
            assert client.post(path).status_code == 404, path


def test_the_documents_are_plain_json(door: Door) -> None:
    answer = door.http.get(SERVERS[0])

    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.text)
