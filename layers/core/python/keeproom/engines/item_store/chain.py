"""Audit entries chained by hash: a removed, altered or inserted entry shows."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from keeproom.clock import iso
from keeproom.vault.model import AuditEntry, Gate


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An entry in its chain. `place` counts from 1; `previous` is the hash before, "" for none."""

    entry: AuditEntry
    chain: int
    place: int
    previous: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What is left of a link once it is checked by itself: a year of them fits in memory."""

    place: int
    previous: str
    hash: str
    sound: bool


def link(gate: Gate, entry: AuditEntry) -> tuple[Gate, Link]:
    """Append to the gate's chain: the gate as it is then, and the new link."""
    place = gate.count + 1
    made = Link(entry=entry, chain=gate.number, place=place, previous=gate.hash, hash="")
    made = replace(made, hash=_digest(made))
    return replace(gate, revision=gate.revision + 1, count=place, hash=made.hash), made


def mark(found: Link) -> Mark:
    sound = found.hash == _digest(found)
    return Mark(place=found.place, previous=found.previous, hash=found.hash, sound=sound)


def _digest(of: Link) -> str:
    one = of.entry
    told = [of.chain, of.place, of.previous, one.id, iso(one.at), one.actor, one.verb]
    told += [one.subject, one.grant, list(one.touched)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def cut(gate: Gate, old: Mapping[int, str]) -> Gate:
    """The gate when the entries at these places go (with their hashes), from its cut on as far as
    they lead without a gap: clocks differ, so an older entry may stand behind a younger one."""
    place, last = gate.cut_count, gate.cut_hash
    while place < gate.count and place + 1 in old:
        place += 1
        last = old[place]
    return replace(gate, cut_count=place, cut_hash=last)


def fault(gate: Gate, marks: Iterable[Mark]) -> str:
    """Why the chain does not lead from its cut to its head; empty when it does. Entries at or
    below the cut are leftovers of a clean-up, entries above the head are younger than the gate."""
    place, previous = gate.cut_count, gate.cut_hash
    inside = (one for one in marks if gate.cut_count < one.place <= gate.count)
    for one in sorted(inside, key=lambda found: found.place):
        if not one.sound or (one.place, one.previous) != (place + 1, previous):
            return f"Audit chain {gate.number} is broken at entry {place + 1}."
        place, previous = one.place, one.hash
    if place != gate.count:
        return f"Audit chain {gate.number} ends at entry {place} of {gate.count}."
    return "" if previous == gate.hash else f"Audit chain {gate.number} has another end."
