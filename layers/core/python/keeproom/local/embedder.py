"""The embedding model that comes with the installation: multilingual-e5-small, on this machine."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock

from keeproom.engines.e5 import DIMS, E5, NAME
from keeproom.engines.e5_file import installed
from keeproom.errors import Unavailable, Unusable
from keeproom.vault.ports import Encoded, EncodedQuery

_log = logging.getLogger(__name__)
_QUERIES_KEPT = 256
_LONGEST_KEPT = 200  # characters: a token of a kept query weighs 1.5 kB


def open(path: Path | None = None) -> "BundledEmbedder":
    """The model in that file, by default where the wheel put it. Cheap: the file is looked for and
    loaded when the model is first used, once."""
    return BundledEmbedder(path)


class BundledEmbedder:
    """An `Embedder`. Both calls raise `Unavailable` when the model is not installed or its file is
    damaged: the vault goes on without it. Safe for threads."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._loaded: E5 | None = None
        self._damaged = ""
        self._loading = Lock()
        self._kept = lru_cache(maxsize=_QUERIES_KEPT)(self._encode)

    @property
    def model(self) -> str:
        return NAME

    @property
    def dims(self) -> int:
        return DIMS

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        return self._model().passages(texts)

    def query(self, text: str) -> EncodedQuery:
        return self._kept(text) if len(text) <= _LONGEST_KEPT else self._encode(text)

    def _encode(self, text: str) -> EncodedQuery:
        return self._model().query(text)

    def _model(self) -> E5:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._load()
        return self._loaded

    def _load(self) -> E5:
        """A file that was found damaged is not read again."""
        if self._damaged:
            raise Unavailable(self._damaged)
        try:
            return E5.load(self._path or installed())
        except Unusable as error:
            self._damaged = str(error)
            _log.error("the embedding model cannot be used: %s", error)
            raise Unavailable(self._damaged) from error
