"""Service tokens: what the owner's scripts may do, and where."""

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from keeproom.api.app import bare_app
from keeproom.api.scopes import needed
from keeproom.clock import iso
from keeproom.local import grant_store
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.cleanup import clean_up
from keeproom.oauth.errors import NotAuthenticated
from keeproom.oauth.model import Scope, ServiceToken
from keeproom.oauth.verify import authenticated
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.doors.conftest import error_of, held
from tests.http import HERE, OURS, InProcess, client_of
from tests.letting_in import Door, Papers, Watch, signed_in
from tests.signing_in import House, signs_in


@pytest.fixture
def owner(house: House) -> httpx.Client:
    """The owner's browser."""
    browser = house.browser()
    signs_in(browser)
    browser.headers.update(OURS)
    return browser


def made(owner: httpx.Client, *scopes: str, name: str = "backup", **more: Any) -> dict[str, Any]:
    answer = owner.post("/api/tokens", json={"name": name, "scopes": list(scopes), **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def script(house: House, token: str) -> httpx.Client:
    return house.browser(Authorization=f"Bearer {token}")


def test_a_token_is_shown_once_and_kept_as_a_hash(
    house: House, owner: httpx.Client, tmp_path: Path
) -> None:
    token = made(owner, "read", "write")

    assert re.fullmatch(r"krm_[0-9a-z]+_[A-Za-z0-9_-]{43}", token["token"])
    listed = owner.get("/api/tokens")
    assert listed.json()["data"] == [
        {
            "id": token["id"],
            "name": "backup",
            "scopes": ["read", "write"],
            "created_at": iso(house.watch.now),
            "expires_at": None,
            "last_used_at": None,
        }
    ]
    secret = token["token"].rpartition("_")[2]
    assert secret not in listed.text
    assert secret.encode() not in held(tmp_path)
    assert script(house, token["token"]).get("/api/memories").status_code == 200


def test_scripts_need_no_browser_and_no_word_of_where_they_come_from(
    house: House, owner: httpx.Client
) -> None:
    runs = script(house, made(owner, "write", "read")["token"])

    told = runs.post("/api/memories", json={"content": "Drinks tea"})
    assert told.status_code == 201
    assert runs.get("/api/memories").json()["data"][0]["status"] == "active"
    (entry,) = owner.get("/api/audit", params={"limit": 1}).json()["data"]
    assert entry["actor"] == "token:backup"
    assert entry["grant"].startswith("tok_")


def test_what_a_script_may_forget_is_forgotten(house: House, owner: httpx.Client) -> None:
    memory = owner.post("/api/memories", json={"content": "Drinks tea"}).json()["memory"]
    runs = script(house, made(owner, "forget")["token"])

    assert runs.delete(f"/api/memories/{memory['id']}").is_success
    assert owner.get(f"/api/memories/{memory['id']}").status_code == 404


@pytest.mark.parametrize("scope", Scope)
def test_every_route_asks_for_its_scopes(house: House, owner: httpx.Client, scope: Scope) -> None:
    runs = script(house, made(owner, scope)["token"])

    for path, operations in bare_app().openapi()["paths"].items():
        if not path.startswith("/api"):
            continue
        for method in operations:
            wanted = needed(method.upper(), path)
            may = wanted is not None and (scope is Scope.ADMIN or wanted <= {scope})
            if may:
                continue
            answer = runs.request(method, path.replace("{id}", "mem_1"))
            error = error_of(answer, 403)
            assert error["code"] == "insufficient_scope", (method, path)


@pytest.mark.parametrize(
    ("scope", "method", "path", "status"),
    [
        ("read", "GET", "/api/memories", 200),
        ("read", "HEAD", "/api/memories", 200),
        ("read", "GET", "/api/recall?q=tea", 200),
        ("read", "POST", "/api/memories", 403),
        ("write", "GET", "/api/memories", 403),
        ("write", "POST", "/api/memories", 400),
        ("write", "DELETE", "/api/memories/mem_1", 403),
        ("write", "POST", "/api/memories/mem_1/forget", 403),
        ("write", "POST", "/api/review", 403),
        ("forget", "DELETE", "/api/memories/mem_1", 404),
        ("forget", "POST", "/api/review", 403),
        ("backup", "GET", "/api/memories", 403),
        ("backup", "GET", "/api/backup", 404),
        ("read", "GET", "/api/backup", 403),
        ("read", "GET", "/api/audit", 403),
        ("admin", "GET", "/api/audit", 200),
        ("admin", "GET", "/api/memories", 200),
        ("read", "GET", "/api/unknown", 403),
        ("read", "GET", "/%61pi/memories", 200),
        ("read", "GET", "/api/memories/%2e%2e/audit", 404),
        ("write", "POST", "/api/memories/mem_1/forget%0A", 403),
    ],
)
def test_scopes_are_held_to(
    house: House, owner: httpx.Client, scope: str, method: str, path: str, status: int
) -> None:
    runs = script(house, made(owner, scope)["token"])

    assert runs.request(method, path).status_code == status


def test_two_scopes_together_open_what_needs_both(house: House, owner: httpx.Client) -> None:
    runs = script(house, made(owner, "write", "forget")["token"])

    assert runs.post("/api/review", json={}).status_code == 400


def test_no_token_makes_shows_or_revokes_tokens(house: House, owner: httpx.Client) -> None:
    admin = made(owner, "admin")
    runs = script(house, admin["token"])

    assert runs.get("/api/tokens").status_code == 403
    assert runs.post("/api/tokens", json={"name": "x", "scopes": ["read"]}).status_code == 403
    assert runs.delete(f"/api/tokens/{admin['id']}").status_code == 403
    assert len(owner.get("/api/tokens").json()["data"]) == 1


def test_revoking_bites_on_the_next_call(house: House, owner: httpx.Client) -> None:
    token = made(owner, "read")
    runs = script(house, token["token"])
    assert runs.get("/api/memories").status_code == 200

    assert owner.delete(f"/api/tokens/{token['id']}").status_code == 204
    answer = runs.get("/api/memories")
    assert error_of(answer, 401)["code"] == "bad_token"
    assert "www-authenticate" in answer.headers
    assert owner.delete(f"/api/tokens/{token['id']}").status_code == 404
    assert owner.get("/api/tokens").json()["data"] == []


def test_a_token_expires_when_it_was_told_to(house: House, owner: httpx.Client) -> None:
    token = made(owner, "read", expires_in_days=2)
    runs = script(house, token["token"])
    assert token["expires_at"] == iso(house.watch.now + timedelta(days=2))

    house.watch.forward(timedelta(days=2) - timedelta(seconds=1))
    assert runs.get("/api/memories").status_code == 200
    house.watch.forward(timedelta(seconds=1))
    assert runs.get("/api/memories").status_code == 401
    assert owner.get("/api/tokens").json()["data"] == []
    clean_up(house.auth)
    assert house.auth.grants.page(ServiceToken).items == ()


def test_last_use_is_shown_to_the_minute(house: House, owner: httpx.Client) -> None:
    runs = script(house, made(owner, "read")["token"])
    first = house.watch.now
    for _ in range(3):
        assert runs.get("/api/memories").status_code == 200
        house.watch.forward(timedelta(seconds=15))

    def last_used() -> str:
        return owner.get("/api/tokens").json()["data"][0]["last_used_at"]

    assert last_used() == iso(first)
    house.watch.forward(timedelta(seconds=15))
    runs.get("/api/memories")
    assert last_used() == iso(first + timedelta(minutes=1))


def test_making_and_revoking_are_in_the_audit(house: House, owner: httpx.Client) -> None:
    token = made(owner, "read")
    owner.delete(f"/api/tokens/{token['id']}")

    assert house.verbs()[:2] == [
        ("owner", "revoke_token", token["id"]),
        ("owner", "create_token", token["id"]),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "scopes": []},
        {"name": "x"},
        {"name": "", "scopes": ["read"]},
        {"name": " \u200b", "scopes": ["read"]},
        {"name": "x", "scopes": ["everything"]},
        {"name": "x", "scopes": ["read"], "expires_in_days": 0},
        {"name": "x", "scopes": ["read"], "token": "krm_mine"},
    ],
)
def test_a_token_that_makes_no_sense_is_not_made(owner: httpx.Client, body: dict[str, Any]) -> None:
    assert error_of(owner.post("/api/tokens", json=body), 400)
    assert owner.get("/api/tokens").json()["data"] == []


