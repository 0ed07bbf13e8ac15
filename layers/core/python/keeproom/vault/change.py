"""What a verb decided, and what it had seen when it decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from keeproom.vault.batch import Batch, Outcome
from keeproom.vault.model import (
    AuditEntry,
    Embedding,
    Gate,
    GuideVersion,
    Head,
    Holding,
    Memory,
    Receipt,
    Settings,
    Tally,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One read of everything a decision needs: one round trip, no locks, nothing promised until
    the commit. `memories` lacks what an undo under way hides, `embeddings` does not; `settings` is
    not a condition of the commit (a condition on one item would make every writer meet every
    other). `histories`: the memories that have one, and the texts in it, each by the first digits
    of its identity."""

    head: Head
    gate: Gate
    settings: Settings
    memories: Mapping[str, Memory]
    holdings: Mapping[str, Holding]
    batch: Batch | None
    receipt: Receipt | None
    tally: Tally | None
    embeddings: Mapping[str, Embedding]
    histories: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Write `memory` over `was` (None: it must be new)."""

    memory: Memory
    was: Memory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Change who an identity belongs to, if it still is as `seen`."""

    identity: str
    seen: Holding
    now: Holding


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Happens as a whole or not at all. Index jobs and list markers follow from `put` and
    `removed`, so no verb can forget them. `outcomes`: by position in the batch, which must not
    have one yet. `hidden`: the head's new list of batches being undone."""

    audit: AuditEntry
    put: tuple[Put, ...] = ()
    removed: tuple[Memory, ...] = ()
    claims: tuple[Claim, ...] = ()
    embeddings: tuple[Embedding, ...] = ()
    batch: Batch | None = None
    batch_was: Batch | None = None
    outcomes: Mapping[int, Outcome] | None = None
    receipt: Receipt | None = None
    tally: Tally | None = None  # over the one with the revision before
    hidden: tuple[str, ...] | None = None
    settings: Settings | None = None  # over the one with the revision before
    guide: GuideVersion | None = None  # its number must be free


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a change's audit entry stands: it is the `count`th of its chain."""

    generation: str
    chain: int
    count: int
