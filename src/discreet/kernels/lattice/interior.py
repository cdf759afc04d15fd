"""An interior-point method for cells that move by segments within relations whose normal equations others solve.

The method is Mehrotra's (1992) for variables with two bounds. As factoring costs much more than solving, each step has
several of Gondzio's (1996) correctors, each taken as far as it helps (Colombo and Gondzio, 2008). As all variables are
bounded, any dual prices bound the objective: the gap it gives is a proof, and so is that there is no solution.

The arithmetic over the variables is compiled, each formula in one pass: x and s are the distances of a variable to its
two bounds, z and w their prices; a step of s goes against that of x. What is found is written into arrays that exist:
where variables are many, new ones would take longer than the arithmetic.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from discreet.kernels.arrays import Floats
from discreet.kernels.jit import formula

Status = Literal["optimal", "infeasible", "stalled"]

CORRECTORS = 2
DAMPING, CAUTION = 0.995, 0.9
"""How much of the way to the nearest bound a long and a short step go."""
SHORT = 0.3
"""Where a step would be shorter, it rather goes back to the middle."""
NEARLY, BALANCED = 1e-5, 1e-9
"""What relations may be off before the last is mended, and after that."""
PATIENCE = 5
"""After how many steps that hardly go anywhere, or ends that cannot be mended, to give up."""
ACCURACY, COARSE = 1e-11, 1e-8
"""Of the normal equations, at the end and far from it: what is left over cannot be mended once cells hardly move."""
SHARES = (1.0, 0.7, 0.4, 0.15)
"""How much of a corrector may be taken."""
CHUNK = 256
"""How many variables are looked at together for one that shortens a step."""


class Normal(Protocol):
    """A matrix R W Rᵀ of relations R and weights W of cells, factored."""

    def solve(self, right: Floats, tolerance: float) -> Floats:
        """The solution of the system, up to a part of its right-hand side; any where it is singular."""


class Relations(Protocol):
    """Relations between cells, each cell with coefficient 1 in some of them."""

    size: int  # how many relations
    cells: int

    def sums(self, cells: Floats) -> Floats:
        """R times what cells have."""

    def spread(self, lines: Floats) -> Floats:
        """Rᵀ times what relations have."""

    def normal(self, weights: Floats) -> Normal:
        """The normal matrix for these weights."""


class Solution(NamedTuple):
    """Where the method ended."""

    status: Status
    x: Floats
    gap: float
    iterations: int


class Point(NamedTuple):
    """A primal and a dual point: A x = b, x + s = u; Aᵀ y + z − w = c; all of x, s, z, w above 0."""

    x: Floats
    s: Floats
    y: Floats
    z: Floats
    w: Floats


class Step(NamedTuple):
    """Where to go from a point; s goes against x."""

    x: Floats
    y: Floats
    z: Floats
    w: Floats


class Program:
    """Least c x with A x = b, 0 ≤ x ≤ u, where column i of A is that of a cell in the relations, or minus it.

    Parameters
    ----------
    relations : Relations
        Those between cells.
    cell : array of ints
        The cell of each variable.
    direction, cost, capacity : arrays of floats
        Its sign (1 or −1), its c and its u: above 0 and finite.
    right : array of floats
        b, one for each relation. Costs and sides should be of the order of 1.
    """

    def __init__(
        self,
        relations: Relations,
        cell: NDArray[np.integer],
        direction: Floats,
        cost: Floats,
        capacity: Floats,
        right: Floats,
    ) -> None:
        self.relations, self.cell, self.direction = relations, cell, direction
        self.cost, self.capacity, self.right = cost, capacity, right
        size = np.abs(cost)
        # What the objective is measured by where it is nearly nothing: one unit of the cheapest.
        self.floor = float(size[size > 0.0].min(initial=1.0))
        # Arrays to work in: a step that is being improved, another towards which it is, and what they aim at.
        n = cost.size
        self._steps = tuple(Step(*(np.empty(size) for size in (n, relations.size, n, n))) for _ in range(2))
        self._theta, self._slack, self._priced, self._lower, self._upper = np.empty((5, n))

    def solve(self, gap: float, iterations: int) -> Solution:
        """Go until the objective is surely within a part of the least.

        Parameters
        ----------
        gap : float
            That part.
        iterations : int
            How many steps to try at most.
        """
        point = self._start()
        done, tiny, vain = 0, 0, 0
        while True:
            left = self.right - self._image(point.x)
            if self._is_proof(point.y):
                return Solution("infeasible", point.x, np.inf, done)
            scale = max(abs(float(self.cost @ point.x)), self.floor)
            if point.x @ point.z + point.s @ point.w <= gap * scale and np.abs(left).max() <= NEARLY:
                x = self._mended(point)
                relative = self._gap(x, self._bound(point.y))
                if relative <= gap and np.abs(self.right - self._image(x)).max() <= BALANCED:
                    return Solution("optimal", x, relative, done)
                vain += 1
            if done == iterations or PATIENCE in (tiny, vain):
                break
            try:
                by_cell = _weights(point, self.cell, self.relations.cells, self._theta)
                step, ahead, up = self._step(point, self.relations.normal(by_cell), left)
            except LinAlgError:
                break
            if not all(np.isfinite(part).all() for part in step):
                break
            for values, change, share in (
                (point.x, step.x, ahead),
                (point.s, step.x, -ahead),
                (point.y, step.y, up),
                (point.z, step.z, up),
                (point.w, step.w, up),
            ):
                _go(values, change, share)
            done += 1
            tiny = tiny + 1 if max(ahead, up) < 1e-3 else 0
        x = self._mended(point)
        return Solution("stalled", x, self._gap(x, self._bound(point.y)), done)

    def _image(self, x: Floats) -> Floats:
        return self.relations.sums(_image(self.cell, self.direction, x, self.relations.cells))

    def _by_cell(self, amounts: Floats) -> Floats:
        return np.bincount(self.cell, amounts, self.relations.cells).astype(np.float64, copy=False)

    def _prices(self, y: Floats) -> Floats:
        """What each variable is worth at some prices of the relations; good until the next are asked for."""
        _prices(self.relations.spread(y), self.cell, self.direction, self._priced)
        return self._priced

    def _start(self) -> Point:
        """Start where the barrier of both bounds balances the cost, with relations left out and no cell far from 0.

        Capacities count up to 1: cells that may go far up and little down would else be far from any balance.
        """
        cost, capacity = np.abs(self.cost), np.minimum(self.capacity, 1.0)
        mu = 3.0 * float(cost.mean()) or 1.0
        x = 2.0 * mu * capacity / (cost * capacity + 2.0 * mu + np.hypot(cost * capacity, 2.0 * mu))
        s = self.capacity - x
        return Point(x, s, np.zeros(self.relations.size), mu / x, mu / s)

    def _bound(self, y: Floats) -> float:
        """What the objective cannot be below; true for any y."""
        return float(self.right @ y) - _surplus(self._prices(y), self.cost, 1.0, 0.0, self.capacity)

    def _gap(self, x: Floats, bound: float) -> float:
        objective = float(self.cost @ x)
        return abs(objective - bound) / max(abs(objective), self.floor)

    def _is_proof(self, y: Floats) -> bool:
        """Tell if y shows that there is no solution: y A x stays below y b (Farkas), rounding of prices included."""
        rounding = 1e-15 * float(np.abs(y).max())
        missing = self.right @ y - _surplus(self._prices(y), self.cost, 0.0, rounding, self.capacity)
        return bool(missing > 1e-9 * (np.abs(self.right) @ np.abs(y)))

    def _step(self, point: Point, normal: Normal, left: Floats) -> tuple[Step, float, float]:
        """Predict, correct, correct again; the step and how far to go in x and in y."""
        theta, slack, lower, upper = self._theta, self._slack, self._lower, self._upper
        step, other = self._steps
        products = _aim(point, self.cost, self._prices(point.y), slack, lower, upper)
        accuracy = min(max(ACCURACY, COARSE * products / max(abs(float(self.cost @ point.x)), self.floor)), COARSE)
        mu = products / (2 * point.x.size)

        def toward(found: Step, part: float = 1.0) -> Step:
            """Newton's step towards the relations with z dx + x dz = lower and −w dx + s dw = upper."""
            _shift(theta, point, lower, upper, slack, part, found.x)
            found.y[:] = normal.solve(part * left - self._image(found.x), accuracy)
            _finish(theta, point, lower, upper, self._prices(found.y), found)
            return found

        toward(step)
        ahead, up = _reach(point, step, step, 0.0)
        after = _after(point, step, ahead, up)
        target = (after / products) ** 3 * mu
        _centre(point, step, 1.0, target, lower, upper)
        ahead, up = _blend(point, step, toward(other))
        for _ in range(CORRECTORS):
            if min(ahead, up) > 0.9:
                break
            # Aim a little further than the step goes, and bring back the products that would leave the path there.
            far, high = min(1.0, 1.08 * ahead + 0.08), min(1.0, 1.08 * up + 0.08)
            _bring_back(point, step, far, high, target, lower, upper)
            before = ahead + up
            ahead, up = _blend(point, step, toward(other))
            if ahead + up < 1.02 * before:
                break
        if min(ahead, up) < SHORT:
            _centre(point, step, 0.0, 0.5 * mu, lower, upper)
            ahead, up = _blend(point, step, toward(other, 0.5))
        ahead, up = (min(1.0, (DAMPING if reach > 0.5 else CAUTION) * reach) for reach in (ahead, up))
        return step, ahead, up

    def _mended(self, point: Point) -> Floats:
        """Take what is left over in the relations out of x, from each variable by the room it has.

        Late in the method rounding is what is left over: by cells that move much, as the weights of a step differ by
        more than numbers have digits. They can make up for it themselves, with weights that differ less.
        """
        x = point.x
        weights = np.clip(np.minimum(point.x, point.s), 1e-7, 1.0) ** 2
        normal = self.relations.normal(self._by_cell(weights))
        for _ in range(3):
            left = self.right - self._image(x)
            x = np.clip(x + weights * self._prices(normal.solve(left, 1e-12)), 0.0, self.capacity)
        return x


