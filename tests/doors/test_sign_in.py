"""The owner signs in at a provider: who gets in, what the browser holds, and how it ends."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NoReturn, cast
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from keeproom.errors import Unavailable
from keeproom.oauth.model import Change, Session
from keeproom.oauth.ports import GrantStore
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.doors.conftest import error_of, held
from tests.http import HERE, OURS, client_of
from tests.issuer import ADDRESS, Issuer, issuer
from tests.letting_in import CALLBACK, CHALLENGE, decided, registered
from tests.signing_in import (
    House,
    came_back,
    cookie,
    house_in,
    is_in,
    left,
    provider_at,
    signs_in,
    vouched,
)

ELSEWHERE = "https://evil.example"
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
PAGE = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def browser(house: House) -> httpx.Client:
    return house.browser()


def sessions(house: House) -> list[Session]:
    return list(house.auth.grants.page(Session).items)


def signed_out(browser: httpx.Client, **form: str) -> httpx.Response:
    return browser.post("/auth/logout", data=form, headers=OURS)


# ---- getting in


def test_the_owner_signs_in_and_comes_back_to_the_same_place(browser: httpx.Client) -> None:
    assert not is_in(browser)

    answer = signs_in(browser, "/memories?q=tea")
    assert (answer.status_code, answer.headers["location"]) == (303, "/memories?q=tea")
    assert is_in(browser)


def test_every_allowed_address_is_let_in_whatever_its_case(house: House, provider: Issuer) -> None:
    for address in (ADDRESS.upper(), "second@example.com"):
        provider.person["email"] = address
        browser = house.browser()
        signs_in(browser)
        assert is_in(browser), address


@pytest.mark.parametrize(
    "person",
    [
        {"email": "somebody@else.example"},
        {"email": "owner@example.com.evil.example"},
        {"email": "o\u212aner@example.com"},
        {"email": ""},
        {"email": None},
        {"email_verified": False},
        {"email_verified": None},
        {"email_verified": "false"},
        {"email_verified": 1.5},
    ],
)
def test_anybody_else_sees_a_page_and_leaves_nothing_behind(
    house: House, provider: Issuer, browser: httpx.Client, person: dict[str, object]
) -> None:
    provider.person |= person
    provider.userinfo = {"sub": "p1"}

    page = signs_in(browser)
    assert page.status_code == 403
    assert "This vault is not yours" in page.text
    assert "Nothing was stored" in page.text
    assert f"{provider.url}/logout?" in page.text, "or the provider lets the same person in again"
    assert not is_in(browser)
    assert not cookie(browser)
    assert sessions(house) == []


def test_a_letter_that_folds_into_another_persons_address_is_not_that_letter(
    house: House, provider: Issuer
) -> None:
    house = house.with_owners("kim@example.com")
    for address, is_owner in (("KIM@example.com", True), ("\u212aim@example.com", False)):
        provider.person["email"] = address
        browser = house.browser()
        signs_in(browser)
        assert is_in(browser) is is_owner


def test_an_address_that_only_userinfo_tells_is_enough(
    provider: Issuer, browser: httpx.Client
) -> None:
    provider.person = {"sub": "p1"}
    provider.userinfo = {"sub": "p1", "email": ADDRESS, "email_verified": "true"}

    signs_in(browser)
    assert is_in(browser)


def test_userinfo_of_another_person_is_not_taken(provider: Issuer, browser: httpx.Client) -> None:
    provider.person = {"sub": "p1"}
    provider.userinfo = {"sub": "p2", "email": ADDRESS, "email_verified": True}

    assert signs_in(browser).status_code == 400
    assert not is_in(browser)


def test_the_provider_is_asked_by_code_with_pkce_state_and_nonce(
    browser: httpx.Client, provider: Issuer
) -> None:
    asked = parse_qs(urlsplit(left(browser)).query)

    assert asked["response_type"] == ["code"]
    assert asked["redirect_uri"] == [f"{HERE}/auth/callback"]
    assert asked["code_challenge_method"] == ["S256"]
    assert set(asked["scope"][0].split()) == {"openid", "email"}
    again = parse_qs(urlsplit(left(browser)).query)
    for name in ("state", "nonce", "code_challenge"):
        assert len(asked[name][0]) >= 43
        assert asked[name] != again[name]


def test_a_provider_without_basic_is_sent_the_secret_in_the_form(
    provider: Issuer, browser: httpx.Client
) -> None:
    provider.describes["token_endpoint_auth_methods_supported"] = ["client_secret_post"]

    signs_in(browser)
    assert is_in(browser)


def test_a_page_can_tell_whom_it_is_signed_in_as(browser: httpx.Client) -> None:
    assert browser.get("/api/owner").status_code == 401
    signs_in(browser)

    assert browser.get("/api/owner").json() == {
        "address": ADDRESS, "actor": "owner", "sign_out": "/auth/logout",
    }  # fmt: skip


def test_the_first_page_is_the_signed_in_owners_and_leads_out(browser: httpx.Client) -> None:
    assert browser.get("/").status_code == 401
    signs_in(browser)

    page = browser.get("/").raise_for_status()

    assert f"Signed in as {ADDRESS}" in page.text
    assert '<a href="/auth/logout">Sign out</a>' in page.text


# ---- where one comes back to


@pytest.mark.parametrize(
    "back",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "javascript:alert(1)",
        "evil.example",
        "/ä",
        "/auth/login",
        "/x" * 2_000,
        "/\x00",
    ],
)
def test_one_comes_back_to_a_page_of_the_vault_only(browser: httpx.Client, back: str) -> None:
    answer = browser.get("/auth/login", params={"back": back})

    assert answer.status_code == 400
    assert not browser.cookies
    assert "evil.example" not in answer.text


def test_a_place_that_was_changed_in_the_cookie_is_not_gone_to(
    house: House, browser: httpx.Client
) -> None:
    entrance = left(browser, "/memories")
    (name,) = list(browser.cookies)
    value = cookie(browser, name).rpartition(".")[0]
    browser.cookies.clear()
    browser.cookies.set(name, f"{value}.aHR0cHM6Ly9ldmlsLmV4YW1wbGUv")

    assert came_back(browser, vouched(entrance)).headers["location"] == "/"


@pytest.mark.parametrize("address", ["/", "/memories?status=active&q=a%2Fb", "/m%C3%A4rz%20x"])
def test_a_page_sends_whoever_is_not_signed_in_to_sign_in(
    browser: httpx.Client, address: str
) -> None:
    answer = browser.get(address, headers=PAGE | LINK)

    assert answer.status_code == 302
    found = parse_qs(urlsplit(answer.headers["location"]).query)
    assert urlsplit(answer.headers["location"]).path == "/auth/login"
    assert found["back"] == [address]
    assert signs_in(browser, found["back"][0]).headers["location"] == address


def test_data_is_refused_with_a_code_instead(browser: httpx.Client) -> None:
    for address in ("/api/memories", "/api/unknown", "/assets/app.js"):
        answer = browser.get(address)
        assert error_of(answer, 401)["code"] == "not_signed_in"
        assert "www-authenticate" in answer.headers
    page = browser.get("/api/memories", headers=PAGE)
    assert page.status_code == 401, "never a page where data is asked for"


def test_what_anybody_may_ask_needs_no_sign_in(browser: httpx.Client) -> None:
    for address in ("/health", "/connect", "/.well-known/oauth-authorization-server"):
        assert browser.get(address).status_code == 200
    assert browser.post("/register", json={"redirect_uris": [CALLBACK]}).status_code == 201


# ---- the approval page


def test_an_app_is_approved_after_signing_in_on_the_way(
    house: House, browser: httpx.Client
) -> None:
    apps = house.apps(browser)
    asked = {
        "client_id": registered(apps)["client_id"], "response_type": "code",
        "redirect_uri": CALLBACK, "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        "state": "a b/c",
    }  # fmt: skip

    turned = browser.get("/authorize", params=asked, headers=LINK)
    assert turned.status_code == 302
    back = parse_qs(urlsplit(turned.headers["location"]).query)["back"][0]
    place = signs_in(browser, back).headers["location"]
    page = browser.get(place, headers=LINK)
    assert page.status_code == 200
    assert f"Signed in as {ADDRESS}" in page.text
    assert decided(apps, page, headers={"Origin": ELSEWHERE}).status_code == 403
    assert decided(apps, page).status_code == 403, "without a word of where it comes from"
    assert decided(apps, page, headers=OURS).status_code == 303


def test_a_decision_after_signing_out_is_none(house: House, browser: httpx.Client) -> None:
    apps = house.apps(browser)
    signs_in(browser)
    page = browser.get(
        "/authorize",
        params={
            "client_id": registered(apps)["client_id"], "response_type": "code",
            "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        },
    )  # fmt: skip
    signed_out(browser)

    answer = decided(apps, page, headers=OURS)
    assert answer.status_code == 401
    assert "signed out" in answer.text


# ---- what the browser holds


def test_the_cookie_is_for_this_host_alone_and_out_of_reach_of_scripts(
    vault: Vault, provider: Issuer, tmp_path: Path
) -> None:
    home = "https://vault.example"
    with house_in(tmp_path, vault, provider_at(provider, home=home), home=home) as house:
        browser = house.browser()
        answer = signs_in(browser)

        (set_cookie,) = [
            one
            for one in answer.headers.get_list("set-cookie")
            if one.startswith("__Host-keeproom=")
        ]
        parts = {part.strip().lower() for part in set_cookie.split(";")[1:]}
        assert {"httponly", "secure", "samesite=lax", "path=/"} <= parts
        assert not [part for part in parts if part.startswith("domain")]
        assert is_in(browser)
        browser.cookies.set("keeproom", cookie(browser, "__Host-keeproom"))
        browser.cookies.delete("__Host-keeproom")
        assert not is_in(browser), "a name that other hosts can set opens nothing"


def test_the_cookie_is_kept_as_a_hash_only(
    house: House, browser: httpx.Client, tmp_path: Path
) -> None:
    signs_in(browser)

    assert len(cookie(browser)) == 43
    assert cookie(browser).encode() not in held(tmp_path)


def test_a_cookie_from_before_signing_in_is_never_taken_over(
    house: House, browser: httpx.Client
) -> None:
    planted = "A" * 43
    browser.cookies.set("keeproom", planted)

    answer = signs_in(browser)
    assert planted not in answer.headers["set-cookie"]
    assert not is_in(house.holding(planted))


def test_signing_in_again_ends_what_the_browser_held_before(
    house: House, browser: httpx.Client
) -> None:
    signs_in(browser)
    old = house.holding(cookie(browser))
    assert is_in(old)

    signs_in(browser)
    assert is_in(browser)
    assert not is_in(old)
    assert len(sessions(house)) == 1


@pytest.mark.parametrize("value", ["", "A" * 43, "A" * 42, "A" * 5_000, "../../etc"])
def test_a_made_up_cookie_opens_nothing(house: House, value: str) -> None:
    browser = house.browser(Cookie=f"keeproom={value}")

    assert not is_in(browser)


# ---- the way back


def test_an_answer_is_good_once(house: House, browser: httpx.Client) -> None:
    back = vouched(left(browser))
    (name,) = list(browser.cookies)
    kept = cookie(browser, name)
    assert came_back(browser, back).status_code == 303

    assert came_back(browser, back).status_code == 400
    browser.cookies.set(name, kept)
    assert came_back(browser, back).status_code == 400
    assert len(sessions(house)) == 1


def test_an_answer_is_good_once_even_where_the_provider_does_not_mind(
    house: House, provider: Issuer, browser: httpx.Client
) -> None:
    back = vouched(left(browser))
    (name,) = list(browser.cookies)
    kept, codes = cookie(browser, name), dict(provider.codes)
    assert came_back(browser, back).status_code == 303

    provider.codes |= codes
    browser.cookies.set(name, kept)
    assert came_back(browser, back).status_code == 400
    assert len(sessions(house)) == 1


def test_an_answer_is_good_in_the_browser_that_asked_only(
    house: House, browser: httpx.Client
) -> None:
    back = vouched(left(browser))
    other = house.browser()
    left(other)

    assert came_back(other, back).status_code == 400
    assert not is_in(other)


@pytest.mark.parametrize("state", ["", "x", "A" * 43, "A" * 9_000])
def test_a_changed_state_is_refused(house: House, browser: httpx.Client, state: str) -> None:
    parts = urlsplit(vouched(left(browser)))
    code = parse_qs(parts.query)["code"][0]

    answer = browser.get("/auth/callback", params={"code": code, "state": state})
    assert answer.status_code == 400
    assert sessions(house) == []


@pytest.mark.parametrize(
    "rest",
    [
        "",
        ".1764500000",
        ".1764500000.!!!",
        ".1764500000.YQ",
        ".1764500000./w==",
        ".999999999999.Lw==",
        ".0.Lw==",
        ".-1.Lw==",
    ],
)
def test_a_changed_attempt_is_none(house: House, browser: httpx.Client, rest: str) -> None:
    back = vouched(left(browser))
    (name,) = list(browser.cookies)
    secrets = ".".join(cookie(browser, name).split(".")[:3])
    browser.cookies.clear()
    browser.cookies.set(name, secrets + rest)

    assert came_back(browser, back).status_code == 400
    assert sessions(house) == []


def test_codes_of_two_browsers_cannot_be_swapped(house: House, browser: httpx.Client) -> None:
    """PKCE and nonce are another browser's."""
    other = house.browser()
    theirs = parse_qs(urlsplit(vouched(left(other))).query)["code"][0]
    state = parse_qs(urlsplit(left(browser)).query)["state"][0]

    answer = browser.get("/auth/callback", params={"code": theirs, "state": state})
    assert answer.status_code == 400
    assert sessions(house) == []


