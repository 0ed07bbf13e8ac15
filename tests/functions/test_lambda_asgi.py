"""Events as an HTTP API has really sent them, twice in a row through one container."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.functions.container import Container, container

EVENTS = Path(__file__).with_name("events")


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    place = Path(__file__).with_name("echo")
    with container("echo", tmp_path_factory.mktemp("echo"), {}, place=place) as running:
        yield running


def told(echo: Container, name: str) -> dict[str, Any]:
    """What the application has seen, the same both times."""
    event = json.loads((EVENTS / f"{name}.json").read_text())
    first, second = echo.invoke(event), echo.invoke(event)
    assert first == second
    assert first["statusCode"] == 200
    return json.loads(first["body"]) | {"set": first["cookies"]}


def test_cookies_arrive_and_each_one_set_is_sent_by_itself(echo: Container) -> None:
    seen = told(echo, "cookies")

    assert seen["cookies"] == {"__Host-session": "abc123", "theme": "dark"}
    assert [one.partition(";")[0] for one in seen["set"]] == ["one=1", "two=2"]
    assert "HttpOnly" in seen["set"][1]


def test_a_parameter_that_comes_twice_does_so_inside(echo: Container) -> None:
    assert told(echo, "repeated_query")["query"] == [
        ["resource", "https://a.example/mcp"],
        ["resource", "https://b.example/mcp"],
        ["state", "a,b"],
    ]


def test_an_encoded_slash_is_a_slash(echo: Container) -> None:
    """So ids hold none."""
    assert told(echo, "encoded_slash")["path"] == "/api/memories/mem_1/history"


def test_a_body_in_base64_arrives_as_it_was(echo: Container) -> None:
    assert bytes.fromhex(told(echo, "base64_body")["body"]) == b'\x00\xff{"a": "\xc3\xa9"}'


def test_who_calls_and_how_is_the_gateways_word(echo: Container) -> None:
    seen = told(echo, "challenged")

    assert (seen["client"], seen["scheme"]) == ("203.0.113.7", "https")


def test_the_application_is_opened_once_and_stays_open(echo: Container) -> None:
    assert told(echo, "cookies")["opened"] == ["opened"]
