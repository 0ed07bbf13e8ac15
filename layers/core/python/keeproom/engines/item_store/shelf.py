"""One vault on a table, and reading under its generation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from keeproom.clock import Clock, tries
from keeproom.engines.item_store import layout
from keeproom.engines.item_store.table import (
    Absent,
    Busy,
    Failed,
    Item,
    Key,
    Step,
    Table,
    Write,
)
from keeproom.errors import Invalid, Unavailable, Unusable
from keeproom.ids import new_id
from keeproom.vault.model import Gate, Head, Memory, Position

BUSY = "The vault is busy. Nothing was stored: try again."


@dataclass(slots=True, kw_only=True)
class Shelf:
    """`patience`: seconds until a caller who finds the vault busy is told so. `settling`: seconds
    in which a commit seen in one item may not be seen in another, where reads are only
    read-committed. `known`: the head as last read; an old one costs another read. `sighted`:
    moments, oldest first, and when each was first seen here, in seconds of a clock that only runs
    forwards; one of them has settled at most."""

    table: Table
    vault: str
    clock: Clock
    patience: float = 10.0
    settling: float = 0.05
    known: Head | None = None
    sighted: tuple[tuple[float, Position], ...] = ()

    @property
    def head_key(self) -> Key:
        return layout.partition(self.vault), layout.HEAD

    def gate_key(self, number: int) -> Key:
        return layout.partition(self.vault), layout.gate_name(number)

    def tries(self) -> Iterator[int]:
        return tries(self.patience)


def create(shelf: Shelf) -> None:
    """Make the vault when there is none, whoever else does so at the same time. Raises `Invalid`
    for a vault that cannot be named."""
    if not layout.nameable(shelf.vault):
        raise Invalid("A vault's name is letters, digits, dots and dashes.", param="vault")
    for _ in shelf.tries():
        if shelf.head_key in shelf.table.get([shelf.head_key]):
            return
        head = Head(generation=new_id("gen", shelf.clock()))
        gates = (Gate(number=n, generation=head.generation) for n in range(layout.GATES))
        items = [layout.head_item(shelf.vault, head)]
        items += [layout.gate_item(shelf.vault, gate) for gate in gates]
        with suppress(Failed, Busy):
            shelf.table.transact([Write(item, Absent()) for item in items])
    raise Unavailable(BUSY)


def noted(shelf: Shelf, found: Mapping[Key, Item]) -> Head:
    """The head among the items, remembered. Raises `Unusable` when there is none."""
    if shelf.head_key not in found:
        raise Unusable("There is no such vault here.")
    shelf.known = layout.head(found[shelf.head_key])
    return shelf.known


def read_head(shelf: Shelf) -> Head:
    return noted(shelf, shelf.table.get([shelf.head_key]))


def read_under(shelf: Shelf, names: Iterable[str]) -> tuple[Head, Mapping[str, Item]]:
    """The head, and by name those of the items that exist under its generation."""
    wanted = list(dict.fromkeys(names))
    for _ in shelf.tries():
        was = shelf.known or read_head(shelf)
        pk = layout.partition(shelf.vault, was.generation)
        found = shelf.table.get([shelf.head_key, *((pk, name) for name in wanted)])
        head = noted(shelf, found)
        if head.generation == was.generation:
            return head, {sk: item for (at, sk), item in found.items() if at == pk}
    raise Unavailable(BUSY)


def read_gates(shelf: Shelf) -> tuple[Gate, ...]:
    """All of one generation, in order."""
    pk = layout.partition(shelf.vault)
    for _ in shelf.tries():
        page = shelf.table.page(pk, "GATE#", after="", limit=layout.GATES)
        gates = tuple(map(layout.gate, page.items))
        if len(gates) != layout.GATES:
            raise Unusable("There is no such vault here.")
        if len({gate.generation for gate in gates}) == 1:
            return gates
    raise Unavailable(BUSY)


def generation_of(shelf: Shelf) -> str:
    """The partition of the newest generation."""
    return layout.partition(shelf.vault, read_head(shelf).generation)


def walk(
    shelf: Shelf,
    pk: str,
    prefix: str,
    *,
    after: str = "",
    newest: bool = False,
    first: int = 1000,
) -> Iterator[Item]:
    """Every item of a list: `first` with one call, then more a call, up to a thousand."""
    more, size = True, first
    while more:
        page = shelf.table.page(pk, prefix, after=after, limit=size, newest=newest)
        size = min(4 * size, 1000)
        yield from page.items
        more = page.more and bool(page.items)
        after = str(page.items[-1]["sk"]) if page.items else after


def transact_some(shelf: Shelf, steps: Sequence[Step]) -> frozenset[int]:
    """In one transaction those of the steps whose conditions hold; their places."""
    left = dict(enumerate(steps))
    for _ in shelf.tries():
        try:
            shelf.table.transact(list(left.values()))
            return frozenset(left)
        except Failed as failed:
            tried = enumerate(left.items())
            left = dict(pair for n, pair in tried if n not in failed.places)
            if not left:
                return frozenset()
        except Busy:
            continue
    raise Unavailable(BUSY)


def hides(head: Head, memory: Memory) -> bool:
    """Whether an undo under way has taken the memory out of every answer."""
    return memory.batch_id in head.hidden and not memory.owned
