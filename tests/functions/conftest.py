from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from keeproom.aws.memory_store import DynamoTable
from keeproom.vault.vault import Vault
from tests.agents import Agent
from tests.dynamo import emulator
from tests.functions.container import Container, container
from tests.functions.gateway import ADDRESS, Gateway
from tests.functions.place import EVERYTHING, Cloud, cloud_in, door_of
from tests.letting_in import Door, signed_in


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    if not emulator.PYTHON.exists():
        pytest.skip("no DynamoDB emulator: make test installs it in .venv-emulator")
    with cloud_in(tmp_path_factory.mktemp("emulator")) as opened:
        yield opened


@pytest.fixture(scope="session")
def vault(cloud: Cloud) -> Vault:
    return cloud.vault()


@pytest.fixture(scope="session")
def door(cloud: Cloud, vault: Vault) -> Iterator[Door]:
    with door_of(DynamoTable(cloud.client, cloud.grants_table), vault) as opened:
        yield opened


@pytest.fixture(scope="session")
def api(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    folder = tmp_path_factory.mktemp("api")
    with container("api", folder, cloud.environment) as running:
        yield running


@pytest.fixture(scope="session")
def web(api: Container) -> Iterator[httpx.Client]:
    with httpx.Client(transport=Gateway(api), base_url=ADDRESS) as http:
        yield http


@pytest.fixture(scope="session")
def agent(web: httpx.Client, door: Door) -> Agent:
    return Agent(web, signed_in(door, allow=EVERYTHING).access)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
