"""Blobs, wherever they lie."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from keeproom.aws import blobs as aws_blobs
from keeproom.errors import Contended, Unavailable
from keeproom.local.blobs import FileBlobs
from keeproom.vault.blobs import Blobs
from tests.dynamo import emulator


@pytest.fixture
def files(tmp_path: Path) -> Blobs:
    return FileBlobs(tmp_path / "blobs")


@pytest.fixture
def s3(endpoint: str) -> Blobs:
    client = emulator.aws(endpoint, "s3")
    return aws_blobs.S3Blobs(client, emulator.new_bucket(client))


@pytest.fixture(params=["files", "s3"])
def blobs(request: pytest.FixtureRequest) -> Blobs:
    return request.getfixturevalue(request.param)


def test_what_was_written_is_read(blobs: Blobs) -> None:
    assert blobs.read("index/personal.snapshot") is None
    tag = blobs.write("index/personal.snapshot", [b"one", b"", b"two"], over="")
    found = blobs.read("index/personal.snapshot")
    assert found is not None
    assert (found.data, found.tag) == (b"onetwo", tag)
    assert blobs.read("index/other.snapshot") is None


def test_each_write_replaces_the_one_it_knows(blobs: Blobs) -> None:
    first = blobs.write("a", [b"one"], over="")
    second = blobs.write("a", [b"two, and longer"], over=first)
    found = blobs.read("a")
    assert found is not None
    assert (found.data, found.tag) == (b"two, and longer", second)
    assert first != second


def test_nobody_writes_over_what_they_have_not_seen(blobs: Blobs) -> None:
    first = blobs.write("a", [b"one"], over="")
    with pytest.raises(Contended):
        blobs.write("a", [b"mine"], over="")
    blobs.write("a", [b"two"], over=first)
    with pytest.raises(Contended):
        blobs.write("a", [b"mine"], over=first)
    with pytest.raises(Contended):
        blobs.write("never written", [b"mine"], over=first)
    found = blobs.read("a")
    assert found is not None
    assert found.data == b"two"
    assert blobs.read("never written") is None


def test_one_of_many_writers_at_once_wins(blobs: Blobs) -> None:
    before = blobs.write("a", [b"before"], over="")

    def write(number: int) -> int | None:
        try:
            blobs.write("a", [b"%d" % number], over=before)
        except Contended:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        won = [number for number in pool.map(write, range(8)) if number is not None]
    assert len(won) == 1
    found = blobs.read("a")
    assert found is not None
    assert found.data == b"%d" % won[0]


def test_a_megabyte_comes_back_whole(blobs: Blobs) -> None:
    part = bytes(range(256)) * 64
    blobs.write("large", (part for _ in range(128)), over="")
    found = blobs.read("large")
    assert found is not None
    assert found.data == part * 128


def test_a_write_that_breaks_off_leaves_the_old_one(blobs: Blobs) -> None:
    def parts() -> Iterator[bytes]:
        yield b"new"
        raise MemoryError

    tag = blobs.write("a", [b"old"], over="")
    with pytest.raises(MemoryError):
        blobs.write("a", parts(), over=tag)
    found = blobs.read("a")
    assert found is not None
    assert (found.data, found.tag) == (b"old", tag)


def _blocked(tmp_path: Path) -> Blobs:
    (tmp_path / "blocked").write_bytes(b"")
    return FileBlobs(tmp_path / "blocked")


def _nobody(_: Path) -> Blobs:
    return aws_blobs.S3Blobs(emulator.aws("http://127.0.0.1:9", "s3"), "bucket")


@pytest.mark.parametrize("place", [_blocked, _nobody])
def test_a_place_that_is_down_is_told_as_such(
    place: Callable[[Path], Blobs], tmp_path: Path
) -> None:
    with pytest.raises(Unavailable):
        place(tmp_path).write("a", [b"new"], over="")


def test_a_bucket_that_is_not_there_is_told_as_such(endpoint: str) -> None:
    lost = aws_blobs.S3Blobs(emulator.aws(endpoint, "s3"), "no-such-bucket")
    with pytest.raises(Unavailable):
        lost.read("a")


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    FileBlobs(tmp_path / "new").write("search", [b"one", b"two"], over="")
    assert (tmp_path / "new" / "search").read_bytes() == b"onetwo"
    assert (tmp_path / "new" / "search").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_the_next_write_clears_away_what_a_crash_left(tmp_path: Path) -> None:
    (tmp_path / "search.abc123.part").write_bytes(b"half of what was forgotten since")
    FileBlobs(tmp_path).write("search", [b"new"], over="")
    assert [path.name for path in tmp_path.iterdir()] == ["search"]
