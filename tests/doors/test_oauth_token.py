"""Codes become tokens once, tokens are renewed, given back, and expire."""

import base64
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from keeproom.oauth.errors import NotAuthenticated
from keeproom.oauth.model import Caller, Grant
from keeproom.oauth.verify import authenticated
from keeproom.vault.vault import Vault
from tests.http import HERE
from tests.letting_in import (
    CALLBACK,
    VERIFIER,
    Door,
    SignedIn,
    answer_of,
    asked,
    code_for,
    decided,
    door_in,
    exchanged,
    refreshed,
    registered,
    signed_in,
)


def caller(door: Door, token: str) -> Caller | None:
    """Who a call with this token comes from, as the MCP door asks."""
    try:
        return authenticated(door.auth, token)
    except NotAuthenticated:
        return None


def error_of(answer: httpx.Response, status: int = 400) -> str:
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error", "error_description"}
    assert re.fullmatch(r"[\x20-\x21\x23-\x5b\x5d-\x7e]+", answer.json()["error_description"])
    return answer.json()["error"]


def verbs(door: Door) -> list[str]:
    return [entry.verb for entry in door.auth.grants.audit().items]


# ---- what a client is given


def test_a_code_becomes_tokens_that_say_who_is_calling(door: Door) -> None:
    client = registered(door)["client_id"]
    answer = exchanged(door, client, code_for(door, client, allow={"read", "write"}))

    told = answer.json()
    assert (told["token_type"], told["expires_in"]) == ("Bearer", 3600)
    assert told["scope"] == "memory:read memory:write"
    assert told["access_token"].startswith("kr_at_")
    assert told["refresh_token"].startswith("kr_rt_")
    found = caller(door, told["access_token"])
    assert found is not None
    assert (found.client_id, found.client_name, found.vault) == (client, "Codex", "personal")
    assert found.permissions == {"read", "write"}


def test_tokens_codes_and_secrets_are_kept_as_hashes_only(door: Door, tmp_path: Path) -> None:
    told = registered(door, token_endpoint_auth_method="client_secret_post")
    code = code_for(door, told["client_id"])
    tokens = exchanged(door, told["client_id"], code, client_secret=told["client_secret"]).json()

    kept = b"".join(path.read_bytes() for path in tmp_path.glob("grants.db*"))
    assert told["client_id"].encode() in kept
    for secret in (told["client_secret"], code, tokens["access_token"], tokens["refresh_token"]):
        assert secret.encode() not in kept
        assert secret[-40:].encode() not in kept


def test_an_access_token_expires_after_an_hour(door: Door, app: SignedIn) -> None:
    door.watch.forward(timedelta(minutes=59, seconds=59))
    assert caller(door, app.access)
    door.watch.forward(timedelta(seconds=1))
    assert caller(door, app.access) is None
    assert refreshed(door, app.client_id, app.refresh).status_code == 200


def test_a_refresh_token_expires_after_90_days(door: Door, app: SignedIn) -> None:
    door.watch.forward(timedelta(days=89))
    renewed = refreshed(door, app.client_id, app.refresh).json()["refresh_token"]
    door.watch.forward(timedelta(days=89))
    renewed = refreshed(door, app.client_id, renewed).json()["refresh_token"]
    door.watch.forward(timedelta(days=90))
    assert error_of(refreshed(door, app.client_id, renewed)) == "invalid_grant"


@pytest.mark.parametrize("token", ["", "x", "kr_at_" + "x" * 43, "\udc00", "a" * 9000])
def test_what_is_no_token_opens_nothing(door: Door, token: str) -> None:
    with pytest.raises(NotAuthenticated) as told:
        authenticated(door.auth, token)
    assert told.value.code == "invalid_token"


def test_a_refresh_token_opens_nothing_by_itself(door: Door, app: SignedIn) -> None:
    assert caller(door, app.refresh) is None


def test_a_token_for_another_resource_opens_nothing(
    door: Door, app: SignedIn, vault: Vault, tmp_path: Path
) -> None:
    with door_in(tmp_path, vault, issuer="https://moved.example") as moved:
        assert caller(moved, app.access) is None
    assert caller(door, app.access)


# ---- the code


