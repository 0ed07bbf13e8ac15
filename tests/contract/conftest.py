"""The memory store in every place it can be, and vaults on one."""

from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import pytest

from keeproom.aws.memory_store import DynamoTable
from keeproom.clock import utc_now
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.engines.item_store.table import Table
from keeproom.local.memory_store import SqliteTable
from keeproom.vault.vault import Vault
from tests.contract.hands import Hand, hand_on
from tests.dynamo import emulator
from tests.dynamo.paper import PaperClient
from tests.embedders import WordEmbedder
from tests.search_engine import node as search_node
from tests.search_engine.collection import Steered, serving
from tests.vaults import vault_on


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A DynamoDB emulator's."""
    if not emulator.PYTHON.exists():
        pytest.skip("no DynamoDB emulator: make test installs it in .venv-emulator")
    with emulator.emulator(tmp_path_factory.mktemp("emulator")) as address:
        yield address


@pytest.fixture
def aws_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a client of AWS looks for before it calls an emulator."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")


@pytest.fixture(scope="session")
def dynamo(endpoint: str) -> Iterator[Table]:
    client = emulator.client(endpoint)
    with closing(DynamoTable(client, emulator.new_table(client))) as table:
        yield table


@pytest.fixture(scope="session")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    with closing(SqliteTable(tmp_path_factory.mktemp("vault") / "vault.db")) as table:
        yield table


@pytest.fixture(scope="session")
def paper() -> Table:
    return DynamoTable(PaperClient(), "vault")


@pytest.fixture(scope="session", params=["sqlite", "paper", "dynamo"])
def table(request: pytest.FixtureRequest) -> Table:
    """One table for all tests of a place: each has a vault of its own in it."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def hand(table: Table) -> Hand:
    return hand_on(table)


@pytest.fixture
def reviewing(table: Table) -> Hand:
    return hand_on(table, auto=False)


@pytest.fixture
def store(table: Table) -> ItemMemoryStore:
    """A new vault."""
    return ItemMemoryStore(table, uuid4().hex, clock=utc_now)


@pytest.fixture
def other_store(table: Table) -> ItemMemoryStore:
    """Another new vault on the same table."""
    return ItemMemoryStore(table, uuid4().hex, clock=utc_now)


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def auto(store: ItemMemoryStore, embedder: WordEmbedder) -> Vault:
    return vault_on(store, embedder, auto=True)


@pytest.fixture
def another(store: ItemMemoryStore, auto: Vault, embedder: WordEmbedder) -> Vault:
    return vault_on(store, embedder)


@pytest.fixture
def review(other_store: ItemMemoryStore, embedder: WordEmbedder) -> Vault:
    return vault_on(other_store, embedder)


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
