"""The file a vault lies in: made whole or not at all, and checked before SQLite may write to it."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from secrets import token_hex

from keeproom.errors import Unavailable, Unusable

APPLICATION = 0x4B45504D  # "KEPM" in the file's header: nobody else's file is taken for ours
VERSION = 1

# Rows have their own ids: in a table without them, embeddings among the keys made reading 400
# items of 100,000 take 6.4 ms and not 2.1.
_SCHEMA = """create table item (
    pk text not null, sk text not null, body text not null, data blob, primary key (pk, sk)
)"""

_DAMAGE = "{} is damaged. It was left as it is: restore a backup."
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_DOWN = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_NOMEM,
}


def prepare(path: Path) -> None:
    """Make the file when there is none, for its user alone. Raises `Unusable`, and has changed
    nothing, when what is there cannot be used."""
    try:
        if not path.exists():
            _make(path)
        _check_header(path)
        _check_content(path)
        _lock_away(path)
    except OSError as error:
        raise Unusable(f"{path} cannot be used: {error.strerror}.") from error


def connect(path: Path, *, patience: float) -> sqlite3.Connection:
    """A connection for one thread at a time that waits `patience` seconds for a lock."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    db = sqlite3.connect(
        uri, uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    db.execute("pragma synchronous = full")  # an answer means that a power cut changes nothing
    db.execute("pragma secure_delete = on")  # what is forgotten is in no byte of the file
    db.execute("pragma cache_size = -8000")
    return db


def is_busy(error: sqlite3.Error) -> bool:
    return _code(error) in _BUSY


def explained(error: sqlite3.Error, path: Path) -> Exception:
    """The error a caller should see instead."""
    code = _code(error)
    if code in _DAMAGED:
        return Unusable(_DAMAGE.format(path))
    if code == sqlite3.SQLITE_FULL:
        return Unavailable("The disk is full. Nothing was stored.")
    if code in _DOWN:
        return Unavailable("The vault's file cannot be read or written. Nothing was stored.")
    return error


def _code(error: sqlite3.Error) -> int:
    """Without the detail in the upper bits; 0 when SQLite was not asked."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _make(path: Path) -> None:
    """Beside its place, then linked there: whoever sees the file sees all of it, and of two
    processes that make it one finds it made."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{token_hex(4)}")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as db:
            db.execute("pragma synchronous = full")
            db.execute(f"pragma application_id = {APPLICATION}")
            db.execute(f"pragma user_version = {VERSION}")
            db.execute(_SCHEMA)
            db.execute("pragma journal_mode = wal")
        with suppress(FileExistsError):
            os.link(draft, path)
    except sqlite3.Error as error:
        raise explained(error, path) from error
    finally:
        draft.unlink()


def _check_header(path: Path) -> None:
    """By bytes, since opening a file with SQLite may already change it."""
    with path.open("rb") as file:
        header = file.read(100)
    if header[:16] != b"SQLite format 3\0" or len(header) < 100:
        raise Unusable(f"{path} is not a vault. It was left as it is.")
    version, application = (int.from_bytes(header[at : at + 4]) for at in (60, 68))
    if application != APPLICATION:
        raise Unusable(f"{path} belongs to another program. It was left as it is.")
    if version > VERSION:
        raise Unusable(f"{path} was written by a newer version. It was left as it is: update.")


def _check_content(path: Path) -> None:
    """A look without the right to write, which tells a file that was cut short."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as db:
            db.execute("select sk from item limit 1").fetchall()
    except sqlite3.Error as error:
        if _code(error) in {*_DAMAGED, sqlite3.SQLITE_ERROR}:  # our mark, but not our table
            raise Unusable(_DAMAGE.format(path)) from error
        if not is_busy(error):
            raise Unusable(f"{path} cannot be opened. It was left as it is.") from error


def _lock_away(path: Path) -> None:
    """A file that was copied here may be open to others."""
    for name in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        with suppress(FileNotFoundError):
            if name.stat().st_mode & 0o077:
                name.chmod(0o600)
