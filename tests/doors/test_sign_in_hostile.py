"""What a provider answers is believed when it is signed by it, for us, for this sign-in, now."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from keeproom.engines.oidc import OidcProvider
from keeproom.errors import Invalid
from keeproom.oauth.model import Session
from keeproom.vault.vault import Vault
from tests.http import HERE
from tests.issuer import ADDRESS, CLIENT_ID, SECRET, Issuer
from tests.signing_in import (
    House,
    came_back,
    house_in,
    is_in,
    left,
    provider_at,
    signs_in,
    vouched,
)


class Ticks:
    """Seconds that are set by hand."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def ticks() -> Ticks:
    return Ticks()


@pytest.fixture
def house(vault: Vault, provider: Issuer, tmp_path: Path, ticks: Ticks) -> Iterator[House]:
    vouching = OidcProvider(provider.url, CLIENT_ID, secret=lambda: SECRET, home=HERE, ticks=ticks)
    with house_in(tmp_path, vault, vouching) as opened:
        yield opened


def refused(house: House) -> bool:
    """With a page that tells nothing, and without a session."""
    browser = house.browser()
    page = signs_in(browser)
    if page.status_code == 303:
        assert is_in(browser)
        return False
    assert page.status_code == 400
    assert "cannot be trusted" in page.text
    assert not is_in(browser)
    assert list(house.auth.grants.page(Session).items) == []
    assert house.verbs()[0] == ("visitor", "sign_in_refused", "bad_token")
    return True


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another-client"},
        {"aud": ["another-client"]},
        {"aud": [CLIENT_ID, "another-client"]},
        {"aud": [CLIENT_ID, "another-client"], "azp": "another-client"},
        {"azp": "another-client"},
        {"aud": None, "client_id": CLIENT_ID},
        {"token_use": "access"},
        {"token_use": "refresh"},
        {"token_use": ""},
        {"nonce": "another sign-in's"},
        {"nonce": None},
        {"exp": None},
        {"iat": None},
        {"sub": None},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_sign_in_is_refused(
    house: House, provider: Issuer, change: dict[str, Any]
) -> None:
    provider.change = change

    assert refused(house)


@pytest.mark.parametrize(("claim", "hours"), [("exp", -1), ("iat", 1), ("nbf", 1)])
def test_a_token_of_another_hour_is_refused(
    house: House, provider: Issuer, claim: str, hours: int
) -> None:
    provider.change = {claim: int(time.time()) + hours * 3_600}

    assert refused(house)


@pytest.mark.parametrize(
    "change",
    [
        {"token_use": "id"},
        {"aud": [CLIENT_ID]},
        {"azp": CLIENT_ID},
        {"aud": [CLIENT_ID, "another-client"], "azp": CLIENT_ID},
    ],
    ids=str,
)
def test_other_ways_to_say_that_it_is_for_us_are_good(
    house: House, provider: Issuer, change: dict[str, Any]
) -> None:
    provider.change = change

    assert not refused(house)


@pytest.mark.parametrize(("seconds", "is_good"), [(0, True), (-280, True), (-320, False)])
def test_the_providers_clock_may_be_five_minutes_behind(
    house: House, provider: Issuer, seconds: int, *, is_good: bool
) -> None:
    provider.change = {"exp": int(time.time()) + seconds}

    assert refused(house) is not is_good


@pytest.mark.parametrize(("seconds", "is_good"), [(280, True), (320, False)])
def test_the_providers_clock_may_be_five_minutes_ahead(
    house: House, provider: Issuer, seconds: int, *, is_good: bool
) -> None:
    at = int(time.time()) + seconds
    provider.change = {"iat": at, "nbf": at, "exp": at + 600}

    assert refused(house) is not is_good


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS512", "PS256"])
def test_only_the_keys_own_algorithm_is_taken(
    house: House, provider: Issuer, algorithm: str
) -> None:
    provider.algorithm = algorithm

    assert refused(house)


def test_a_token_that_another_key_has_signed_is_refused(house: House, provider: Issuer) -> None:
    provider.signs = 2

    assert refused(house)


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "..", "eyJhbGciOiJSUzI1NiJ9.e30.", 7, None])
def test_what_is_no_token_is_refused(house: House, provider: Issuer, token: object) -> None:
    provider.answers = lambda path: (200, {"id_token": token}) if path == "/token" else None

    assert refused(house)


# ---- keys that change


def test_a_rotated_key_is_fetched_when_it_is_met(
    house: House, provider: Issuer, ticks: Ticks
) -> None:
    assert not refused(house)
    provider.signs, provider.kid, provider.shown = 2, "two", {"one": 1, "two": 2}
    ticks.now += 61

    assert not refused(house)
    assert provider.asked["/keys"] == 2


def test_unknown_keys_do_not_make_us_ask_more_than_once_a_minute(
    house: House, provider: Issuer, ticks: Ticks
) -> None:
    assert not refused(house)
    for n in range(12):
        provider.kid = f"unknown-{n}"
        assert refused_once(house)
    assert provider.asked["/keys"] == 1

    ticks.now += 61
    for n in range(12):
        provider.kid = f"unknown-{n}"
        assert refused_once(house)
    assert provider.asked["/keys"] == 2
    provider.kid = "one"
    assert signs_in(house.browser()).status_code == 303, "known keys go on being good"


