"""The nouns of the vault."""

import hashlib
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from keeproom.vault.text import identity_of


class Status(StrEnum):
    PROPOSED = "proposed"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"


class MemoryType(StrEnum):
    PREFERENCE = "preference"
    FACT = "fact"
    PROJECT = "project"
    DECISION = "decision"
    PROCEDURE = "procedure"
    RELATIONSHIP = "relationship"
    EVENT = "event"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Actor:
    """`owner`, `token:backup` (the owner's script), `mcp:Claude`, `cleanup`; under which grant."""

    name: str
    grant: str = ""

    @property
    def is_owner(self) -> bool:
        return self.name == "owner" or self.name.startswith("token:")


OWNER = Actor("owner")
SHORT = 16  # digits of an identity that tell it from the others of a vault, as good as surely


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A text the memory had before an edit, who replaced it, and when."""

    content: str
    replaced_by: str
    replaced_at: datetime

    @property
    def identity(self) -> str:
        return identity_of(self.content)


class Decision(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"
    KEPT_BOTH = "kept_both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What the owner last decided about a memory, and what an undo needs to take it back."""

    decision: Decision
    at: datetime
    was: Status
    replaced: tuple[str, ...] = ()  # what the approval superseded
    supersedes: str = ""  # as the memory had it before
    conflicts_with: tuple[str, ...] = ()  # what the memory was flagged with before


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """An agent asked to forget the memory, and the owner has not decided about it yet."""

    by: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One self-contained fact. `since` is when it took its status: retention counts from there.
    `owned`: approved or edited by the owner, so undoing its import leaves it alone.
    `conflicts_with` is the part of `similar_to` that may contradict this memory. `withdrawn`: out
    of every answer but the owner's queue; its text is held all the same."""

    id: str
    content: str
    status: Status
    created_at: datetime
    updated_at: datetime
    since: datetime
    actor: str
    type: MemoryType = MemoryType.OTHER
    source: str = ""
    source_date: date | None = None
    tags: tuple[str, ...] = ()
    supersedes: str = ""
    superseded_by: str = ""
    similar_to: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    batch_id: str = ""
    revision: int = 1
    owned: bool = False
    history: tuple[Earlier, ...] = ()
    review: Review | None = None
    withdrawn: Withdrawn | None = None

    @property
    def identity(self) -> str:
        return identity_of(self.content)

    @property
    def content_hash(self) -> str:
        return content_hash(self.content)

    @property
    def superseded_at(self) -> datetime | None:
        return self.since if self.status is Status.SUPERSEDED else None

    @property
    def holds_identity(self) -> bool:
        """A rejected memory's identity is excluded instead."""
        return self.status is not Status.REJECTED

    @property
    def valid_on(self) -> date:
        """The day it became true, or was recorded when that is unknown."""
        return self.source_date or self.created_at.date()


def content_hash(content: str) -> str:
    """Ties an embedding to the exact text it was made from."""
    return hashlib.sha256(content.encode()).hexdigest()[:40]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """What a model made of one text. `vectors`: one unit row of `dims` little-endian float32 a
    chunk. `bits`: the signs of the token vectors, most significant bit first, ceil(dims / 8)
    bytes a token; empty when the model gives none."""

    memory_id: str
    model: str
    content_hash: str
    dims: int
    vectors: bytes
    bits: bytes = b""

    @property
    def chunks(self) -> int:
        return len(self.vectors) // (4 * self.dims)


@dataclass(frozen=True, slots=True)
class Held:
    """The identity belongs to this memory."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """The identity must not come back. `of`: the rejected memory that is still kept with it."""

    at: datetime
    by: str
    of: str = ""


type Holding = Held | Exclusion | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Who did what to which thing; never content. `touched`: every memory the change reached, so
    that an index can follow the audit."""

    id: str
    at: datetime
    actor: str
    verb: str
    subject: str
    grant: str = ""
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What an idempotency key stood for. Holds ids, never content: forget could not reach it."""

    key: str
    fingerprint: str
    result: str
    expires: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """When somebody last did what may be done only so often in an hour."""

    key: str
    times: tuple[datetime, ...]
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A memory whose index entry is behind. Names its generation: a worker that outlives a
    restore must not finish the new state's job."""

    generation: str
    memory_id: str
    revision: int
    due: datetime
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One of the items a commit must move. `hash` and `count` are the head of its audit chain,
    `cut_hash` and `cut_count` where retention has cut it."""

    number: int
    generation: str
    revision: int = 0
    count: int = 0
    hash: str = ""
    cut_count: int = 0
    cut_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """`hidden`: batches being undone, absent from every answer."""

    generation: str
    revision: int = 0
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A moment of the vault: how many entries each audit chain had."""

    generation: str
    counts: tuple[int, ...]


class ApprovalMode(StrEnum):
    REVIEW = "review"
    AUTO = "auto"


class ReviewSimilar(StrEnum):
    CONFLICTS = "conflicts"
    ALL = "all"


class Preset(StrEnum):
    """Which formula ranks: ours, or the plain weighted sum it grew out of."""

    DEFAULT = "default"
    CLASSIC = "classic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the owner may change."""

    approval_mode: ApprovalMode = ApprovalMode.REVIEW
    review_similar: ReviewSimilar = ReviewSimilar.CONFLICTS
    recall_preset: Preset = Preset.DEFAULT
    recall_limit: int = 8
    forget_limit: int = 20  # how many memories one app may forget in an hour
    keep_superseded_days: int = 365  # 0: for ever, here and below
    keep_rejected_days: int = 30
    keep_audit_days: int = 365
    revision: int = 0  # 0: never changed


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideVersion:
    """One version of the Operating Guide, counted from 1; 0 is the one that ships."""

    number: int
    content: str
    at: datetime | None = None
    actor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A model's measured thresholds. `mu`: mean cosine of unrelated memories by script group, under
    `""` over all of them; `query_mu`: that of queries and memories they have nothing to do with,
    which is lower where a model embeds queries in their own way. `covers`: script groups whose
    near-duplicates it tells apart, so that one may be skipped; empty until calibrated."""

    model: str
    dims: int
    mu: dict[str, float] = field(default_factory=dict[str, float])
    query_mu: float | None = None
    covers: frozenset[str] = frozenset()
    calibrated: bool = False
    measured_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page[T]:
    """`next`: the cursor of the following page, empty at the end."""

    items: tuple[T, ...]
    next: str = ""
