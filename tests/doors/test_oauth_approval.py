"""The approval page: the owner alone decides, once, and sees who asks."""

import re
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from keeproom.oauth.model import Grant, Pending
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.http import HERE, client_of
from tests.letting_in import (
    CALLBACK,
    Door,
    answer_of,
    asked,
    decided,
    door_in,
    exchanged,
    registered,
    ticked,
    transaction_of,
)

ELSEWHERE = "https://evil.example"


@pytest.fixture
def client_id(door: Door) -> str:
    return registered(door)["client_id"]


def grants(door: Door) -> list[Grant]:
    return list(door.auth.grants.page(Grant).items)


def verbs(door: Door) -> list[str]:
    return [entry.verb for entry in door.auth.grants.audit().items]


# ---- what is shown


def test_the_page_names_the_client_its_proof_and_where_access_goes(
    door: Door, client_id: str
) -> None:
    page = asked(door, client_id)

    assert page.status_code == 200
    assert "Codex</bdi> asks to use your vault" in page.text
    assert "Self-declared name" in page.text
    assert "started this yourself, just now" in page.text
    assert "127.0.0.1:53682</b> a program on this computer" in page.text
    assert "Signed in as owner@localhost" in page.text
    assert "<option>personal</option>" in page.text


def test_a_verified_name_says_by_which_domain(door: Door) -> None:
    address = "https://app.example/client.json"
    uri = "https://app.example/cb"
    door.papers.kept[address] = {
        "client_id": address, "client_name": "App", "redirect_uris": [uri],
    }  # fmt: skip

    page = asked(door, address, redirect_uri=uri)
    assert "Name verified by app.example" in page.text
    assert "Self-declared" not in page.text
    assert "<b>app.example</b></p>" in page.text


def test_a_verified_name_is_no_proof_for_a_program_on_this_computer(door: Door) -> None:
    page = asked(
        door,
        "https://claude.ai/oauth/claude-code-client-metadata",
        redirect_uri="http://localhost:4711/callback",
    )

    assert "Name verified by claude.ai" in page.text
    assert "Any program on this computer could ask by this name" in page.text


def test_a_client_name_is_never_markup(door: Door) -> None:
    name = '<script>alert("1")</script>'
    page = asked(door, registered(door, client_name=name)["client_id"])

    assert "<script" not in page.text
    assert "&lt;script&gt;" in page.text


def test_hidden_characters_in_a_name_are_told(door: Door) -> None:
    page = asked(door, registered(door, client_name="Cl\u202eaude")["client_id"])

    assert "Hidden characters were taken out of the name" in page.text


def test_the_page_needs_no_script_and_nothing_from_elsewhere(door: Door, client_id: str) -> None:
    page = asked(door, client_id)

    assert "<script" not in page.text
    assert not re.search(r"(?:src|href)=|url\(|@import|\son\w+=", page.text)
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("scope", "boxes"),
    [
        (None, {"read", "propose"}),
        ("", {"read", "propose"}),
        ("memory:read memory:propose memory:write memory:forget", {"read", "propose"}),
        ("memory:read", {"read"}),
        ("memory:write memory:forget", set[str]()),
        ("memory:read openid offline_access", {"read"}),
    ],
)
def test_read_and_propose_are_ticked_and_never_more_than_asked_for(
    door: Door, client_id: str, scope: str | None, boxes: set[str]
) -> None:
    assert ticked(asked(door, client_id, scope=scope)) == boxes


def test_in_auto_mode_write_is_ticked_too(door: Door, client_id: str) -> None:
    door.http.put("/api/settings", json={"approval_mode": "auto"}).raise_for_status()

    page = asked(door, client_id)
    assert ticked(page) == {"read", "propose", "write"}
    assert "now auto" in page.text
    assert ticked(asked(door, client_id, scope="memory:read")) == {"read"}


def test_what_was_not_asked_for_cannot_be_ticked(door: Door, client_id: str) -> None:
    page = asked(door, client_id, scope="memory:read")

    assert page.text.count("Not asked for") == 3
    code = answer_of(decided(door, page, allow={"read", "write", "forget"}))["code"]
    assert exchanged(door, client_id, code).json()["scope"] == "memory:read"


def test_an_app_that_sends_no_state_is_asked_about_all_the_same(door: Door, client_id: str) -> None:
    page = asked(door, client_id, state=None)

    assert page.status_code == 200
    assert "state" not in answer_of(decided(door, page))


# ---- the decision


def test_approve_sends_a_code_with_state_and_issuer(door: Door, client_id: str) -> None:
    redirect = decided(door, asked(door, client_id))

    assert redirect.status_code == 303
    assert redirect.headers["location"].startswith(f"{CALLBACK}?")
    answer = answer_of(redirect)
    assert (answer["state"], answer["iss"]) == ("af0ifjsldkj", HERE)
    assert len(answer["code"]) >= 43
    assert verbs(door) == ["approve"]


