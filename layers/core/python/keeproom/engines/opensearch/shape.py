"""What the collection holds: a document for each chunk of a memory, never its text.

The first chunk's document has the terms of the whole memory; every document has its vector, where
there is one, and what a search may be narrowed by. A change here needs another `VERSION`: then a
new index is filled beside the old one, which goes when the new one is complete.
"""

import hashlib
import math
import struct
from collections.abc import Iterator
from typing import Any

from keeproom.vault.ports import Indexed, Where

VERSION = 1
_KEYWORD = {"type": "keyword"}


def prefix(vault: str) -> str:
    """How the names of this vault's indexes begin; no other's do."""
    return f"keeproom-{_short(vault)}-"


def index_name(vault: str, model: str, dims: int) -> str:
    return f"{prefix(vault)}{VERSION}-{_short(f'{model}/{dims}')}"


def _short(text: str) -> str:
    """Lower case, and tells nothing."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def definition(dims: int) -> dict[str, Any]:
    """Terms come from our own analyser, so the index only splits them at spaces. No engine is
    named: the service allows its own one alone. Without a space it would take l2."""
    vector = {"type": "knn_vector", "dimension": dims, "space_type": "cosinesimil"}
    return {
        "settings": {"index": {"knn": True}},
        "mappings": {
            "dynamic": "strict",
            "properties": {
                "memory_id": _KEYWORD,
                "generation": _KEYWORD,
                "status": _KEYWORD,
                "type": _KEYWORD,
                "tags": _KEYWORD,
                "valid_on": {"type": "date", "format": "strict_date"},
                "terms": {"type": "text", "analyzer": "whitespace"},
                "vector": vector,
            },
        },
    }


def documents(row: Indexed, *, generation: str, dims: int) -> Iterator[dict[str, Any]]:
    about: dict[str, Any] = {
        "memory_id": row.id,
        "generation": generation,
        "status": row.status,
        "type": row.type,
        "tags": list(row.tags),
        "valid_on": row.valid_on.isoformat(),
    }
    words = " ".join(term for term, times in row.terms.items() for _ in range(times))
    vectors = [one for one in _vectors(row, dims) if any(one)]  # a cosine with zero is refused
    yield about | {"terms": words} | ({"vector": vectors[0]} if vectors else {})
    for one in vectors[1:]:
        yield about | {"vector": one}


def _vectors(row: Indexed, dims: int) -> Iterator[list[float]]:
    made = row.embedding
    if made and made.dims == dims:
        size = 4 * dims
        for start in range(0, len(made.vectors), size):
            yield numbers(made.vectors[start : start + size])


def numbers(vector: bytes) -> list[float]:
    """Little-endian float32, in as few digits as bring it back."""
    read = struct.unpack(f"<{len(vector) // 4}f", vector)
    return [float(f"{one:.9g}") if math.isfinite(one) else 0.0 for one in read]


def narrowed(where: Where, *, generation: str) -> list[dict[str, Any]]:
    """The conditions of a search, all of which must hold."""
    found: list[dict[str, Any]] = [
        {"term": {"generation": generation}},
        {"terms": {"status": sorted(where.statuses)}},
    ]
    if where.types is not None:
        found.append({"terms": {"type": sorted(where.types)}})
    found += [{"term": {"tags": tag}} for tag in sorted(where.tags)]
    days = {
        bound: day.isoformat()
        for bound, day in (("gte", where.since), ("lte", where.until))
        if day is not None
    }
    if days:
        found.append({"range": {"valid_on": days}})
    return found
