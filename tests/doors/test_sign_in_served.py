"""Signing in and service tokens as the terminal sets them up, over a real server."""

from pathlib import Path

import httpx
import pytest

from keeproom import compose
from keeproom.errors import Invalid
from keeproom.settings import read_settings
from tests.issuer import CLIENT_ID, SECRET, Issuer
from tests.terminal import run, serving, told

FULL = {
    "OWNER_EMAILS": "somebody@example.com, owner@example.com",
    "OIDC_ISSUER": "https://id.example",
    "OIDC_CLIENT_ID": CLIENT_ID,
    "OIDC_CLIENT_SECRET": SECRET,
}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"KEEPROOM_HOME": str(tmp_path / "home"), "KEEPROOM_EMBEDDER": "none"}


def test_the_owner_signs_in_by_a_real_browsers_steps(
    env: dict[str, str], provider: Issuer, tmp_path: Path
) -> None:
    env |= {**FULL, "OIDC_ISSUER": provider.url}
    with (
        serving(env, tmp_path / "log") as (_, address),
        httpx.Client(trust_env=False, headers={"Accept": "text/html"}) as browser,
    ):
        assert browser.get(f"{address}/api/memories").status_code == 401
        turned = browser.get(f"{address}/connect/../memories")
        assert turned.headers["location"].startswith("/auth/login?back=")
        browser.follow_redirects = True
        last = browser.get(f"{address}/auth/login", params={"back": "/health"})
        assert str(last.url) == f"{address}/health"
        assert browser.get(f"{address}/api/memories").status_code == 200

        ours = {"Origin": address, "Accept": "application/json"}
        gone = browser.post(f"{address}/auth/logout", headers=ours).json()["next"]
        assert "Signed out" in browser.get(gone).text
        assert browser.get(f"{address}/api/memories").status_code == 401
    log = (tmp_path / "log").read_text()
    assert "status=303" in log
    for secret in (SECRET, "owner@", "code=", "state="):
        assert secret not in log


def test_a_token_made_in_the_terminal_opens_a_vault_that_runs(
    env: dict[str, str], provider: Issuer, tmp_path: Path
) -> None:
    env |= {**FULL, "OIDC_ISSUER": provider.url}
    with serving(env, tmp_path / "log") as (_, address):
        made = told(env, "token", "create", "nightly backup", "--scope", "read", "--days", "30")
        sent = {"Authorization": f"Bearer {made['token']}"}
        assert httpx.get(f"{address}/api/memories", headers=sent).status_code == 200
        assert httpx.get(f"{address}/api/audit", headers=sent).status_code == 403
        (listed,) = told(env, "token", "list")
        assert (listed["name"], listed["scopes"]) == ("nightly backup", ["read"])
        assert listed["last_used_at"]
        assert "token" not in listed
        assert run(env, "token", "revoke", made["id"]).returncode == 0
        assert httpx.get(f"{address}/api/memories", headers=sent).status_code == 401
        assert told(env, "token", "list") == []
    assert made["token"] not in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["create", "x"], 1),
        (["create", " ", "--scope", "read"], 1),
        (["create", "x", "--scope", "everything"], 2),
        (["create", "x", "--scope", "read", "--days", "0"], 2),
        (["revoke", "tok_nothing"], 1),
    ],
)
def test_mistakes_with_tokens_are_told(env: dict[str, str], words: list[str], code: int) -> None:
    done = run(env, "token", *words)

    assert done.returncode == code
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_settings_by_half_stop_the_start(env: dict[str, str]) -> None:
    done = run({**env, **FULL, "OIDC_CLIENT_ID": ""}, "serve", "--port", "0")

    assert done.returncode == 1
    assert "OIDC_CLIENT_ID" in done.stderr
    assert done.stderr.count("\n") == 1
    assert SECRET not in done.stderr


def fault(tmp_path: Path, **changed: str) -> str:
    """The setting at fault, empty when all is well."""
    try:
        settings = read_settings(KEEPROOM_HOME=tmp_path, **{**FULL, **changed})
        address = settings.public_url or "http://localhost"
        with compose.local_authorization(settings, address) as auth:
            compose.local_sign_in(settings, auth)
    except Invalid as error:
        return error.param
    return ""


@pytest.mark.parametrize(
    ("changed", "param"),
    [
        ({}, ""),
        ({"PUBLIC_URL": "https://vault.example"}, ""),
        ({"PUBLIC_URL": "http://127.0.0.1:9000"}, ""),
        ({"OIDC_LOGOUT_URL": "https://id.example/logout"}, ""),
        ({"OWNER_EMAILS": ""}, "OWNER_EMAILS"),
        ({"OWNER_EMAILS": " , "}, "OWNER_EMAILS"),
        ({"OWNER_EMAILS": "owner"}, "OWNER_EMAILS"),
        ({"OWNER_EMAILS": "owner@example.com x@y"}, "OWNER_EMAILS"),
        ({"OWNER_EMAILS": "*@example.com"}, "OWNER_EMAILS"),
        ({"OIDC_ISSUER": ""}, "OIDC_ISSUER"),
        ({"OIDC_ISSUER": "http://id.example"}, "OIDC_ISSUER"),
        ({"OIDC_CLIENT_ID": ""}, "OIDC_CLIENT_ID"),
        ({"OIDC_CLIENT_SECRET": ""}, "OIDC_CLIENT_SECRET"),
        ({"OIDC_CLIENT_SECRET": "", "SECRETS_ARN": "arn:aws:x"}, "OIDC_CLIENT_SECRET"),
        ({"OIDC_LOGOUT_URL": "http://id.example/logout"}, "OIDC_LOGOUT_URL"),
        ({"PUBLIC_URL": "http://vault.example"}, "PUBLIC_URL"),
    ],
)
def test_a_setting_that_is_missing_or_not_safe_is_named(
    tmp_path: Path, changed: dict[str, str], param: str
) -> None:
    assert fault(tmp_path, **changed) == param


@pytest.mark.parametrize("name", ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"])
def test_each_setting_alone_asks_for_the_others(tmp_path: Path, name: str) -> None:
    nothing = dict.fromkeys(FULL, "")

    assert fault(tmp_path, **nothing) == ""
    assert fault(tmp_path, **{**nothing, "OWNER_EMAILS": FULL["OWNER_EMAILS"]}) == ""
    assert fault(tmp_path, **{**nothing, name: FULL[name]}) not in ("", name)
