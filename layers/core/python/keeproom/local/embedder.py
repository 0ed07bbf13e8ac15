"""The embedding model that comes with the installation: multilingual-e5-small, on this machine."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock

from keeproom.engines.e5 import DIMS, E5, NAME
from keeproom.engines.e5_file import installed
from keeproom.vault.ports import Encoded, EncodedQuery

_QUERIES_KEPT = 256
_LONGEST_KEPT = 200  # characters: a token of a kept query weighs 1.5 kB


class BundledEmbedder:
    """An `Embedder`. Both calls raise `Unavailable` when the model is not installed and `Unusable`
    when its file is damaged. Safe for threads."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._loaded: E5 | None = None
        self._loading = Lock()
        self._kept = lru_cache(maxsize=_QUERIES_KEPT)(self._encode)

    @classmethod
    def open(cls, path: Path | None = None) -> "BundledEmbedder":
        """Cheap: the model is looked for (where the wheel put it, without a path) and loaded when
        it is first used, once."""
        return cls(path)

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
                    self._loaded = E5.load(self._path or installed())
        return self._loaded
