"""The search index that lives inside the process."""

import math
from collections.abc import Iterable, Sequence
from itertools import compress, islice
from threading import Lock, RLock
from typing import Self

import numpy as np
from numpy.typing import NDArray

from keeproom.engines.matrix import ChunkMatrix, Floats
from keeproom.engines.postings import Postings
from keeproom.engines.slots import Places, Slots
from keeproom.engines.snapshot import Packed, Snapshots, decode, encode
from keeproom.vault.model import Embedding, Position
from keeproom.vault.ports import Bm25, Candidates, Indexed, Sought, Where
from keeproom.vault.published import Backlog

_DEAD_SHARE = 0.2  # of all slots: packing them away then costs each about 30 µs at 100,000
_DEAD_FEW = 256
_SCORES_KEPT = 4  # one for each recall that may be under way


class InProcessIndex:
    """`SearchIndex` over exact cosines and BM25. Embeddings of another model or size count as
    lacking. What is replaced or removed is dead at once, packed away when it is much, and never
    saved. Equal scores: the memory put first."""

    def __init__(self, model: str, dims: int, *, snapshots: Snapshots | None = None) -> None:
        self._model = model
        self._dims = dims
        self._snapshots = snapshots
        self._lock = RLock()
        self._saving = Lock()
        self._changes = 0
        self._saved = 0
        self._empty()

    @classmethod
    def open(cls, model: str, dims: int, *, snapshots: Snapshots) -> Self:
        """What was last saved. Empty, with no position, when there is nothing, or it is damaged,
        of another model, or of another version of the format."""
        index = cls(model, dims, snapshots=snapshots)
        data = snapshots.read()
        packed = None if data is None else decode(data, model=model, dims=dims)
        if packed is not None:
            index._fill(packed)
        return index

    @property
    def shared(self) -> None:
        """There is none: this copy is all there is."""
        return

    @property
    def wants_backlog(self) -> bool:
        """Never: nothing is shared."""
        return False

    def tell_backlog(self, backlog: Backlog) -> None: ...

    @property
    def size(self) -> int:
        with self._lock:
            return self._slots.living

    # ---- searching

    def candidates(self, sought: Sought) -> Candidates:
        near = list[str]()
        if sought.vector:
            near = self.nearest(sought.vector, where=sought.where, limit=sought.limit)
        return Candidates(near=near, matching=self._matching(sought))

    def nearest(self, vector: bytes, *, where: Where, limit: int) -> Sequence[str]:
        with self._lock:  # the rest needs none: a row or id once added never moves or changes
            ids, eligible = self._slots.ids, self._slots.eligible(where)
            chunks = self._matrix.chunks()
        slots, cosines = chunks.best(np.frombuffer(vector, "<f4").astype(np.float32, copy=False))
        found = np.flatnonzero(eligible[slots])
        return _named(ids, slots[found[_best(cosines[found], limit)]])

    def holding(self, ids: Sequence[str], *, where: Where) -> Sequence[str]:
        """Those of the memories that are there and that the conditions let through."""
        with self._lock:
            slots, eligible = self._slots.find(ids), self._slots.eligible(where)
        return [one for one, slot in zip(ids, slots, strict=True) if slot >= 0 and eligible[slot]]

    def background(self, vector: bytes) -> float | None:
        with self._lock:
            mean = self._matrix.mean()
        return None if mean is None else float(np.frombuffer(vector, "<f4") @ mean)

    def _matching(self, sought: Sought) -> list[str]:
        with self._lock:
            ids, eligible = self._slots.ids, self._slots.eligible(sought.where)
            scores = self._scores(sought.terms, sought.bm25)
        found = np.flatnonzero(eligible & (scores > 0))
        return _named(ids, found[_best(scores[found], sought.limit)])

    def strengths(self, terms: Sequence[str], ids: Sequence[str], *, bm25: Bm25) -> Sequence[float]:
        with self._lock:
            scores, slots = self._scores(terms, bm25), self._slots.find(ids)
        return [float(scores[slot]) if slot >= 0 else 0.0 for slot in slots]

    def idf(self, terms: Sequence[str]) -> Sequence[float]:
        with self._lock:
            return [self._idf(self._terms.slots(term)) for term in terms]

    def lacking(self, *, limit: int) -> Sequence[str]:
        with self._lock:
            return list(islice(self._lacking, limit))

    # ---- changing

    def put(self, rows: Sequence[Indexed]) -> None:
        for row in rows:
            with self._lock:
                self._kill(row.id)
                self._add(row)
                self._changed()

    def remove(self, ids: Sequence[str]) -> None:
        with self._lock:
            killed = [self._kill(id) for id in ids]
            if any(killed):
                self._changed()

    def clear(self) -> None:
        with self._lock:
            self._empty()
            self._changed()

    @property
    def position(self) -> Position | None:
        with self._lock:
            return self._position

    @position.setter
    def position(self, moment: Position | None) -> None:
        with self._lock:
            if moment != self._position:
                self._position = moment
                self._changes += 1

    def save(self) -> None:
        """Does nothing when nothing has changed since, or somebody else has saved; then the next
        call saves. Raises `Unavailable`."""
        if self._snapshots is None:
            return
        with self._saving:
            with self._lock:
                if self._saved == self._changes:
                    return
                changes, packed = self._changes, self._pack()
            if self._snapshots.write(encode(packed, model=self._model, dims=self._dims)):
                self._saved = changes

    # ---- inside the lock

    def _empty(self) -> None:
        self._slots = Slots()
        self._terms = Postings()
        self._matrix = ChunkMatrix(self._dims)
        self._lacking: dict[str, None] = {}
        self._strengths: dict[tuple[tuple[str, ...], Bm25], Floats] = {}
        self._position: Position | None = None

    def _fill(self, packed: Packed) -> None:
        self._slots = Slots(packed.slots)
        self._terms = Postings(packed.terms)
        self._matrix = ChunkMatrix(self._dims, blocks=packed.vectors, owners=packed.owners)
        bare = np.ones(len(packed.slots.ids), np.bool_)
        bare[packed.owners] = False
        self._lacking = dict.fromkeys(compress(packed.slots.ids, bare.tolist()))
        self._position = packed.position

    def _pack(self) -> Packed:
        slots, renumbered = self._slots.pack()
        chunks = self._matrix.chunks()
        owners = renumbered[chunks.owners]
        return Packed(
            position=self._position,
            slots=slots,
            terms=self._terms.pack(renumbered),
            owners=owners[owners >= 0].astype(np.uint32),
            vectors=chunks.kept(owners >= 0),
        )

    def _add(self, row: Indexed) -> None:
        vectors = self._vectors(row.embedding)
        slot = self._slots.add(row)
        self._terms.add(slot, row.terms)
        if vectors is None:
            self._lacking[row.id] = None
        else:
            self._matrix.append(vectors, owner=slot)

    def _vectors(self, embedding: Embedding | None) -> Floats | None:
        if embedding is None or (embedding.model, embedding.dims) != (self._model, self._dims):
            return None
        rows = np.frombuffer(embedding.vectors, "<f4").reshape(-1, self._dims)
        return rows if len(rows) else None

    def _kill(self, id: str) -> bool:
        self._lacking.pop(id, None)
        return self._slots.kill(id)

    def _changed(self) -> None:
        self._changes += 1
        self._strengths.clear()
        dead = self._slots.dead
        if dead > _DEAD_FEW and dead > _DEAD_SHARE * len(self._slots.ids):
            self._fill(self._pack())

    def _scores(self, terms: Sequence[str], bm25: Bm25) -> Floats:
        """Strength of every slot, kept until something changes: `strengths` asks for what
        `candidates` has just computed."""
        key = (tuple(dict.fromkeys(terms)), bm25)
        scores = self._strengths.get(key)
        if scores is None:
            if len(self._strengths) >= _SCORES_KEPT:
                del self._strengths[next(iter(self._strengths))]
            scores = self._strengths[key] = self._score(key[0], bm25)
        return scores

    def _score(self, terms: Iterable[str], bm25: Bm25) -> Floats:
        scores = np.zeros(len(self._slots.ids), np.float32)
        by_length = bm25.k1 * bm25.b / self._slots.mean_length
        damping = self._slots.lengths.view * np.float32(by_length) + bm25.k1 * (1 - bm25.b)
        for term in terms:
            slots, counts = self._terms.slots(term), self._terms.counts(term)
            weight = np.float32(self._idf(slots) * (bm25.k1 + 1))
            # No slot stands twice in a posting, so this adds to each of them.
            scores[slots] += weight * counts / (counts + damping.take(slots))
        return scores

    def _idf(self, holders: Places) -> float:
        df = self._slots.count_alive(holders)
        return math.log1p((self._slots.living - df + 0.5) / (df + 0.5))


def _named(ids: list[str], slots: NDArray[np.integer]) -> list[str]:
    return [ids[slot] for slot in slots]


def _best(scores: Floats, limit: int) -> Places:
    """Places of the highest scores, best first; of equal ones the first."""
    chosen = np.arange(len(scores))
    if len(scores) > limit > 0:
        least = np.partition(scores, -limit)[-limit]
        above = np.flatnonzero(scores > least)
        level = np.flatnonzero(scores == least)[: limit - len(above)]
        chosen = np.concatenate((above, level))
    return chosen[np.lexsort((chosen, -scores[chosen]))][: max(limit, 0)]
