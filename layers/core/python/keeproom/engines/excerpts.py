"""A long text as overlapping excerpts, for models whose tokens we cannot count."""

SIZE = 1_500  # characters: inside 512 tokens in English, inside any newer model's window elsewhere
OVERLAP = 200
MOST = 24


def excerpts(text: str) -> list[str]:
    """Each of at most 1,500 characters, the last 200 of which begin the next; the first 24 of an
    endless text."""
    starts = range(0, max(1, len(text) - OVERLAP), SIZE - OVERLAP)
    return [text[start : start + SIZE] for start in starts[:MOST]]
