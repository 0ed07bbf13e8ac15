import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from keeproom.aws.memory_store import DynamoTable
from keeproom.vault.vault import Vault
from tests.agents import Agent
from tests.cognito import Pool, new_pool
from tests.dynamo import emulator
from tests.functions.container import Container, container
from tests.functions.gateway import ADDRESS, Gateway
from tests.functions.place import EVERYTHING, Cloud, cloud_in, door_of
from tests.letting_in import Door, signed_in
from tests.search_engine import node as search_node
from tests.search_engine.collection import Steered, serving

UNVERIFIED = "cleo@example.com"  # an owner's address that nobody has shown to be theirs


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


@pytest.fixture(scope="session")
def pool(cloud: Cloud) -> Iterator[Pool]:
    with new_pool(cloud.environment["AWS_ENDPOINT_URL"]) as made:
        made.person("ana@example.com")
        made.person("ben@example.com")
        made.person("stranger@example.com")
        made.person(UNVERIFIED, verified=False)
        yield made


@pytest.fixture(scope="session")
def signing(
    cloud: Cloud, pool: Pool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Container]:
    client_id, secret = pool.client(ADDRESS)
    content = json.dumps({"OIDC_CLIENT_SECRET": secret})
    with closing(emulator.aws(cloud.environment["AWS_ENDPOINT_URL"], "secretsmanager")) as secrets:
        arn = secrets.create_secret(Name="keeproom", SecretString=content)["ARN"]
    told = {
        "OWNER_EMAILS": f"ana@example.com, ben@example.com, {UNVERIFIED}",
        "OIDC_ISSUER": pool.issuer,
        "OIDC_CLIENT_ID": client_id,
        "OIDC_LOGOUT_URL": pool.logout_url,
        "SECRETS_ARN": arn,
    }
    folder = tmp_path_factory.mktemp("signing")
    with container("api", folder, {**cloud.environment, **told}) as running:
        yield running


@pytest.fixture
def browser(signing: Container) -> Iterator[httpx.Client]:
    with httpx.Client(transport=Gateway(signing), base_url=ADDRESS) as http:
        yield http


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real OpenSearch's address."""
    if lacking := search_node.missing():
        pytest.skip(lacking)
    with search_node.running(tmp_path_factory.mktemp("node")) as address:
        yield address


@pytest.fixture
def collection(node: str) -> Iterator[Steered]:
    """A collection that shows writes at once, as long as it is not told otherwise."""
    with serving(node) as steered:
        steered.behave(visible_after=0)
        yield steered


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
