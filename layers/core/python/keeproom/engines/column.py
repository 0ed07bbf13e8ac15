"""A column of numbers that grows at its end."""

import numpy as np
from numpy.typing import NDArray


class Column[T: np.generic]:
    """What has been appended is only ever written through `view`; growing moves the column to a
    new place, so a view taken earlier stays as long as it was."""

    def __init__(self, start: NDArray[T]) -> None:
        """Copies `start`."""
        self._cells = start.astype(start.dtype.newbyteorder("="))
        self._length = len(start)

    def __len__(self) -> int:
        return self._length

    def append(self, value: int, *, times: int = 1) -> None:
        end = self._length + times
        if end > len(self._cells):
            grown = np.empty(max(64, end + end // 2), self._cells.dtype)
            grown[: self._length] = self.view
            self._cells = grown
        self._cells[self._length : end] = value
        self._length = end

    @property
    def view(self) -> NDArray[T]:
        return self._cells[: self._length]
