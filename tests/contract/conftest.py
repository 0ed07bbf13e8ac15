from collections.abc import Iterator
from pathlib import Path

import pytest

from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.local import memory_store
from keeproom.vault.vault import Vault
from tests.embedders import WordEmbedder
from tests.vaults import vault_on


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ItemMemoryStore]:
    opened = memory_store.open(tmp_path / "vault.db")
    yield opened
    opened.close()


@pytest.fixture
def other_store(tmp_path: Path) -> Iterator[ItemMemoryStore]:
    opened = memory_store.open(tmp_path / "other.db")
    yield opened
    opened.close()


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
