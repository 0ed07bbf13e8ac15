"""Vectors of a model as the vault keeps them."""

import numpy as np
import numpy.typing as npt

from keeproom.errors import Unavailable


def unit_rows(rows: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Each row divided by its length, as float32. Raises `Unavailable` for rows of different
    lengths, numbers that are not finite, and a row without direction."""
    try:
        wide = np.array(rows, np.float64, ndmin=2)
    except (OverflowError, TypeError, ValueError):
        wide = np.empty(0)
    if wide.ndim == 2 and wide.size and np.isfinite(wide).all():
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
        if (lengths > 0).all() and np.isfinite(lengths).all():
            return (wide / lengths).astype("<f4")
    raise Unavailable("The embedding model answered with something that is not a vector.")
