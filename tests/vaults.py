"""Vaults for tests: real parts, small models."""

from keeproom.clock import Clock, utc_now
from keeproom.engines.memory_index import InProcessIndex
from keeproom.engines.scorer import NumpyScorer
from keeproom.vault.model import OWNER, ApprovalMode
from keeproom.vault.ports import MemoryStore, SearchIndex
from keeproom.vault.settings import Wanted, change_settings
from keeproom.vault.vault import Vault
from tests.embedders import WordEmbedder


def vault_on(
    store: MemoryStore,
    embedder: WordEmbedder,
    *,
    auto: bool = False,
    clock: Clock = utc_now,
    index: SearchIndex | None = None,
) -> Vault:
    """A vault with an index of its own, as another process would have it."""
    vault = Vault(
        memories=store,
        index=index or InProcessIndex(embedder.model, embedder.dims),
        embedder=embedder,
        scorer=NumpyScorer(),
        profile=lambda: embedder.profile,
        clock=clock,
    )
    if auto:
        change_settings(vault, Wanted(approval_mode=ApprovalMode.AUTO), expected=None, by=OWNER)
    return vault