def refused_once(house: House) -> bool:
    return signs_in(house.browser()).status_code == 400


def test_a_withdrawn_key_counts_no_longer_than_a_day(
    house: House, provider: Issuer, ticks: Ticks
) -> None:
    assert not refused(house)
    provider.shown = {"two": 2}
    ticks.now += 90_000

    assert refused_once(house)


def test_a_key_without_a_name_is_enough_where_there_is_one(house: House, provider: Issuer) -> None:
    provider.kid = ""
    assert not refused(house)


def test_a_key_without_a_name_is_none_among_several(house: House, provider: Issuer) -> None:
    provider.kid, provider.shown = "", {"one": 1, "two": 2}
    assert refused(house)


@pytest.mark.parametrize(
    "keys",
    [
        {"keys": [{"kty": "RSA", "kid": "one", "alg": "RS256", "n": "AQ", "e": "AQAB"}]},
        {"keys": [{"kty": "oct", "kid": "one", "k": "AAAA"}]},
        {"keys": [{"kid": "one"}]},
        {"keys": ["one"]},
        {"keys": {}},
        {},
    ],
    ids=str,
)
def test_keys_that_are_none_are_passed_over(
    house: House, provider: Issuer, keys: dict[str, Any]
) -> None:
    provider.answers = lambda path: (200, keys) if path == "/keys" else None

    assert refused(house)


# ---- a provider that does not answer


@pytest.mark.parametrize("place", ["/.well-known/openid-configuration", "/keys", "/token"])
@pytest.mark.parametrize(
    "answer", [(500, {}), (200, b"<h1>Down</h1>"), (200, []), (200, b"[" * 300_000), (302, {})]
)
def test_a_provider_that_is_down_is_told_and_tried_again(
    house: House, provider: Issuer, place: str, answer: tuple[int, Any]
) -> None:
    provider.answers = lambda path: answer if path == place else None
    browser = house.browser()
    page = browser.get("/auth/login")
    if page.status_code == 302:
        page = came_back(browser, vouched(page.headers["location"]))

    assert page.status_code == 503
    assert "Sign in" in page.text
    provider.answers = lambda _: None
    assert signs_in(browser).status_code == 303


def test_a_silent_provider_does_not_end_what_is_known_of_it(
    house: House, provider: Issuer, ticks: Ticks
) -> None:
    left(house.browser())
    provider.answers = lambda path: (500, {}) if path.startswith("/.well-known") else None
    ticks.now += 4_000

    assert signs_in(house.browser()).status_code == 303


def test_a_wrong_secret_is_told_as_a_fault_of_the_settings(house: House, provider: Issuer) -> None:
    wrong = OidcProvider(provider.url, CLIENT_ID, secret=lambda: "wrong", home=HERE)

    page = signs_in(house.with_provider(wrong).browser())
    assert page.status_code == 503
    assert "OIDC_CLIENT_ID or its secret" in page.text
    assert "wrong" not in page.text.replace("may be wrong", "")


@pytest.mark.parametrize("issuer_says", ["https://evil.example", "", None])
def test_a_description_of_another_provider_is_not_taken(
    house: House, provider: Issuer, issuer_says: str | None
) -> None:
    provider.describes = {"issuer": issuer_says}

    assert house.browser().get("/auth/login").status_code == 503


def test_a_slash_at_the_end_of_the_name_does_not_matter(house: House, provider: Issuer) -> None:
    provider.describes = {"issuer": f"{provider.url}/"}
    provider.change = {"iss": f"{provider.url}/"}

    assert not refused(house)


@pytest.mark.parametrize("place", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
@pytest.mark.parametrize("address", ["http://evil.example/x", "ftp://evil.example", "", None, 7])
def test_nothing_is_sent_where_others_can_listen(
    house: House, provider: Issuer, place: str, address: object
) -> None:
    provider.describes = {place: address}
    browser = house.browser()
    page = browser.get("/auth/login")
    if page.status_code == 302:
        page = came_back(browser, vouched(page.headers["location"]))

    assert page.status_code == 503


@pytest.mark.parametrize(
    "url", ["http://id.example", "ftp://id.example", "id.example", "https://", "http://[", ""]
)
def test_an_issuer_that_others_could_play_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(Invalid):
        provider_at(Issuer(url))


def test_cognitos_own_way_to_end_a_session_goes_before_the_standards(
    house: House, provider: Issuer
) -> None:
    place = "https://vault.auth.example/logout"
    there = house.with_provider(provider_at(provider, logout_url=place)).sign_in.provider.exit()

    assert httpx.URL(there).params["logout_uri"] == f"{HERE}/auth/signed-out"
    assert httpx.URL(there).params["client_id"] == CLIENT_ID
    assert there.startswith(f"{place}?")


def test_a_provider_without_an_exit_leads_to_our_own_page(house: House, provider: Issuer) -> None:
    provider.describes = {"end_session_endpoint": None}

    assert house.sign_in.provider.exit() == ""
    provider.person["email"] = "x@else.example"
    page = signs_in(house.browser())
    assert 'href="/auth/login?anew=1"' in page.text, "or it lets the same person in again"
    assert 'href="/auth/login?anew=1"' in house.browser().get("/auth/signed-out").text
    there = house.browser().get("/auth/login?anew=1").headers["location"]
    assert httpx.URL(there).params["prompt"] == "select_account"
    assert ADDRESS not in page.text
