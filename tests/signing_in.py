"""A vault whose owner signs in at a provider, and browsers in front of it."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
from fastapi import FastAPI

from keeproom.local import grant_store, owner
from keeproom.oauth.addresses import folded_all
from keeproom.oauth.authorization import Authorization
from keeproom.oauth.ports import GrantStore, Provider
from keeproom.oauth.sign_in import SignIn
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.http import HERE, InProcess
from tests.issuer import ADDRESS, CLIENT_ID, SECRET, Issuer
from tests.letting_in import Door, Papers, Watch

OWNERS = (ADDRESS, "Second@Example.com")


def provider_at(issuer: Issuer, *, home: str = HERE, **more: Any) -> Provider:
    return owner.open(issuer.url, CLIENT_ID, secret=SECRET, home=home, **more)


@dataclass(frozen=True, kw_only=True)
class House:
    """A vault that the owner signs in to, for as many browsers as there are."""

    vault: Vault
    sign_in: SignIn
    watch: Watch
    home: str

    @property
    def auth(self) -> Authorization:
        return self.sign_in.auth

    @cached_property
    def app(self) -> FastAPI:
        return application(
            self.vault, public_url=self.home, authorization=self.auth, sign_in=self.sign_in
        )

    def browser(self, **headers: str) -> httpx.Client:
        """A new one, with no cookies."""
        return httpx.Client(transport=InProcess(self.app), base_url=self.home, headers=headers)

    def holding(self, secret: str) -> httpx.Client:
        """A new one, with this session."""
        browser = self.browser()
        browser.cookies.set("keeproom", secret)
        return browser

    def apps(self, browser: httpx.Client) -> Door:
        """Apps that come to this vault, and this browser to approve them."""
        return Door(http=browser, auth=self.auth, watch=self.watch, papers=Papers(self.watch))

    def with_provider(self, provider: Provider) -> "House":
        return self._with(provider=provider)

    def with_owners(self, *owners: str) -> "House":
        return self._with(owners=folded_all(owners))

    def with_grants(self, grants: GrantStore) -> "House":
        return self._with(auth=replace(self.auth, grants=grants))

    def _with(self, **changed: Any) -> "House":
        return replace(self, sign_in=replace(self.sign_in, **changed))

    def verbs(self) -> list[tuple[str, str, str]]:
        return [(one.actor, one.verb, one.subject) for one in self.auth.grants.audit().items]


@contextmanager
def house_in(
    folder: Path, vault: Vault, provider: Provider, *, home: str = HERE
) -> Generator[House]:
    watch = Watch()
    with closing(grant_store.open(folder / "grants.db")) as store:
        auth = Authorization(grants=store, documents=Papers(watch), issuer=home, clock=watch)
        sign_in = SignIn(auth=auth, provider=provider, owners=folded_all(OWNERS))
        yield House(vault=vault, sign_in=sign_in, watch=watch, home=home)


def left(browser: httpx.Client, back: str | None = None) -> str:
    """The address at the provider that the browser is sent to."""
    answer = browser.get("/auth/login", params={"back": back} if back else None)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def vouched(entrance: str) -> str:
    """Where the provider sends the browser that it has signed in."""
    with httpx.Client(trust_env=False) as web:
        answer = web.get(entrance)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def came_back(browser: httpx.Client, address: str) -> httpx.Response:
    parts = urlsplit(address)
    return browser.get(f"{parts.path}?{parts.query}")


def signs_in(browser: httpx.Client, back: str | None = None) -> httpx.Response:
    """All the way, as far as the provider lets it."""
    return came_back(browser, vouched(left(browser, back)))


def is_in(browser: httpx.Client) -> bool:
    answer = browser.get("/api/memories")
    assert answer.status_code in (200, 401), answer.text
    return answer.status_code == 200


def cookie(browser: httpx.Client, name: str = "keeproom") -> str:
    return cast("str", browser.cookies.get(name, default=""))