def test_two_tabs_sign_in_at_once(browser: httpx.Client) -> None:
    first, second = left(browser, "/one"), left(browser, "/two")

    assert came_back(browser, vouched(second)).headers["location"] == "/two"
    assert came_back(browser, vouched(first)).headers["location"] == "/one"
    assert is_in(browser)


def test_tabs_without_end_do_not_fill_the_browser(browser: httpx.Client) -> None:
    for _ in range(9):
        left(browser)
    last = left(browser, "/last")

    assert len(browser.cookies) <= 3
    assert came_back(browser, vouched(last)).headers["location"] == "/last"


def test_whoever_takes_longer_than_ten_minutes_begins_again(
    house: House, browser: httpx.Client
) -> None:
    back = vouched(left(browser))
    house.watch.forward(timedelta(minutes=10))

    assert came_back(browser, back).status_code == 400
    assert sessions(house) == []


def test_an_error_of_the_provider_is_not_repeated(browser: httpx.Client) -> None:
    state = parse_qs(urlsplit(left(browser)).query)["state"][0]

    told = {"error": "access_denied", "error_description": "<b>call 555</b>", "state": state}
    page = browser.get("/auth/callback", params=told)
    assert page.status_code == 400
    assert "555" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_an_answer_that_names_another_issuer_is_refused(browser: httpx.Client) -> None:
    back = vouched(left(browser))

    assert came_back(browser, f"{back}&iss=https://evil.example").status_code == 400
    assert not is_in(browser)


