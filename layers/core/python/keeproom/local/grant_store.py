"""The grant store in one SQLite file of its own: it is in no backup of the vault."""

from pathlib import Path

from keeproom.engines.grant_store import ItemGrantStore
from keeproom.local.memory_store import SqliteTable


def open(path: Path) -> ItemGrantStore:
    """The grants in that file, which is made when there is none. Close it when done. Raises
    `Unusable`, and leaves the file as it was, when it cannot be used."""
    return ItemGrantStore(SqliteTable(path))
