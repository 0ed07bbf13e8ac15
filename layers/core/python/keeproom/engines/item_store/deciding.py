"""Look and commit: reading what a decision rests on, and making it true if that still holds."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from keeproom.engines.item_store import chain, layout
from keeproom.engines.item_store.shelf import BUSY, Shelf, hides, noted, read_head, walk
from keeproom.engines.item_store.steps import gate_step, steps
from keeproom.engines.item_store.table import (
    LIMIT,
    Absent,
    Busy,
    Failed,
    Item,
    Key,
    Step,
    Write,
    check_weight,
)
from keeproom.errors import Contended, Unavailable
from keeproom.vault.change import Change, Look, Place
from keeproom.vault.model import Gate, Head

type _Agreeing = tuple[Head, Gate, Mapping[str, Item]]


def look(
    shelf: Shelf,
    *,
    memories: Iterable[str],
    identities: Iterable[str],
    batch: str,
    receipt: str,
    tally: str,
    embeddings: Iterable[str],
    histories: bool,
) -> Look:
    """No snapshot, so head, gate and the keys that were asked for must agree on the generation:
    else a replacement in between would let a commit through a new gate into old keys."""
    ids = [one for one in memories if layout.nameable(one)]
    hashes = list(identities)
    beside = [one for one in embeddings if layout.nameable(one)]
    names = [layout.name("M", one) for one in ids] + [layout.name("E", one) for one in beside]
    names += [layout.name("I", one) for one in hashes] + [layout.SETTINGS]
    batch_name = layout.name("B", batch) if layout.nameable(batch) else ""
    receipt_name = layout.receipt_name(receipt) if receipt else ""
    tally_name = layout.tally_name(tally) if tally else ""
    names += [one for one in (batch_name, receipt_name, tally_name) if one]

    agreeing = partial(_agreeing, shelf, list(dict.fromkeys(names)))
    if histories:
        (head, gate, found), had = _with_histories(shelf, agreeing)
    else:
        (head, gate, found), had = agreeing(), dict[str, frozenset[str]]()
    kept = {one: found[f"M#{one}"] for one in ids if f"M#{one}" in found}
    read = {one: layout.memory(item) for one, item in kept.items()}
    batch_item, told = found.get(batch_name), found.get(receipt_name)
    fresh = told is not None and not layout.expired(told, shelf.clock())
    return Look(
        head=head,
        gate=gate,
        settings=layout.settings(found.get(layout.SETTINGS)),
        memories={one: memory for one, memory in read.items() if not hides(head, memory)},
        holdings={one: layout.holding(found.get(f"I#{one}")) for one in hashes},
        batch=layout.batch(batch_item) if batch_item else None,
        receipt=layout.receipt(told, receipt) if told and fresh else None,
        tally=layout.tally(found[tally_name], tally) if tally_name in found else None,
        embeddings={
            one: layout.embedding(found[f"E#{one}"]) for one in beside if f"E#{one}" in found
        },
        histories=had,
    )


def _with_histories(
    shelf: Shelf, agreeing: Callable[[], _Agreeing]
) -> tuple[_Agreeing, Mapping[str, frozenset[str]]]:
    """Both at once, and of one generation."""

    def histories() -> tuple[str, Mapping[str, frozenset[str]]]:
        generation = (shelf.known or read_head(shelf)).generation
        items = walk(shelf, layout.partition(shelf.vault, generation), "H#")
        return generation, dict(map(layout.history, items))

    for _ in shelf.tries():
        found, (generation, had) = shelf.table.both(agreeing, histories)
        if found[0].generation == generation:
            return found, had
    raise Unavailable(BUSY)


def _agreeing(shelf: Shelf, names: Iterable[str]) -> _Agreeing:
    gate_key = shelf.gate_key(random.randrange(layout.GATES))
    for _ in shelf.tries():
        generation = (shelf.known or read_head(shelf)).generation
        pk = layout.partition(shelf.vault, generation)
        wanted: list[Key] = [shelf.head_key, gate_key, *((pk, name) for name in names)]
        found = shelf.table.get(wanted)
        head, gate = noted(shelf, found), layout.gate(found[gate_key])
        if head.generation == gate.generation == generation:
            return head, gate, {sk: item for (at, sk), item in found.items() if at == pk}
    raise Unavailable(BUSY)


def commit(shelf: Shelf, change: Change, *, seen: Look) -> Place:
    """A gate that merely moved does not unsettle the decision: the audit entry is linked to
    another one, and all is tried again. Any other failed condition is `Contended`. Raises
    `TooLarge` for a memory whose history has outgrown one item, and `ValueError` for more actions
    than one transaction takes."""
    pk = layout.partition(shelf.vault, seen.head.generation)
    rest, gate = steps(shelf.vault, seen.head, change), seen.gate
    _check_size(rest)
    for attempt in shelf.tries():
        if attempt > 1:
            gate = _another(shelf, seen.head)
        now, made = chain.link(gate, change.audit)
        entry = Write(layout.link_item(pk, made), Absent())
        try:
            shelf.table.transact([gate_step(shelf.vault, now, gate), entry, *rest])
            return Place(generation=now.generation, chain=now.number, count=now.count)
        except Failed as failed:
            if failed.places != frozenset({0}):
                raise Contended from failed
        except Busy:
            continue
    raise Unavailable(BUSY)


def _check_size(rest: Sequence[Step]) -> None:
    if len(rest) + 2 > LIMIT:
        raise ValueError(f"{len(rest) + 2} actions in one commit")
    for step in rest:
        if isinstance(step, Write):
            check_weight(step.item)


def _another(shelf: Shelf, seen: Head) -> Gate:
    gate_key = shelf.gate_key(random.randrange(layout.GATES))
    found = shelf.table.get([shelf.head_key, gate_key])
    head, gate = noted(shelf, found), layout.gate(found[gate_key])
    if not head.generation == gate.generation == seen.generation:
        raise Contended
    return gate
