"""The arithmetic on stored embeddings."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from keeproom.engines.e5_file import Floats
from keeproom.vault.model import Embedding

_FLOAT: np.dtype[np.float32] = np.dtype("<f4")

# The eight signs of each byte, most significant bit first: +1 for a one, -1 for a zero. Looking
# them up beats unpacking bits and converting them to float32.
_SIGNS = (np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1).astype(
    np.float32
)

# So many memory tokens in one product: small enough that OpenBLAS neither packs the operands nor
# wakes its threads. 0.7 ms instead of 1.2 for 200 memories, and no wait when the cores are busy.
_TOGETHER = 32


class NumpyScorer:
    """A `Scorer`. All embeddings of one call are of one model."""

    def cosines(self, vector: bytes, embeddings: Sequence[Embedding]) -> list[float]:
        """Cosine of each embedding's best chunk, 0.0 where it has none."""
        query = np.frombuffer(vector, _FLOAT)
        rows = np.frombuffer(b"".join(e.vectors for e in embeddings), _FLOAT)
        cosines = rows.reshape(-1, len(query)) @ query[:, None]
        return _best(cosines, [e.chunks for e in embeddings])[:, 0].tolist()

    def late_interaction(
        self, tokens: bytes, weights: Sequence[float], embeddings: Sequence[Embedding]
    ) -> list[float]:
        """MaxSim with one bit a dimension: the match of two tokens is query . signs / sqrt(dims).
        0.0 for all when no weight is above zero."""
        weight = np.asarray(weights, np.float32)
        told = weight > 0
        if not embeddings or not told.any():
            return [0.0] * len(embeddings)
        dims = embeddings[0].dims
        query = np.frombuffer(tokens, _FLOAT).reshape(-1, dims)[told]
        size = (dims + 7) // 8
        matches = _signs(embeddings, size=size)[..., :dims] @ query.T
        counts = [len(e.bits) // size for e in embeddings]
        best = _best(matches.reshape(-1, len(query))[: sum(counts)], counts)
        shares = weight[told] / (weight[told].sum() * np.sqrt(np.float32(dims)))
        return (best @ shares).tolist()

    def mean_cosine(self, left: Sequence[bytes], right: Sequence[bytes]) -> list[float]:
        """Of unit rows, pair by pair."""
        shape = (len(left), len(left[0]) // 4 if left else 0)
        a, b = (np.frombuffer(b"".join(side), _FLOAT).reshape(shape) for side in (left, right))
        return np.einsum("ij,ij->i", a, b).tolist()


def _signs(embeddings: Sequence[Embedding], *, size: int) -> Floats:
    """The signs of all tokens, some `_TOGETHER` at a time; the last few may stand for none."""
    bits = b"".join(e.bits for e in embeddings)
    packed = np.frombuffer(bits + bytes(-len(bits) % (size * _TOGETHER)), np.uint8)
    return _SIGNS.take(packed, axis=0).reshape(-1, _TOGETHER, 8 * size)


def _best(rows: Floats, counts: Sequence[int]) -> Floats:
    """The greatest of each run of `counts` rows, column by column; zeros for an empty run."""
    best = np.zeros((len(counts), rows.shape[1]), np.float32)
    runs = [k for k, count in enumerate(counts) if count]
    if runs:
        starts = list(accumulate((counts[k] for k in runs[:-1]), initial=0))
        best[runs] = np.maximum.reduceat(rows, starts, axis=0)
    return best