def test_deny_says_so_with_state_and_issuer_and_is_audited(door: Door, client_id: str) -> None:
    answer = answer_of(decided(door, asked(door, client_id), "deny"))

    assert (answer["error"], answer["state"], answer["iss"]) == (
        "access_denied", "af0ifjsldkj", HERE,
    )  # fmt: skip
    assert "code" not in answer
    assert grants(door) == []
    assert verbs(door) == ["deny"]


def test_approving_nothing_asks_again(door: Door, client_id: str) -> None:
    page = asked(door, client_id)

    again = decided(door, page, allow=set())
    assert again.status_code == 400
    assert "Allow at least one thing, or deny." in again.text
    assert transaction_of(again) == transaction_of(page)
    assert decided(door, again, allow={"read"}).status_code == 303


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_decision_cannot_be_replayed(door: Door, client_id: str, decision: str) -> None:
    page = asked(door, client_id)
    decided(door, page)

    again = decided(door, page, decision)
    assert again.status_code == 400
    assert "expired, or it was decided already" in again.text
    assert "<button" not in again.text
    assert len(grants(door)) == 1


def test_a_request_waits_ten_minutes(door: Door, client_id: str) -> None:
    page, late = asked(door, client_id), asked(door, client_id)

    door.watch.forward(timedelta(minutes=9, seconds=59))
    assert decided(door, page).status_code == 303
    door.watch.forward(timedelta(seconds=1))
    assert "expired" in decided(door, late).text


def test_another_browser_cannot_decide(door: Door, client_id: str) -> None:
    page = asked(door, client_id)

    for cookie in ("", "keeproom-browser=" + "x" * 43):
        door.http.cookies.clear()
        answer = decided(door, page, headers={"Cookie": cookie})
        assert answer.status_code == 400
        assert "not shown in this browser" in answer.text
    assert grants(door) == []


def test_two_pages_in_one_browser_are_both_good(door: Door, client_id: str) -> None:
    first, second = asked(door, client_id), asked(door, client_id)

    assert decided(door, first).status_code == 303
    assert decided(door, second).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": ELSEWHERE},
        {"Origin": "null"},
        {"Origin": HERE, "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
        {"X-Forwarded-For": "203.0.113.9"},
    ],
)
def test_a_forged_decision_is_refused(door: Door, client_id: str, headers: dict[str, str]) -> None:
    page = asked(door, client_id)

    answer = decided(door, page, headers=headers)
    assert answer.status_code == 403
    assert grants(door) == []
    assert decided(door, page).status_code == 303


def test_the_page_cannot_be_framed(door: Door, client_id: str) -> None:
    page = asked(door, client_id)

    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"
    framed = door.http.get(
        page.request.url,
        headers={
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "iframe",
        },
    )
    assert framed.status_code == 403


def test_an_apps_own_site_may_lead_the_owner_here(door: Door, client_id: str) -> None:
    url = asked(door, client_id).request.url
    window = {
        "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
    }  # fmt: skip

    assert door.http.get(url, headers=window).status_code == 200
    read = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Origin": ELSEWHERE}
    assert door.http.get(url, headers=read).status_code == 403


@pytest.mark.parametrize(
    ("uri", "source"),
    [
        (CALLBACK, "http://127.0.0.1:53682"),
        ("https://app.example/cb", "https://app.example"),
        ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor:"),
    ],
)
def test_form_action_lets_the_answer_reach_the_client(door: Door, uri: str, source: str) -> None:
    client = registered(door, redirect_uris=[uri])["client_id"]

    policy = asked(door, client, redirect_uri=uri).headers["content-security-policy"]
    assert f"form-action 'self' {source};" in policy


def test_the_form_keeps_its_origin_and_the_answer_tells_nobody_where_it_was(
    door: Door, client_id: str
) -> None:
    page = asked(door, client_id)

    assert page.headers["referrer-policy"] == "same-origin"
    assert decided(door, page).headers["referrer-policy"] == "no-referrer"


def test_the_browsers_secret_is_for_this_server_alone(
    door: Door, client_id: str, vault: Vault, tmp_path: Path
) -> None:
    cookie = asked(door, client_id).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie

    (tmp_path / "other").mkdir()
    with door_in(tmp_path / "other", vault, issuer="https://localhost:8787") as secure:
        cookie = asked(secure, registered(secure)["client_id"]).headers["set-cookie"]
    assert cookie.startswith("__Host-")
    assert "Secure" in cookie


