"""The search index that asks a collection first."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Protocol

from keeproom.engines.memory_index import InProcessIndex
from keeproom.engines.opensearch.fresh import SHOWN, Fresh
from keeproom.engines.opensearch.searches import Found, Ranked
from keeproom.errors import Unavailable
from keeproom.vault.model import Position
from keeproom.vault.ports import Bm25, Candidates, Indexed, SharedIndex, Sought, Where
from keeproom.vault.published import BACKLOG_LOOKED, Backlog

_MOST_FRESH = BACKLOG_LOOKED - 1  # with more, the copy in the process alone is asked
_AGAIN = 10.0  # seconds until it is looked again whether the collection is complete


class Searchable(SharedIndex, Protocol):
    """A shared index that can be asked."""

    def search(self, sought: Sought, *, generation: str) -> Found | None:
        """Of the first terms if not of all. None when there is no such index. Raises
        `Unavailable`."""
        ...


class CollectionIndex:
    """`SearchIndex` whose candidates come from the collection, and those of the memories that it
    may not show yet from the copy in the process. That copy answers everything else, and
    everything until it has been told that the collection is complete, or (`stand_in`) when that
    does not answer.

    It wants the backlog when it has not seen it yet, and about once a minute while something is
    fresh. In its first `shown` seconds the index cannot know what is, and takes everything as
    fresh."""

    def __init__(
        self,
        here: InProcessIndex,
        shared: Searchable,
        *,
        shown: float = SHOWN,
        seconds: Callable[[], float] = monotonic,
    ) -> None:
        self._here, self._shared = here, shared
        self._seconds = seconds
        self._fresh = Fresh(seconds=seconds, shown=shown)
        self._complete, self._not_before = False, float("-inf")
        self._all_fresh_until = seconds() + shown

    @property
    def shared(self) -> Searchable:
        return self._shared

    @property
    def size(self) -> int:
        return self._here.size

    @property
    def wants_backlog(self) -> bool:
        unsure = not self._complete or self._fresh.wants_queue
        return unsure and self._seconds() >= self._not_before

    def tell_backlog(self, backlog: Backlog) -> None:
        self._complete = backlog.ready and len(backlog.waiting) <= _MOST_FRESH
        if self._complete:
            self._fresh.queue(backlog.waiting)
        else:
            self._not_before = self._seconds() + _AGAIN

    # ---- searching

    def candidates(self, sought: Sought) -> Candidates:
        generation = self._generation()
        if generation is None:
            return self._here.candidates(sought)
        asked = replace(sought, terms=self._telling(sought.terms))
        try:
            found = self._shared.search(asked, generation=generation)
        except Unavailable:
            return replace(self._here.candidates(sought), stand_in=True)
        if found is None:
            return self._here.candidates(sought)
        return self._completed(sought, found)

    def _generation(self) -> str | None:
        """Of the documents to ask for; None when the collection should not be asked."""
        position, fresh = self._here.position, self._fresh
        if position is None or not self._complete or len(fresh.ids) > _MOST_FRESH:
            return None
        return position.generation

    def _telling(self, terms: Sequence[str]) -> Sequence[str]:
        """The rarest first: not all may be asked for."""
        every = list(dict.fromkeys(terms))
        idf = dict(zip(every, self._here.idf(every), strict=True))
        return sorted(every, key=lambda term: -idf[term])

    def _completed(self, sought: Sought, found: Found) -> Candidates:
        """With what is fresh, and the best by words according to our own measure. Documents of
        memories that are gone or have changed may have crowded out others: then the copy in the
        process answers."""
        fresh = self._fresh.ids
        near, matching = (
            self._still(one, sought.where, fresh) for one in (found.near, found.matching)
        )
        if any(one.cut and len(one.ids) < sought.limit for one in (near, matching)):
            return self._here.candidates(sought)
        own = self._own(sought, fresh)
        words = list(dict.fromkeys([*own.matching, *matching.ids]))
        strengths = self._here.strengths(sought.terms, words, bm25=sought.bm25)
        ranked = sorted(zip(words, strengths, strict=True), key=lambda pair: -pair[1])
        return Candidates(
            near=list(dict.fromkeys([*own.near, *near.ids[: sought.limit]])),
            matching=[one for one, _ in ranked[: sought.limit]],
        )

    def _still(self, found: Ranked, where: Where, fresh: frozenset[str]) -> Ranked:
        """Those whose documents are up to date, as far as is known here."""
        held = self._here.holding(found.ids, where=where)
        return replace(found, ids=[one for one in held if one not in fresh])

    def _own(self, sought: Sought, fresh: frozenset[str]) -> Candidates:
        if self._seconds() < self._all_fresh_until:
            return self._here.candidates(sought)
        if not fresh:
            return Candidates(near=(), matching=())
        own = self._here.candidates(sought)
        return Candidates(
            near=[one for one in own.near if one in fresh],
            matching=[one for one in own.matching if one in fresh],
        )

    def nearest(self, vector: bytes, *, where: Where, limit: int) -> Sequence[str]:
        return self._here.nearest(vector, where=where, limit=limit)

    def background(self, vector: bytes) -> float | None:
        return self._here.background(vector)

    def strengths(self, terms: Sequence[str], ids: Sequence[str], *, bm25: Bm25) -> Sequence[float]:
        return self._here.strengths(terms, ids, bm25=bm25)

    def idf(self, terms: Sequence[str]) -> Sequence[float]:
        return self._here.idf(terms)

    def lacking(self, *, limit: int) -> Sequence[str]:
        return self._here.lacking(limit=limit)

    # ---- changing

    def put(self, rows: Sequence[Indexed]) -> None:
        self._here.put(rows)
        self._fresh.add([row.id for row in rows])

    def remove(self, ids: Sequence[str]) -> None:
        self._here.remove(ids)
        self._fresh.remove(ids)

    def clear(self) -> None:
        """Also forgets that the collection was complete: it may be of another generation."""
        self._here.clear()
        self._fresh.forget()
        self._complete, self._not_before = False, float("-inf")

    @property
    def position(self) -> Position | None:
        return self._here.position

    @position.setter
    def position(self, moment: Position | None) -> None:
        self._here.position = moment

    def save(self) -> None:
        self._here.save()
