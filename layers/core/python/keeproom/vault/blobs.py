"""What is too large for the store: a port."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """`tag`: another after each write."""

    data: bytes
    tag: str


class Blobs(Protocol):
    """Where one large thing is kept under each name: letters, digits, `.`, `-`, and `/` between
    parts. Both calls raise `Unavailable`."""

    def read(self, name: str) -> Blob | None:
        """None when there is none."""
        ...

    def write(self, name: str, parts: Iterable[bytes], *, over: str) -> str:
        """Put the parts, one after another, in the place of the blob with the tag `over` (empty:
        where none is): all or nothing. Answers the new tag. Raises `Contended`, and what is there
        stays, when it has another tag by now."""
        ...
