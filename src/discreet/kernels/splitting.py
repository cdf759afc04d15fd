"""The cheapest deviations of a whole table of any number of dimensions, by splitting relations from prices.

Deviations that keep every sum of a table are a linear space: along each axis what a code moves by is the sum of what
its parts do. The nearest point of that space is found axis by axis, each in two passes over its tree: up, what the
parts are by themselves; down, what they take of the difference to their sum. Prices and bounds stand at each cell
alone. The alternating direction method of multipliers (S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein, Distributed
optimization and statistical learning via the alternating direction method of multipliers, Foundations and Trends in
Machine Learning 3, 2011, 1-122) goes to and fro between the two, at a few operations a cell and step, where other
methods factor a matrix of all sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Bools, Floats, Ints
from discreet.kernels.jit import formula, helper

# How far each step goes beyond the nearest point, in times of the way to it.
BEYOND = 1.7
# By how much deviations come nearer to keeping every sum before those are held that leave their bounds.
ROUGHLY = 1e-2
# How many lines of an axis are gone through side by side, and of how many in a row it does not pay to copy them.
LANES, FEW = 256, 16
# What deviations that keep every sum may miss it by, and their bounds, in parts of the largest; what is near enough.
BALANCED, WITHIN, ENOUGH = 1e-9, 1e-9, 1e-11


class Trees(NamedTuple):
    """The axes of a table, one after the other, each a tree of codes with the total first and parts after their sum."""

    sizes: Ints  # axis: how many codes
    parent: Ints  # code: the place of its sum on its axis; of the total, 0
    own: Floats  # code: how much of its own deviation counts against those of its parts
    share: Floats  # code: what it takes of a difference between its sum and the parts of it


class Terms(NamedTuple):
    """What each cell of the table may do, and what it costs."""

    low: Floats
    high: Floats
    price: Floats  # of a unit, up or down
    target: Floats  # how far it is to move, with sign
    worth: Floats  # what each unit towards the target is worth; against it a unit costs as much more

    def charge(self, cells: Floats, least: float = 0.0) -> float:
        """What the cells cost that move by more than so much, each once, less what their moves are worth."""
        done = np.clip(np.sign(self.target) * cells, 0.0, np.abs(self.target))
        # Not a product of vectors, whose rounding depends on the threads of a library.
        return float(self.price[np.abs(cells) > least].sum() - (self.worth * done).sum())


def trees(parents: list[Ints]) -> Trees:
    """The trees of axes for which the parent of each code is given, parts after their sum; that of the total is 0."""
    own, share = [], []
    for parent in parents:
        # The parts of a sum are a spring each; together they are as soft as all of them one after the other.
        soft, sums = np.ones(len(parent)), np.zeros(len(parent))
        for code in range(len(parent) - 1, -1, -1):
            soft[code] = sums[code] / (1.0 + sums[code]) if sums[code] else 1.0
            if code:
                sums[parent[code]] += soft[code]
        own.append(np.where(sums > 0, sums / (1.0 + sums), 1.0))
        share.append(soft / np.where(sums[parent] > 0, sums[parent], 1.0))
    sizes = np.array([len(parent) for parent in parents], dtype=np.int64)
    return Trees(sizes, np.concatenate(parents), np.concatenate(own), np.concatenate(share))


@formula
def nearest(axes: Trees, cells: Floats) -> None:
    """Change deviations to the nearest ones that keep every sum."""
    _project(axes, cells, _lanes(axes), _lanes(axes))


@helper
def _lanes(axes: Trees) -> Floats:
    """A place to work in for as many lines side by side as `_project` takes at once."""
    return np.empty(axes.sizes.max() * (LANES + FEW))


@helper
def _project(axes: Trees, cells: Floats, lines: Floats, sums: Floats) -> None:
    """See `nearest`; lines and sums are places to work in, by `_lanes`.

    The lines of an axis are gone through side by side, as many as stay near the processor. They lie side by side
    already, but for those of the last axes, which are copied to lie so.
    """
    before, first, after = 1, 0, cells.size
    for axis in range(axes.sizes.size):
        size = axes.sizes[axis]
        after //= size
        parent = axes.parent[first : first + size]
        own, share = axes.own[first : first + size], axes.share[first : first + size]
        if after >= FEW:
            for block in range(before):
                table = cells[block * size * after : (block + 1) * size * after]
                for lane in range(0, after, LANES):
                    _project_lines(parent, own, share, table[lane:], after, min(LANES, after - lane), sums)
        else:
            blocks = LANES // after
            for begin in range(0, before, blocks):
                many = min(blocks, before - begin)
                table, width = cells[begin * size * after : (begin + many) * size * after], many * after
                for block in range(many):
                    for code in range(size):
                        for i in range(after):
                            lines[code * width + block * after + i] = table[(block * size + code) * after + i]
                _project_lines(parent, own, share, lines, width, width, sums)
                for block in range(many):
                    for code in range(size):
                        for i in range(after):
                            table[(block * size + code) * after + i] = lines[code * width + block * after + i]
        before *= size
        first += size


@helper
def _project_lines(
    parent: Ints, own: Floats, share: Floats, cells: Floats, stride: int, width: int, sums: Floats
) -> None:
    """The nearest deviations on so many lines of one axis that lie side by side, the codes of each a stride apart."""
    size = parent.size
    sums[: size * width] = 0.0
    for code in range(size - 1, -1, -1):
        mine, part = cells[code * stride : code * stride + width], sums[code * width : (code + 1) * width]
        if own[code] < 1.0:
            for i in range(width):
                mine[i] = own[code] * mine[i] + (1.0 - own[code]) * part[i]
        if code:
            above = sums[parent[code] * width : (parent[code] + 1) * width]
            for i in range(width):
                above[i] += mine[i]
    for code in range(size):
        mine, part = cells[code * stride : code * stride + width], sums[code * width : (code + 1) * width]
        if code:
            above = sums[parent[code] * width : (parent[code] + 1) * width]
            for i in range(width):
                mine[i] += share[code] * above[i]
        if own[code] < 1.0:
            for i in range(width):
                part[i] = mine[i] - part[i]


@formula
def step(axes: Trees, terms: Terms, firmness: float, cells: Floats, prices: Floats, steps: int) -> tuple[float, float]:
    """Go on from deviations within bounds and prices of the relations by so many steps, and change both.

    Parameters
    ----------
    axes : Trees
        The table.
    terms : Terms
        Its cells.
    firmness : float
        What the square of a difference between the two sides costs, twice; in the measure of the prices.
    cells : array of float
        Deviations within their bounds.
    prices : array of float
        What the relations ask of each cell, divided by the firmness.
    steps : int
        How many steps.

    Returns
    -------
    tuple of two floats
        By what deviations within bounds miss those that keep all sums at most, and how far the last step went.
    """
    count = cells.size
    other, lines, sums = np.empty(count), _lanes(axes), _lanes(axes)
    missed = moved = 0.0
    price, worth = terms.price / firmness, terms.worth / firmness
    for taken in range(steps):
        for i in range(count):
            other[i] = cells[i] - prices[i]
        _project(axes, other, lines, sums)
        if taken == steps - 1:
            for i in range(count):
                there = BEYOND * other[i] + (1.0 - BEYOND) * cells[i] + prices[i]
                found = _settle(there, terms.low[i], terms.high[i], price[i], terms.target[i], worth[i])
                missed, moved = max(missed, abs(found - other[i])), max(moved, abs(found - cells[i]))
        # By itself, so that several cells go at once.
        for i in range(count):
            there = BEYOND * other[i] + (1.0 - BEYOND) * cells[i] + prices[i]
            cells[i] = _settle(there, terms.low[i], terms.high[i], price[i], terms.target[i], worth[i])
            prices[i] = there - cells[i]
    return missed, moved


@helper
def _settle(there: float, low: float, high: float, price: float, target: float, worth: float) -> float:
    """Where a cell goes that is drawn to a place at a price."""
    side = -1.0 if target < 0.0 else 1.0
    far, goal = side * there, side * target
    found = far - price
    if found < goal:
        found = min(far - price + worth, goal)
        if found < 0.0:
            found = min(far + price + worth, 0.0)
    return min(max(side * found, low), high)


@formula
def balance(axes: Trees, low: Floats, high: Floats, able: Bools, cells: Floats, rounds: int, steps: int) -> bool:
    """Change deviations a little so that they keep every sum and their bounds; whether that succeeds.

    The least change of those that are able is found by conjugate gradients; those that would leave their bounds are
    held there, and the others make up for it.

    Parameters
    ----------
    axes : Trees
        The table.
    low, high : arrays of float
        The bounds of the deviations, the largest of which is about 1.
    able : array of bool
        Which cells may change at first; changed.
    cells : array of float
        The deviations, changed.
    rounds, steps : int
        How often to hold cells, and how many steps to take each time, at most.
    """
    count = cells.size
    missing, way, image, change = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    lines, sums = _lanes(axes), _lanes(axes)
    # Roughly, as long as that tells which cells to hold.
    nearer = ROUGHLY
    for _ in range(rounds):
        missing[:] = cells
        _project(axes, missing, lines, sums)
        left = 0.0
        for i in range(count):
            missing[i] = missing[i] - cells[i] if able[i] else 0.0
            way[i], change[i] = missing[i], 0.0
            left += missing[i] * missing[i]
        enough = max(nearer * nearer * left, ENOUGH * ENOUGH)
        for _ in range(steps):
            if left <= enough:
                break
            image[:] = way
            _project(axes, image, lines, sums)
            along = 0.0
            for i in range(count):
                image[i] = way[i] - image[i] if able[i] else 0.0
                along += way[i] * image[i]
            if along <= 0.0:
                break
            length, before = left / along, left
            left = 0.0
            for i in range(count):
                change[i] += length * way[i]
                missing[i] -= length * image[i]
                left += missing[i] * missing[i]
            for i in range(count):
                way[i] = missing[i] + left / before * way[i]
        for i in range(count):
            cells[i] += change[i]
            image[i] = cells[i]
        _project(axes, image, lines, sums)
        worst = 0.0
        for i in range(count):
            worst = max(worst, abs(image[i] - cells[i]))
        if worst > BALANCED and nearer == 0.0:
            return False
        is_inside = True
        for i in range(count):
            inside = min(max(cells[i], low[i]), high[i])
            if inside != cells[i]:
                is_inside &= abs(inside - cells[i]) <= WITHIN
                cells[i], able[i] = inside, False
        if is_inside and worst <= BALANCED:
            return True
        if is_inside:
            nearer = 0.0
    return False
