"""Tables on a DynamoDB emulator, and functions that work on them."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from keeproom.aws.memory_store import Client, DynamoTable
from keeproom.clock import utc_now
from keeproom.engines.grant_store import ItemGrantStore
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.oauth.authorization import Authorization
from keeproom.vault.vault import Vault
from tests.agents import Agent
from tests.dynamo import emulator
from tests.embedders import WordEmbedder
from tests.functions.container import Container, container
from tests.functions.gateway import ADDRESS, Gateway
from tests.http import InProcess
from tests.letting_in import Door, Papers, Watch, application_of, signed_in
from tests.sqs import new_queue
from tests.vaults import vault_on

EVERYTHING = {"read", "propose", "write", "forget"}
KEYS = {
    "AWS_REGION": "eu-west-1",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """Both tables, and what a function is told of them."""

    client: Client
    vault_table: str
    grants_table: str
    environment: dict[str, str]


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    if not emulator.PYTHON.exists():
        pytest.skip("no DynamoDB emulator: make test installs it in .venv-emulator")
    with (
        emulator.emulator(tmp_path_factory.mktemp("emulator")) as endpoint,
        pytest.MonkeyPatch.context() as here,
    ):
        for name, value in KEYS.items():
            here.setenv(name, value)
        client = emulator.client(endpoint)
        tables = emulator.new_table(client), emulator.new_table(client)
        with closing(DynamoTable(client, tables[0])):
            yield Cloud(
                client=client,
                vault_table=tables[0],
                grants_table=tables[1],
                environment={
                    "AWS_ENDPOINT_URL": endpoint,
                    **KEYS,
                    "JOBS_QUEUE_URL": new_queue(endpoint).url,
                    "VAULT_TABLE": tables[0],
                    "GRANTS_TABLE": tables[1],
                    "PUBLIC_URL": ADDRESS,
                    "OWNER_EMAILS": "Ana@example.com, ben@example.com",
                },
            )


@pytest.fixture(scope="session")
def vault(cloud: Cloud) -> Vault:
    """As another process would have it."""
    store = ItemMemoryStore(DynamoTable(cloud.client, cloud.vault_table), "personal", clock=utc_now)
    return vault_on(store, WordEmbedder(), auto=True)


@pytest.fixture(scope="session")
def door(cloud: Cloud, vault: Vault) -> Iterator[Door]:
    """Where the owner approves, which is not on AWS yet."""
    watch = Watch()
    papers = Papers(watch)
    grants = ItemGrantStore(DynamoTable(cloud.client, cloud.grants_table))
    auth = Authorization(grants=grants, documents=papers, issuer=ADDRESS)
    app = application_of(vault, auth)
    with httpx.Client(transport=InProcess(app), base_url="https://localhost") as http:
        yield Door(http=http, auth=auth, watch=watch, papers=papers)


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
