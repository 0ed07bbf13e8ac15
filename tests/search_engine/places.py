"""Vaults whose search index asks a collection."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from keeproom.engines.memory_index import InProcessIndex
from keeproom.engines.opensearch.collection import Collection
from keeproom.engines.opensearch.index import CollectionIndex, Searchable
from keeproom.vault.ports import Embedder


@dataclass
class Watch:
    """A clock that goes on by a millisecond whenever it is read, and as far as one likes."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()

    def wait(self, time: timedelta) -> None:
        self.now += time


def asking(shared: Searchable | Collection, embedder: Embedder, watch: Watch) -> CollectionIndex:
    """The index of a process that has just started, without a snapshot."""
    return CollectionIndex(
        InProcessIndex(embedder.model, embedder.dims),
        shared,
        seconds=watch.seconds,
    )
