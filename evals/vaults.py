"""Vaults to measure on: the product as it runs on one machine, in a folder of its own."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from embedding_cache import CachedEmbedder
from keeproom.local.embedder import BundledEmbedder

from keeproom import compose
from keeproom.settings import read_settings
from keeproom.vault.model import OWNER, ApprovalMode, ImportItem
from keeproom.vault.ports import Embedder
from keeproom.vault.remember import remember
from keeproom.vault.settings import Wanted, change_settings
from keeproom.vault.vault import Vault


def cached_embedder(folder: Path | None) -> Embedder:
    """The bundled model, which embeds no text twice; with a folder, not even in the next run."""
    return CachedEmbedder(BundledEmbedder.open(), folder)


@contextmanager
def temporary_vault(embedder: Embedder) -> Generator[Vault]:
    with TemporaryDirectory() as folder, opened(Path(folder), embedder) as vault:
        yield vault


@contextmanager
def opened(home: Path, embedder: Embedder) -> Generator[Vault]:
    settings = read_settings(KEEPROOM_HOME=home, KEEPROOM_EMBEDDER="bundled")
    with compose.local(settings) as composed:
        yield replace(composed.vault, embedder=embedder)


def fill(vault: Vault, items: Sequence[ImportItem]) -> list[str]:
    """Remember each text as active, near-duplicates too. Answers the id of the memory that holds
    it: a text that is there already has one."""
    auto = Wanted(approval_mode=ApprovalMode.AUTO)
    change_settings(vault, auto, expected=None, by=OWNER)
    vault.embedder.passages([item.content for item in items])
    return [remember(vault, item, by=OWNER).memory.id for item in items]
