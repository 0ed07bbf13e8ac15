"""Text into pieces of a Unigram vocabulary: the segmentation whose summed log-probability is
highest (Kudo 2018, arXiv 1804.10959, section 3.2), found word by word.

A piece has the word mark U+2581 at its start or not at all, so the best segmentation of a text is
that of its words one after another, and frequent words are segmented only once.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from keeproom.engines.e5_file import Vocabulary

MARK = "\u2581"

_WORD = re.compile(f"{MARK}[^{MARK}]*")
_SPACES = re.compile(" {2,}")
_WORDS_KEPT = 16_384
_LONGEST_WORD_KEPT = 40  # characters: bounds what the kept words may weigh
_UNKNOWN_PENALTY = 10.0


class Unigram:
    """Safe for threads. Control pieces are never made from text: `<s>` in a text is three
    characters."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._pieces = vocabulary.pieces
        self._scores = vocabulary.scores
        self._unknown = vocabulary.unknown
        self._unknown_score = min(vocabulary.scores) - _UNKNOWN_PENALTY
        self._normal = str.maketrans(dict(vocabulary.normal))
        self._ids = {piece: k for k, piece in enumerate(vocabulary.pieces)}
        for control in (vocabulary.begin, vocabulary.end, vocabulary.pad, vocabulary.unknown):
            del self._ids[vocabulary.pieces[control]]
        self._reach: dict[str, int] = {}
        for piece in self._ids:
            self._reach[piece[0]] = max(len(piece), self._reach.get(piece[0], 1))
        self._longest = max(self._reach.values())
        self._kept = lru_cache(maxsize=_WORDS_KEPT)(self._segment)

    def ids(self, text: str, *, limit: int) -> list[int]:
        """The first `limit` piece ids of the text. Time grows with the limit, not with the text
        or with what its characters stand for (U+FDFA is read as eighteen)."""
        ids: list[int] = []
        for word in self._words(text, longest=limit * self._longest):
            ids += self._kept(word) if len(word) <= _LONGEST_WORD_KEPT else self._segment(word)
            if len(ids) >= limit:
                return ids[:limit]
        return ids

    def surfaces(self, text: str, *, limit: int) -> list[str]:
        """What each of the `ids` covers; U+2581 stands for the space before a word."""
        normal = "".join(self._words(text, longest=limit * self._longest))
        surfaces: list[str] = []
        start = 0
        for k in self.ids(text, limit=limit):
            end = start + (1 if k == self._unknown else len(self._pieces[k]))
            surfaces.append(normal[start:end])
            start = end
        return surfaces

    def _words(self, text: str, *, longest: int) -> Iterator[str]:
        """The text as the vocabulary spells it, cut at the marks: no more than `longest`
        characters, which are at least as many pieces as were asked for."""
        read = unicodedata.normalize("NFC", text[:longest]).translate(self._normal)[:longest]
        spaced = _SPACES.sub(" ", " " + read).replace(" ", MARK)
        return (found[0] for found in _WORD.finditer(spaced))

    def _segment(self, word: str) -> tuple[int, ...]:
        end = len(word)
        best = [0.0] + [float("-inf")] * end
        last: list[tuple[int, int]] = [(0, 0)] * (end + 1)  # the piece that ends here, its start
        for i in range(end):
            unknown = best[i] + self._unknown_score
            if unknown > best[i + 1]:
                best[i + 1], last[i + 1] = unknown, (self._unknown, i)
            for j in range(i + 1, min(end, i + self._reach.get(word[i], 0)) + 1):
                k = self._ids.get(word[i:j])
                if k is not None and best[i] + self._scores[k] > best[j]:
                    best[j], last[j] = best[i] + self._scores[k], (k, i)
        backwards: list[int] = []
        while end:
            k, end = last[end]
            backwards.append(k)
        return tuple(reversed(backwards))
