"""The nouns of imports: what was brought in at once, and what became of it."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from keeproom.vault.model import Memory, MemoryType, Status


class SkipReason(StrEnum):
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    SUPERSEDED = "superseded"  # known, and replaced since: `by` names the replacement
    EXCLUDED = "excluded"
    SECRET_LIKE = "secret_like"
    EMPTY = "empty"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """`similar_to` and `conflicts_with`: what it was linked with."""

    memory_id: str
    status: Status
    similar_to: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()

    @classmethod
    def of(cls, memory: Memory) -> "Stored":
        return cls(
            memory_id=memory.id,
            status=memory.status,
            similar_to=memory.similar_to,
            conflicts_with=memory.conflicts_with,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Not stored. `by`: the memory that stands in its place, where there is one."""

    reason: SkipReason
    by: str = ""


type Outcome = Stored | Skipped


class BatchState(StrEnum):
    RECEIVING = "receiving"  # its texts are still being written down; nobody works on it
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    UNDOING = "undoing"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One import. `cursor`: how far an undo has come. `keyword_only`: some items were compared by
    their words alone, since no embedding could be had."""

    id: str
    state: BatchState
    actor: str
    created_at: datetime
    updated_at: datetime
    source: str = ""
    total: int = 0
    stored: int = 0
    skipped: int = 0
    undone: int = 0
    cursor: str = ""
    keyword_only: bool = False
    propose: bool = False  # everything it stores waits for the owner
    grant: str = ""
    revision: int = 1

    @property
    def position(self) -> int:
        """Items that have an outcome."""
        return self.stored + self.skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportItem:
    """One text of an import as it was brought, before anything was decided about it."""

    content: str
    type: MemoryType = MemoryType.OTHER
    source: str = ""
    source_date: date | None = None
    tags: tuple[str, ...] = ()
    refused: SkipReason | None = None  # why it will be skipped; its text is then not kept
