"""What the shared index holds, as far as is known here."""

from collections.abc import Callable, Sequence
from itertools import batched

from keeproom.engines.item_store import layout
from keeproom.engines.item_store.shelf import Shelf, read_under, transact_some
from keeproom.engines.item_store.steps import following
from keeproom.engines.item_store.table import (
    LIMIT,
    Erase,
    Item,
    Step,
    Write,
    key_of,
)
from keeproom.vault.published import Published, Rebuild, ToPublish


def to_publish(shelf: Shelf, ids: Sequence[str]) -> ToPublish:
    known = [one for one in ids if layout.nameable(one)]
    head, items = read_under(shelf, (f"{kind}#{one}" for one in known for kind in "MED"))

    def found[T](kind: str, noun: Callable[[Item], T]) -> dict[str, T]:
        names = ((one, f"{kind}#{one}") for one in known)
        return {one: noun(items[name]) for one, name in names if name in items}

    return ToPublish(
        generation=head.generation,
        memories=found("M", layout.memory),
        embeddings=found("E", layout.embedding),
        published=found("D", layout.published),
    )


def keep_published(shelf: Shelf, rows: Sequence[Published]) -> frozenset[str]:
    steps = {row.memory_id: _step(shelf, row) for row in rows}
    written: set[str] = set()
    for part in batched(steps.items(), LIMIT):
        done = transact_some(shelf, [step for _, step in part])
        written |= {part[n][0] for n in done}
    return frozenset(written)


def _step(shelf: Shelf, row: Published) -> Step:
    item, condition = layout.published_item(shelf.vault, row), following(row.revision)
    if row.names or row.begun:
        return Write(item, condition)
    return Erase(key_of(item), condition)


def rebuild(shelf: Shelf, index: str) -> Rebuild | None:
    name = layout.rebuild_name(index)
    _, found = read_under(shelf, [name])
    return layout.rebuild(found[name]) if name in found else None


def keep_rebuild(shelf: Shelf, of: Rebuild) -> bool:
    step = Write(layout.rebuild_item(shelf.vault, of), following(of.revision))
    return bool(transact_some(shelf, [step]))
