"""Which memories hold a term, and how often."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

_MOST = 0xFFFF  # what a count of two bytes holds


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedPostings:
    """All postings in three rows of numbers: `sizes` says how many of `slots` and `counts` belong
    to each of `terms`."""

    terms: list[str]
    sizes: NDArray[np.uint32]
    slots: NDArray[np.uint32]
    counts: NDArray[np.uint16]


NO_POSTINGS = PackedPostings(
    terms=[],
    sizes=np.empty(0, np.uint32),
    slots=np.empty(0, np.uint32),
    counts=np.empty(0, np.uint16),
)


class Postings:
    """Slots and counts by term, slots ascending. Dead slots stay in until they are packed away."""

    def __init__(self, packed: PackedPostings = NO_POSTINGS) -> None:
        self._by_term: dict[str, tuple[array[int], array[int]]] = {}
        self._unpack(packed)

    def add(self, slot: int, counts: Mapping[str, int]) -> None:
        for term, count in counts.items():
            posting = self._by_term.get(term)
            if posting is None:
                posting = self._by_term[term] = (array("I"), array("H"))
            posting[0].append(slot)
            posting[1].append(count if count < _MOST else _MOST)

    def slots(self, term: str) -> NDArray[np.intp]:
        posting = self._by_term.get(term)
        # Converted at once: an array that lends its memory out cannot grow.
        return np.frombuffer(posting[0] if posting else b"", np.uint32).astype(np.intp)

    def counts(self, term: str) -> NDArray[np.float32]:
        """In the order of `slots`."""
        posting = self._by_term.get(term)
        return np.frombuffer(posting[1] if posting else b"", np.uint16).astype(np.float32)

    def pack(self, renumbered: NDArray[np.int64]) -> PackedPostings:
        """Without the slots whose new number is negative, and without the terms that only those
        had."""
        postings = self._by_term.values()
        slots = np.frombuffer(b"".join([slots for slots, _ in postings]), np.uint32)
        counts = np.frombuffer(b"".join([counts for _, counts in postings]), np.uint16)
        sizes = np.fromiter((len(slots) for slots, _ in postings), np.int64, len(postings))
        moved = renumbered[slots]
        stay = moved >= 0
        term_of = np.repeat(np.arange(len(sizes)), sizes)[stay]
        left = np.bincount(term_of, minlength=len(sizes))
        return PackedPostings(
            terms=list(compress(self._by_term, (left > 0).tolist())),
            sizes=left[left > 0].astype(np.uint32),
            slots=moved[stay].astype(np.uint32),
            counts=counts[stay],
        )

    def _unpack(self, packed: PackedPostings) -> None:
        slots = packed.slots.astype(np.uint32).tobytes()
        counts = packed.counts.astype(np.uint16).tobytes()
        start = 0
        for term, size in zip(packed.terms, packed.sizes.tolist(), strict=True):
            end = start + size
            self._by_term[term] = (
                array("I", slots[4 * start : 4 * end]),
                array("H", counts[2 * start : 2 * end]),
            )
            start = end
