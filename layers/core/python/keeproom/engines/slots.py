"""What an index knows about each memory besides its terms and vectors."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress, product

import numpy as np
from numpy.typing import NDArray

from keeproom.engines.column import Column
from keeproom.engines.postings import NO_POSTINGS, PackedPostings, Postings
from keeproom.vault.model import MemoryType, Status
from keeproom.vault.ports import Indexed, Where

type Mask = NDArray[np.bool_]
type Places = NDArray[np.intp]

KINDS = tuple(product(Status, MemoryType))
_CODES = {kind: code for code, kind in enumerate(KINDS)}
_DEAD = 0xFF


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedSlots:
    """Living memories only, side by side. `kinds`: places in `KINDS`. `days`: proleptic ordinals.
    `lengths`: numbers of terms, repeats counted."""

    ids: list[str]
    kinds: NDArray[np.uint8]
    days: NDArray[np.int32]
    revisions: NDArray[np.int64]
    lengths: NDArray[np.uint32]
    tags: PackedPostings


_NONE = PackedSlots(
    ids=[],
    kinds=np.empty(0, np.uint8),
    days=np.empty(0, np.int32),
    revisions=np.empty(0, np.int64),
    lengths=np.empty(0, np.uint32),
    tags=NO_POSTINGS,
)


class Slots:
    """A slot is a number given to one putting of one memory, counted from 0. Slots are never
    reused: a memory put again gets a new one and leaves the old one dead."""

    def __init__(self, packed: PackedSlots = _NONE) -> None:
        self.ids = list(packed.ids)
        self.lengths = Column(packed.lengths)
        self._kinds = Column(packed.kinds)
        self._days = Column(packed.days)
        self._revisions = Column(packed.revisions)
        self._tags = Postings(packed.tags)
        self._slot_of = {id: slot for slot, id in enumerate(self.ids)}
        self._living_length = int(packed.lengths.sum(dtype=np.int64))

    @property
    def living(self) -> int:
        return len(self._slot_of)

    @property
    def dead(self) -> int:
        return len(self.ids) - len(self._slot_of)

    @property
    def mean_length(self) -> float:
        """Terms of a living memory, repeats counted; never 0."""
        return max(self._living_length, 1) / max(self.living, 1)

    def add(self, row: Indexed) -> int:
        """The row's slot. The memory must not have a living one."""
        slot = len(self.ids)
        length = sum(row.terms.values())
        self.ids.append(row.id)
        self._kinds.append(_CODES[row.status, row.type])
        self._days.append(row.valid_on.toordinal())
        self._revisions.append(row.revision)
        self.lengths.append(length)
        self._tags.add(slot, dict.fromkeys(row.tags, 1))
        self._slot_of[row.id] = slot
        self._living_length += length
        return slot

    def kill(self, id: str) -> bool:
        """Whether there was anything to kill."""
        slot = self._slot_of.pop(id, None)
        if slot is None:
            return False
        self._kinds.view[slot] = _DEAD
        self._living_length -= int(self.lengths.view[slot])
        return True

    def count_alive(self, slots: Places) -> int:
        if not self.dead:
            return len(slots)
        return int(np.count_nonzero(self._kinds.view.take(slots) != _DEAD))

    def find(self, ids: Iterable[str]) -> list[int]:
        """The living slot of each; -1 where there is none."""
        return [self._slot_of.get(id, -1) for id in ids]

    def eligible(self, where: Where) -> Mask:
        """Of every slot, in an array of the caller's own. Dead ones are not."""
        wanted = np.zeros(_DEAD + 1, np.bool_)
        wanted[: len(KINDS)] = [
            status in where.statuses and (where.types is None or type in where.types)
            for status, type in KINDS
        ]
        eligible = wanted.take(self._kinds.view)
        if where.since is not None:
            eligible &= self._days.view >= where.since.toordinal()
        if where.until is not None:
            eligible &= self._days.view <= where.until.toordinal()
        for tag in where.tags:
            tagged = np.zeros(len(eligible), np.bool_)
            tagged[self._tags.slots(tag)] = True
            eligible &= tagged
        return eligible

    def pack(self) -> tuple[PackedSlots, NDArray[np.int64]]:
        """The living, and the new number of each slot: -1 for the dead."""
        alive = self._kinds.view != _DEAD
        renumbered = np.where(alive, np.cumsum(alive) - 1, -1)
        packed = PackedSlots(
            ids=list(compress(self.ids, alive.tolist())),
            kinds=self._kinds.view[alive],
            days=self._days.view[alive],
            revisions=self._revisions.view[alive],
            lengths=self.lengths.view[alive],
            tags=self._tags.pack(renumbered),
        )
        return packed, renumbered