def test_a_code_is_good_for_a_minute(door: Door) -> None:
    client = registered(door)["client_id"]
    in_time, late = code_for(door, client), code_for(door, client)

    door.watch.forward(timedelta(seconds=59))
    assert exchanged(door, client, in_time).status_code == 200
    door.watch.forward(timedelta(seconds=1))
    assert error_of(exchanged(door, client, late)) == "invalid_grant"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code": "unknown"}, "invalid_grant"),
        ({"code": None}, "invalid_request"),
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"code_verifier": "short"}, "invalid_request"),
        ({"code_verifier": "ä" * 43}, "invalid_request"),
        ({"code_verifier": None}, "invalid_request"),
        ({"redirect_uri": "http://127.0.0.1:53683/callback"}, "invalid_grant"),
        ({"redirect_uri": CALLBACK + "/"}, "invalid_grant"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"grant_type": None}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
    ],
)
def test_an_exchange_that_is_not_right_gives_nothing_and_spends_nothing(
    door: Door, changed: dict[str, str | None], error: str
) -> None:
    client = registered(door)["client_id"]
    form = {"code": code_for(door, client), **changed}
    code = form.pop("code")

    answer = exchanged(door, client, code, **form)  # pyright: ignore[reportArgumentType]
    assert error_of(answer) == error
    if code is not None and code != "unknown":
        assert exchanged(door, client, code).status_code == 200


def test_a_code_of_another_client_is_worth_nothing(door: Door) -> None:
    client, thief = (registered(door)["client_id"] for _ in range(2))
    code = code_for(door, client)

    assert error_of(exchanged(door, thief, code)) == "invalid_grant"
    assert exchanged(door, client, code).status_code == 200


def test_a_code_that_is_replayed_ends_its_grant(door: Door) -> None:
    client = registered(door)["client_id"]
    code = code_for(door, client)
    tokens = exchanged(door, client, code).json()
    door.watch.forward(timedelta(minutes=10))

    assert error_of(exchanged(door, client, code)) == "invalid_grant"
    assert caller(door, tokens["access_token"]) is None
    assert error_of(refreshed(door, client, tokens["refresh_token"])) == "invalid_grant"
    assert verbs(door) == ["code_reused", "approve"]


def test_a_replay_without_the_verifier_ends_nothing(door: Door) -> None:
    """Whoever saw the code alone cannot take the access away from its app."""
    client = registered(door)["client_id"]
    code = code_for(door, client)
    tokens = exchanged(door, client, code).json()

    assert error_of(exchanged(door, client, code, code_verifier="w" * 43)) == "invalid_grant"
    assert caller(door, tokens["access_token"])


def test_of_two_exchanges_at_once_one_wins_and_the_other_is_a_replay(door: Door) -> None:
    client = registered(door)["client_id"]
    code = code_for(door, client)

    def race(_: int) -> httpx.Response:
        return exchanged(door, client, code)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(race, range(8)))
    won = [answer for answer in answers if answer.status_code == 200]
    assert len(won) == 1
    assert {error_of(one) for one in answers if one not in won} == {"invalid_grant"}
    assert caller(door, won[0].json()["access_token"]) is None
    assert verbs(door) == ["code_reused", "approve"]


def test_servers_whose_clocks_differ_sign_a_client_in_together(door: Door) -> None:
    ahead, behind = timedelta(seconds=45), timedelta(minutes=-5)
    client_id = registered(door)["client_id"]
    page = asked(door, client_id)
    door.watch.forward(behind)
    code = answer_of(decided(door, page))["code"]
    door.watch.forward(ahead)
    told = exchanged(door, client_id, code).json()
    door.watch.forward(behind)
    assert caller(door, told["access_token"]) is not None
    assert refreshed(door, client_id, told["refresh_token"]).status_code == 200
    assert door.auth.grants.audit_faults() == []


def test_fifty_clients_sign_in_at_once(door: Door) -> None:
    def whole(n: int) -> str:
        return signed_in(door, client_name=f"App {n}").access

    with ThreadPoolExecutor(16) as pool:
        tokens = list(pool.map(whole, range(50)))
    found = [caller(door, token) for token in tokens]
    assert [one.client_name for one in found if one] == [f"App {n}" for n in range(50)]
    assert door.auth.grants.audit_faults() == []


# ---- who is at the token endpoint


def basic(name: str, secret: str) -> dict[str, str]:
    told = base64.b64encode(f"{quote(name, safe='')}:{quote(secret, safe='')}".encode())
    return {"Authorization": f"Basic {told.decode()}"}


def confidential(door: Door, method: str) -> tuple[dict[str, str], dict[str, str]]:
    """A client with a secret, and the form that exchanges its code."""
    told = registered(door, token_endpoint_auth_method=method)
    form = {
        "grant_type": "authorization_code",
        "code": code_for(door, told["client_id"]),
        "code_verifier": VERIFIER,
        "redirect_uri": CALLBACK,
    }
    return told, form


METHODS = pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])


@METHODS
def test_a_secret_in_the_header_needs_no_client_id_in_the_body(door: Door, method: str) -> None:
    told, form = confidential(door, method)

    header = basic(told["client_id"], told["client_secret"])
    assert door.http.post("/token", data=form, headers=header).status_code == 200


