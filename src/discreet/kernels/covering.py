"""Lower bounds of what a set costs that must cover many rows at once, by prices that the rows share.

Every column has a weight, and every row takes the cheapest set of its columns that it is content with: one with enough
capacity together, or, where it wants none, no column or several. The rows share the weight of a column by prices; so
what the rows pay together is no more than what any set costs that all are content with. The prices are moved to where
the rows disagree least about each column, by the volume algorithm (F. Barahona, R. Anbil, Mathematical Programming 87,
2000, 385-399), which also gives shares of the columns that come near a solution of the relaxation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper, kernel

Marks = NDArray[np.int8]

# After so many nodes of a tree units take over, of which what is wanted has so many at most. What is found may be
# this much too high, and is lowered by it.
MOST_NODES, MOST_UNITS, PRECISION = 200, 1_000, 1e-3
# Less than this part of what is wanted may be lacking: it is rounding.
LACKING = 1e-9
# How much of the latest answer of the rows goes into the shares, and how the length of steps is kept: first, most, by
# what it grows and falls, after how many steps without a gain, and below what part of the first it begins anew.
LATEST, FIRST, LONGEST, GROWTH, FALL, PATIENCE, SHORTEST = 0.1, 0.5, 2.0, 1.1, 0.66, 8, 0.01
# A gain is one by this part; a step aims at a bound that is higher by this part.
GAIN, AIM = 1e-5, 0.05


class Rows(NamedTuple):
    """Rows of columns with two capacities each, and what of either a row wants; without a wish: none or several."""

    starts: Ints
    columns: Ints
    first: Floats
    second: Floats
    first_wanted: Floats
    second_wanted: Floats


@kernel
def raise_prices(rows: Rows, weight: Floats, prices: Floats, best: float, steps: int, share: Floats) -> float:
    """Move prices so that the rows pay more together; the most they paid, or what they did before.

    Parameters
    ----------
    rows : Rows
        The rows.
    weight : array of float
        What each column costs.
    prices : array of float
        What each entry of the rows costs, together no more than the weight of its column; changed if that pays.
    best : float
        What the rows pay at these prices, or 0 if that is not known.
    steps : int
        How many steps.
    share : array of float
        Changed: for each column how many of its rows take it, lately.
    """
    entries, many = rows.columns.size, weight.size
    taken, lately, degree = np.zeros(entries, np.int8), np.zeros(entries), np.zeros(many)
    for entry in range(entries):
        degree[rows.columns[entry]] += 1.0
    trial, here, level = prices.copy(), prices.copy(), best
    length, idle, is_fresh = FIRST, 0, True
    for _ in range(steps):
        value = pay(rows, trial, taken)
        latest = 1.0 if is_fresh else LATEST
        is_fresh = False
        for entry in range(entries):
            lately[entry] += latest * (taken[entry] - lately[entry])
        if value > best:
            best = value
            prices[:] = trial
        if value > level:
            idle = 0 if value > level * (1.0 + GAIN) else idle
            level, length = value, min(length * GROWTH, LONGEST)
            here[:] = trial
        else:
            idle += 1
        if idle >= PATIENCE:
            length, idle = length * FALL, 0
            if length < FIRST * SHORTEST:
                # A step away, whatever it costs.
                length, is_fresh, level = FIRST, True, value
                here[:] = trial
        share[:] = 0.0
        for entry in range(entries):
            share[rows.columns[entry]] += lately[entry] / degree[rows.columns[entry]]
        size, widest = 0.0, 0.0
        for entry in range(entries):
            column = rows.columns[entry]
            apart = abs(lately[entry] - share[column])
            size, widest = size + weight[column] * apart**2, max(widest, apart)
        if size == 0.0:
            break
        # Where the rows nearly agree, no price moves by more than the weight.
        step = min(length * AIM * max(level, GAIN * size) / size, 1.0 / widest)
        for entry in range(entries):
            column = rows.columns[entry]
            trial[entry] = here[entry] + step * weight[column] * (lately[entry] - share[column])
    return best


@kernel
def pay(rows: Rows, prices: Floats, taken: Marks) -> float:
    """What the rows pay together, each for the columns it takes, which are marked; no more than that."""
    total = 0.0
    for row in range(rows.starts.size - 1):
        begin, end = rows.starts[row], rows.starts[row + 1]
        wanted, other = rows.first_wanted[row], rows.second_wanted[row]
        price, mark = prices[begin:end], taken[begin:end]
        if wanted > 0.0 or other > 0.0:
            total += _cover(price, rows.first[begin:end], rows.second[begin:end], wanted, other, mark)
        else:
            total += _pair(price, mark)
    return total


@helper
def _pair(price: Floats, taken: Marks) -> float:
    """The cheapest of no column, or two or more."""
    total, count, one, other = 0.0, 0, -1, -1
    for i in range(price.size):
        taken[i] = 1 if price[i] <= 0.0 else 0
        if taken[i]:
            total += price[i]
            count += 1
            one = i
        elif other < 0 or price[i] < price[other]:
            other = i
    if count != 1:
        return total
    if other < 0 or total + price[other] > 0.0:
        taken[one] = 0
        return 0.0
    taken[other] = 1
    return float(total + price[other])


@helper
def _cover(price: Floats, first: Floats, second: Floats, wanted: float, other: float, taken: Marks) -> float:
    """The cheapest columns with both capacities, or a little less than they cost: a tree, then whole units."""
    total, many = 0.0, 0
    places = np.empty(price.size, np.int64)
    for i in range(price.size):
        taken[i] = 1 if price[i] <= 0.0 else 0
        if taken[i]:
            total += price[i]
            wanted -= first[i]
            other -= second[i]
        elif first[i] > 0.0 or second[i] > 0.0:
            places[many] = i
            many += 1
    if wanted <= 0.0 and other <= 0.0:
        return total
    places = places[:many]
    # The tree goes by the capacity that is harder to have.
    main, side, need, rest = first, second, wanted, other
    order = _by_ratio(price, first, wanted, places)
    if other > 0.0:
        by_other = _by_ratio(price, second, other, places)
        if wanted <= 0.0 or _relax(price, second, other, by_other) > _relax(price, first, wanted, order):
            main, side, need, rest, order = second, first, other, wanted, by_other
    cost, gives, gives_side = np.empty(many), np.empty(many), np.empty(many)
    for k in range(many):
        cost[k], gives[k], gives_side[k] = price[order[k]], min(main[order[k]], need), side[order[k]]
    chosen = np.zeros(many, np.int8)
    paid = _search_tree(cost, gives, gives_side, need, rest, chosen)
    if paid < 0.0:
        paid = _by_units(cost, gives, need, chosen)
    for k in range(many):
        taken[order[k]] = chosen[k]
    return total + paid


@helper
def _by_ratio(price: Floats, capacity: Floats, need: float, places: Ints) -> Ints:
    """Columns by rising price of a unit of capacity, as far as it is of use."""
    ratio = np.empty(places.size)
    for k in range(places.size):
        use = min(capacity[places[k]], need)
        ratio[k] = price[places[k]] / use if use > 0.0 else np.inf
    return places[np.argsort(ratio, kind="mergesort")]


@helper
def _relax(price: Floats, capacity: Floats, need: float, order: Ints) -> float:
    """What the capacity costs at least, if columns could be taken in parts."""
    total, rest = 0.0, need
    for i in order:
        use = min(capacity[i], need)
        if use >= rest:
            return float(total + price[i] * rest / use)
        total += price[i]
        rest -= use
    return total


@helper
def _relax_from(cost: Floats, gives: Floats, k: int, rest: float) -> float:
    """The same for the columns from a place on, which stand in their order."""
    total = 0.0
    while k < cost.size:
        if gives[k] >= rest:
            return float(total + cost[k] * rest / gives[k])
        total += cost[k]
        rest -= gives[k]
        k += 1
    return total


@helper
def _search_tree(cost: Floats, gives: Floats, side: Floats, need: float, other: float, chosen: Marks) -> float:
    """The least cost of columns with two capacities, lowered by the precision; −1 after too many nodes."""
    many = cost.size
    left, left_side = np.zeros(many + 1), np.zeros(many + 1)
    for k in range(many - 1, -1, -1):
        left[k], left_side[k] = left[k + 1] + gives[k], left_side[k + 1] + side[k]
    slack, slack_side = LACKING * need, LACKING * max(other, 0.0)
    root = _relax_from(cost, gives, 0, need)
    marks = np.zeros(many, np.int8)
    best, paid, k, nodes = np.inf, 0.0, 0, 0
    while True:
        is_dead = False
        if need <= slack and other <= slack_side:
            is_dead = True
            if paid < best:
                best = paid
                for i in range(many):
                    chosen[i] = marks[i] if i < k else 0
        elif left[k] < need - slack or left_side[k] < other - slack_side:
            is_dead = True
        else:
            nodes += 1
            if nodes > MOST_NODES:
                return -1.0
            rest = _relax_from(cost, gives, k, need) if need > slack else 0.0
            is_dead = paid + rest >= best * (1.0 - PRECISION)
        if not is_dead:
            marks[k] = 1
            paid, need, other = paid + cost[k], need - gives[k], other - side[k]
            k += 1
            continue
        k -= 1
        while k >= 0 and marks[k] == 0:
            k -= 1
        if k < 0:
            # Nothing at all is only found where rounding stands in the way.
            return max(root, best * (1.0 - PRECISION)) if best < np.inf else 0.0
        marks[k] = 0
        paid, need, other = paid - cost[k], need + gives[k], other + side[k]
        k += 1


@helper
def _by_units(cost: Floats, gives: Floats, need: float, chosen: Marks) -> float:
    """What one capacity costs at least, counted in units, of which each column gives all that it gives any part of."""
    unit = 1.0 if need <= MOST_UNITS and need == np.floor(need) else need / MOST_UNITS
    size = int(np.ceil(need / unit - LACKING))
    least = np.full(size + 1, np.inf)
    least[0] = 0.0
    units, marks = np.zeros(cost.size, np.int64), np.zeros((cost.size, size + 1), np.int8)
    for k in range(cost.size):
        units[k] = min(int(np.ceil(gives[k] / unit - LACKING)), size)
        for at in range(size, 0, -1):
            paid = least[max(at - units[k], 0)] + cost[k]
            if units[k] > 0 and paid < least[at]:
                least[at] = paid
                marks[k, at] = 1
    at = size
    for k in range(cost.size - 1, -1, -1):
        chosen[k] = marks[k, at]
        if chosen[k]:
            at = max(at - units[k], 0)
    return least[size] if least[size] < np.inf else 0.0