def test_an_answer_may_name_its_issuer(browser: httpx.Client, provider: Issuer) -> None:
    for iss in (provider.url, f"{provider.url}/"):
        assert came_back(browser, f"{vouched(left(browser))}&iss={iss}").status_code == 303


def test_a_flood_of_visitors_leaves_nothing_and_locks_nobody_out(
    house: House, tmp_path: Path
) -> None:
    browser = house.browser()
    left(browser)
    for _ in range(20):
        left(browser)

    assert house.verbs() == []
    assert signs_in(browser).status_code == 303


def test_a_flood_of_made_up_codes_reaches_the_provider_so_far(
    house: House, provider: Issuer
) -> None:
    browser = house.browser()

    def guess() -> int:
        state = parse_qs(urlsplit(left(browser)).query)["state"][0]
        told = {"code": "made-up", "state": state}
        return browser.get("/auth/callback", params=told).status_code

    assert [guess() for _ in range(32)] == [400] * 30 + [429] * 2
    assert provider.asked["/token"] == 30
    assert house.verbs() == [], "anybody can do that: it tells the owner nothing"
    house.watch.forward(timedelta(minutes=10))
    assert signs_in(browser).status_code == 303


def test_this_machine_has_several_names_and_a_sign_in_one(house: House) -> None:
    browser = house.browser()

    answer = browser.get("http://127.0.0.1:8787/auth/login?back=/memories")
    assert answer.headers["location"] == f"{HERE}/auth/login?back=/memories"