@METHODS
def test_a_secret_in_the_body_is_as_good(door: Door, method: str) -> None:
    told, form = confidential(door, method)

    named = {"client_id": told["client_id"], "client_secret": told["client_secret"]}
    assert door.http.post("/token", data={**form, **named}).status_code == 200


@METHODS
def test_a_secret_both_ways_is_good_when_both_agree(door: Door, method: str) -> None:
    told, form = confidential(door, method)
    named = {"client_id": told["client_id"], "client_secret": told["client_secret"]}

    header = basic(told["client_id"], told["client_secret"])
    for other in ({"client_id": "cli_other"}, {"client_secret": "other"}):
        answer = door.http.post("/token", data={**form, **named, **other}, headers=header)
        assert error_of(answer) == "invalid_request"
    assert door.http.post("/token", data={**form, **named}, headers=header).status_code == 200


@METHODS
def test_a_missing_or_wrong_secret_is_told_as_such(door: Door, method: str) -> None:
    told, form = confidential(door, method)

    def refused(headers: dict[str, str], **named: str) -> httpx.Response:
        answer = door.http.post("/token", data={**form, **named}, headers=headers)
        assert error_of(answer, 401) == "invalid_client"
        return answer

    refused({}, client_id=told["client_id"])
    refused({}, client_id=told["client_id"], client_secret="wrong")
    refused({}, client_secret=told["client_secret"])
    for header in (
        basic(told["client_id"], "wrong"),
        basic("cli_nobody", told["client_secret"]),
        {"Authorization": "Basic %%%"},
        {"Authorization": "Basic " + base64.b64encode(b"no colon").decode()},
        {"Authorization": "Basic " + base64.b64encode(b"\xff:\xff").decode()},
        {"Authorization": "Basic"},
    ):
        answer = refused(header)
        assert answer.headers["www-authenticate"].startswith("Basic")


def test_a_public_client_may_send_an_empty_secret(door: Door) -> None:
    client = registered(door)["client_id"]

    answer = exchanged(door, client, code_for(door, client), client_secret="")
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/token", "/revoke"])
def test_bodies_that_are_no_form_are_refused(door: Door, app: SignedIn, path: str) -> None:
    form = f"client_id={app.client_id}&token={app.refresh}".encode()
    for body, kind in (
        (form, "application/json"),
        (form, "multipart/form-data; boundary=x"),
        (b"\xff\xfe", "application/x-www-form-urlencoded"),
        (form + b"&x" * 60, "application/x-www-form-urlencoded"),
        (form + b"&x=" + b"x" * 70_000, "application/x-www-form-urlencoded"),
        (form + b"&client_id=x", "application/x-www-form-urlencoded"),
    ):
        answer = door.http.post(path, content=body, headers={"Content-Type": kind})
        assert error_of(answer) == "invalid_request"
    assert caller(door, app.access)


# ---- rotation


def test_each_refresh_gives_new_tokens_of_the_same_rights(door: Door, app: SignedIn) -> None:
    told = refreshed(door, app.client_id, app.refresh).json()

    assert told["refresh_token"] != app.refresh
    assert told["access_token"] != app.access
    assert told["scope"] == "memory:read memory:propose"
    assert caller(door, told["access_token"]) == caller(door, app.access)


def test_a_client_whose_answer_was_lost_may_refresh_again(door: Door, app: SignedIn) -> None:
    lost = refreshed(door, app.client_id, app.refresh).json()["refresh_token"]
    door.watch.forward(timedelta(days=2))
    again = refreshed(door, app.client_id, app.refresh).json()["refresh_token"]

    assert lost != again
    assert refreshed(door, app.client_id, again).status_code == 200


@pytest.mark.parametrize("used", [0, 1, 2])
def test_every_answer_to_a_retry_stays_good_until_one_is_used(
    door: Door, app: SignedIn, used: int
) -> None:
    """Clients that share one grant may have kept any of them."""
    children = [
        refreshed(door, app.client_id, app.refresh).json()["refresh_token"] for _ in range(3)
    ]

    assert refreshed(door, app.client_id, children[used]).status_code == 200
    for n, child in enumerate(children):
        expected = 200 if n == used else 400
        assert refreshed(door, app.client_id, child).status_code == expected
    assert caller(door, app.access), "a sibling is refused, and nothing else happens"


