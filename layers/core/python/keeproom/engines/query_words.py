"""Which word of a query a piece of it belongs to, so that the piece can have the word's weight."""

import re
from collections.abc import Sequence

from keeproom.engines.unigram import MARK

# Chinese, Japanese and Korean; Thai, Lao, Myanmar and Khmer: a run between two spaces says more
# than one word.
_UNSPACED = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1100-\u11ff\u1780-\u17dd"
    "\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u318e\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]"
)
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


def words(surfaces: Sequence[str]) -> tuple[str, ...]:
    """The word of each piece, without the punctuation around it: pieces from one U+2581 to the
    next are one word. A piece of a script written without spaces stands for itself and ends the
    word before it (so does a Korean one, looked up by its characters); a piece without a letter
    or digit has ''."""
    found: list[str] = []
    start = 0
    for end in range(1, len(surfaces) + 1):
        if end == len(surfaces) or _parts(surfaces[end - 1], surfaces[end]):
            word = _bare("".join(surfaces[start:end]))
            found += [word if any(map(str.isalnum, s)) else "" for s in surfaces[start:end]]
            start = end
    return tuple(found)


def _parts(left: str, right: str) -> bool:
    return right.startswith(MARK) or bool(_UNSPACED.search(left) or _UNSPACED.search(right))


def _bare(surface: str) -> str:
    return _EDGES.sub("", surface.replace(MARK, ""))
