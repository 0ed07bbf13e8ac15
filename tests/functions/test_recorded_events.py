"""Events as an HTTP API has really sent them, twice in a row through the function of every door."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.cognito import logs_in
from tests.functions.container import Container
from tests.functions.gateway import ADDRESS
from tests.letting_in import CALLBACK, CHALLENGE
from tests.signing_in import came_back, left

EVENTS = Path(__file__).with_name("events")
OURS = {"Origin": ADDRESS, "Sec-Fetch-Site": "same-origin"}


def recorded(name: str, path: str = "", query: str = "", **changed: Any) -> dict[str, Any]:
    """As it was, but for another place and what is changed."""
    event = json.loads((EVENTS / f"{name}.json").read_text()) | changed
    if path:
        event["rawPath"] = event["requestContext"]["http"]["path"] = path
    if query:
        event["rawQueryString"] = query
    return event


def twice(api: Container, event: dict[str, Any]) -> list[dict[str, Any]]:
    """Both answers."""
    return [api.invoke(event) for _ in range(2)]


@pytest.fixture
def owner(browser: httpx.Client) -> httpx.Client:
    """Signed in."""
    came_back(browser, logs_in(left(browser), "ana@example.com").headers["location"])
    return browser


def held(browser: httpx.Client) -> list[str]:
    """Its cookies, as an event has them."""
    return [f"{one.name}={one.value}" for one in browser.cookies.jar]


def test_the_session_is_found_among_the_cookies(signing: Container, owner: httpx.Client) -> None:
    others = recorded("cookies", "/api/owner")
    for answer in twice(signing, others):
        assert (answer["statusCode"], answer.get("cookies", [])) == (401, [])
    theirs = recorded("cookies", "/api/owner", cookies=[*others["cookies"], *held(owner)])
    for answer in twice(signing, theirs):
        assert answer["statusCode"] == 200
        assert json.loads(answer["body"])["address"] == "ana@example.com"


def test_each_cookie_that_is_set_is_sent_by_itself_and_a_code_is_good_once(
    signing: Container, browser: httpx.Client
) -> None:
    back = urlsplit(logs_in(left(browser), "ana@example.com").headers["location"])
    first, second = twice(
        signing, recorded("cookies", back.path, back.query, cookies=held(browser))
    )

    assert (first["statusCode"], second["statusCode"]) == (303, 400)
    names = [one.partition("=")[0] for one in first["cookies"]]
    assert len(names) == 2
    assert "__Host-keeproom" in names
    assert "set-cookie" not in first["headers"]


def test_a_body_in_base64_is_read_as_what_it_holds(signing: Container) -> None:
    for answer in twice(signing, recorded("base64_body")):
        assert answer["statusCode"] == 400, "it holds no JSON"
        assert json.loads(answer["body"])["error"] == "invalid_request"
    wish = json.dumps({"client_name": "Löwe", "redirect_uris": [CALLBACK]}).encode()
    answers = twice(signing, recorded("base64_body", body=base64.b64encode(wish).decode()))

    made = [json.loads(answer["body"]) for answer in answers]
    assert [answer["statusCode"] for answer in answers] == [201, 201]
    assert [one["client_name"] for one in made] == ["Löwe", "Löwe"]
    assert made[0]["client_id"] != made[1]["client_id"]


def test_an_encoded_slash_opens_no_other_door(signing: Container, owner: httpx.Client) -> None:
    for answer in twice(signing, recorded("encoded_slash")):
        assert answer["statusCode"] == 401
    for answer in twice(signing, recorded("encoded_slash", cookies=held(owner))):
        assert answer["statusCode"] == 404
        assert json.loads(answer["body"])["error"]["code"] == "not_found"


def test_a_parameter_that_comes_twice_counts_twice(signing: Container, owner: httpx.Client) -> None:
    for tags in (["bees"], ["roof"], ["bees", "roof"]):
        fact = {"content": f"Ana looks after {' and '.join(tags)}", "tags": tags}
        assert owner.post("/api/memories", json=fact, headers=OURS).is_success
    listed = recorded("repeated_query", "/api/memories", "tags=bees&tags=roof", cookies=held(owner))
    for answer in twice(signing, listed):
        told = [one["content"] for one in json.loads(answer["body"])["data"]]
        assert told == ["Ana looks after bees and roof"]

    client = owner.post("/register", json={"redirect_uris": [CALLBACK]}).json()["client_id"]
    asked = recorded("repeated_query", cookies=held(owner))
    asked["rawQueryString"] += (
        f"&client_id={client}&response_type=code&redirect_uri={CALLBACK}"
        f"&code_challenge={CHALLENGE}&code_challenge_method=S256"
    )
    for answer in twice(signing, asked):
        place = urlsplit(str(answer["headers"]["location"]))
        told = parse_qs(place.query)
        assert (told["error"], told["state"]) == (["invalid_target"], ["a,b"])
    again = {**asked, "rawQueryString": f"{asked['rawQueryString']}&client_id={client}"}
    for answer in twice(signing, again):
        assert answer["statusCode"] == 400
        assert "comes twice" in answer["body"]
