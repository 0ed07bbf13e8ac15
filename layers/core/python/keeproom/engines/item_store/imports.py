"""Batches: their members, what became of each text, and the texts themselves."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain

from keeproom.engines.item_store import layout
from keeproom.engines.item_store.attributes import pack, text_of, unpack
from keeproom.engines.item_store.listing import check_limit, each, paged
from keeproom.engines.item_store.shelf import Shelf, generation_of, walk
from keeproom.engines.item_store.table import Item, check_weight, key_of
from keeproom.vault.batch import Batch, ImportItem, Outcome
from keeproom.vault.model import Page

_PACKED = 200_000  # bytes of texts in one item; a table takes 400 kB


def batches(shelf: Shelf, *, cursor: str, limit: int) -> Page[Batch]:
    pk, make = generation_of(shelf), each(layout.batch)
    return paged(shelf, pk, "B#", read=make, cursor=cursor, limit=limit, newest=True)


def members(shelf: Shelf, batch: str, *, after: str, limit: int) -> tuple[list[str], bool]:
    if not layout.nameable(batch):
        return [], False
    prefix = f"BM#{batch}#"
    start = prefix + after if after else ""
    size = check_limit(limit) + 1
    page = shelf.table.page(generation_of(shelf), prefix, after=start, limit=size)
    ids = [layout.last_part(item) for item in page.items]
    return ids[:limit], len(ids) > limit


def outcomes(shelf: Shelf, batch: str, *, cursor: str, limit: int) -> Page[tuple[int, Outcome]]:
    if not layout.nameable(batch):
        return Page(())

    def told(item: Item) -> tuple[int, Outcome]:
        return int(layout.last_part(item)), layout.outcome(item)

    pk, prefix = generation_of(shelf), f"BO#{batch}#"
    return paged(shelf, pk, prefix, read=each(told), cursor=cursor, limit=limit)


def put_items(shelf: Shelf, batch: str, *, start: int, items: Sequence[ImportItem]) -> None:
    """Raises `TooLarge`, before anything is written, for a text no item can take."""
    packs = list(_packs(generation_of(shelf), batch, start=start, items=items))
    for one in packs:
        check_weight(one)
    shelf.table.load(packs)


def _packs(pk: str, batch: str, *, start: int, items: Sequence[ImportItem]) -> Iterator[Item]:
    texts: list[str] = []
    size = 0
    for position, text in enumerate((text_of(pack(item)) for item in items), start):
        weight = len(text.encode())
        if texts and size + weight > _PACKED:
            yield _pack(pk, batch, start=position - len(texts), texts=texts)
            texts, size = [], 0
        texts.append(text)
        size += weight
    if texts:
        yield _pack(pk, batch, start=start + len(items) - len(texts), texts=texts)


def _pack(pk: str, batch: str, *, start: int, texts: Sequence[str]) -> Item:
    sk = layout.numbered("BI", batch, number=start)
    return {"pk": pk, "sk": sk, "items": f"[{','.join(texts)}]"}


def items(shelf: Shelf, batch: str, *, start: int, limit: int) -> Sequence[ImportItem]:
    """Without gaps: what was never written down ends it."""
    check_limit(limit)
    if not layout.nameable(batch):
        return []
    pk, prefix = generation_of(shelf), f"BI#{batch}#"
    behind = layout.numbered("BI", batch, number=start + 1)
    here = layout.numbered("BI", batch, number=start)
    first, then = shelf.table.both(
        lambda: shelf.table.page(pk, prefix, after=behind, limit=1, newest=True),
        lambda: shelf.table.page(pk, prefix, after=here, limit=1),
    )
    found: list[ImportItem] = []
    after = str(then.items[-1]["sk"]) if then.items else here
    rest = walk(shelf, pk, prefix, after=after, first=4) if then.more else ()
    for item in chain(first.items, then.items, rest):
        begin, wanted = int(layout.last_part(item)), start + len(found)
        if begin > wanted or len(found) >= limit:
            break
        brought = json.loads(str(item["items"]))[wanted - begin :]
        found += [unpack(ImportItem, one) for one in brought[: limit - len(found)]]
    return found


def drop_items(shelf: Shelf, batch: str) -> None:
    if layout.nameable(batch):
        packs = walk(shelf, generation_of(shelf), f"BI#{batch}#")
        shelf.table.drop([key_of(item) for item in packs])
