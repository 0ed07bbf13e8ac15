"""The owner's whole way by the login page of Cognito, on a vault of one's own machine."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from keeproom.local import owner
from keeproom.vault.vault import Vault
from tests.cognito import Pool, logs_in, new_pool
from tests.dynamo import emulator
from tests.http import HERE, OURS
from tests.issuer import ADDRESS
from tests.signing_in import House, came_back, house_in, is_in, left


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    if not emulator.PYTHON.exists():
        pytest.skip("no emulator: make test installs it in .venv-emulator")
    with (
        emulator.emulator(tmp_path_factory.mktemp("emulator")) as endpoint,
        new_pool(endpoint) as made,
    ):
        made.person(ADDRESS)
        made.person("stranger@example.com")
        made.person("second@example.com", verified=False)
        yield made


@pytest.fixture
def house(vault: Vault, pool: Pool, tmp_path: Path) -> Iterator[House]:
    client_id, secret = pool.client(HERE)
    provider = owner.open(
        pool.issuer,
        client_id,
        secret=secret,
        home=HERE,
        logout_url=pool.logout_url,
        found_at=pool.place,
    )
    with house_in(tmp_path, vault, provider) as opened:
        yield opened


def signs_in(browser: httpx.Client, address: str) -> httpx.Response:
    answer = logs_in(left(browser, "/memories"), address)
    assert answer.status_code == 302, answer.text
    return came_back(browser, answer.headers["location"])


def test_the_owner_signs_in_works_signs_out_and_is_asked_again(house: House) -> None:
    browser = house.browser()
    assert signs_in(browser, ADDRESS).headers["location"] == "/memories"
    told = browser.post("/api/memories", json={"content": "Drinks tea"}, headers=OURS)
    assert told.status_code == 201

    answer = browser.post("/auth/logout", headers=OURS)
    there = httpx.get(answer.headers["location"], trust_env=False)
    assert there.headers["location"] == f"{HERE}/auth/signed-out"
    assert not is_in(browser)
    assert signs_in(browser, ADDRESS).status_code == 303
    assert is_in(browser)


@pytest.mark.parametrize("address", ["stranger@example.com", "second@example.com"])
def test_anybody_else_of_the_pool_stays_outside(house: House, address: str) -> None:
    browser = house.browser()

    page = signs_in(browser, address)
    assert page.status_code == 403
    assert "Sign in as somebody else" in page.text
    assert address not in page.text
    assert not is_in(browser)
