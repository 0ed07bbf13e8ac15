"""Embeddings made once: measuring another formula need not wait for the model."""

import hashlib
import json
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from keeproom.vault.ports import Embedder, Encoded, EncodedQuery

_GROUP = 32  # texts embedded and kept at a time


class CachedEmbedder:
    """`Embedder` that asks `inner` only for what it has not embedded before. With a folder, what
    no earlier run has: one file a model, where a text is known by its SHA-256 alone. Delete the
    folder when the model's runtime changes."""

    def __init__(self, inner: Embedder, folder: Path | None) -> None:
        self._inner = inner
        self._rows = sqlite3.connect(_file(folder, inner.model), isolation_level=None)
        self._rows.execute("PRAGMA synchronous=off")
        self._rows.execute(
            "CREATE TABLE IF NOT EXISTS made"
            " (key BLOB PRIMARY KEY, vectors BLOB, tokens BLOB, words TEXT) WITHOUT ROWID"
        )

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dims(self) -> int:
        return self._inner.dims

    def passages(self, texts: Sequence[str]) -> Sequence[Encoded]:
        keys = [_key("passage", text) for text in texts]
        new = [n for n, key in enumerate(keys) if self._row(key) is None]
        for start in range(0, len(new), _GROUP):
            group = new[start : start + _GROUP]
            made = self._inner.passages([texts[n] for n in group])
            for n, one in zip(group, made, strict=True):
                self._keep(keys[n], one.vectors, one.bits, ())
        return [self._passage(key) for key in keys]

    def query(self, text: str) -> EncodedQuery:
        key = _key("query", text)
        row = self._row(key)
        if row is None:
            made = self._inner.query(text)
            self._keep(key, made.vector, made.tokens, made.words)
            return made
        vector, tokens, words = row
        return EncodedQuery(vector=vector, tokens=tokens, words=tuple(json.loads(words)))

    def _passage(self, key: bytes) -> Encoded:
        row = self._row(key)
        assert row is not None
        return Encoded(vectors=row[0], bits=row[1])

    def _row(self, key: bytes) -> tuple[bytes, bytes, str] | None:
        sql = "SELECT vectors, tokens, words FROM made WHERE key = ?"
        return self._rows.execute(sql, (key,)).fetchone()

    def _keep(self, key: bytes, vectors: bytes, tokens: bytes, words: Sequence[str]) -> None:
        self._rows.execute(
            "INSERT OR REPLACE INTO made VALUES (?, ?, ?, ?)",
            (key, vectors, tokens, json.dumps(words)),
        )


def _file(folder: Path | None, model: str) -> Path | str:
    if folder is None:
        return ":memory:"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{re.sub(r'\W+', '-', model)}.sqlite"


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind}\0{text}".encode()).digest()
