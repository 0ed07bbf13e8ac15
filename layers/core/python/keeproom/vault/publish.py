"""Keeping the shared index in step with the store, memory by memory.

The index names its documents itself, so before any are written the store says that somebody has
begun, and afterwards what they are called. Who dies in between leaves the mark; some time later,
when all that was written shows, the next one finds the documents nobody knows and drops them.
Documents are added before older ones are dropped, so that a memory is never missing.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import batched

from keeproom.errors import Unavailable
from keeproom.vault.kin import indexed
from keeproom.vault.ports import Added, Indexed, SharedIndex
from keeproom.vault.published import Published
from keeproom.vault.vault import Vault

TOGETHER = 100  # memories in one round
SHOWN = timedelta(seconds=60)  # by then every document that was written can be found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """`was`: what is known of each memory. `rows`: those that have something to be found by."""

    shared: SharedIndex
    generation: str
    now: datetime
    was: Mapping[str, Published]
    rows: Mapping[str, Indexed]


def publish(vault: Vault, ids: Iterable[str]) -> frozenset[str]:
    """Make the shared index hold these memories as the store does now: as they are, or not at
    all. Answers those that are done; the others are for a later time, because the index does not
    answer or somebody else is at it. Without a shared index there is nothing to do."""
    every = list(dict.fromkeys(ids))
    shared = vault.index.shared
    if shared is None or not every:
        return frozenset(every)
    done: frozenset[str] = frozenset()
    with suppress(Unavailable):
        prepare(vault)
        for part in batched(every, TOGETHER, strict=False):
            done |= _publish(vault, _round(vault, shared, part), part)
    return done


def prepare(vault: Vault) -> None:
    """See that the shared index is there, if there is to be one. Raises `Unavailable`."""
    shared = vault.index.shared
    if shared and shared.prepare():
        _note_made(vault, shared.name)


def _note_made(vault: Vault, index: str) -> None:
    """Where it was there before, somebody has removed it: it must be filled again before it is
    asked."""
    was, now = vault.memories.rebuild(index), vault.clock()
    if was is None:
        return
    noted = replace(was, made=True, revision=was.revision + 1)
    if was.made:
        noted = replace(
            noted, started_at=now, until=now, total=vault.index.size, done=0, cursor="",
            finished_at=None, ready=False,
        )  # fmt: skip
    vault.memories.keep_rebuild(noted)


def _round(vault: Vault, shared: SharedIndex, ids: Sequence[str]) -> _Round:
    read = vault.memories.to_publish(ids)
    rows = {
        one: indexed(vault, memory, read.embeddings.get(one))
        for one, memory in read.memories.items()
        if memory.withdrawn is None
    }
    return _Round(
        shared=shared,
        generation=read.generation,
        now=vault.clock(),
        was=read.published,
        rows=rows,
    )


def _publish(vault: Vault, this: _Round, ids: Sequence[str]) -> frozenset[str]:
    free = [one for one in ids if not _is_being_written(this, one)]
    unnamed = _unnamed(this, free)
    added = _added(vault, this, [one for one in free if one in this.rows])
    gone = {one for one in free if one not in this.rows}
    old = {one: _names(this, one, unnamed) for one in gone | added.keys()}
    rid = gone | {one for one, new in added.items() if new.whole}
    left = _dropped(this, {one: names for one, names in old.items() if one in rid})
    rows = [_after(this, one, added.get(one), left.get(one, old[one])) for one in old]
    known = vault.memories.keep_published([row for row in rows if row.revision > 1])
    _take_back(this, [new for one, new in added.items() if one not in known])
    settled = known | {one for one in gone if one not in this.was}
    return frozenset(one for one in rid & settled if not left[one])


def _is_being_written(this: _Round, one: str) -> bool:
    was = this.was.get(one)
    return was is not None and was.begun is not None and this.now - was.begun < SHOWN


def _unnamed(this: _Round, ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Documents of memories whose last writer has not said what became of it."""
    doubtful = [one for one in ids if one in this.was and this.was[one].begun]
    return this.shared.find(doubtful) if doubtful else {}


def _added(vault: Vault, this: _Round, ids: Sequence[str]) -> Mapping[str, Added]:
    """What was written of those that nobody else has begun with meanwhile."""
    begun = vault.memories.keep_published([_begun(this, one) for one in ids])
    rows = [this.rows[one] for one in ids if one in begun]
    return this.shared.add(rows, generation=this.generation) if rows else {}


def _names(this: _Round, one: str, unnamed: Mapping[str, Sequence[str]]) -> list[str]:
    """The documents it had. Those of another index go with that one."""
    return list(dict.fromkeys([*_known(this, one), *unnamed.get(one, ())]))


def _known(this: _Round, one: str) -> tuple[str, ...]:
    was = this.was.get(one)
    return was.names if was and was.index == this.shared.name else ()


def _begun(this: _Round, one: str) -> Published:
    was = this.was.get(one)
    return Published(
        generation=this.generation,
        memory_id=one,
        index=this.shared.name,
        names=_known(this, one),
        begun=this.now,
        revision=was.revision + 1 if was else 1,
    )


def _dropped(this: _Round, old: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """Those that could not be dropped."""
    every = [name for names in old.values() for name in names]
    away = this.shared.drop(every) if every else frozenset[str]()
    return {one: [name for name in names if name not in away] for one, names in old.items()}


def _after(this: _Round, one: str, new: Added | None, old: Sequence[str]) -> Published:
    """What is known now. A memory that was written has one revision more: its beginning. One that
    is gone and was never known comes out with the first."""
    before = this.was[one].revision if one in this.was else 0
    return Published(
        generation=this.generation,
        memory_id=one,
        index=this.shared.name,
        names=(*(new.names if new else ()), *old),
        revision=before + (2 if new else 1),
    )


def _take_back(this: _Round, added: Sequence[Added]) -> None:
    """Somebody else was at the same memories, and knows nothing of these documents."""
    names = [name for new in added for name in new.names]
    if names:
        this.shared.drop(names)
