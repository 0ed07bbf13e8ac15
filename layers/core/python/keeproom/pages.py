"""Lists that come a page at a time."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol


class Page[T](Protocol):
    """`next`: the cursor of the page that follows, empty at the end."""

    @property
    def items(self) -> Sequence[T]: ...
    @property
    def next(self) -> str: ...


def every[T](page: Callable[[str], Page[T]]) -> Iterator[T]:
    """What is on all pages. `page`: the one at a cursor, the first at an empty one."""
    cursor, more = "", True
    while more:
        found = page(cursor)
        yield from found.items
        cursor, more = found.next, bool(found.next)
