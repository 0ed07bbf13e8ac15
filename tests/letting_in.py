"""Apps that sign in, and the owner's browser that approves them."""

import base64
import hashlib
import re
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from keeproom.local import grant_store
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.ports import Document, DocumentUnavailable
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.http import HERE, client_of

CALLBACK = "http://127.0.0.1:53682/callback"
VERIFIER = "correct-horse-battery-staple-correct-horse-battery"
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)


@dataclass
class Watch:
    """A clock that is set by hand."""

    now: datetime = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, by: timedelta) -> None:
        self.now += by


@dataclass
class Papers:
    """Documents that lie here. `asked`: every address that was read."""

    watch: Watch
    kept: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    fresh_for: timedelta = timedelta(hours=1)
    asked: list[str] = field(default_factory=list[str])

    def fetch(self, url: str) -> Document:
        self.asked.append(url)
        if url not in self.kept:
            raise DocumentUnavailable
        return Document(content=self.kept[url], fresh_until=self.watch() + self.fresh_for)


@dataclass(frozen=True, kw_only=True)
class Door:
    """A vault that lets apps in. `http`: an app, and the owner's browser too."""

    http: httpx.Client
    auth: Authorization
    watch: Watch
    papers: Papers


@contextmanager
def door_in(folder: Path, vault: Vault, *, issuer: str = HERE) -> Generator[Door]:
    watch = Watch()
    papers = Papers(watch)
    with closing(grant_store.open(folder / "grants.db")) as store:
        auth = Authorization(grants=store, documents=papers, issuer=issuer, clock=watch)
        with client_of(application(vault, authorization=auth)) as http:
            yield Door(http=http, auth=auth, watch=watch, papers=papers)


def registered(door: Door, **metadata: Any) -> dict[str, Any]:
    """A public client called Codex unless told otherwise."""
    told = {
        "client_name": "Codex",
        "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": "none",
        **metadata,
    }
    answer = door.http.post("/register", json=told)
    assert answer.status_code == 201, answer.text
    return answer.json()


def asked(door: Door, client_id: str, **changed: str | None) -> httpx.Response:
    """What the browser gets that an app has sent here. None leaves a parameter out."""
    parameters = {
        "client_id": client_id,
        "response_type": "code",
        "redirect_uri": CALLBACK,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "state": "af0ifjsldkj",
        **changed,
    }
    given = {name: value for name, value in parameters.items() if value is not None}
    return door.http.get("/authorize", params=given)


def transaction_of(page: httpx.Response) -> str:
    found = re.search(r'name="transaction" value="([^"]+)"', page.text)
    assert found, page.text
    return found[1]


def ticked(page: httpx.Response) -> set[str]:
    """The permissions that are allowed if the owner changes nothing."""
    boxes = re.findall(r'<input type="checkbox" name="(\w+)" value="1"( checked)?', page.text)
    return {name for name, checked in boxes if checked}


def decided(
    door: Door,
    page: httpx.Response,
    decision: str = "approve",
    *,
    allow: set[str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    """The owner presses a button."""
    boxes = dict.fromkeys(ticked(page) if allow is None else allow, "1")
    form = {"transaction": transaction_of(page), "vault": "personal", **boxes}
    return door.http.post("/authorize", data={**form, "decision": decision}, headers=headers)


def answer_of(redirect: httpx.Response) -> dict[str, str]:
    """What the app finds in the address the browser comes back to."""
    assert redirect.status_code in (302, 303), redirect.text
    return dict(parse_qsl(urlsplit(redirect.headers["location"]).query, keep_blank_values=True))


def code_for(door: Door, client_id: str, *, allow: set[str] | None = None) -> str:
    return answer_of(decided(door, asked(door, client_id), allow=allow))["code"]


def exchanged(door: Door, client_id: str, code: str, **changed: str | None) -> httpx.Response:
    form = {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "code": code,
        "code_verifier": VERIFIER,
        "redirect_uri": CALLBACK,
        **changed,
    }
    given = {name: value for name, value in form.items() if value is not None}
    return door.http.post("/token", data=given)


def refreshed(door: Door, client_id: str, token: str, **more: str) -> httpx.Response:
    form = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": token, **more}
    return door.http.post("/token", data=form)


@dataclass(frozen=True, kw_only=True)
class SignedIn:
    client_id: str
    access: str
    refresh: str


def signed_in(door: Door, *, allow: set[str] | None = None, **metadata: Any) -> SignedIn:
    """An app from nothing to its first tokens."""
    client_id = registered(door, **metadata)["client_id"]
    answer = exchanged(door, client_id, code_for(door, client_id, allow=allow))
    assert answer.status_code == 200, answer.text
    told = answer.json()
    return SignedIn(client_id=client_id, access=told["access_token"], refresh=told["refresh_token"])
