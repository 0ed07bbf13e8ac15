"""Connected apps: what the owner sees of them, and what changes at once."""

from datetime import timedelta
from urllib.parse import quote

import httpx
import pytest

from keeproom.clock import iso
from keeproom.oauth.cleanup import clean_up
from keeproom.oauth.errors import NotAuthenticated
from keeproom.oauth.model import Caller, Grant, Token
from keeproom.oauth.verify import authenticated
from tests.doors.conftest import error_of
from tests.letting_in import (
    Door,
    SignedIn,
    code_for,
    exchanged,
    refreshed,
    registered,
    signed_in,
)


def call(door: Door, app: SignedIn) -> Caller | None:
    try:
        return authenticated(door.auth, app.access)
    except NotAuthenticated:
        return None


def grant_of(door: Door) -> dict[str, object]:
    (found,) = door.http.get("/api/oauth/grants").json()["data"]
    return found


def changed(door: Door, *permissions: str) -> httpx.Response:
    address = f"/api/oauth/grants/{grant_of(door)['id']}"
    return door.http.patch(address, json={"permissions": list(permissions)})


def audit(door: Door) -> list[tuple[str, str]]:
    return [(entry.actor, entry.verb) for entry in door.auth.grants.audit().items]


def test_a_grant_says_who_what_and_since_when(door: Door, app: SignedIn) -> None:
    grant = grant_of(door)

    assert grant["client_id"] == app.client_id
    assert grant["client_name"] == "Codex"
    assert grant["verified_by"] is None
    assert grant["redirect_host"] == "127.0.0.1:53682"
    assert grant["vault"] == "personal"
    assert grant["permissions"] == ["read", "propose"]
    assert grant["created_at"] == iso(door.watch.now)
    assert (grant["last_used_at"], grant["failures"], grant["revoked_at"]) == (None, 0, None)
    assert door.http.get(f"/api/oauth/grants/{grant['id']}").json() == grant


def test_last_use_is_shown_to_the_minute(door: Door, app: SignedIn) -> None:
    first = door.watch.now
    for _ in range(3):
        assert call(door, app)
        door.watch.forward(timedelta(seconds=10))
    assert grant_of(door)["last_used_at"] == iso(first)

    door.watch.forward(timedelta(minutes=1))
    call(door, app)
    assert grant_of(door)["last_used_at"] == iso(door.watch.now)


def test_failures_count_until_a_call_goes_well(door: Door, app: SignedIn) -> None:
    door.watch.forward(timedelta(hours=1))
    for _ in range(3):
        assert call(door, app) is None
        door.watch.forward(timedelta(seconds=1))
    grant = grant_of(door)
    assert (grant["failures"], grant["failure_reason"]) == (3, "expired")

    renewed = refreshed(door, app.client_id, app.refresh).json()["access_token"]
    authenticated(door.auth, renewed)
    grant = grant_of(door)
    assert (grant["failures"], grant["failure_reason"]) == (0, None)


def test_a_client_that_loops_is_counted_once_a_second(door: Door, app: SignedIn) -> None:
    door.watch.forward(timedelta(hours=1))
    for _ in range(20):
        call(door, app)

    assert grant_of(door)["failures"] == 1


def test_revoking_bites_on_the_next_call(door: Door, app: SignedIn) -> None:
    assert call(door, app)
    address = f"/api/oauth/grants/{grant_of(door)['id']}"

    assert door.http.delete(address).status_code == 204
    assert call(door, app) is None
    refused = refreshed(door, app.client_id, app.refresh)
    assert refused.json()["error"] == "invalid_grant"
    assert door.http.delete(address).status_code == 204
    assert audit(door) == [("owner", "revoke"), ("owner", "approve")]


def test_a_revoked_app_that_still_comes_is_shown_for_a_month(door: Door, app: SignedIn) -> None:
    door.http.delete(f"/api/oauth/grants/{grant_of(door)['id']}")
    door.watch.forward(timedelta(minutes=5))
    call(door, app)

    grant = grant_of(door)
    assert grant["revoked_at"]
    assert (grant["failures"], grant["failure_reason"]) == (1, "revoked")
    assert changed(door, "read").status_code == 404
    door.watch.forward(timedelta(days=30))
    clean_up(door.auth)
    assert door.http.get("/api/oauth/grants").json()["data"] == []
    assert door.auth.grants.page(Grant).items == ()


def test_changed_permissions_count_from_the_next_call(door: Door, app: SignedIn) -> None:
    answer = changed(door, "forget", "read")

    assert answer.json()["permissions"] == ["read", "forget"]
    found = call(door, app)
    assert found is not None
    assert found.permissions == {"read", "forget"}
    assert changed(door, "read", "forget").status_code == 200, "nothing new is no entry"
    assert audit(door) == [("owner", "change_grant"), ("owner", "approve")]


@pytest.mark.parametrize("permissions", [[], ["root"], "read", None, ["read"] * 5])
def test_permissions_that_make_no_sense_change_nothing(
    door: Door, app: SignedIn, permissions: object
) -> None:
    address = f"/api/oauth/grants/{grant_of(door)['id']}"

    error_of(door.http.patch(address, json={"permissions": permissions}), 400)
    found = call(door, app)
    assert found is not None
    assert found.permissions == {"read", "propose"}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PATCH"])