# ---- pages of other sites


@pytest.fixture
def inside(browser: httpx.Client) -> httpx.Client:
    signs_in(browser)
    return browser


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": ELSEWHERE},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Origin": HERE, "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        LINK,
        {},
    ],
)
@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT", "PATCH"])
def test_nothing_is_changed_but_from_a_page_of_the_vault(
    inside: httpx.Client, method: str, headers: dict[str, str]
) -> None:
    answer = inside.request(method, "/api/memories", json={"content": "Pay Eve"}, headers=headers)

    assert answer.status_code == 403
    assert inside.get("/api/memories").json()["data"] == []


@pytest.mark.parametrize("headers", [OURS, {"Origin": HERE}, {"Sec-Fetch-Site": "same-origin"}])
def test_a_page_of_the_vault_changes_what_it_likes(
    inside: httpx.Client, headers: dict[str, str]
) -> None:
    told = inside.post("/api/memories", json={"content": "Drinks tea"}, headers=headers)

    assert told.status_code == 201


@pytest.mark.parametrize(
    "headers",
    [{"Origin": ELSEWHERE}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}],
)
def test_pages_of_other_sites_read_nothing(inside: httpx.Client, headers: dict[str, str]) -> None:
    assert inside.get("/api/memories", headers=headers).status_code == 403
    assert inside.get("/", headers=headers).status_code == 403


