"""An index as one run of bytes, and back.

Eight bytes of magic, two little-endian uint32 (format, length of the header), the header as JSON,
then the arrays of `_SECTIONS` and the vectors, little-endian, each starting at a multiple of 64;
last the SHA-256 of all that. The header holds ids, terms, tags and numbers; never content."""

import hashlib
import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from keeproom.engines.matrix import Floats
from keeproom.engines.postings import PackedPostings
from keeproom.engines.slots import KINDS, PackedSlots
from keeproom.errors import Contended, Unavailable
from keeproom.vault.blobs import Blobs
from keeproom.vault.model import Position

_MAGIC = b"KEEPROOM"
_FORMAT = 1
_OPENING = struct.Struct("<8sII")
_DIGEST = hashlib.sha256().digest_size
_SECTIONS = (
    ("kinds", "<u1"),
    ("days", "<i4"),
    ("revisions", "<i8"),
    ("lengths", "<u4"),
    ("term_sizes", "<u4"),
    ("term_slots", "<u4"),
    ("term_counts", "<u2"),
    ("tag_sizes", "<u4"),
    ("tag_slots", "<u4"),
    ("tag_counts", "<u2"),
    ("owners", "<u4"),
)
_KINDS = [list(kind) for kind in KINDS]


class Snapshots(Protocol):
    """Where one snapshot is kept."""

    def read(self) -> bytes | memoryview | None:
        """The whole of it; None when there is none, or none that can be read."""
        ...

    def write(self, parts: Iterable[bytes]) -> bool:
        """Put the parts, one after another, in the place of the old one: all or nothing. False,
        and nothing written, when somebody else has written since this one was read: what they
        know may be newer. Raises `Unavailable`, the old one untouched."""
        ...


class BlobSnapshots:
    """`Snapshots` as one of the blobs."""

    def __init__(self, blobs: Blobs, name: str) -> None:
        self._blobs, self._name = blobs, name
        self._seen: str | None = None

    def read(self) -> bytes | None:
        try:
            blob = self._blobs.read(self._name)
        except Unavailable:
            return None
        self._seen = blob.tag if blob else ""
        return blob.data if blob else None

    def write(self, parts: Iterable[bytes]) -> bool:
        if self._seen is None:
            blob = self._blobs.read(self._name)
            self._seen = blob.tag if blob else ""
        try:
            self._seen = self._blobs.write(self._name, parts, over=self._seen)
        except Contended:
            self._seen = None
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """An index without gaps. `owners`: the slot of each row of `vectors`."""

    position: Position | None
    slots: PackedSlots
    terms: PackedPostings
    owners: NDArray[np.uint32]
    vectors: Iterable[Floats]


def encode(packed: Packed, *, model: str, dims: int) -> Iterator[bytes]:
    """Consumes `packed.vectors`."""
    digest = hashlib.sha256()
    for part in _parts(packed, model=model, dims=dims):
        digest.update(part)
        yield part
    yield digest.digest()


def decode(data: bytes | memoryview, *, model: str, dims: int) -> Packed | None:
    """Arrays are read-only views of `data`. None unless it is whole, of this format, and of this
    model's vectors."""
    view = memoryview(data)
    body, digest = view[:-_DIGEST], bytes(view[-_DIGEST:])
    if len(body) < _OPENING.size or hashlib.sha256(body).digest() != digest:
        return None
    magic, version, length = _OPENING.unpack_from(body)
    if magic != _MAGIC or version != _FORMAT:
        return None
    end = _OPENING.size + length
    header = json.loads(bytes(body[_OPENING.size : end]))
    if (header["model"], header["dims"], header["kinds"]) != (model, dims, _KINDS):
        return None
    return _packed(header, body, start=_aligned(end))


def _parts(packed: Packed, *, model: str, dims: int) -> Iterator[bytes]:
    arrays = _arrays(packed)
    header = _header(packed, model=model, dims=dims)
    header["sizes"] = [len(arrays[name]) for name, _ in _SECTIONS]
    encoded = json.dumps(header, separators=(",", ":")).encode()
    yield _padded(_OPENING.pack(_MAGIC, _FORMAT, len(encoded)) + encoded)
    for name, dtype in _SECTIONS:
        yield _padded(arrays[name].astype(dtype).tobytes())
    for block in packed.vectors:
        yield block.astype("<f4", copy=False).tobytes()


def _header(packed: Packed, *, model: str, dims: int) -> dict[str, Any]:
    at = packed.position
    return {
        "model": model,
        "dims": dims,
        "kinds": _KINDS,
        "position": at and {"generation": at.generation, "counts": at.counts},
        "ids": packed.slots.ids,
        "terms": packed.terms.terms,
        "tags": packed.slots.tags.terms,
    }


def _arrays(packed: Packed) -> dict[str, NDArray[Any]]:
    return {
        "kinds": packed.slots.kinds,
        "days": packed.slots.days,
        "revisions": packed.slots.revisions,
        "lengths": packed.slots.lengths,
        "term_sizes": packed.terms.sizes,
        "term_slots": packed.terms.slots,
        "term_counts": packed.terms.counts,
        "tag_sizes": packed.slots.tags.sizes,
        "tag_slots": packed.slots.tags.slots,
        "tag_counts": packed.slots.tags.counts,
        "owners": packed.owners,
    }


def _packed(header: dict[str, Any], body: memoryview, *, start: int) -> Packed:
    arrays: dict[str, NDArray[Any]] = {}
    for (name, dtype), size in zip(_SECTIONS, header["sizes"], strict=True):
        arrays[name] = np.frombuffer(body, dtype, count=size, offset=start)
        start = _aligned(start + arrays[name].nbytes)
    vectors = np.frombuffer(body[start:], "<f4").astype(np.float32, copy=False)
    at = header["position"]
    return Packed(
        position=at and Position(generation=at["generation"], counts=tuple(at["counts"])),
        slots=PackedSlots(
            ids=header["ids"],
            kinds=arrays["kinds"],
            days=arrays["days"],
            revisions=arrays["revisions"],
            lengths=arrays["lengths"],
            tags=_postings(header["tags"], arrays, "tag"),
        ),
        terms=_postings(header["terms"], arrays, "term"),
        owners=arrays["owners"],
        vectors=(vectors.reshape(-1, header["dims"]),),
    )


def _postings(terms: list[str], arrays: dict[str, NDArray[Any]], kind: str) -> PackedPostings:
    return PackedPostings(
        terms=terms,
        sizes=arrays[f"{kind}_sizes"],
        slots=arrays[f"{kind}_slots"],
        counts=arrays[f"{kind}_counts"],
    )


def _aligned(offset: int) -> int:
    return -(-offset // 64) * 64


def _padded(part: bytes) -> bytes:
    return part.ljust(_aligned(len(part)), b"\0")
