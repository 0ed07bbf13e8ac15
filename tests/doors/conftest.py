from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from keeproom.api import build_app
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.local import memory_store
from keeproom.vault.vault import Vault
from tests.embedders import WordEmbedder
from tests.http import client_of
from tests.vaults import vault_on

OWNER = "owner@localhost"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ItemMemoryStore]:
    opened = memory_store.open(tmp_path / "vault.db")
    yield opened
    opened.close()


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def vault(store: ItemMemoryStore, embedder: WordEmbedder) -> Vault:
    """In review mode, as a new vault is."""
    return vault_on(store, embedder)


@pytest.fixture
def client(vault: Vault) -> Iterator[httpx.Client]:
    with client_of(build_app(vault, owner=OWNER)) as opened:
        yield opened


@contextmanager
def client_in(folder: Path) -> Generator[httpx.Client]:
    """The same, for tests that share a vault because they must leave it as it is."""
    store = memory_store.open(folder / "vault.db")
    with client_of(build_app(vault_on(store, WordEmbedder()), owner=OWNER)) as opened:
        yield opened
    store.close()


@pytest.fixture
def auto(client: httpx.Client) -> httpx.Client:
    """The same vault, where what is remembered takes effect at once."""
    assert client.put("/api/settings", json={"approval_mode": "auto"}).status_code == 200
    return client