def test_what_is_not_there_is_not_found(door: Door, method: str) -> None:
    body = {"permissions": ["read"]} if method == "PATCH" else None
    for path in ("grants/grt_nothing", "grants/%23"):
        error_of(door.http.request(method, f"/api/oauth/{path}", json=body), 404)
    if method != "PATCH":
        for path in ("clients/cli_nothing", "clients/https%3A%2F%2Fapp.example%2Fc.json"):
            error_of(door.http.request(method, f"/api/oauth/{path}"), 404)


def test_an_approval_that_no_app_came_back_for_is_not_shown(door: Door) -> None:
    client = registered(door)["client_id"]
    code = code_for(door, client)

    door.watch.forward(timedelta(minutes=1))
    assert door.http.get("/api/oauth/grants").json()["data"] == []
    clean_up(door.auth)
    assert exchanged(door, client, code).json()["error"] == "invalid_grant"


def test_apps_are_listed_approved_or_not(door: Door, app: SignedIn) -> None:
    waiting = registered(door, client_name="Not yet")

    found = {one["id"]: one for one in door.http.get("/api/oauth/clients").json()["data"]}
    assert set(found) == {app.client_id, waiting["client_id"]}
    assert found[app.client_id]["expires_at"] is None
    assert found[waiting["client_id"]]["expires_at"] is not None
    assert "secret" not in str(found)


def test_removing_an_app_takes_back_all_it_was_allowed(door: Door, app: SignedIn) -> None:
    code = code_for(door, app.client_id)
    second = exchanged(door, app.client_id, code).json()["access_token"]
    other = signed_in(door)

    assert door.http.delete(f"/api/oauth/clients/{app.client_id}").status_code == 204
    assert call(door, app) is None
    with pytest.raises(NotAuthenticated):
        authenticated(door.auth, second)
    assert call(door, other)
    answer = refreshed(door, app.client_id, app.refresh)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


def test_an_app_with_a_document_is_removed_by_its_address(door: Door) -> None:
    address = "https://app.example/client.json"
    door.papers.kept[address] = {
        "client_id": address, "client_name": "App", "redirect_uris": ["http://127.0.0.1/callback"],
    }  # fmt: skip
    exchanged(door, address, code_for(door, address))

    path = f"/api/oauth/clients/{quote(address, safe='')}"
    assert door.http.get(path).json()["name"] == "App"
    assert door.http.delete(path).status_code == 204
    assert door.http.get(path).status_code == 404


def test_lists_are_paged(door: Door) -> None:
    apps = [signed_in(door, client_name=f"App {n}") for n in range(3)]

    for kind in ("grants", "clients"):
        first = door.http.get(f"/api/oauth/{kind}", params={"limit": 2}).json()
        rest = door.http.get(f"/api/oauth/{kind}", params={"cursor": first["next"]}).json()
        key = "client_id" if kind == "grants" else "id"
        assert [one[key] for one in first["data"] + rest["data"]] == [app.client_id for app in apps]
        assert rest["next"] is None
        error_of(door.http.get(f"/api/oauth/{kind}", params={"cursor": "x"}), 400)


def test_expired_things_are_removed_and_nothing_else(door: Door, app: SignedIn) -> None:
    registered(door)
    assert clean_up(door.auth) == 0

    door.watch.forward(timedelta(days=2))
    assert clean_up(door.auth) > 0
    assert len(door.auth.grants.page(Token).items) == 1, "its refresh token"
    assert refreshed(door, app.client_id, app.refresh).status_code == 200


def test_every_decision_is_in_one_chain(door: Door, app: SignedIn) -> None:
    changed(door, "read")
    door.http.delete(f"/api/oauth/grants/{grant_of(door)['id']}")
    door.http.delete(f"/api/oauth/clients/{app.client_id}")

    assert [verb for _, verb in audit(door)] == [
        "remove_client", "revoke", "change_grant", "approve",
    ]  # fmt: skip
    assert door.auth.grants.audit_faults() == []


def test_only_the_owner_sees_connected_apps(door: Door, app: SignedIn) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        for method, path in (
            ("GET", "/api/oauth/grants"),
            ("GET", "/api/oauth/clients"),
            ("DELETE", f"/api/oauth/clients/{app.client_id}"),
        ):
            assert door.http.request(method, path, headers=headers).status_code == 403
    assert call(door, app)


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_the_audit_shows_memories_and_apps_as_one_list(
    door: Door, app: SignedIn, limit: int
) -> None:
    for text in ("Plays the cello", "Is allergic to nuts"):
        door.http.post("/api/memories", json={"content": text}).raise_for_status()
    changed(door, "read")

    seen, cursor = list[dict[str, str]](), ""
    while True:
        page = door.http.get("/api/audit", params={"limit": limit, "cursor": cursor}).json()
        seen += page["data"]
        cursor = page["next"]
        if cursor is None:
            break
    assert sorted(one["verb"] for one in seen) == [
        "approve",
        "change_grant",
        "remember",
        "remember",
    ]
    assert [one["at"] for one in seen] == sorted((one["at"] for one in seen), reverse=True)
    assert len({one["id"] for one in seen}) == 4
    assert door.http.get("/api/audit/verify").json() == {"intact": True, "faults": []}
    for foreign in ("x", "x.y", "~.x", "~.~.~"):
        error_of(door.http.get("/api/audit", params={"cursor": foreign}), 400)