def test_there_are_not_more_tokens_than_anybody_can_oversee(
    house: House, owner: httpx.Client
) -> None:
    for n in range(100):
        made(owner, "read", name=f"n{n}")

    answer = owner.post("/api/tokens", json={"name": "x", "scopes": ["read"]})
    assert error_of(answer, 422)["code"] == "limit_reached"


def test_a_token_that_has_expired_makes_room_for_another(owner: httpx.Client, house: House) -> None:
    for n in range(100):
        made(owner, "read", name=f"n{n}", expires_in_days=1)
    house.watch.forward(timedelta(days=2))

    assert made(owner, "read")["id"]


def header(token: str) -> list[str]:
    swapped = token[:-1] + ("A" if token[-1] != "A" else "B")
    return [
        "Bearer",
        "Bearer ",
        "Bearer x",
        f"Bearer {swapped}",
        f"Bearer {token}x",
        f"Bearer {token} x",
        f"Bearer {token.upper()}",
        f"Bearer {token.replace('krm_', 'kr_at_')}",
        f"Basic {token}",
        token,
    ]


def test_only_the_whole_token_in_its_header_opens_anything(
    house: House, owner: httpx.Client
) -> None:
    token = made(owner, "admin")["token"]

    for sent in header(token):
        answer = house.browser(Authorization=sent).get("/api/memories")
        assert answer.status_code == 401, sent
        assert token not in answer.text
    for address in (f"/api/memories?access_token={token}", f"/api/memories?token={token}"):
        assert house.browser().get(address).status_code == 401


