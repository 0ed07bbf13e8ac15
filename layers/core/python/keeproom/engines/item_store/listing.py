"""Pages of a list."""

from collections.abc import Callable, Iterable, Sequence

from keeproom.engines.item_store.cursor import seal, unseal
from keeproom.engines.item_store.shelf import Shelf
from keeproom.engines.item_store.table import Item
from keeproom.errors import Invalid
from keeproom.vault.model import Page

LONGEST = 1000

type Reader[T] = Callable[[Sequence[Item]], Iterable[tuple[Item, T]]]


def paged[T](
    shelf: Shelf,
    pk: str,
    prefix: str,
    *,
    read: Reader[T],
    cursor: str,
    limit: int,
    newest: bool = False,
    of: str = "",
) -> Page[T]:
    """The next `limit` things that `read` makes of the items and does not leave out; it looks one
    thing ahead, so the last page says that it is the last. `of`: what else tells this list from
    others. Raises `Invalid` for a limit outside 1 to 1,000 and for a foreign cursor."""
    check_limit(limit)
    listing = f"{shelf.vault}\0{prefix}\0{of}"
    after = prefix + unseal(listing, cursor) if cursor else ""
    found: list[tuple[Item, T]] = []
    size, more = limit + 1, True
    while more and len(found) <= limit:
        page = shelf.table.page(pk, prefix, after=after, limit=size, newest=newest)
        found += read(page.items)
        more = page.more and bool(page.items)
        after = str(page.items[-1]["sk"]) if page.items else after
        size = min(2 * size, LONGEST)  # few are left in: ask for more at once
    kept = tuple(noun for _, noun in found[:limit])
    if len(found) <= limit:
        return Page(kept)
    return Page(kept, seal(listing, str(found[limit - 1][0]["sk"]).removeprefix(prefix)))


def check_limit(limit: int) -> int:
    """The limit. Raises `Invalid` outside 1 to 1,000."""
    if not 1 <= limit <= LONGEST:
        raise Invalid(f"A page has 1 to {LONGEST:,} entries.", param="limit")
    return limit


def each[T](make: Callable[[Item], T]) -> Reader[T]:
    """A reader that leaves nothing out."""
    return lambda items: [(item, make(item)) for item in items]
