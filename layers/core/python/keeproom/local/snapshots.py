"""The search snapshot as a file."""

import os
import tempfile
from collections.abc import Iterable
from glob import escape
from pathlib import Path

from keeproom.errors import Unavailable


class FileSnapshots:
    """A file only its owner may read. Written beside the old one and moved over it, so that a
    crash leaves the old one; what the crash left half-written goes with the next write."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> bytes | None:
        """Read, not mapped: a mapped file that shrinks under us ends the process."""
        try:
            return self._path.read_bytes()
        except OSError:
            return None

    def write(self, parts: Iterable[bytes]) -> None:
        """Raises `Unavailable`."""
        try:
            self._write(parts)
        except OSError as error:
            raise Unavailable("The search snapshot could not be written.") from error

    def _write(self, parts: Iterable[bytes]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for leftover in self._path.parent.glob(f"{escape(self._path.name)}.*.part"):
            leftover.unlink(missing_ok=True)
        handle, name = tempfile.mkstemp(  # gives 0600
            dir=self._path.parent, prefix=f"{self._path.name}.", suffix=".part"
        )
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _settle(self._path.parent)


def _settle(folder: Path) -> None:
    """The new name itself must survive a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
