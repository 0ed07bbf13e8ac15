"""What is known of the index that all processes share, and of making an index anew."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from keeproom.vault.model import Embedding, Memory


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
