"""Embedding models small enough to reason about."""

import hashlib
import math
import struct
from collections.abc import Collection, Sequence

from keeproom.errors import Unavailable
from keeproom.vault.model import Profile
from keeproom.vault.ports import Encoded, EncodedQuery

DIMS = 256


class WordEmbedder:
    """A bag of words: each word is one fixed direction, so texts are as close as the words they
    share. Gives no token vectors. `down` makes it fail as a model that cannot be reached, and
    `refused` whenever one of these words is among its texts."""

    def __init__(self, model: str = "words/1", *, refused: Collection[str] = ()) -> None:
        self.model, self.dims, self.down, self.calls = model, DIMS, False, 0
        self.refused = refused

    @property
    def profile(self) -> Profile:
        return Profile(
            model=self.model,
            dims=DIMS,
            mu={"": 0.0},
            covers=frozenset({"latin", "cyrillic", "kana", "han", "hangul", "other"}),
            calibrated=True,
        )

    def passages(self, texts: Sequence[str]) -> Sequence[Encoded]:
        self._answer()
        if any(word in text.split() for word in self.refused for text in texts):
            raise Unavailable("The model refused the request.")
        return [Encoded(vectors=_vector(text)) for text in texts]

    def query(self, text: str) -> EncodedQuery:
        self._answer()
        return EncodedQuery(vector=_vector(text))

    def _answer(self) -> None:
        self.calls += 1
        if self.down:
            raise Unavailable("The model is down.")


def direction(text: str, size: int = DIMS) -> list[float]:
    """Where the text points, at a length of its own."""
    row = [0.0] * size
    for word in text.casefold().replace(".", " ").replace(",", " ").split():
        digest = hashlib.sha256(word.encode()).digest()
        for n in range(0, 16, 2):
            row[digest[n]] += 1.0 if digest[n + 1] & 1 else -1.0
    return row


def _vector(text: str) -> bytes:
    row = direction(text)
    size = math.sqrt(sum(x * x for x in row)) or 1.0
    return struct.pack(f"<{DIMS}f", *(x / size for x in row))
