"""multilingual-e5-small: texts into vectors and the signs of their tokens, in one pass.

The vector is the mean of the last layer's tokens; single tokens are best told apart one layer
earlier (layer 11 of 12: the best in 9 of 10 LoCoMo conversations). The embedding of one text is the
same within 1e-6 whatever it is embedded with, so only bits of numbers that close to the centre may
differ (none of 1.5 million did in the texts of `pairs.jsonl`).
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingTypeStubs]

from keeproom.engines.e5_centre import centre
from keeproom.engines.e5_file import E5File, Floats, read, unpack
from keeproom.engines.query_words import words
from keeproom.engines.transformer import Layer, Network, Norm, run
from keeproom.engines.unigram import Unigram
from keeproom.vault.ports import Encoded, EncodedQuery

NAME = "multilingual-e5-small-q4/1"
DIMS = 384

OVERLAP = 64
MOST_CHUNKS = 24
# With 24 vectors 349 kB a memory: DynamoDB takes 400 KB an item, and the item has more in it.
MOST_BITS = 6_500

_TOKENS_A_PASS = 160  # more gain nothing on one core
_MOST_WORKERS = 8


@dataclass(frozen=True, slots=True)
class _Read:
    """One window's vector and its token vectors, (tokens, dims)."""

    vector: Floats
    tokens: Floats


class E5:
    """A loaded model. Safe for threads."""

    def __init__(self, file: E5File) -> None:
        shape, vocabulary = file.shape, file.vocabulary
        self._unigram = Unigram(vocabulary)
        self._passage = [vocabulary.begin, *self._unigram.ids("passage:", limit=8)]
        self._query = [vocabulary.begin, *self._unigram.ids("query:", limit=8)]
        self._end = vocabulary.end
        self._window = shape.window
        self._words = file.blocks("emb.word", columns=shape.dims)
        places = file.floats("emb.pos").reshape(-1, shape.dims)
        self._places = places + file.floats("emb.type")[: shape.dims]
        self._network = _network(file)
        self._centre = centre()
        # BLAS with threads of its own waits for each of them: on a machine whose other core is
        # busy a query then takes three times as long. Passes side by side do without.
        threadpool_limits(limits=1, user_api="blas")
        self._workers = ThreadPoolExecutor(
            min(os.cpu_count() or 1, _MOST_WORKERS), thread_name_prefix="keeproom-e5"
        )

    @classmethod
    def load(cls, path: Path) -> "E5":
        """Raises `Unavailable` when the file is missing, `Unusable` when it is damaged or
        another."""
        return cls(read(path))

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        """A text longer than the model's window of 512 tokens is read in windows that share 64:
        one vector each, and the bits of all of them one after another. Of an endless text the first
        24 windows (some 40,000 characters of English) are read, and 6,500 tokens have bits."""
        windows = [self.windows(text) for text in texts]
        read = self._read([ids for each in windows for ids in each])
        return [self._encoded([next(read) for _ in each]) for each in windows]

    def query(self, text: str) -> EncodedQuery:
        """A query longer than the window is cut there."""
        room = self._room(self._query)
        (read,) = self._read([[*self._query, *self._unigram.ids(text, limit=room), self._end]])
        tokens = read.tokens[len(self._query) : -1] - self._centre
        tokens /= np.linalg.norm(tokens, axis=1, keepdims=True)
        return EncodedQuery(
            vector=read.vector.tobytes(),
            tokens=tokens.tobytes(),
            words=words(self._unigram.surfaces(text, limit=room)),
        )

    def _room(self, prefix: Sequence[int]) -> int:
        return self._window - len(prefix) - 1

    def windows(self, text: str) -> list[list[int]]:
        """Piece ids of each window, at most 512, with what goes around the text."""
        room = self._room(self._passage)
        step = room - OVERLAP
        content = self._unigram.ids(text, limit=step * (MOST_CHUNKS - 1) + room)
        starts = range(0, max(1, len(content) - OVERLAP), step)
        return [[*self._passage, *content[s : s + room], self._end] for s in starts]

    def _encoded(self, windows: Sequence[_Read]) -> Encoded:
        content = [window.tokens[len(self._passage) : -1] for window in windows]
        signs = np.concatenate(content)[:MOST_BITS] > self._centre
        return Encoded(
            vectors=b"".join(window.vector.tobytes() for window in windows),
            bits=np.packbits(signs, axis=1).tobytes(),
        )

    def _read(self, windows: Sequence[Sequence[int]]) -> Iterator[_Read]:
        """One pass where there is little to read, else several side by side."""
        passes = list(_passes(windows))
        return chain.from_iterable(
            map(self._pass, passes) if len(passes) == 1 else self._workers.map(self._pass, passes)
        )

    def _pass(self, together: Sequence[Sequence[int]]) -> list[_Read]:
        embedded = np.concatenate([self._embedded(ids) for ids in together]).T
        ends = np.cumsum([len(ids) for ids in together]).tolist()
        spans = [slice(end - len(ids), end) for ids, end in zip(together, ends, strict=True)]
        before, last = run(self._network, embedded, spans)
        means = [last[:, span].mean(axis=1) for span in spans]
        return [
            _Read(mean / np.linalg.norm(mean), before[:, span].T)
            for mean, span in zip(means, spans, strict=True)
        ]

    def _embedded(self, ids: Sequence[int]) -> Floats:
        rows = unpack(self._words[list(ids)])
        rows += self._places[: len(ids)]
        return rows


def _passes(windows: Sequence[Sequence[int]]) -> Iterator[Sequence[Sequence[int]]]:
    """Windows in their order, as many together as fill one pass."""
    together: list[Sequence[int]] = []
    for ids in windows:
        if together and sum(map(len, together)) + len(ids) > _TOKENS_A_PASS:
            yield together
            together = []
        together.append(ids)
    if together:
        yield together


def _network(file: E5File) -> Network:
    return Network(
        layers=[_layer(file, f"l{k}.") for k in range(file.shape.layers)],
        entry=_norm(file, "emb.ln"),
        heads=file.shape.heads,
        epsilon=file.shape.epsilon,
    )


def _layer(file: E5File, name: str) -> Layer:
    shape = file.shape
    dense = partial(_dense, file, columns=shape.dims)
    queries = dense(name + "q") / np.float32(np.sqrt(shape.dims // shape.heads))
    narrow = _dense(file, name + "fo", columns=shape.inner)
    narrow[:, :-1] /= 2
    return Layer(
        attend=np.concatenate([queries, dense(name + "k"), dense(name + "v")]),
        mix=dense(name + "ao"),
        mixed=_norm(file, name + "aln"),
        widen=dense(name + "fi"),
        narrow=narrow,
        narrowed=_norm(file, name + "oln"),
    )


def _dense(file: E5File, name: str, *, columns: int) -> Floats:
    """Weights (outputs, inputs) with the bias as one more column."""
    weights = file.matrix(name + ".w", columns=columns)
    return np.concatenate([weights, file.floats(name + ".b")[:, None]], axis=1)


def _norm(file: E5File, name: str) -> Norm:
    return Norm(file.floats(name + ".w")[:, None], file.floats(name + ".b")[:, None])
