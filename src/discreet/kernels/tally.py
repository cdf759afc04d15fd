"""What the contributions to each cell come to: their sum, their number and the largest of them."""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel


@kernel
def largest(cells: Ints, contributions: Floats, n: int, tops: Floats) -> None:
    """Keep the largest contributions to each cell in falling order.

    Parameters
    ----------
    cells : array of int
        The cell of each contribution.
    contributions : array of float
        How large each is.
    n : int
        Number of cells.
    tops : array of float, cells × places
        Filled with minus infinity; a place that no contribution takes is left so.
    """
    places = tops.shape[1]
    if n == 0 or places == 0:
        return
    for at in range(cells.size):
        row = tops[cells[at]]
        x = contributions[at]
        if not x > row[places - 1]:
            continue
        place = places - 1
        while place > 0 and x > row[place - 1]:
            row[place] = row[place - 1]
            place -= 1
        row[place] = x


@kernel
def alone(cells: Ints, contributors: Ints, n: int) -> Ints:
    """Who is the only contributor of each cell; −1 where there is none or more than one."""
    found = np.full(n, -1, dtype=np.int64)
    several = np.zeros(n, dtype=np.bool_)
    for at in range(cells.size):
        cell = cells[at]
        if found[cell] >= 0 and found[cell] != contributors[at]:
            several[cell] = True
        found[cell] = contributors[at]
    for cell in range(n):
        if several[cell]:
            found[cell] = -1
    return found
