"""Cutting the audit short: each chain keeps the place and hash of its last entry that went."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from keeproom.clock import iso
from keeproom.engines.item_store import chain, layout
from keeproom.engines.item_store.shelf import BUSY, Shelf, read_gates, walk
from keeproom.engines.item_store.steps import gate_step
from keeproom.engines.item_store.table import Absent, Busy, Failed, Write
from keeproom.errors import Unavailable
from keeproom.vault.model import AuditEntry, Gate

MOST = 5_000  # entries read in one call

type _Old = Mapping[int, chain.Link]  # by place


def cut_audit(shelf: Shelf, before: datetime, entry: AuditEntry) -> int:
    """What a crash leaves behind its cut goes with the next one."""
    gates, gone = read_gates(shelf), 0
    old = _old(shelf, layout.partition(shelf.vault, gates[0].generation), before)
    for gate in gates:
        was, now = _cut(shelf, gate, old[gate.number], None if gone else entry)
        gone += now.cut_count - was.cut_count
        _drop(shelf, now, old[gate.number])
    return gone


def _old(shelf: Shelf, pk: str, before: datetime) -> dict[int, dict[int, chain.Link]]:
    """By chain and place. Keys begin with the time, so the oldest come first."""
    found: dict[int, dict[int, chain.Link]] = defaultdict(dict)
    for count, item in enumerate(walk(shelf, pk, "A#")):
        link = layout.link(item)
        if count == MOST or link.entry.at >= before:
            break
        found[link.chain][link.place] = link
    return found


def _cut(shelf: Shelf, was: Gate, old: _Old, entry: AuditEntry | None) -> tuple[Gate, Gate]:
    """The gate before and after; the same one when there is nothing to cut, or the vault has been
    replaced meanwhile. `entry` is linked to the chain if it is cut at all."""
    hashes = {place: link.hash for place, link in old.items()}
    gate = was
    for _ in shelf.tries():
        now = chain.cut(gate, hashes)
        if gate.generation != was.generation or now == gate:
            return was, was
        if _moved(shelf, now, gate, entry):
            return gate, now
        key = shelf.gate_key(gate.number)
        gate = layout.gate(shelf.table.get([key])[key])
    raise Unavailable(BUSY)


def _moved(shelf: Shelf, now: Gate, was: Gate, entry: AuditEntry | None) -> bool:
    """False when somebody else was faster."""
    steps: list[Write] = []
    if entry is None:
        now = replace(now, revision=now.revision + 1)
    else:
        now, link = chain.link(now, entry)
        pk = layout.partition(shelf.vault, now.generation)
        steps = [Write(layout.link_item(pk, link), Absent())]
    try:
        shelf.table.transact([gate_step(shelf.vault, now, was), *steps])
    except (Failed, Busy):
        return False
    return True


def _drop(shelf: Shelf, gate: Gate, old: _Old) -> None:
    pk = layout.partition(shelf.vault, gate.generation)
    behind = (link.entry for place, link in old.items() if place <= gate.cut_count)
    shelf.table.drop([(pk, layout.name("A", iso(one.at), one.id)) for one in behind])
