"""What an index leaves behind when the process ends."""

import hashlib
import struct
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from keeproom.engines.memory_index import InProcessIndex
from keeproom.engines.snapshot import BlobSnapshots
from keeproom.errors import Unavailable
from keeproom.local.blobs import FileBlobs
from keeproom.vault.model import Embedding, MemoryType, Position, Status
from keeproom.vault.ports import Bm25, Indexed, Sought, Where
from tests.snapshots import OneSnapshot

MODEL = "model-1"
AT = Position(generation="gen_1", counts=(3, 0, 5))
ANYWHERE = Where(statuses=frozenset(Status))
BM25 = Bm25(k1=0.8, b=0.2)
EAST, NORTH = struct.pack("<2f", 1, 0), struct.pack("<2f", 0, 1)
ODD = struct.pack("<2f", 0.28, 0.96)


def memory(id: str, term: str, vector: bytes = b"", *, tag: str = "home") -> Indexed:
    embedding = Embedding(memory_id=id, model=MODEL, content_hash="", dims=2, vectors=vector)
    return Indexed(
        id=id,
        revision=4,
        status=Status.ACTIVE,
        type=MemoryType.EVENT,
        tags=(tag,),
        valid_on=date(2025, 3, 1),
        terms={term: 2, "tea": 1},
        embedding=embedding if vector else None,
    )


def saved() -> bytes:
    kept = OneSnapshot()
    index = InProcessIndex(MODEL, 2, snapshots=kept)
    index.put([memory("mem_a", "green", EAST + NORTH), memory("mem_b", "black", NORTH)])
    index.put([memory("mem_c", "белый")])
    index.position = AT
    index.save()
    assert kept.data is not None
    return kept.data


def opened(data: bytes | None, *, model: str = MODEL, dims: int = 2) -> InProcessIndex:
    return InProcessIndex.open(model, dims, snapshots=OneSnapshot(data))


def matching(index: InProcessIndex, terms: Sequence[str], *, limit: int) -> Sequence[str]:
    sought = Sought(vector=b"", terms=terms, where=ANYWHERE, limit=limit, bm25=BM25)
    return index.candidates(sought).matching


def is_empty(index: InProcessIndex) -> bool:
    found = matching(index, ["tea"], limit=5)
    return index.position is None and not found and not index.lacking(limit=5)


def test_a_saved_index_opens_as_it_was() -> None:
    index = opened(saved())
    assert index.position == AT
    assert index.lacking(limit=5) == ["mem_c"]
    assert index.nearest(EAST, where=ANYWHERE, limit=5) == ["mem_a", "mem_b"]
    assert matching(index, ["белый"], limit=5) == ["mem_c"]


def test_an_opened_index_that_is_saved_again_gives_the_same_bytes() -> None:
    kept = OneSnapshot(saved())
    index = InProcessIndex.open(MODEL, 2, snapshots=kept)
    index.position = None
    index.position = AT
    index.save()
    assert kept.writes == 1
    assert kept.data == saved()


def test_a_damaged_byte_anywhere_opens_as_an_empty_index() -> None:
    data = bytearray(saved())
    for place in range(len(data)):
        data[place] ^= 0x10
        assert is_empty(opened(bytes(data))), place
        data[place] ^= 0x10
    assert not is_empty(opened(bytes(data)))


def test_a_snapshot_cut_short_or_made_longer_opens_as_an_empty_index() -> None:
    data = saved()
    for length in range(len(data)):
        assert is_empty(opened(data[:length])), length
    assert is_empty(opened(data + b"\0"))


@pytest.mark.parametrize("data", [None, b"", b"not a snapshot", bytes(4096)])
def test_what_is_no_snapshot_opens_as_an_empty_index(data: bytes | None) -> None:
    assert is_empty(opened(data))


@pytest.mark.parametrize(("model", "dims"), [("model-2", 2), (MODEL, 3)])
def test_a_snapshot_of_another_model_opens_as_an_empty_index(model: str, dims: int) -> None:
    assert is_empty(opened(saved(), model=model, dims=dims))


def test_a_snapshot_of_a_newer_format_opens_as_an_empty_index() -> None:
    body = bytearray(saved()[:-32])
    assert body[8:12] == struct.pack("<I", 1)
    body[8:12] = struct.pack("<I", 2)
    assert is_empty(opened(bytes(body) + hashlib.sha256(body).digest()))


@pytest.mark.parametrize("how", ["removed", "replaced", "cleared"])
def test_what_is_gone_leaves_no_trace_in_the_next_snapshot(how: str) -> None:
    kept = OneSnapshot(saved())
    index = InProcessIndex.open(MODEL, 2, snapshots=kept)
    index.put([memory("mem_secret", "salary", ODD, tag="money")])
    index.save()
    traces = [b"salary", ODD, b"money"] + ([b"mem_secret"] if how != "replaced" else [])
    assert all(trace in (kept.data or b"") for trace in traces)
    if how == "removed":
        index.remove(["mem_secret"])
    elif how == "replaced":
        index.put([memory("mem_secret", "weather", EAST)])
    else:
        index.clear()
    index.save()
    assert kept.data is not None
    assert not any(trace in kept.data for trace in traces)


def test_saving_writes_only_what_has_changed_since() -> None:
    kept = OneSnapshot(saved())
    index = InProcessIndex.open(MODEL, 2, snapshots=kept)
    index.save()
    index.position = AT
    index.remove(["mem_unknown"])
    index.save()
    assert kept.writes == 0
    index.position = Position(generation="gen_1", counts=(4, 0, 5))
    index.save()
    index.save()
    assert kept.writes == 1


def test_a_save_that_failed_is_made_up_for(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_bytes(b"")
    snapshots = BlobSnapshots(FileBlobs(tmp_path / "blocked"), "search")
    index = InProcessIndex(MODEL, 2, snapshots=snapshots)
    index.put([memory("mem_a", "green", EAST)])
    with pytest.raises(Unavailable):
        index.save()
    (tmp_path / "blocked").unlink()
    index.save()
    assert not is_empty(InProcessIndex.open(MODEL, 2, snapshots=snapshots))


def test_an_index_without_a_place_to_save_to_saves_nothing() -> None:
    index = InProcessIndex(MODEL, 2)
    index.put([memory("mem_a", "green", EAST)])
    index.save()


def test_a_save_never_overwrites_what_somebody_else_has_saved_meanwhile(tmp_path: Path) -> None:
    def opened() -> InProcessIndex:
        return InProcessIndex.open(MODEL, 2, snapshots=BlobSnapshots(FileBlobs(tmp_path), "search"))

    slow, fast = opened(), opened()
    slow.put([memory("mem_a", "forgotten", EAST)])
    fast.put([memory("mem_b", "green", EAST)])
    fast.save()
    slow.save()
    assert opened().nearest(EAST, where=ANYWHERE, limit=5) == ["mem_b"]
    slow.remove(["mem_a"])
    slow.put([memory("mem_b", "green", EAST), memory("mem_c", "black", EAST)])
    slow.save()
    assert opened().nearest(EAST, where=ANYWHERE, limit=5) == ["mem_b", "mem_c"]


def test_a_place_that_cannot_be_read_opens_as_an_empty_index(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    snapshots = BlobSnapshots(FileBlobs(tmp_path), "search")
    assert is_empty(InProcessIndex.open(MODEL, 2, snapshots=snapshots))
