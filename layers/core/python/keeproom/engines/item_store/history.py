"""What has happened: the audit, and which memories it reached since a moment."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from keeproom.engines.item_store import chain, layout
from keeproom.engines.item_store.listing import each, paged
from keeproom.engines.item_store.shelf import Shelf, generation_of, read_gates, read_head, walk
from keeproom.engines.item_store.table import Item
from keeproom.vault.model import AuditEntry, Gate, Page, Position

type _Place = tuple[int, int]  # chain, and place in it

_TRIES = 4
_NEWEST = 10  # about what one read unit pays for
_SLACK = 100  # known entries read before unknown ones are thought to be late: clocks differ


def audit(shelf: Shelf, *, cursor: str, limit: int) -> Page[AuditEntry]:
    pk, make = generation_of(shelf), each(layout.entry)
    return paged(shelf, pk, "A#", read=make, cursor=cursor, limit=limit, newest=True)


def audit_faults(shelf: Shelf) -> Sequence[str]:
    """Read while writers go on, so a fault must show twice to be one."""
    told: list[str] = []
    for _ in range(_TRIES):
        gates = read_gates(shelf)
        marks: dict[int, list[chain.Mark]] = defaultdict(list)
        for item in walk(shelf, _partition(shelf, gates), "A#"):
            link = layout.link(item)
            marks[link.chain].append(chain.mark(link))
        found = [chain.fault(gate, marks[gate.number]) for gate in gates]
        found = [fault for fault in found if fault]
        if not found or found == told:
            return found
        told = found
        time.sleep(shelf.settling)
    return told


def position(shelf: Shelf) -> Position:
    """Who reads on from here sees all that has happened until then."""
    found = _position(read_gates(shelf))
    time.sleep(shelf.settling)
    return found


def changes(
    shelf: Shelf, since: Position, *, gates: Sequence[Gate], newest: Sequence[Item] = ()
) -> tuple[Position, frozenset[str]] | None:
    """`gates`: read just now; `newest`: entries read meanwhile, which need not be all. Gates first,
    then exactly the entries they promise. An entry that cannot be seen yet is waited for a little,
    then searched in the whole audit (a clock may have been set back), then left for the next time.
    So is what was seen just now for the first time: its entry may be visible before its memories
    are, so it is told twice."""
    now = _position(gates)
    settled = _settled(shelf, now)
    if not _reaches(gates, now, since):
        return None
    wanted = _between(since, now)
    found = {at: touched for at, touched in map(_read, newest) if at in wanted}
    missing = wanted - found.keys()
    for tries in range(_TRIES):
        if not missing:
            break
        if tries:
            time.sleep(shelf.settling)
        found |= _search(shelf, gates, missing, slack=None if tries == _TRIES - 1 else _SLACK)
        missing -= found.keys()
    reached = (
        min([count, *(place - 1 for number, place in missing if number == n)])
        for n, count in enumerate(settled.counts if settled else since.counts)
    )
    counts = tuple(map(max, since.counts, reached))
    touched = frozenset(one for touched in found.values() for one in touched)
    return replace(now, counts=counts), touched


def _settled(shelf: Shelf, now: Position) -> Position | None:
    """The newest moment all of which can be seen by now."""
    at = time.monotonic()
    known = (one for one in shelf.sighted if one[1].generation == now.generation)
    sighted = [*known, (at, now)]
    before = [one for one in sighted if one[0] <= at - shelf.settling]
    shelf.sighted = (*before[-1:], *(one for one in sighted if one not in before))
    return before[-1][1] if before else None


def _reaches(gates: Sequence[Gate], now: Position, since: Position) -> bool:
    """Whether the audit leads from then to now. A moment that lies ahead is of another copy."""
    if (now.generation, len(now.counts)) != (since.generation, len(since.counts)):
        return False
    pairs = zip(gates, since.counts, strict=True)
    return all(gate.cut_count <= count <= gate.count for gate, count in pairs)


def _between(since: Position, now: Position) -> set[_Place]:
    """Chain and place of every entry."""
    pairs = enumerate(zip(since.counts, now.counts, strict=True))
    return {(n, place) for n, (old, new) in pairs for place in range(old + 1, new + 1)}


def _search(
    shelf: Shelf, gates: Sequence[Gate], wanted: set[_Place], *, slack: int | None
) -> Mapping[_Place, tuple[str, ...]]:
    """Of the wanted entries those that are found, newest first. `slack`: how many older ones may
    come before the search ends; None: all of them."""
    counts, older = [gate.count for gate in gates], 0
    found: dict[_Place, tuple[str, ...]] = {}
    first = min(len(wanted) + 8, 1000)
    for item in walk(shelf, _partition(shelf, gates), "A#", newest=True, first=first):
        at, touched = _read(item)
        if at in wanted:
            found[at] = touched
        elif at[1] <= counts[at[0]]:
            older += 1
        if len(found) == len(wanted) or (slack is not None and older > slack):
            break
    return found


def _read(item: Item) -> tuple[_Place, tuple[str, ...]]:
    link = layout.link(item)
    return (link.chain, link.place), link.entry.touched


def newest(shelf: Shelf) -> Sequence[Item]:
    """The last few audit entries, or of a generation that has been replaced."""
    pk = layout.partition(shelf.vault, (shelf.known or read_head(shelf)).generation)
    return shelf.table.page(pk, "A#", after="", limit=_NEWEST, newest=True).items


def _position(gates: Sequence[Gate]) -> Position:
    return Position(generation=gates[0].generation, counts=tuple(gate.count for gate in gates))


def _partition(shelf: Shelf, gates: Sequence[Gate]) -> str:
    return layout.partition(shelf.vault, gates[0].generation)