def test_only_the_owner_sees_the_page(door: Door, client_id: str, vault: Vault) -> None:
    url = asked(door, client_id).request.url
    app = application(
        vault, owner="o@x.example", public_url="https://vault.example", authorization=door.auth
    )
    with client_of(app) as public:
        assert public.get(url).status_code == 403
        assert public.post("/authorize", data={"decision": "approve"}).status_code == 403
        assert public.get("/.well-known/oauth-authorization-server").status_code == 200
    assert len(door.auth.grants.page(Pending).items) == 1


# ---- requests that are not good


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": None},
        {"client_id": "cli_nobody"},
        {"client_id": "https://evil.example/client.json"},
        {"client_id": "\x00"},
        {"redirect_uri": "http://127.0.0.1:53682/callback/"},
        {"redirect_uri": "http://127.0.0.1:53682/callback#x"},
        {"redirect_uri": "http://127.0.0.1:53682@evil.example/callback"},
        {"redirect_uri": "http://localhost:53682/callback"},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": "javascript:alert(1)"},
        {"state": "x" * 9000},
    ],
)
def test_errors_before_the_redirect_is_trusted_are_shown_here(
    door: Door, client_id: str, changed: dict[str, str | None]
) -> None:
    answer = asked(door, **{"client_id": client_id, **changed})  # pyright: ignore[reportArgumentType]

    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/html")
    assert "location" not in answer.headers
    assert "evil" not in answer.text
    assert door.auth.grants.page(Pending).items == ()


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"scope": "root admin"}, "invalid_scope"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": f"{HERE}/other"}, "invalid_target"),
    ],
)
def test_errors_after_it_go_back_with_state_and_issuer(
    door: Door, client_id: str, changed: dict[str, str | None], error: str
) -> None:
    answer = answer_of(asked(door, client_id, **changed))

    assert (answer["error"], answer["state"], answer["iss"]) == (error, "af0ifjsldkj", HERE)
    assert door.auth.grants.page(Pending).items == ()


def test_a_parameter_that_comes_twice_is_refused(door: Door, client_id: str) -> None:
    url = asked(door, client_id).request.url

    for name in ("client_id", "redirect_uri", "state", "code_challenge"):
        answer = door.http.get(f"{url}&{name}=other")
        assert answer.status_code == 400
        assert "comes twice" in answer.text


@pytest.mark.parametrize("resource", [f"{HERE}/mcp", f"{HERE}/mcp/", HERE, f"{HERE}/"])
def test_the_resource_may_be_spelled_as_clients_do(
    door: Door, client_id: str, resource: str
) -> None:
    assert asked(door, client_id, resource=resource).status_code == 200


def test_a_single_redirect_uri_need_not_be_named(door: Door, client_id: str) -> None:
    page = asked(door, client_id, redirect_uri=None)
    assert decided(door, page).headers["location"].startswith(CALLBACK)

    many = registered(door, redirect_uris=[CALLBACK, "cursor://x/cb"])["client_id"]
    assert asked(door, many, redirect_uri=None).status_code == 400


@pytest.mark.parametrize("port", ["1", "49152", "65535"])
def test_a_loopback_client_may_listen_on_any_port(door: Door, client_id: str, port: str) -> None:
    uri = f"http://127.0.0.1:{port}/callback"

    page = asked(door, client_id, redirect_uri=uri)
    assert f"127.0.0.1:{port}</b>" in page.text
    assert decided(door, page).headers["location"].startswith(f"{uri}?")


def test_a_restart_in_the_middle_of_a_sign_in_does_not_end_it(vault: Vault, tmp_path: Path) -> None:
    with door_in(tmp_path, vault) as before:
        client = registered(before)["client_id"]
        page = asked(before, client)
        cookies = before.http.cookies
    with door_in(tmp_path, vault) as after:
        after.http.cookies = cookies
        code = answer_of(decided(after, page))["code"]
    with door_in(tmp_path, vault) as later:
        assert exchanged(later, client, code).status_code == 200


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"transaction": "x"},
        {"decision": "approve"},
        {"decision": "maybe", "transaction": "x"},
        {"decision": "approve", "transaction": "x", "vault": "other"},
        {"decision": "approve", "transaction": "x", "vault": "personal", "read": "1"},
    ],
)
def test_a_form_that_makes_no_sense_decides_nothing(door: Door, form: dict[str, str]) -> None:
    answer: httpx.Response = door.http.post("/authorize", data=form)

    assert answer.status_code == 400
    assert "<button" not in answer.text


def test_a_vault_that_is_not_there_cannot_be_given(door: Door, client_id: str) -> None:
    page = asked(door, client_id)
    form = {"transaction": transaction_of(page), "decision": "approve", "read": "1"}

    assert door.http.post("/authorize", data={**form, "vault": "other"}).status_code == 400
    assert grants(door) == []
