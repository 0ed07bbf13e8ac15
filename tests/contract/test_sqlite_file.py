"""The file a vault lies in: whose it is, what is wrong with it, and who may write to it at once."""

import hashlib
import multiprocessing
import os
import resource
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from keeproom.errors import Unavailable, Unusable
from keeproom.local import memory_store, vault_file
from keeproom.local.memory_store import SqliteTable
from keeproom.vault.batch import ImportItem, Skipped, Stored
from keeproom.vault.model import OWNER
from keeproom.vault.remember import remember
from tests.contract.hands import Hand, forget, hand_on, say
from tests.contract.tables import fits
from tests.embedders import WordEmbedder
from tests.vaults import vault_on


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vault.db"


@pytest.fixture
def filled(path: Path) -> Path:
    """A closed vault of some size."""
    with closing(SqliteTable(path)) as table:
        hand = hand_on(table, "personal")
        for n in range(40):
            say(hand, f"fact {n} " + "x" * 2000)
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(hand: Hand) -> list[str]:
    return [memory.content for memory in hand.store.memories(limit=1000).items]


def test_a_vault_survives_being_closed(path: Path) -> None:
    with closing(SqliteTable(path)) as table:
        say(hand_on(table, "personal"), "tea")
    assert os.listdir(path.parent) == ["vault.db"], "the journal is folded into the file"

    with closing(memory_store.open(path)) as store:
        assert [memory.content for memory in store.memories().items] == ["tea"]


def test_what_was_forgotten_is_in_no_byte_of_a_closed_vault(path: Path) -> None:
    secret = "the colour of the door is teal"
    with closing(SqliteTable(path)) as table:
        hand = hand_on(table, "personal")
        memory = say(hand, secret)
        say(hand, "tea")
        assert any(secret.encode() in file.read_bytes() for file in path.parent.iterdir())

        forget(hand, memory.id)

    assert secret.encode() not in path.read_bytes()


def test_a_vault_that_was_never_closed_is_whole(path: Path, tmp_path: Path) -> None:
    with closing(SqliteTable(path)) as table:
        say(hand_on(table, "personal"), "tea")
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for name in ("vault.db", "vault.db-wal"):
            (crashed / name).write_bytes((tmp_path / name).read_bytes())

    with closing(memory_store.open(crashed / "vault.db")) as store:
        assert [memory.content for memory in store.memories().items] == ["tea"]


