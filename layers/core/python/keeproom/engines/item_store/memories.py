"""Reading memories, their embeddings and the exclusions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from keeproom.engines.item_store import layout
from keeproom.engines.item_store.listing import paged
from keeproom.engines.item_store.shelf import (
    BUSY,
    Shelf,
    generation_of,
    hides,
    read_head,
    read_under,
)
from keeproom.engines.item_store.table import (
    Busy,
    Check,
    Failed,
    Item,
    Same,
    Write,
    check_weight,
)
from keeproom.errors import Unavailable
from keeproom.vault.model import Embedding, Exclusion, Head, Memory, Page, Status


def read(shelf: Shelf, ids: Sequence[str], *, hidden: bool) -> Mapping[str, Memory]:
    names = {one: f"M#{one}" for one in ids if layout.nameable(one)}
    if not names:
        return {}
    head, items = read_under(shelf, names.values())
    found = {one: layout.memory(items[name]) for one, name in names.items() if name in items}
    return {one: memory for one, memory in found.items() if hidden or not hides(head, memory)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """What a list is of."""

    status: Status | None
    batch: str
    withdrawn: bool

    @property
    def prefix(self) -> str:
        """Where the sort keys of the list begin."""
        if self.batch:
            return f"BM#{self.batch}#"
        if self.withdrawn:
            return f"L#{layout.WITHDRAWN}#"
        return "M#" if self.status in (None, Status.ACTIVE) else f"L#{self.status}#"

    def holds(self, memory: Memory) -> bool:
        if self.withdrawn or self.status:
            right = self.withdrawn is (memory.withdrawn is not None)
            return right and self.status in (None, memory.status)
        return True


def memories(shelf: Shelf, which: Which, *, cursor: str, limit: int) -> Page[Memory]:
    """The head is the same before and after, so an undo shows as a whole."""
    if which.batch and not layout.nameable(which.batch):
        return Page(())
    for _ in shelf.tries():
        head = shelf.known or read_head(shelf)
        page = _memories(shelf, head, which, cursor=cursor, limit=limit)
        if read_head(shelf) == head:
            return page
    raise Unavailable(BUSY)


def _memories(shelf: Shelf, head: Head, which: Which, *, cursor: str, limit: int) -> Page[Memory]:
    pk, prefix = layout.partition(shelf.vault, head.generation), which.prefix

    def visible(items: Sequence[Item]) -> Iterable[tuple[Item, Memory]]:
        for item, memory in _joined(shelf, pk, items) if prefix != "M#" else _own(items):
            # A memory that changed meanwhile is listed where its newer marker is.
            stale = prefix.startswith("L#") and layout.status_marker(memory) != item["sk"]
            if which.holds(memory) and not stale and not hides(head, memory):
                yield item, memory

    of = (which.status or "") + ("-" if which.withdrawn else "")
    return paged(shelf, pk, prefix, read=visible, cursor=cursor, limit=limit, of=of)


def _own(items: Sequence[Item]) -> Iterable[tuple[Item, Memory]]:
    return ((item, layout.memory(item)) for item in items)


def _joined(shelf: Shelf, pk: str, items: Sequence[Item]) -> Iterable[tuple[Item, Memory]]:
    """The markers with their memories."""
    keys = [(pk, f"M#{layout.last_part(item)}") for item in items]
    found = shelf.table.get(keys)
    pairs = zip(items, keys, strict=True)
    return ((item, layout.memory(found[key])) for item, key in pairs if key in found)


def embeddings(shelf: Shelf, ids: Sequence[str]) -> Mapping[str, Embedding]:
    known = [one for one in ids if layout.nameable(one)]
    if not known:
        return {}
    head, items = read_under(shelf, (f"E#{one}" for one in known))
    found = {one: layout.embedding(items[f"E#{one}"]) for one in known if f"E#{one}" in items}
    if not head.hidden:
        return found
    shown = read(shelf, list(found), hidden=False)
    return {one: embedding for one, embedding in found.items() if one in shown}


def whole(
    shelf: Shelf, ids: Sequence[str], *, hidden: bool
) -> Mapping[str, tuple[Memory, Embedding | None]]:
    known = [one for one in dict.fromkeys(ids) if layout.nameable(one)]
    if not known:
        return {}
    names = [name for one in known for name in (f"M#{one}", f"E#{one}")]
    head, items = read_under(shelf, names)
    found = {one: layout.memory(items[f"M#{one}"]) for one in known if f"M#{one}" in items}
    return {
        one: (memory, layout.embedding(items[f"E#{one}"]) if f"E#{one}" in items else None)
        for one, memory in found.items()
        if hidden or not hides(head, memory)
    }


def keep_embedding(shelf: Shelf, embedding: Embedding, *, revision: int) -> bool:
    for _ in shelf.tries():
        pk = generation_of(shelf)
        memory = (pk, layout.name("M", embedding.memory_id))
        item = layout.embedding_item(pk, embedding)
        check_weight(item)
        try:
            shelf.table.transact([Check(memory, Same({"revision": revision})), Write(item)])
            return True
        except Failed:
            return False
        except Busy:
            continue
    raise Unavailable(BUSY)


def exclusions(shelf: Shelf, *, cursor: str, limit: int) -> Page[tuple[str, Exclusion]]:
    pk = generation_of(shelf)

    def excluded(items: Sequence[Item]) -> Iterable[tuple[Item, tuple[str, Exclusion]]]:
        keys = [(pk, f"I#{layout.last_part(item)}") for item in items]
        found = shelf.table.get(keys)
        for item, key in zip(items, keys, strict=True):
            identity, holding = key[1].removeprefix("I#"), layout.holding(found.get(key))
            if item["sk"] in layout.exclusion_markers(identity, holding):
                assert isinstance(holding, Exclusion)
                yield item, (identity, holding)

    return paged(shelf, pk, "X#", read=excluded, cursor=cursor, limit=limit)