def test_another_site_cannot_sign_the_owner_out(inside: httpx.Client) -> None:
    for headers in ({"Origin": ELSEWHERE}, {}, {"Origin": HERE, "Sec-Fetch-Site": "cross-site"}):
        assert inside.post("/auth/logout", headers=headers).status_code == 403
    assert inside.get("/auth/logout").status_code == 200, "asking does nothing yet"
    assert is_in(inside)


# ---- how it ends


def test_signing_out_ends_the_session_here_and_at_the_provider(
    house: House, inside: httpx.Client, provider: Issuer
) -> None:
    thief = house.holding(cookie(inside))

    answer = signed_out(inside)
    assert answer.status_code == 303
    where = urlsplit(answer.headers["location"])
    assert f"{where.scheme}://{where.netloc}{where.path}" == f"{provider.url}/logout"
    asked = parse_qs(where.query)
    assert asked["client_id"] == ["keeproom"]
    assert asked["post_logout_redirect_uri"] == [f"{HERE}/auth/signed-out"]
    assert not cookie(inside)
    assert not is_in(thief)
    assert "Signed out" in inside.get("/auth/signed-out").text
    assert signed_out(inside).status_code == 303, "once more does no harm"


def test_a_page_is_told_where_to_go_on_instead(inside: httpx.Client, provider: Issuer) -> None:
    answer = inside.post("/auth/logout", headers={**OURS, "Accept": "application/json"})

    assert answer.status_code == 200
    assert answer.json()["next"].startswith(f"{provider.url}/logout?")
    assert not is_in(inside)


def test_the_page_that_signs_out_may_lead_to_the_provider(
    inside: httpx.Client, provider: Issuer
) -> None:
    page = inside.get("/auth/logout")

    assert f"form-action 'self' {provider.url};" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "same-origin"
    assert 'action="/auth/logout"' in page.text


def test_signing_out_everywhere_ends_every_session(house: House, inside: httpx.Client) -> None:
    others = [house.browser() for _ in range(3)]
    for other in others:
        signs_in(other)

    forgotten = replace(sessions(house)[0], revision=0)
    for n in range(60):
        house.auth.grants.commit(Change(put=(replace(forgotten, id=f"{n:064}"),)))

    signed_out(inside, everywhere="1")
    assert not any(map(is_in, [inside, *others]))
    assert sessions(house) == []


def test_only_who_is_signed_in_signs_out_everywhere(house: House, inside: httpx.Client) -> None:
    assert signed_out(house.browser(), everywhere="1").status_code == 303

    assert is_in(inside)


