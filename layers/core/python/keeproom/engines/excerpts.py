"""A long text as overlapping excerpts, for models whose tokens we cannot count."""

from collections.abc import Callable, Iterable, Sequence

from keeproom.vault.ports import Encoded

SIZE = 1_500  # characters: inside 512 tokens in English, inside any newer model's window elsewhere
OVERLAP = 200
MOST = 24


def excerpts(text: str) -> list[str]:
    """Each of at most 1,500 characters, the last 200 of which begin the next; the first 24 of an
    endless text."""
    starts = range(0, max(1, len(text) - OVERLAP), SIZE - OVERLAP)
    return [text[start : start + SIZE] for start in starts[:MOST]]


def encoded(texts: Sequence[str], embed: Callable[[list[str]], Iterable[bytes]]) -> list[Encoded]:
    """Each text by the vectors of its excerpts. `embed`: the vector of each excerpt it is given."""
    parts = [excerpts(text) for text in texts]
    rows = iter(embed([part for each in parts for part in each]))
    return [Encoded(vectors=b"".join(next(rows) for _ in each)) for each in parts]
