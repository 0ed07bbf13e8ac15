"""The memory store in one SQLite file."""

import json
import sqlite3
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import batched
from pathlib import Path
from threading import Lock

from keeproom.clock import Clock, tries, utc_now
from keeproom.engines.item_store.attributes import text_of
from keeproom.engines.item_store.store import ItemMemoryStore
from keeproom.engines.item_store.table import (
    Absent,
    Condition,
    Erase,
    Failed,
    Item,
    Key,
    Page,
    Same,
    Step,
    Value,
    Write,
)
from keeproom.errors import Unavailable
from keeproom.local.vault_file import connect, explained, is_busy, prepare

_parse = json.JSONDecoder().raw_decode  # of our own texts: twice as fast as json.loads

_GET = """select sk, body, data from item
    where pk = ? and sk in (select value from json_each(?))"""
_PAGE = """select sk, body, data from item
    where pk = ? and sk > ? and sk < ? order by sk {} limit ?"""
_PUT = """insert into item values (?, ?, ?, ?)
    on conflict do update set body = excluded.body, data = excluded.data"""
_DROP = "delete from item where pk = ? and sk = ?"
_BUSY = "Other programs are writing to the vault. Nothing was stored: try again."


def open(path: Path, vault: str = "personal", *, clock: Clock = utc_now) -> ItemMemoryStore:
    """The vault in that file; file and vault are made when there are none. Close it when done.
    Raises `Unusable`, and leaves the file as it was, when it is no vault, a newer or a damaged one
    or cannot be read."""
    with ExitStack() as opened:
        table = SqliteTable(path)
        opened.callback(table.close)
        store = ItemMemoryStore(table, vault, clock=clock, settling=0.0)
        opened.pop_all()
    return store


class SqliteTable:
    """Readers see the last commit and wait for nobody; writers wait for each other, `patience`
    seconds at most. A connection belongs to one thread at a time."""

    def __init__(self, path: Path, *, patience: float = 10.0) -> None:
        prepare(path)
        self._path, self._patience = path, patience
        self._idle: deque[sqlite3.Connection] = deque()
        self._turn = Lock()  # SQLite's own waiting is by polling, and unfair
        self._open = True

    def close(self) -> None:
        """Fold the journal into the file. Harmless when repeated."""
        self._open = False
        while self._idle:
            self._idle.pop().close()

    def get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        """All at one moment."""
        return self._run(lambda db: _get(db, keys))

    def page(self, pk: str, prefix: str, *, after: str, limit: int, newest: bool = False) -> Page:
        low, high = prefix, f"{prefix[:-1]}$"  # the character behind #
        low, high = (low, after or high) if newest else (after or low, high)
        ask, values = _PAGE.format("desc" if newest else "asc"), (pk, low, high, limit + 1)
        rows = self._run(lambda db: db.execute(ask, values).fetchall())
        return Page([_item(pk, *row) for row in rows[:limit]], len(rows) > limit)

    def both[One, Other](
        self, one: Callable[[], One], other: Callable[[], Other]
    ) -> tuple[One, Other]:
        return one(), other()

    def transact(self, steps: Sequence[Step]) -> None:
        def work(db: sqlite3.Connection) -> None:
            failed = [n for n, step in enumerate(steps) if not _holds(db, step)]
            if failed:
                raise Failed(failed)
            _put(db, [step.item for step in steps if isinstance(step, Write)])
            _drop(db, [step.key for step in steps if isinstance(step, Erase)])

        self._write(work)

    def load(self, items: Iterable[Item]) -> None:
        for part in batched(items, 500):
            self._write(lambda db, part=part: _put(db, part))

    def drop(self, keys: Sequence[Key]) -> None:
        for part in batched(keys, 500):
            self._write(lambda db, part=part: _drop(db, part))

    def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        def whole(db: sqlite3.Connection) -> None:
            db.execute("begin immediate")
            work(db)
            db.execute("commit")

        if not self._turn.acquire(timeout=self._patience):
            raise Unavailable(_BUSY)
        try:
            self._run(whole)
        finally:
            self._turn.release()

    def _run[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        """With a connection of its own; again when SQLite would not wait for a lock."""
        for _ in tries(self._patience):
            try:
                return self._once(work)
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise explained(error, self._path) from error
        raise Unavailable(_BUSY)

    def _once[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        if not self._open:
            raise Unavailable("The vault is closed.")
        try:
            db = self._idle.pop()
        except IndexError:
            db = connect(self._path, patience=self._patience)
        with ExitStack() as failing:
            failing.callback(db.close)  # which also rolls back
            found = work(db)
            failing.pop_all()
        self._idle.append(db)
        if not self._open:
            self.close()
        return found


def _get(db: sqlite3.Connection, keys: Sequence[Key]) -> dict[Key, Item]:
    names: dict[str, list[str]] = defaultdict(list)
    for pk, sk in keys:
        names[pk].append(sk)
    found: dict[Key, Item] = {}
    db.execute("begin")  # a snapshot over the partitions
    for pk, some in names.items():
        for sk, body, data in db.execute(_GET, (pk, json.dumps(some))).fetchall():
            found[pk, sk] = _item(pk, sk, body, data)
    db.execute("commit")
    return found


def _holds(db: sqlite3.Connection, step: Step) -> bool:
    condition: Condition = step.condition
    if condition is None:
        return True
    item = _get_one(db, step.key)
    match condition:
        case Absent(expired):
            return item is None or (expired != "" and str(item["expires"]) < expired)
        case Same(attributes):
            return item is not None and all(item.get(k) == v for k, v in attributes.items())


def _get_one(db: sqlite3.Connection, key: Key) -> Item | None:
    ask = "select body, data from item where pk = ? and sk = ?"
    rows = db.execute(ask, key).fetchall()
    return _item(*key, *rows[0]) if rows else None


def _put(db: sqlite3.Connection, items: Sequence[Item]) -> None:
    db.executemany(_PUT, map(_row, items))


def _drop(db: sqlite3.Connection, keys: Sequence[Key]) -> None:
    db.executemany(_DROP, keys)


def _row(item: Item) -> tuple[Value, Value, str, bytes | None]:
    """Texts and numbers as JSON; bytes one after another in a column of their own, their names and
    lengths under "#"."""
    plain: dict[str, object] = {}
    raw: dict[str, bytes] = {}
    for name, value in item.items():
        if isinstance(value, bytes):
            raw[name] = value
        elif name not in ("pk", "sk"):
            plain[name] = value
    if raw:
        plain["#"] = {name: len(value) for name, value in raw.items()}
    return item["pk"], item["sk"], text_of(plain), b"".join(raw.values()) if raw else None


def _item(pk: str, sk: str, body: str, data: bytes | None) -> Item:
    item = _parse(body)[0]
    item["pk"], item["sk"] = pk, sk
    if data is not None:
        item.update(_cut(item.pop("#"), data))
    return item


def _cut(lengths: dict[str, int], data: bytes) -> Iterator[tuple[str, bytes]]:
    start = 0
    for name, length in lengths.items():
        yield name, data[start : start + length]
        start += length
