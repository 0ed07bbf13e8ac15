"""What stands in where there is no embedding model."""

from collections.abc import Sequence

from keeproom.errors import Unavailable
from keeproom.vault.ports import Encoded, EncodedQuery


class NoEmbedder:
    """Has no model: every call raises `Unavailable`, so recall goes by words alone."""

    model = "none"
    dims = 1

    def passages(self, texts: Sequence[str]) -> Sequence[Encoded]:
        raise Unavailable("No embedding model is set up.")

    def query(self, text: str) -> EncodedQuery:
        raise Unavailable("No embedding model is set up.")
