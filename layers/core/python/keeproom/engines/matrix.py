"""Vectors of many memories, one row a chunk, and their cosines with a query."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keeproom.engines.column import Column

type Floats = NDArray[np.float32]

_BLOCK_ROWS = 4096
# OpenBLAS leaves a product below 460,800 cells to the calling thread. Above, it waits for its
# other threads, which on a busy two-core machine took 8 ms a call instead of 0.4.
_CELLS_AT_ONCE = 1 << 18
_NOBODY = np.empty(0, np.uint32)


@dataclass(frozen=True, slots=True)
class Chunks:
    """The matrix at one moment. `blocks`: its rows, unit vectors, in contiguous pieces. `owners`:
    the slot of each row's memory; the rows of a memory stand together."""

    blocks: tuple[Floats, ...]
    owners: NDArray[np.uint32]

    def best(self, query: Floats) -> tuple[NDArray[np.uint32], Floats]:
        """Slots in the order of their rows, and the cosine of each one's best row."""
        cosines = self._cosines(query)
        starts = np.flatnonzero(np.diff(self.owners, prepend=np.uint32(0xFFFFFFFF)))
        if len(starts) == len(cosines):
            return self.owners, cosines
        return self.owners[starts], np.maximum.reduceat(cosines, starts)

    def kept(self, rows: NDArray[np.bool_]) -> Iterator[Floats]:
        """Copies of those rows, a block at a time."""
        start = 0
        for block in self.blocks:
            for first in range(0, len(block), _BLOCK_ROWS):
                piece = block[first : first + _BLOCK_ROWS]
                copy = piece[rows[start : start + len(piece)]]
                start += len(piece)
                if len(copy):
                    yield copy

    def _cosines(self, query: Floats) -> Floats:
        cosines = np.empty(len(self.owners), np.float32)
        step = max(1, _CELLS_AT_ONCE // len(query))
        start = 0
        for block in self.blocks:
            for first in range(0, len(block), step):
                piece = block[first : first + step]
                np.dot(piece, query, out=cosines[start : start + len(piece)])
                start += len(piece)
        return cosines


class ChunkMatrix:
    """Grows a block at a time, so that no row ever moves: what `chunks` gave stays true while
    others append, and a loaded block is used where it lies. A row is never changed either."""

    def __init__(
        self, dims: int, *, blocks: Iterable[Floats] = (), owners: NDArray[np.uint32] = _NOBODY
    ) -> None:
        self._dims = dims
        self._full = [block for block in blocks if len(block)]
        self._owners = Column(owners)
        self._open = np.empty((0, dims), np.float32)
        self._used = 0
        self._sum = np.zeros(dims, np.float64)
        for block in self._full:
            self._sum += block.sum(axis=0, dtype=np.float64)

    def append(self, rows: Floats, *, owner: int) -> None:
        if self._used + len(rows) > len(self._open):
            self._close(room=len(rows))
        self._open[self._used : self._used + len(rows)] = rows
        self._used += len(rows)
        self._sum += rows.sum(axis=0)
        self._owners.append(owner, times=len(rows))

    def chunks(self) -> Chunks:
        return Chunks((*self._full, self._open[: self._used]), self._owners.view)

    def mean(self) -> Floats | None:
        """Of all rows, also of those whose memory is dead. None when there are none."""
        rows = len(self._owners.view)
        return (self._sum / rows).astype(np.float32) if rows else None

    def _close(self, *, room: int) -> None:
        if self._used:
            self._full.append(self._open[: self._used])
        self._open = np.empty((max(room, _BLOCK_ROWS), self._dims), np.float32)
        self._used = 0
