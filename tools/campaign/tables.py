"""Random tables through `tabulate`, `primary` and `suppress`, attacked from their published files with scipy.

The attacker here knows the published file, the hierarchies and the rules; he builds the relations anew from codes,
solves two linear programs for each unsafe cell, and looks by exact elimination for cells that follow by subtraction.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

import discreet
from campaign.found import Found

ATTACKED = "no unsafe cell of a published table can be narrowed down below its protection level"
SUBTRACTED = "no unsafe cell of a published table follows by adding and subtracting"
PUBLISHED = "what is published of a table is true, and no unsafe cell is published"
REFUSED = "a table that cannot be protected is refused"

PRIME = 2**31 - 1
Cell = tuple[str, ...]


@dataclass(frozen=True)
class Axis:
    """A dimension: its codes, each with the code above it."""

    name: str
    above: dict[str, str]  # no entry for the total

    @property
    def leaves(self) -> list[str]:
        """The codes without a code below them."""
        return [code for code in self.above if code not in set(self.above.values())]

    def line_up(self, code: str) -> list[str]:
        """A code and all codes above it."""
        up = [code]
        while up[-1] in self.above:
            up.append(self.above[up[-1]])
        return up

    def below(self) -> dict[str, list[str]]:
        """Each sum with its parts."""
        parts: dict[str, list[str]] = {}
        for code, parent in self.above.items():
            parts.setdefault(parent, []).append(code)
        return parts


@dataclass(frozen=True)
class Unsafe:
    """An unsafe cell, worked out from the contributions by the rules as they are written in handbooks."""

    value: float
    level: float


def run(seed: int, folder: Path) -> Found:
    """Publish one random table and attack it."""
    rng = np.random.default_rng([seed, 2])
    found = Found()
    axes = [_draw_axis(rng, name, int(rng.integers(2, 5))) for name in "ABC"[: int(rng.integers(2, 4))]]
    p, least = float(rng.choice([5, 10, 25])), int(rng.choice([2, 3]))
    contributions = _draw_contributions(rng, axes)
    _write_microdata(folder, axes, contributions)
    by = [_by(folder, axis) for axis in axes]
    try:
        table = discreet.tabulate(folder / "data.csv", by=by, value="amount")
        flagged = discreet.primary(table, p=p, threshold=least)
        method = str(rng.choice(["search", "search", "exact", "hypercube", "ga-one-p"]))
        kept = discreet.suppress(flagged, method=method, steps=int(rng.integers(1, 12)), seed=seed)
        kept.write(folder / "public.csv")
    except discreet.DiscreetError:
        found.hold(REFUSED, not (folder / "public.csv").exists(), "refused, and a file is left behind")
        return found
    truth, unsafe = _judge(axes, contributions, p, least)
    _attack(found, axes, _read_public(folder / "public.csv", axes), truth, unsafe)
    return found


def _draw_axis(rng: np.random.Generator, name: str, leaves: int) -> Axis:
    """A dimension, flat or with one level of sums over some of its codes."""
    codes = [f"{name.lower()}{at}" for at in range(leaves)]
    above = dict.fromkeys(codes, "Total")
    if leaves > 2 and rng.random() < 0.5:
        inside = codes[: int(rng.integers(2, leaves))]
        above = dict.fromkeys(inside, f"{name}x") | {f"{name}x": "Total"} | dict.fromkeys(codes[len(inside) :], "Total")
    return Axis(name, above)


def _draw_contributions(rng: np.random.Generator, axes: list[Axis]) -> list[tuple[Cell, float]]:
    """Skewed contributions, whole or with two decimals; some cells have none, some one of 0."""
    made = []
    decimals, size = int(rng.choice([0, 0, 2])), float(rng.choice([1, 100, 1e7]))
    for cell in product(*(axis.leaves for axis in axes)):
        for _ in range(int(rng.poisson(rng.choice([0.5, 2, 4])))):
            amount = 0.0 if rng.random() < 0.03 else round(float(size * rng.lognormal(2, 1.5)), decimals)
            made.append((cell, amount))
    return made or [(tuple(axis.leaves[0] for axis in axes), 1.0)]


def _write_microdata(folder: Path, axes: list[Axis], contributions: list[tuple[Cell, float]]) -> None:
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*(axis.name for axis in axes), "amount"])
        out.writerows([*cell, amount] for cell, amount in contributions)


def _by(folder: Path, axis: Axis) -> str:
    """What to break down by; a hierarchy goes into a file of its own, level by level with leading signs."""
    parts = axis.below()
    if list(parts) == ["Total"]:
        return axis.name
    path = folder / f"{axis.name}.hrc"
    lines: list[str] = []

    def write(code: str, depth: int) -> None:
        lines.append("@" * depth + code)
        for below in parts.get(code, []):
            write(below, depth + 1)

    for top in parts["Total"]:
        write(top, 0)
    path.write_text("\n".join(lines) + "\n")
    return f"{axis.name}@{path}"


def _judge(
    axes: list[Axis], contributions: list[tuple[Cell, float]], p: float, least: int
) -> tuple[dict[Cell, float], dict[Cell, Unsafe]]:
    """The true table, and its unsafe cells with their levels: p% rule and threshold, at least a unit."""
    held: dict[Cell, list[float]] = {}
    for cell, amount in contributions:
        for sums in product(*(axis.line_up(code) for axis, code in zip(axes, cell, strict=True))):
            held.setdefault(sums, []).append(amount)
    whole = all(amount == int(amount) for _, amount in contributions)
    unit = 1.0 if whole else 0.01
    truth, unsafe = {}, {}
    for cell, amounts in held.items():
        total = truth[cell] = round(sum(amounts), 2)
        first, second, *_ = [*sorted(amounts, reverse=True), 0.0, 0.0]
        short = p / 100 * first - (total - first - second)
        levels = [0.3 * total] if len(amounts) < least else []
        levels += [short] if short > 1e-9 * max(1.0, total) else []
        if levels:
            # A cell that nothing is above or below of is asked for what there is.
            unsafe[cell] = Unsafe(total, max(unit, *levels))
    return truth, unsafe


def _read_public(path: Path, axes: list[Axis]) -> dict[Cell, float | None]:
    """The published cells; None where a cell is suppressed."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    value = next(name for name in rows[0] if name not in {axis.name for axis in axes} | {"status"})
    published: dict[Cell, float | None] = {}
    for row in rows:
        try:
            number = float(row[value])
        except ValueError:
            number = None
        published[tuple(row[axis.name] for axis in axes)] = number
    return published


