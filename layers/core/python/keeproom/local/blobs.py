"""Blobs as files in one folder."""

import os
import tempfile
from collections.abc import Iterable
from glob import escape
from pathlib import Path
from threading import Lock

from keeproom.errors import Contended, Unavailable
from keeproom.vault.blobs import Blob


def open(folder: Path) -> "FileBlobs":
    """The blobs in that folder, which is made when something is first written."""
    return FileBlobs(folder)


class FileBlobs:
    """Files only their owner may read. Each is written beside the old one and moved over it, so
    that a crash leaves the old one; what the crash left half-written goes with the next write.
    Threads write one after another. A tag is checked right before the move: two processes that
    move at the very same moment leave the later one's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writing = Lock()

    def read(self, name: str) -> Blob | None:
        """Read, not mapped: a mapped file that shrinks under us ends the process."""
        try:
            with (self._folder / name).open("rb") as file:
                tag = _tag(os.fstat(file.fileno()))
                return Blob(data=file.read(), tag=tag)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable("The file could not be read.") from error

    def write(self, name: str, parts: Iterable[bytes], *, over: str) -> str:
        path = self._folder / name
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._writing:
                return self._write(path, parts, over=over)
        except OSError as error:
            raise Unavailable("The file could not be written.") from error

    def _write(self, path: Path, parts: Iterable[bytes], *, over: str) -> str:
        for leftover in path.parent.glob(f"{escape(path.name)}.*.part"):
            leftover.unlink(missing_ok=True)
        handle, made = tempfile.mkstemp(  # gives 0600
            dir=path.parent, prefix=f"{path.name}.", suffix=".part"
        )
        new = Path(made)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            tag = _tag(new.stat())
            _check(path, over)
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        _settle(path.parent)
        return tag


def _check(path: Path, over: str) -> None:
    try:
        found = _tag(path.stat())
    except FileNotFoundError:
        found = ""
    if found != over:
        raise Contended


def _tag(of: os.stat_result) -> str:
    return f"{of.st_ino}-{of.st_mtime_ns}-{of.st_size}"


def _settle(folder: Path) -> None:
    """The new name itself must survive a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
