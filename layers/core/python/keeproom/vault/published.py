"""What is known of the index that all processes share, and of making an index anew."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from keeproom.vault.model import Embedding, Memory, Position, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What the shared index `index` holds of one memory, by the names it gave. `begun`: when
    somebody set out to write more and has not said yet what became of it; so there may be
    documents whose names nobody knows."""

    generation: str
    memory_id: str
    index: str
    names: tuple[str, ...] = ()
    begun: datetime | None = None
    revision: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ToPublish:
    """All that publishing some memories rests on, read at one moment, by memory."""

    generation: str
    memories: Mapping[str, Memory]
    embeddings: Mapping[str, Embedding]
    published: Mapping[str, Published]


BACKLOG_LOOKED = 501  # more are never told of


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What a shared index lacks. `ready`: it has once been complete; then it is all but the
    memories `waiting` on the index queue, of which `BACKLOG_LOOKED` are named at most."""

    ready: bool
    waiting: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """`changes`: ids of the memories touched, and the moment reached, as `MemoryStore.changes`.
    `backlog`: None when it was not asked for."""

    settings: Settings
    changes: tuple[Position, frozenset[str]] | None
    backlog: Backlog | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """How far the index `index` has been made anew. `done` of about `total` memories, up to the
    place `cursor`. `until`: nobody else goes on before. `ready`: has once been complete, and is
    kept in step since. `reembed`: embeddings are made anew too."""

    generation: str
    index: str
    started_at: datetime
    until: datetime
    total: int = 0
    done: int = 0
    cursor: str = ""
    finished_at: datetime | None = None
    ready: bool = False
    reembed: bool = False
    made: bool = False
    revision: int = 1
