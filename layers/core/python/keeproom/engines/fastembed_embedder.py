"""Any model of the `fastembed` package, on this machine (extra `models`)."""

import importlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from threading import Lock
from typing import Protocol

import numpy as np
import numpy.typing as npt

from keeproom.engines.excerpts import encoded, excerpts
from keeproom.engines.unit_rows import unit_rows
from keeproom.errors import Unavailable
from keeproom.vault.ports import Encoded, EncodedQuery


class _TextEmbedding(Protocol):
    def passage_embed(self, texts: Iterable[str]) -> Iterable[npt.NDArray[np.float32]]: ...
    def query_embed(self, query: str) -> Iterable[npt.NDArray[np.float32]]: ...


class FastEmbedder:
    """An `Embedder` without token bits. The package and the model, which it may have to download,
    are loaded on first use; both calls raise `Unavailable` when that fails, and when vectors do not
    have `dims` numbers."""

    def __init__(self, model: str, *, dims: int) -> None:
        self._name = model
        self._dims = dims
        self._loading = Lock()

    @property
    def model(self) -> str:
        return self._name

    @property
    def dims(self) -> int:
        return self._dims

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        model = self._loaded()
        return encoded(texts, lambda parts: self._vectors(model.passage_embed(parts)))

    def query(self, text: str) -> EncodedQuery:
        (vector,) = self._vectors(self._loaded().query_embed(excerpts(text)[0]))
        return EncodedQuery(vector=vector)

    def _loaded(self) -> _TextEmbedding:
        with self._loading:
            return self._embedding

    @cached_property
    def _embedding(self) -> _TextEmbedding:
        try:
            return importlib.import_module("fastembed").TextEmbedding(self._name)
        except ImportError:
            raise Unavailable(
                'The embedding package is not installed: pip install "keeproom[models]".'
            ) from None
        except (OSError, RuntimeError, ValueError) as error:
            raise Unavailable(
                f"fastembed cannot load the model {self._name}: unknown, or not downloaded."
            ) from error

    def _vectors(self, rows: Iterable[npt.NDArray[np.float32]]) -> list[bytes]:
        made = list(rows)
        if any(len(row) != self._dims for row in made):
            raise Unavailable(f"The model {self._name} does not give {self._dims} dimensions.")
        return [row.tobytes() for row in unit_rows(np.stack(made))] if made else []
