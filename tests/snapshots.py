"""A place for the snapshot of an index."""

from collections.abc import Iterable


class OneSnapshot:
    """`Snapshots` in memory."""

    def __init__(self, data: bytes | None = None) -> None:
        self.data = data
        self.writes = 0

    def read(self) -> bytes | None:
        return self.data

    def write(self, parts: Iterable[bytes]) -> bool:
        self.data = b"".join(parts)
        self.writes += 1
        return True
