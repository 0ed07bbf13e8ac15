"""The arithmetic on vectors: a port."""

from collections.abc import Sequence
from typing import Protocol

from keeproom.vault.model import Embedding


class Scorer(Protocol):
    """All float32; results in the order of `embeddings`."""

    def cosines(self, vector: bytes, embeddings: Sequence[Embedding]) -> Sequence[float]:
        """Cosine of each embedding's best chunk."""
        ...

    def late_interaction(
        self, tokens: bytes, weights: Sequence[float], embeddings: Sequence[Embedding]
    ) -> Sequence[float]:
        """MaxSim: sum over query tokens of weight x best match among the memory's token signs,
        over the sum of the weights; about 0 to 1, and 0.0 where there are no bits."""
        ...

    def mean_cosine(self, left: Sequence[bytes], right: Sequence[bytes]) -> Sequence[float]:
        """Cosine of each pair of first chunks."""
        ...
