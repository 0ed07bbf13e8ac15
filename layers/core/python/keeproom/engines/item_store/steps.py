"""A change as the steps of one transaction.

Actions, beside the gate and the audit entry of every commit:

    put             memory, job, and 1 for each marker that comes or goes (at most 3); 1 when
                    other texts are in its history
    removed         memory, embedding, job, and 1 for each marker (at most 2); 1 for a history
    claim           1, and 1 for each exclusion marker that comes or goes (at most 2)
    embedding, outcome, receipt, tally, settings, guide, batch, hidden: 1 each

So undoing an import takes at most 6 a memory (itself, embedding, job, two markers, one claim: what
was edited is not undone, so there is no history) and 4 more (gate, audit entry, batch, head): 16
memories a commit.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from keeproom.clock import iso
from keeproom.engines.item_store import layout
from keeproom.engines.item_store.table import (
    Absent,
    Check,
    Condition,
    Erase,
    Item,
    Same,
    Step,
    Write,
    key_of,
)
from keeproom.vault.change import Change, Claim, Put
from keeproom.vault.model import Gate, Head, Held, Holding, Job, Memory


def steps(vault: str, seen: Head, change: Change) -> list[Step]:
    """All but gate and audit entry. Raises `ValueError` when two would meet on one item."""
    pk = layout.partition(vault, seen.generation)
    found = [
        *_memories(vault, seen.generation, change),
        *(step for claim in change.claims for step in _claim(pk, claim)),
        *(Write(layout.embedding_item(pk, made)) for made in change.embeddings),
        *_batch(pk, change),
        *_singles(pk, change),
        *_head(vault, seen, change),
    ]
    if len({step.key for step in found}) < len(found):
        raise ValueError("a change names one thing twice")
    return found


def gate_step(vault: str, now: Gate, was: Gate) -> Step:
    same = Same({"generation": was.generation, "revision": was.revision})
    return Write(layout.gate_item(vault, now), same)


def following(revision: int) -> Condition:
    """What is there has the revision before; nothing, when this is the first."""
    return Same({"revision": revision - 1}) if revision > 1 else Absent()


def job_condition(was: Job) -> Condition:
    """Nobody has taken it since, and no commit has put a newer one in its place."""
    return Same({"revision": was.revision, "attempt": was.attempt})


def _memories(vault: str, generation: str, change: Change) -> Iterator[Step]:
    pk = layout.partition(vault, generation)

    def job(memory_id: str, revision: int) -> Step:
        made = Job(
            generation=generation, memory_id=memory_id, revision=revision, due=change.audit.at
        )
        return Write(layout.job_item(vault, made))

    for put in change.put:
        yield from _put(pk, put)
        yield job(put.memory.id, put.memory.revision)
    for gone in change.removed:
        yield from _removed(pk, gone)
        yield job(gone.id, gone.revision + 1)


def _put(pk: str, put: Put) -> Iterator[Step]:
    was = put.was
    condition = Same({"revision": was.revision}) if was else Absent()
    yield Write(layout.memory_item(pk, put.memory), condition)
    before = layout.memory_markers(was) if was else []
    yield from _swap(pk, now=layout.memory_markers(put.memory), was=before)
    yield from _history(pk, now=put.memory, was=was)


def _removed(pk: str, gone: Memory) -> Iterator[Step]:
    key = (pk, layout.name("M", gone.id))
    yield Erase(key, Same({"revision": gone.revision}))
    yield Erase((pk, layout.name("E", gone.id)))
    yield from _swap(pk, now=[], was=layout.memory_markers(gone))
    yield from _history(pk, now=None, was=gone)


def _history(pk: str, *, now: Memory | None, was: Memory | None) -> Iterator[Step]:
    item, before = (layout.history_item(pk, one) if one else None for one in (now, was))
    if item and item != before:
        yield Write(item)
    if before and not item:
        yield Erase(key_of(before))


def _claim(pk: str, claim: Claim) -> Iterator[Step]:
    key = (pk, layout.name("I", claim.identity))
    condition = _as_seen(layout.holding_item(pk, claim.identity, claim.seen))
    now = layout.holding_item(pk, claim.identity, claim.now)
    if claim.now == claim.seen:
        yield Check(key, condition)
    elif now is None:
        yield Erase(key, condition)
    else:
        yield Write(now, condition)
    before, after = (_markers(claim.identity, one) for one in (claim.seen, claim.now))
    yield from _swap(pk, now=after, was=before)


def _markers(identity: str, holding: Holding) -> list[str]:
    return [] if isinstance(holding, Held) else layout.exclusion_markers(identity, holding)


def _as_seen(item: Item | None) -> Condition:
    """Who excluded it is not compared: a rejected memory knows when, not by whom."""
    if item is None:
        return Absent()
    return Same({name: item[name] for name in ("held", "at", "of") if name in item})


def _swap(pk: str, *, now: Sequence[str], was: Sequence[str]) -> Iterable[Step]:
    """Markers carry no condition: the item they belong to does."""
    yield from (Erase((pk, sk)) for sk in was if sk not in now)
    yield from map(Write, layout.marker_items(pk, [sk for sk in now if sk not in was]))


def _batch(pk: str, change: Change) -> Iterator[Step]:
    if change.batch:
        was = change.batch_was
        condition = Same({"revision": was.revision}) if was else Absent()
        yield Write(layout.batch_item(pk, change.batch), condition)
    for position, outcome in (change.outcomes or {}).items():
        if change.batch is None:
            raise ValueError("outcomes without their batch")
        yield Write(layout.outcome_item(pk, change.batch.id, position, outcome), Absent())


def _singles(pk: str, change: Change) -> Iterator[Step]:
    if change.receipt:
        condition = Absent(expired=iso(change.audit.at))
        yield Write(layout.receipt_item(pk, change.receipt), condition)
    if change.tally:
        yield Write(layout.tally_item(pk, change.tally), following(change.tally.revision))
    if change.settings:
        revision = change.settings.revision
        yield Write(layout.settings_item(pk, change.settings), following(revision))
    if change.guide:
        yield Write(layout.guide_item(pk, change.guide), Absent())


def _head(vault: str, was: Head, change: Change) -> Iterator[Step]:
    if change.hidden is not None:
        now = replace(was, hidden=change.hidden, revision=was.revision + 1)
        same = Same({"generation": was.generation, "revision": was.revision})
        yield Write(layout.head_item(vault, now), same)
