"""`/connect`, read as those who come to it do."""

import httpx
import pytest

from clients.instructions import FOLLOWED, NOT_HERE, commands
from keeproom.api.connect import connecting
from keeproom.vault.vault import Vault
from tests.applications import application
from tests.http import client_of

PUBLIC = "https://memory.example.org"


@pytest.fixture
def page(client: httpx.Client) -> str:
    answer = client.get("/connect")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    return answer.text


def test_anybody_may_read_it_without_signing_in(vault: Vault) -> None:
    with client_of(application(vault, owner=""), peer=("203.0.113.7", 40_000)) as stranger:
        assert stranger.get("/connect").status_code == 200
        assert stranger.get("/api/memories").status_code == 403


def test_it_names_the_address_it_was_reached_at(page: str) -> None:
    assert "\n    http://localhost:8787/mcp\n" in page
    assert "{" not in page.replace('{"', "")


def test_nothing_of_the_vault_is_in_it(auto: httpx.Client) -> None:
    before = auto.get("/connect").text
    auto.post("/api/memories", json={"content": "Ana is allergic to peanuts"})
    auto.put("/api/guide", json={"content": "# Ours alone"})

    assert auto.get("/connect").text == before


def test_a_public_vault_sends_nobody_to_this_machine() -> None:
    assert "localhost" not in connecting(PUBLIC)
    assert f"claude mcp add --transport http --scope user keeproom {PUBLIC}/mcp" in connecting(
        PUBLIC
    )


def test_a_vault_on_this_machine_says_who_cannot_reach_it(page: str) -> None:
    assert "claude.ai, ChatGPT" in page
    assert "claude.ai, ChatGPT" not in connecting(PUBLIC)


@pytest.mark.parametrize("app", ["Claude Code", "ChatGPT", "Codex", "Cursor", "VS Code", "Gemini"])
def test_every_app_has_its_steps(page: str, app: str) -> None:
    assert f"### {app}" in page


def test_every_command_on_it_is_followed_by_the_client_it_is_for(page: str) -> None:
    known = {*FOLLOWED, *NOT_HERE}
    found = {next((one for one in known if command[: len(one)] == list(one)), tuple(command))
             for command in commands(page)}  # fmt: skip

    assert found == known