def test_a_bad_token_is_not_made_up_for_by_a_cookie(owner: httpx.Client) -> None:
    assert owner.get("/api/memories", headers={"Authorization": "Bearer x"}).status_code == 401


def test_a_token_opens_nothing_but_the_api(house: House, owner: httpx.Client) -> None:
    token = made(owner, "admin")["token"]
    runs = script(house, token)

    assert runs.get("/").status_code == 401
    assert runs.get("/authorize").status_code == 302
    with pytest.raises(NotAuthenticated):
        authenticated(house.auth, token)


def test_an_apps_token_does_not_open_the_api(house: House, owner: httpx.Client) -> None:
    apps = house.apps(owner)
    app = signed_in(apps)

    assert script(house, app.access).get("/api/memories").status_code == 401


# ---- on one's own machine, without signing in


@pytest.fixture
def local(vault: Vault, door: Door) -> Iterator[httpx.Client]:
    with client_of(application(vault, authorization=door.auth)) as client:
        yield client


def test_the_local_owner_has_nothing_to_sign_out_of(local: httpx.Client) -> None:
    assert local.get("/api/owner").json() == {
        "address": "owner@localhost", "actor": "owner", "sign_out": None,
    }  # fmt: skip


def test_a_token_narrows_what_the_local_owner_may_do(local: httpx.Client) -> None:
    token = made(local, "read")["token"]
    local.headers["Authorization"] = f"Bearer {token}"

    assert local.get("/api/memories").status_code == 200
    assert local.post("/api/memories", json={"content": "x"}).status_code == 403


def test_a_token_does_not_open_what_only_this_machine_may_reach(
    vault: Vault, door: Door, local: httpx.Client
) -> None:
    headers = {"Authorization": f"Bearer {made(local, 'admin')['token']}"}

    assert local.get("/api/memories", headers=headers | {"X-Forwarded-For": "x"}).status_code == 403
    assert local.get("/api/memories", headers=headers | {"Host": "x.example"}).status_code == 403
    app = application(
        vault, owner="o@localhost", public_url="https://v.example", authorization=door.auth
    )
    with client_of(app) as public:
        assert public.get("/api/memories", headers=headers).status_code == 403


def test_without_a_store_for_them_there_are_no_tokens(vault: Vault) -> None:
    with client_of(application(vault)) as client:
        headers = {"Authorization": "Bearer krm_0123456789_" + "A" * 43}
        assert client.get("/api/memories", headers=headers).status_code == 401


def test_tokens_survive_a_restart(vault: Vault, tmp_path: Path) -> None:
    texts: list[str] = []
    for _ in range(2):
        with closing(grant_store.open(tmp_path / "grants.db")) as store:
            watch = Watch()
            auth = Authorization(grants=store, documents=Papers(watch), issuer=HERE, clock=watch)
            app = application(vault, authorization=auth)
            with httpx.Client(transport=InProcess(app), base_url=HERE) as client:
                if not texts:
                    texts.append(made(client, "read")["token"])
                sent = {"Authorization": f"Bearer {texts[0]}"}
                assert client.get("/api/memories", headers=sent).status_code == 200
