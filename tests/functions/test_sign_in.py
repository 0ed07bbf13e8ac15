"""The owner signs in on AWS: the real handler, Cognito's login page, the secret in its place."""

import httpx

from tests.cognito import logs_in
from tests.functions.conftest import UNVERIFIED
from tests.functions.container import Container
from tests.functions.gateway import ADDRESS, Gateway
from tests.signing_in import came_back, cookie, is_in, left

OURS = {"Origin": ADDRESS, "Sec-Fetch-Site": "same-origin"}


def test_the_owner_signs_in_works_and_signs_out(browser: httpx.Client, signing: Container) -> None:
    assert not is_in(browser)
    back = logs_in(left(browser, "/memories"), "ana@example.com").headers["location"]
    answer = came_back(browser, back)
    assert (answer.status_code, answer.headers["location"]) == (303, "/memories")
    assert cookie(browser, "__Host-keeproom")
    assert is_in(browser)
    assert browser.post("/api/memories", json={"content": "Tea"}, headers=OURS).is_success
    assert browser.post("/api/memories", json={"content": "Eve"}).status_code == 403

    token = browser.post(
        "/api/tokens", json={"name": "nightly", "scopes": ["read"]}, headers=OURS
    ).json()["token"]
    sent = {"Authorization": f"Bearer {token}"}
    with httpx.Client(transport=Gateway(signing), base_url=ADDRESS, headers=sent) as script:
        assert script.get("/api/memories").status_code == 200
        assert script.get("/api/audit").status_code == 403

    gone = browser.post("/auth/logout", headers=OURS)
    there = httpx.get(gone.headers["location"], trust_env=False)
    assert there.headers["location"] == f"{ADDRESS}/auth/signed-out"
    assert not is_in(browser)
    for secret in (token, "ana@", back.partition("code=")[2][:20]):
        assert secret not in signing.log


def test_signing_out_everywhere_ends_every_session(
    browser: httpx.Client, signing: Container
) -> None:
    with httpx.Client(transport=Gateway(signing), base_url=ADDRESS) as other:
        for one in (browser, other):
            came_back(one, logs_in(left(one), "ben@example.com").headers["location"])
            assert is_in(one)

        browser.post("/auth/logout", data={"everywhere": "1"}, headers=OURS)
        assert not is_in(browser)
        assert not is_in(other)


def test_anybody_else_of_the_pool_stays_outside(browser: httpx.Client) -> None:
    back = logs_in(left(browser), "stranger@example.com").headers["location"]

    assert came_back(browser, back).status_code == 403
    assert not is_in(browser)


def test_an_owner_whose_address_is_not_verified_stays_outside(browser: httpx.Client) -> None:
    back = logs_in(left(browser), UNVERIFIED).headers["location"]

    page = came_back(browser, back)
    assert (page.status_code, "Nothing was stored" in page.text) == (403, True)
    assert not is_in(browser)
