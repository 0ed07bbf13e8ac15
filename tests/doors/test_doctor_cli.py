"""`keeproom doctor` in a terminal, against a vault that is served and one that is not."""

import json
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from clients.owner import owner_of
from clients.person import approve_and_return
from clients.places import Place, product_environment, served
from tests.terminal import KEEPROOM, run


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(Place.UVICORN, tmp_path_factory.mktemp("vault")) as address:
        yield address


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return product_environment(tmp_path)


def test_an_approved_visit_is_well_and_leaves_no_grant(address: str, env: dict[str, str]) -> None:
    words = [*KEEPROOM, "doctor", address, "--no-browser", "--wait", "30"]
    with subprocess.Popen(
        words, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        page = next(line for line in process.stderr if "/authorize?" in line)
        approve_and_return(page.strip())
        said = process.stdout.read()

    assert process.returncode == 0, said
    assert re.findall(r"^(\w+) ", said, re.MULTILINE) == ["ok"] * 8
    with owner_of(address) as owner:
        assert owner.grants() == []


def told(env: Mapping[str, str], *words: str) -> tuple[int, list[dict[str, Any]]]:
    done = run(env, "doctor", *words, "--json")
    return done.returncode, json.loads(done.stdout)


def test_a_page_that_nobody_approves_ends_it(address: str, env: dict[str, str]) -> None:
    code, found = told(env, address, "--no-browser", "--wait", "1")

    assert code == 1
    assert (found[-1]["step"], found[-1]["health"]) == ("approval", "fail")


def test_a_vault_that_does_not_run_is_named_by_its_first_step(env: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]

    code, found = told(env, f"http://127.0.0.1:{free}", "--no-browser")

    assert code == 1
    assert [one["step"] for one in found] == ["challenge"]
    assert found[0]["remedy"]