def _reach(point: Point, old: Step, new: Step, share: float) -> tuple[float, float]:
    """How far one can go along a mixed step until a bound is met, in x and in y; no further than a full step needs."""
    longest = 1.0 / DAMPING
    ahead = _advance(point.x, point.s, old.x, new.x, share, longest)
    up = _climb(point.z, old.z, new.z, share, longest)
    return ahead, _climb(point.w, old.w, new.w, share, up)


def _blend(point: Point, old: Step, new: Step) -> tuple[float, float]:
    """Turn one step towards another as far as that makes it longest, in x and in y apart; tell how far to go then."""
    best, best_up, ahead, up = 0.0, 0.0, -1.0, -1.0
    for share in SHARES:
        far, high = _reach(point, old, new, share)
        if far > 1.01 * ahead:
            best, ahead = share, far
        if high > 1.01 * up:
            best_up, up = share, high
        if min(ahead, up) > 0.9:
            break
    _mix(old.x, new.x, best)
    for before, after in zip(old[1:], new[1:], strict=True):
        _mix(before, after, best_up)
    return ahead, up


@formula
def _weights(point: Point, cell: NDArray[np.integer], cells: int, theta: Floats) -> Floats:
    """Write how easily each variable moves; give how easily each cell does by all of its variables."""
    x, s, z, w = point.x, point.s, point.z, point.w
    for i in range(x.size):
        theta[i] = 1.0 / (z[i] / x[i] + w[i] / s[i])
    by_cell = np.zeros(cells)
    for i in range(x.size):
        by_cell[cell[i]] += theta[i]
    return by_cell


