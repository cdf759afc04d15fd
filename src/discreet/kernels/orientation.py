"""Whether relations form a network: each cell in two at most, with opposite signs once rows are turned round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel


@kernel
def orient(
    starts: Ints,
    columns: Ints,
    by_starts: Ints,
    by_rows: Ints,
    by_coefficients: Floats,
    component: Ints,
    components: int,
) -> tuple[Ints, NDArray[np.bool_]]:
    """Find signs of the rows that make the columns of a component arcs, where there are any.

    Parameters
    ----------
    starts, columns : arrays of int
        The columns of each row.
    by_starts, by_rows, by_coefficients : arrays
        The rows of each column, and its coefficients there.
    component : array of int
        The component of each column.
    components : int
        Their number.

    Returns
    -------
    signs : array of int
        1 or −1 for each row; of no meaning where the component is no network.
    networks : array of bool
        Which components are networks.
    """
    rows = starts.size - 1
    signs = np.zeros(rows, np.int64)
    networks = np.ones(components, np.bool_)
    for column in range(component.size):
        first, end = by_starts[column], by_starts[column + 1]
        if end - first > 2:
            networks[component[column]] = False
        for entry in range(first, end):
            if abs(by_coefficients[entry]) != 1.0:
                networks[component[column]] = False
    stack = np.empty(rows, np.int64)
    for start in range(rows):
        if signs[start] != 0 or starts[start] == starts[start + 1]:
            continue
        signs[start] = 1
        stack[0] = start
        size = 1
        while size > 0:
            size -= 1
            row = stack[size]
            for at in range(starts[row], starts[row + 1]):
                column = columns[at]
                first, end = by_starts[column], by_starts[column + 1]
                if end - first != 2:
                    continue
                here, there = (first, first + 1) if by_rows[first] == row else (first + 1, first)
                other = by_rows[there]
                if other == row:
                    networks[component[column]] = False
                    continue
                wanted = -signs[row] if by_coefficients[here] == by_coefficients[there] else signs[row]
                if signs[other] == 0:
                    signs[other] = wanted
                    stack[size] = other
                    size += 1
                elif signs[other] != wanted:
                    networks[component[column]] = False
    return signs, networks