def test_the_file_and_its_journals_are_for_their_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "new folder #1?" / "vault.db"
    with closing(SqliteTable(path)) as table:
        say(hand_on(table, "personal"), "tea")
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
    assert modes == {"vault.db": 0o600, "vault.db-wal": 0o600, "vault.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_was_open_to_others_is_closed_to_them(filled: Path) -> None:
    filled.chmod(0o644)
    memory_store.open(filled).close()

    assert stat.S_IMODE(filled.stat().st_mode) == 0o600


def test_the_file_says_what_it_is(filled: Path) -> None:
    header = filled.read_bytes()[:100]

    assert header[68:72] == b"KEPM"
    assert int.from_bytes(header[60:64]) == 1
    with closing(sqlite3.connect(filled)) as db:
        assert db.execute("pragma journal_mode").fetchone() == ("wal",)


def write_text(path: Path) -> None:
    path.write_text("my notes\n" * 50)


def write_nothing(path: Path) -> None:
    path.touch()


def write_other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table item (pk, sk, body, data)")


def write_newer_vault(path: Path) -> None:
    memory_store.open(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma user_version = 2")


def cut_short(path: Path) -> None:
    with closing(SqliteTable(path)) as table:
        hand = hand_on(table, "personal")
        for n in range(8):
            say(hand, f"{n} " + "x" * 7_000)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 // 4096 * 4096)


def cut_to_its_header(path: Path) -> None:
    memory_store.open(path).close()
    with path.open("r+b") as file:
        file.truncate(60)


def overwrite_schema(path: Path) -> None:
    memory_store.open(path).close()
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3000)


UNUSABLE: dict[str, Callable[[Path], None]] = {
    "no database": write_text,
    "empty": write_nothing,
    "another program's": write_other_database,
    "newer": write_newer_vault,
    "cut short": cut_short,
    "cut to its header": cut_to_its_header,
    "damaged": overwrite_schema,
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_file_that_cannot_be_used_is_left_byte_for_byte(path: Path, kind: str) -> None:
    UNUSABLE[kind](path)
    before = digest(path), path.stat().st_mode

    with pytest.raises(Unusable) as told:
        memory_store.open(path)
    assert str(path) in str(told.value)
    assert (digest(path), path.stat().st_mode) == before


def test_a_folder_in_its_place_is_told_as_unusable(path: Path) -> None:
    path.mkdir()

    with pytest.raises(Unusable):
        memory_store.open(path)


def test_a_file_in_place_of_the_folder_is_told_as_unusable(path: Path) -> None:
    path.write_text("no folder")

    with pytest.raises(Unusable):
        memory_store.open(path / "vault.db")


def test_damage_that_shows_later_is_told_and_nothing_is_stored(filled: Path) -> None:
    with closing(SqliteTable(filled)) as table:
        hand = hand_on(table, "personal")
        with filled.open("r+b") as file:
            file.seek(12288)
            file.write(b"\xff" * (filled.stat().st_size - 12288))
        with pytest.raises(Unusable):
            contents(hand)
        with pytest.raises(Unusable):
            say(hand, "tea")


def test_a_closed_vault_is_told_as_unavailable(filled: Path) -> None:
    store = memory_store.open(filled)
    store.close()
    store.close()

    with pytest.raises(Unavailable):
        store.head()


# The file system ends the file at a size, as a full disk would, in a process of its own.
FULL = """
import resource, sys
from contextlib import closing
from pathlib import Path
from keeproom.errors import Unavailable
from keeproom.local.memory_store import SqliteTable
from tests.contract.hands import hand_on, say
from tests.contract.tables import fits

path = Path(sys.argv[1])
with closing(SqliteTable(path)) as table:
    hand = hand_on(table, "personal")
    say(hand, "before")
    most = path.with_name("vault.db-wal").stat().st_size + 30_000
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, limit[1]))
    stored, refused = ["before"], 0
    for n in range(6):
        text = f"{n} " + "x" * 7_000
        try:
            say(hand, text)
            stored.append(text)
        except Unavailable:
            refused += 1
    assert refused, "the disk was not full"
    assert [one.content for one in hand.store.memories().items] == stored
    resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    say(hand, "after")
    fits(table, hand.partition)
    assert hand.store.audit_faults() == []
    print("whole")
"""


def test_a_full_disk_stores_nothing_and_loses_nothing(path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    run = subprocess.run(
        [sys.executable, "-c", FULL, path],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert run.stdout == "whole\n", run.stderr


def test_readers_wait_for_no_writer(filled: Path) -> None:
    with closing(SqliteTable(filled)) as table, closing(sqlite3.connect(filled)) as writer:
        hand = hand_on(table, "personal")
        writer.execute("begin immediate")
        writer.execute("delete from item")

        assert len(contents(hand)) == 40
        assert hand.store.look().head.revision == 0
        writer.rollback()


def test_a_writer_who_waited_long_enough_is_told_so(filled: Path) -> None:
    with (
        closing(SqliteTable(filled, patience=0.05)) as table,
        closing(sqlite3.connect(filled)) as writer,
    ):
        hand = hand_on(table, "personal")
        writer.execute("begin immediate")
        with pytest.raises(Unavailable):
            say(hand, "tea")
        writer.rollback()

        say(hand, "tea")
        assert len(contents(hand)) == 41


def test_eight_threads_share_a_file(path: Path) -> None:
    with closing(SqliteTable(path)) as table, ThreadPoolExecutor(8) as pool:
        hand = hand_on(table, "personal")
        texts = [f"fact {n}" for n in range(80)]
        assert len({memory.id for memory in pool.map(partial(say, hand), texts)}) == 80

        assert sorted(contents(hand)) == sorted(texts)
        assert hand.store.audit_faults() == []
        fits(table, hand.partition)


SHARED = [f"shared {n}" for n in range(8)]


def write_some(path: Path, name: str) -> list[object]:
    """In a process of its own: open the file, or make it, and say with eight threads what nobody
    else says and what everybody says. What they were told, in order."""
    texts = [f"{name} {n}" for n in range(16)] + SHARED
    with closing(memory_store.open(path)) as store, ThreadPoolExecutor(8) as pool:
        vault = vault_on(store, WordEmbedder())

        def told(text: str) -> object:
            return type(remember(vault, ImportItem(content=text), by=OWNER).outcome)

        return list(pool.map(told, texts))


def test_four_processes_of_eight_threads_make_and_share_a_file(path: Path) -> None:
    spawn, names = multiprocessing.get_context("spawn"), ["a", "b", "c", "d"]
    with ProcessPoolExecutor(4, mp_context=spawn) as pool:
        told = list(pool.map(write_some, [path] * 4, names))

    assert os.listdir(path.parent) == ["vault.db"]
    assert all(answers[:16] == [Stored] * 16 for answers in told)
    shared = [answers[16:] for answers in told]
    assert all(sorted(map(str, one)) == SKIPPED_BUT_ONE for one in zip(*shared, strict=True))
    with closing(SqliteTable(path)) as table:
        hand = hand_on(table, "personal")
        texts = [f"{name} {n}" for name in names for n in range(16)] + SHARED
        assert sorted(contents(hand)) == sorted(texts)
        assert hand.store.audit_faults() == []
        fits(table, hand.partition)


SKIPPED_BUT_ONE = sorted(map(str, [Stored, Skipped, Skipped, Skipped]))


def test_threads_that_come_and_go_leave_no_connection_behind(filled: Path) -> None:
    with closing(SqliteTable(filled)) as table:
        hand = hand_on(table, "personal")
        for _ in range(30):
            with ThreadPoolExecutor(1) as pool:
                pool.submit(contents, hand).result()
        assert len(list(open_files(filled))) <= 6


def open_files(path: Path) -> Iterator[str]:
    """Of this process: the file and its journals."""
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue
        if target.startswith(str(path)):
            yield target


def test_a_draft_of_a_file_is_never_left_behind(path: Path) -> None:
    vault_file.prepare(path)
    vault_file.prepare(path)

    assert {one for one in os.listdir(path.parent) if not one.startswith("vault.db")} == set()
