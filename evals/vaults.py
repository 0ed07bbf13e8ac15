"""Vaults to measure on: the product as it runs on one machine, in a folder of its own."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from embedding_cache import CachedEmbedder

from keeproom import compose
from keeproom.local import embedder as bundled
from keeproom.settings import read_settings
from keeproom.vault.ports import Embedder
from keeproom.vault.vault import Vault


def cached_embedder(folder: Path | None) -> Embedder:
    """The bundled model, which embeds no text twice; with a folder, not even in the next run."""
    return CachedEmbedder(bundled.open(), folder)


@contextmanager
def temporary_vault(embedder: Embedder) -> Generator[Vault]:
    with TemporaryDirectory() as folder, opened(Path(folder), embedder) as vault:
        yield vault


@contextmanager
def opened(home: Path, embedder: Embedder) -> Generator[Vault]:
    settings = read_settings(KEEPROOM_HOME=home, KEEPROOM_EMBEDDER="bundled")
    with compose.local(settings) as composed:
        yield replace(composed.vault, embedder=embedder)
