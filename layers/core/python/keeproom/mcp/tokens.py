"""How much of a model's attention a text takes, and a part of it that takes less."""

import math
import re
from collections.abc import Sequence

_WORD = re.compile(r"\w+")
_BREAK = re.compile(r"\s")
_FIRST_IDEOGRAPH = "\u2e80"  # from here on: CJK, kana, Hangul, and beyond them emoji
GAP = "…"


def tokens(text: str) -> int:
    """About how many tokens: four ASCII characters to one, two of any other alphabet, and one for
    each Chinese, Japanese or Korean character and each emoji. Tokenizers differ; where they do,
    this is rather too many."""
    if text.isascii():
        return math.ceil(len(text) / 4)
    plain = sum(char.isascii() for char in text)
    wide = sum(char >= _FIRST_IDEOGRAPH for char in text)
    return math.ceil(plain / 4 + (len(text) - plain - wide) / 2 + wide)


def snippet(text: str, *, limit: int, query: str = "") -> str:
    """At most about `limit` tokens of the text, with `…` where something is left out: where the
    most words of the query stand, else its beginning."""
    size = max(1, int(len(text) * limit / max(1, tokens(text))))
    if size >= len(text):
        return text
    start = _densest(text, _WORD.findall(query.casefold()), size)
    start = _after_break(text, start) if start else 0
    end = start + size
    if end < len(text):
        end = _before_break(text, start, end)
    return f"{GAP if start else ''}{text[start:end].strip()}{GAP if end < len(text) else ''}"


def _densest(text: str, words: Sequence[str], size: int) -> int:
    """Where the window of that size with the most different words of the query begins."""
    folded = text.casefold()
    if len(folded) != len(text):  # places would not be the same
        return 0
    places = sorted(
        (found.start(), word)
        for word in set(words)
        for found in re.finditer(re.escape(word), folded)
    )
    best, most = 0, 0
    for n, (place, _) in enumerate(places):
        told = len({word for at, word in places[n:] if at < place + size // 2})
        if told > most:
            best, most = place, told
    return max(0, min(best - size // 4, len(text) - size))


def _after_break(text: str, start: int) -> int:
    found = _BREAK.search(text, start, start + 20)
    return found.end() if found else start


def _before_break(text: str, start: int, end: int) -> int:
    found = text.rfind(" ", max(start, end - 20), end)
    return found if found > start else end
