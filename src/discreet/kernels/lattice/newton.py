"""The arithmetic of an interior-point method over its variables, each formula in one pass.

Points and steps are those of `interior`: x and s the distances of a variable to its two bounds, z and w their prices;
a step of s goes against that of x. What is found is written into arrays that are there already: where variables are
many, new ones would take longer than the arithmetic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats
from discreet.kernels.jit import formula

CHUNK = 256


@formula
def weights(x: Floats, s: Floats, z: Floats, w: Floats, cell: NDArray[np.integer], cells: int, theta: Floats) -> Floats:
    """Write how easily each variable moves; give how easily each cell does by all of its variables."""
    for i in range(x.size):
        theta[i] = 1.0 / (z[i] / x[i] + w[i] / s[i])
    by_cell = np.zeros(cells)
    for i in range(x.size):
        by_cell[cell[i]] += theta[i]
    return by_cell


@formula
def image(cell: NDArray[np.integer], direction: Floats, amounts: Floats, cells: int) -> Floats:
    """What cells move by if their variables have these amounts."""
    found = np.zeros(cells)
    for i in range(cell.size):
        found[cell[i]] += direction[i] * amounts[i]
    return found


@formula
def aim(
    x: Floats,
    s: Floats,
    z: Floats,
    w: Floats,
    cost: Floats,
    prices: Floats,
    slack: Floats,
    lower: Floats,
    upper: Floats,
) -> float:
    """Write what prices are off, and right-hand sides that aim at products of 0; give the sum of all products."""
    for i in range(x.size):
        slack[i] = cost[i] - prices[i] - z[i] + w[i]
        lower[i] = -x[i] * z[i]
        upper[i] = -s[i] * w[i]
    total = 0.0
    for i in range(x.size):
        total -= lower[i] + upper[i]
    return total


@formula
def after(
    x: Floats,
    s: Floats,
    z: Floats,
    w: Floats,
    dx: Floats,
    dz: Floats,
    dw: Floats,
    ahead: float,
    up: float,
) -> float:
    """The sum of all products after a step."""
    total = 0.0
    for i in range(x.size):
        move = ahead * dx[i]
        total += (x[i] + move) * (z[i] + up * dz[i]) + (s[i] - move) * (w[i] + up * dw[i])
    return total


@formula
def surplus(prices: Floats, cost: Floats, share: float, more: float, capacity: Floats) -> float:
    """What could be gained at some prices: all that pays, as far as it goes, with a share of the cost taken off."""
    total = 0.0
    for i in range(prices.size):
        total += capacity[i] * max(prices[i] - share * cost[i] + more, 0.0)
    return total


@formula
def shift(
    theta: Floats, x: Floats, s: Floats, lower: Floats, upper: Floats, slack: Floats, part: float, found: Floats
) -> None:
    """Write what a step moves variables by before the relations have their say."""
    for i in range(x.size):
        found[i] = theta[i] * (lower[i] / x[i] - upper[i] / s[i] - part * slack[i])


@formula
def finish(
    theta: Floats,
    x: Floats,
    s: Floats,
    z: Floats,
    w: Floats,
    lower: Floats,
    upper: Floats,
    prices: Floats,
    dx: Floats,
    dz: Floats,
    dw: Floats,
) -> None:
    """Complete a step, with z dx + x dz = lower and −w dx + s dw = upper; dx has what `shift` wrote."""
    for i in range(x.size):
        dx[i] += theta[i] * prices[i]
        dz[i] = (lower[i] - z[i] * dx[i]) / x[i]
        dw[i] = (upper[i] + w[i] * dx[i]) / s[i]


@formula
def prices(spread: Floats, cell: NDArray[np.integer], direction: Floats, found: Floats) -> None:
    """Write what variables have of what was spread over cells."""
    for i in range(cell.size):
        found[i] = direction[i] * spread[cell[i]]


@formula
def mix(old: Floats, new: Floats, share: float) -> None:
    """Go from old to new by a share."""
    for i in range(old.size):
        old[i] += share * (new[i] - old[i])


@formula
def go(values: Floats, step: Floats, share: float) -> None:
    """Go along a step."""
    for i in range(values.size):
        values[i] += share * step[i]


@formula
def reach(x: Floats, s: Floats, old: Floats, new: Floats, share: float, longest: float) -> float:
    """How far x goes along a mixed step, and s against it, until one is 0; no further than asked for."""
    for start in range(0, x.size, CHUNK):
        part = slice(start, start + CHUNK)
        below, above, before, after = x[part], s[part], old[part], new[part]
        # Few variables shorten the step: whole chunks are passed over without a branch.
        short = 0
        for i in range(below.size):
            change = (before[i] + share * (after[i] - before[i])) * longest
            short += (below[i] < -change) | (above[i] < change)
        if short:
            for i in range(below.size):
                change = before[i] + share * (after[i] - before[i])
                if below[i] < -change * longest:
                    longest = -below[i] / change
                elif above[i] < change * longest:
                    longest = above[i] / change
    return longest


@formula
def climb(values: Floats, old: Floats, new: Floats, share: float, longest: float) -> float:
    """How far prices go along a mixed step until one is 0; no further than asked for."""
    for start in range(0, values.size, CHUNK):
        part = slice(start, start + CHUNK)
        price, before, after = values[part], old[part], new[part]
        short = 0
        for i in range(price.size):
            short += price[i] < -(before[i] + share * (after[i] - before[i])) * longest
        if short:
            for i in range(price.size):
                change = before[i] + share * (after[i] - before[i])
                if price[i] < -change * longest:
                    longest = -price[i] / change
    return longest


@formula
def centre(
    x: Floats,
    s: Floats,
    z: Floats,
    w: Floats,
    dx: Floats,
    dz: Floats,
    dw: Floats,
    bend: float,
    target: float,
    lower: Floats,
    upper: Floats,
) -> None:
    """Write right-hand sides that aim at products of the target, less a share of what the step bends (Mehrotra)."""
    for i in range(x.size):
        lower[i] = target - x[i] * z[i] - bend * dx[i] * dz[i]
        upper[i] = target - s[i] * w[i] + bend * dx[i] * dw[i]


@formula
def bring_back(
    x: Floats,
    s: Floats,
    z: Floats,
    w: Floats,
    dx: Floats,
    dz: Floats,
    dw: Floats,
    far: float,
    high: float,
    target: float,
    lower: Floats,
    upper: Floats,
) -> None:
    """Write right-hand sides that bring back the products that would leave the path further on (Gondzio)."""
    least, most = 0.1 * target, 10.0 * target
    for i in range(x.size):
        first = (x[i] + far * dx[i]) * (z[i] + high * dz[i])
        second = (s[i] - far * dx[i]) * (w[i] + high * dw[i])
        lower[i] = z[i] * dx[i] + x[i] * dz[i] + max(min(max(first, least), most) - first, -most)
        upper[i] = s[i] * dw[i] - w[i] * dx[i] + max(min(max(second, least), most) - second, -most)