def test_signing_out_works_while_the_provider_is_gone(
    vault: Vault, provider: Issuer, tmp_path: Path
) -> None:
    with house_in(tmp_path, vault, provider_at(provider)) as house:
        browser = house.browser()
        signs_in(browser)
        secret = cookie(browser)
        provider.answers = lambda _: (500, {})
        house = house.with_provider(provider_at(provider))

        answer = signed_out(house.holding(secret))
        assert answer.headers["location"] == "/auth/signed-out"
        assert sessions(house) == []


def test_a_session_ends_after_a_week_without_a_visit(house: House, inside: httpx.Client) -> None:
    for _ in range(3):
        house.watch.forward(timedelta(days=6))
        assert is_in(inside)
    house.watch.forward(timedelta(days=7))
    assert not is_in(inside)


def test_a_session_ends_after_a_month_whatever_happens(house: House, inside: httpx.Client) -> None:
    for _ in range(29):
        house.watch.forward(timedelta(days=1))
        assert is_in(inside)
    house.watch.forward(timedelta(days=1))
    assert not is_in(inside)


def test_an_address_that_is_no_longer_allowed_is_out_at_once(
    house: House, inside: httpx.Client
) -> None:
    assert is_in(house.with_owners("second@example.com", ADDRESS).holding(cookie(inside)))
    assert not is_in(house.with_owners("second@example.com").holding(cookie(inside)))


def test_another_provider_does_not_inherit_sessions(house: House, inside: httpx.Client) -> None:
    with issuer() as other:
        moved = house.with_provider(provider_at(other))
        assert not is_in(moved.holding(cookie(inside)))


class Down:
    """A store that does not answer."""

    def __getattr__(self, _: str) -> NoReturn:
        raise Unavailable("The table did not answer.")


def test_a_store_that_is_down_is_told_and_lets_nobody_in(
    house: House, inside: httpx.Client
) -> None:
    entrance = left(inside)
    down = house.with_grants(cast("GrantStore", Down()))
    browser = down.browser()
    browser.cookies.update(inside.cookies)

    answer = browser.get("/api/memories")
    assert error_of(answer, 503)["code"] == "unavailable"
    assert answer.headers["retry-after"]
    token = {"Authorization": f"Bearer krm_0123456789_{'A' * 43}"}
    assert browser.get("/api/memories", headers=token).status_code == 503
    assert browser.get("/authorize", headers=LINK).status_code == 503
    assert came_back(browser, vouched(entrance)).status_code == 503
    assert signed_out(browser).status_code == 503
    assert is_in(inside)


# ---- what is recorded


def test_sign_ins_refusals_and_sign_outs_are_in_the_audit_without_the_address(
    house: House, provider: Issuer, inside: httpx.Client
) -> None:
    signed_out(inside)
    provider.person["email"] = "stranger@else.example"
    signs_in(house.browser())
    provider.person |= {"email": ADDRESS, "email_verified": False}
    signs_in(house.browser())

    assert house.verbs() == [
        ("visitor", "sign_in_refused", "unverified"),
        ("visitor", "sign_in_refused", "not_allowed"),
        ("owner", "sign_out", "o…@example.com"),
        ("owner", "sign_in", "o…@example.com"),
    ]
    assert house.auth.grants.audit_faults() == []


def test_a_flood_of_refusals_is_recorded_so_far(
    house: House, provider: Issuer, tmp_path: Path
) -> None:
    provider.person["email"] = "stranger@else.example"
    browser = house.browser()
    for _ in range(3):
        for _ in range(21):
            assert signs_in(browser).status_code == 403
        house.watch.forward(timedelta(minutes=10))

    assert len(house.auth.grants.audit(limit=100).items) == 60


# ---- where signing in is not set up


def test_without_a_way_to_sign_in_only_what_anybody_may_ask_is_served(
    vault: Vault, house: House
) -> None:
    app = application(
        vault,
        public_url="https://vault.example",
        authorization=house.auth,
    )
    with client_of(app) as client:
        for address in ("/", "/api/memories", "/api/tokens", "/anything"):
            assert client.get(address, headers=PAGE).status_code == 403, address
        assert client.get("/authorize").status_code == 403
        assert client.get("/auth/login").status_code == 404
        assert client.get("/health").status_code == 200
        assert client.get("/connect").status_code == 200


def test_the_local_owner_does_not_get_round_signing_in(house: House) -> None:
    assert not is_in(house.browser(Host="localhost:8787"))
