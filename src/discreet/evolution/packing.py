"""Many arrays in two: a population is kept as one flat array and the shapes of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack(arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Put arrays of one type and number of dimensions end to end.

    Parameters
    ----------
    arrays : sequence of arrays
        At least one; their lengths may differ.

    Returns
    -------
    tuple of arrays
        All elements, and a row for the shape of each array.
    """
    if len({(array.dtype, array.ndim) for array in arrays}) > 1:
        raise TypeError("encode must give arrays of one type and number of dimensions")
    shapes = np.array([array.shape for array in arrays], np.int64).reshape(len(arrays), -1)
    return np.concatenate([array.ravel() for array in arrays]), shapes


def unpack(flat: NDArray[Any], shapes: NDArray[np.int64]) -> list[NDArray[Any]]:
    """Take apart what `pack` put together; the arrays are copies.

    Parameters
    ----------
    flat : array
        All elements.
    shapes : array of int
        A row for each array.
    """
    ends = np.cumsum(shapes.prod(axis=1))
    parts = np.split(flat, ends[:-1])
    return [part.reshape(tuple(shape)).copy() for part, shape in zip(parts, shapes, strict=True)]