@formula
def _image(cell: NDArray[np.integer], direction: Floats, amounts: Floats, cells: int) -> Floats:
    """What cells move by if their variables have these amounts."""
    found = np.zeros(cells)
    for i in range(cell.size):
        found[cell[i]] += direction[i] * amounts[i]
    return found


@formula
def _aim(point: Point, cost: Floats, prices: Floats, slack: Floats, lower: Floats, upper: Floats) -> float:
    """Write what prices are off, and right-hand sides that aim at products of 0; give the sum of all products."""
    x, s, z, w = point.x, point.s, point.z, point.w
    for i in range(x.size):
        slack[i] = cost[i] - prices[i] - z[i] + w[i]
        lower[i] = -x[i] * z[i]
        upper[i] = -s[i] * w[i]
    total = 0.0
    for i in range(x.size):
        total -= lower[i] + upper[i]
    return total


@formula
def _after(point: Point, step: Step, ahead: float, up: float) -> float:
    """The sum of all products after a step."""
    x, s, z, w = point.x, point.s, point.z, point.w
    dx, dz, dw = step.x, step.z, step.w
    total = 0.0
    for i in range(x.size):
        move = ahead * dx[i]
        total += (x[i] + move) * (z[i] + up * dz[i]) + (s[i] - move) * (w[i] + up * dw[i])
    return total