def _attack(
    found: Found,
    axes: list[Axis],
    public: dict[Cell, float | None],
    truth: dict[Cell, float],
    unsafe: dict[Cell, Unsafe],
) -> None:
    true = all(
        number is None or abs(number - truth[cell]) <= 1e-9 * max(1.0, truth[cell]) for cell, number in public.items()
    )
    hidden = all(public.get(cell) is None for cell in unsafe)
    found.hold(PUBLISHED, true and hidden and set(public) == set(truth), "a cell is wrong, or unsafe and published")
    cells = [cell for cell, number in public.items() if number is None]
    if not unsafe or not hidden:
        return
    matrix, right = _relations(axes, public, cells)
    determined = _determined(matrix)
    # What anybody could think of a cell: at least 0, at most one and a half of the largest total.
    most = 1.5 * max(truth.values())
    for cell, asked in unsafe.items():
        at = cells.index(cell)
        found.hold(SUBTRACTED, not determined[at], f"a cell of level {asked.level:g}")
        reach = []
        for sign in (1.0, -1.0):
            goal = np.zeros(len(cells))
            goal[at] = sign
            solved = linprog(goal, A_eq=matrix, b_eq=right, bounds=(0.0, most), method="highs")
            reach.append(sign * solved.fun if solved.status == 0 else np.nan)
        # Below 0 there is nothing to reach, nor above what a cell can be.
        down, up = min(asked.level, asked.value), min(asked.level, most - asked.value)
        slack = 1e-6 * max(1.0, asked.value)
        kept = reach[0] <= asked.value - down + slack and reach[1] >= asked.value + up - slack
        found.hold(ATTACKED, bool(kept), f"a cell of level {asked.level:g}")


def attack_file(values: list[int], hidden: set[int], unsafe: list[int], level: int) -> bool:
    """Whether the unsafe cells of a square table with margins, row by row, are protected up to a level."""
    size, cells = round(len(values) ** 0.5), sorted(hidden)
    rows, right = [], []
    for one in range(size):
        for line in ([size * one + at for at in range(size)], [size * at + one for at in range(size)]):
            signs = [*([1.0] * (size - 1)), -1.0]
            rows.append([sum(sign for at, sign in zip(line, signs, strict=True) if at == cell) for cell in cells])
            right.append(-sum(sign * values[at] for at, sign in zip(line, signs, strict=True) if at not in hidden))
    most = 3.0 * max(values) + 10
    for cell in unsafe:
        goal = np.array([float(one == cell) for one in cells])
        low, high = (linprog(way * goal, A_eq=rows, b_eq=right, bounds=(0.0, most), method="highs") for way in (1, -1))
        down, slack = min(level, values[cell]), 1e-6
        if low.fun > values[cell] - down + slack or -high.fun < values[cell] + level - slack:
            return False
    return True


def _relations(axes: list[Axis], public: dict[Cell, float | None], cells: list[Cell]) -> tuple[np.ndarray, np.ndarray]:
    """Sum = parts, for every sum along every axis; suppressed cells are unknown. Absent cells are 0."""
    place = {cell: at for at, cell in enumerate(cells)}
    rows, right = [], []
    for axis_at, axis in enumerate(axes):
        for total, parts in axis.below().items():
            for cell in public:
                if cell[axis_at] != total:
                    continue
                row, known = np.zeros(len(cells)), 0.0
                for code, sign in [(total, -1.0), *((part, 1.0) for part in parts)]:
                    other = (*cell[:axis_at], code, *cell[axis_at + 1 :])
                    if other in place:
                        row[place[other]] += sign
                    else:
                        known += sign * (public.get(other) or 0.0)
                if row.any():
                    rows.append(row)
                    right.append(-known)
    if not rows:
        return np.zeros((1, len(cells))), np.zeros(1)
    return np.array(rows), np.array(right)


def _determined(matrix: np.ndarray) -> list[bool]:
    """Which unknowns the relations fix: those alone in a row of the reduced echelon form, modulo a large prime."""
    rows = [[int(value) % PRIME for value in row] for row in matrix]
    width, at = matrix.shape[1], 0
    pivots = []
    for column in range(width):
        pivot = next((row for row in range(at, len(rows)) if rows[row][column]), None)
        if pivot is None:
            continue
        rows[at], rows[pivot] = rows[pivot], rows[at]
        inverse = pow(rows[at][column], -1, PRIME)
        rows[at] = [value * inverse % PRIME for value in rows[at]]
        for row in range(len(rows)):
            factor = rows[row][column]
            if row != at and factor:
                rows[row] = [(a - factor * b) % PRIME for a, b in zip(rows[row], rows[at], strict=True)]
        pivots.append(column)
        at += 1
    fixed = [False] * width
    for reduced, column in zip(rows, pivots, strict=False):
        fixed[column] = sum(1 for value in reduced if value) == 1
    return fixed