def test_a_token_that_was_replaced_for_good_ends_the_grant(door: Door, app: SignedIn) -> None:
    second = refreshed(door, app.client_id, app.refresh).json()
    third = refreshed(door, app.client_id, second["refresh_token"]).json()

    assert error_of(refreshed(door, app.client_id, app.refresh)) == "invalid_grant"
    assert caller(door, third["access_token"]) is None
    assert error_of(refreshed(door, app.client_id, third["refresh_token"])) == "invalid_grant"
    assert verbs(door) == ["refresh_reused", "approve"]


def test_many_refreshes_at_once_all_get_an_answer_they_can_use(door: Door, app: SignedIn) -> None:
    def race(_: int) -> httpx.Response:
        return refreshed(door, app.client_id, app.refresh)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(race, range(8)))

    assert {answer.status_code for answer in answers} == {200}
    assert all(caller(door, answer.json()["access_token"]) for answer in answers)
    last = answers[-1].json()["refresh_token"]
    assert refreshed(door, app.client_id, last).status_code == 200


def test_a_refresh_may_narrow_what_its_access_token_can_do(door: Door, app: SignedIn) -> None:
    narrow = refreshed(door, app.client_id, app.refresh, scope="memory:read").json()
    assert narrow["scope"] == "memory:read"
    found = caller(door, narrow["access_token"])
    assert found is not None
    assert found.permissions == {"read"}

    whole = refreshed(door, app.client_id, narrow["refresh_token"]).json()
    assert whole["scope"] == "memory:read memory:propose"


def test_a_refresh_cannot_widen(door: Door, app: SignedIn) -> None:
    every = "memory:read memory:propose memory:write memory:forget"

    told = refreshed(door, app.client_id, app.refresh, scope=every).json()
    assert told["scope"] == "memory:read memory:propose"
    for scope in ("memory:write", "root"):
        answer = refreshed(door, app.client_id, app.refresh, scope=scope)
        assert error_of(answer) == "invalid_scope"


def test_a_refresh_token_of_another_client_is_worth_nothing(door: Door, app: SignedIn) -> None:
    thief = registered(door)["client_id"]

    assert error_of(refreshed(door, thief, app.refresh)) == "invalid_grant"
    assert refreshed(door, app.client_id, app.refresh).status_code == 200


@pytest.mark.parametrize("token", ["", "unknown"])
def test_what_is_no_refresh_token_renews_nothing(door: Door, app: SignedIn, token: str) -> None:
    expected = "invalid_grant" if token else "invalid_request"
    assert error_of(refreshed(door, app.client_id, token)) == expected
    assert error_of(refreshed(door, app.client_id, app.access)) == "invalid_grant"


def test_a_refresh_for_another_resource_is_refused(door: Door, app: SignedIn) -> None:
    elsewhere = refreshed(door, app.client_id, app.refresh, resource="https://other.example/mcp")
    assert error_of(elsewhere) == "invalid_target"
    assert refreshed(door, app.client_id, app.refresh, resource=f"{HERE}/mcp").status_code == 200


# ---- giving back


def given_back(door: Door, client_id: str, token: str, **more: str) -> httpx.Response:
    return door.http.post("/revoke", data={"client_id": client_id, "token": token, **more})


def test_a_public_client_gives_back_its_refresh_token_and_is_out(door: Door, app: SignedIn) -> None:
    answer = given_back(door, app.client_id, app.refresh, token_type_hint="refresh_token")

    assert (answer.status_code, answer.content) == (200, b"")
    assert caller(door, app.access) is None
    assert error_of(refreshed(door, app.client_id, app.refresh)) == "invalid_grant"
    assert given_back(door, app.client_id, app.access).status_code == 200
    assert verbs(door) == ["disconnect", "approve"]


def test_an_access_token_is_given_back_alone(door: Door, app: SignedIn) -> None:
    assert given_back(door, app.client_id, app.access).status_code == 200

    assert caller(door, app.access) is None
    assert refreshed(door, app.client_id, app.refresh).status_code == 200


def test_giving_back_tells_nothing_of_other_tokens(door: Door, app: SignedIn) -> None:
    thief = registered(door)["client_id"]

    for token in (app.access, app.refresh, "unknown"):
        answer = given_back(door, thief, token)
        assert (answer.status_code, answer.content) == (200, b"")
    assert caller(door, app.access)
    assert error_of(given_back(door, "cli_nobody", app.access), 401) == "invalid_client"
    assert error_of(given_back(door, app.client_id, "")) == "invalid_request"


def test_signing_in_again_makes_a_grant_of_its_own(door: Door, app: SignedIn) -> None:
    page = asked(door, app.client_id)
    code = answer_of(decided(door, page))["code"]
    assert exchanged(door, app.client_id, code).status_code == 200

    given_back(door, app.client_id, app.refresh)
    grants = door.auth.grants.page(Grant).items
    assert [bool(grant.revoked) for grant in grants] == [True, False]