@formula
def _surplus(prices: Floats, cost: Floats, share: float, more: float, capacity: Floats) -> float:
    """What could be gained at some prices: all that pays, as far as it goes, with a share of the cost taken off."""
    total = 0.0
    for i in range(prices.size):
        total += capacity[i] * max(prices[i] - share * cost[i] + more, 0.0)
    return total


@formula
def _shift(
    theta: Floats, point: Point, lower: Floats, upper: Floats, slack: Floats, part: float, found: Floats
) -> None:
    """Write what a step moves variables by before the relations have their say."""
    x, s = point.x, point.s
    for i in range(x.size):
        found[i] = theta[i] * (lower[i] / x[i] - upper[i] / s[i] - part * slack[i])


@formula
def _finish(theta: Floats, point: Point, lower: Floats, upper: Floats, prices: Floats, step: Step) -> None:
    """Complete a step, with z dx + x dz = lower and −w dx + s dw = upper; dx has what `_shift` wrote."""
    x, s, z, w = point.x, point.s, point.z, point.w
    dx, dz, dw = step.x, step.z, step.w
    for i in range(x.size):
        dx[i] += theta[i] * prices[i]
        dz[i] = (lower[i] - z[i] * dx[i]) / x[i]
        dw[i] = (upper[i] + w[i] * dx[i]) / s[i]


@formula
def _prices(spread: Floats, cell: NDArray[np.integer], direction: Floats, found: Floats) -> None:
    """Write what variables have of what was spread over cells."""
    for i in range(cell.size):
        found[i] = direction[i] * spread[cell[i]]


@formula
def _mix(old: Floats, new: Floats, share: float) -> None:
    """Go from old to new by a share."""
    for i in range(old.size):
        old[i] += share * (new[i] - old[i])


@formula
def _go(values: Floats, step: Floats, share: float) -> None:
    """Go along a step."""
    for i in range(values.size):
        values[i] += share * step[i]


@formula
def _advance(x: Floats, s: Floats, old: Floats, new: Floats, share: float, longest: float) -> float:
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
def _climb(values: Floats, old: Floats, new: Floats, share: float, longest: float) -> float:
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
def _centre(point: Point, step: Step, bend: float, target: float, lower: Floats, upper: Floats) -> None:
    """Write right-hand sides that aim at products of the target, less a share of what the step bends (Mehrotra)."""
    x, s, z, w = point.x, point.s, point.z, point.w
    dx, dz, dw = step.x, step.z, step.w
    for i in range(x.size):
        lower[i] = target - x[i] * z[i] - bend * dx[i] * dz[i]
        upper[i] = target - s[i] * w[i] + bend * dx[i] * dw[i]


@formula
def _bring_back(point: Point, step: Step, far: float, high: float, target: float, lower: Floats, upper: Floats) -> None:
    """Write right-hand sides that bring back the products that would leave the path further on (Gondzio)."""
    x, s, z, w = point.x, point.s, point.z, point.w
    dx, dz, dw = step.x, step.z, step.w
    least, most = 0.1 * target, 10.0 * target
    for i in range(x.size):
        first = (x[i] + far * dx[i]) * (z[i] + high * dz[i])
        second = (s[i] - far * dx[i]) * (w[i] + high * dw[i])
        lower[i] = z[i] * dx[i] + x[i] * dz[i] + max(min(max(first, least), most) - first, -most)
        upper[i] = s[i] * dw[i] - w[i] * dx[i] + max(min(max(second, least), most) - second, -most)
