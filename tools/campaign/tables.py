"""Random tables through `tabulate`, `primary` and `suppress`, attacked from their published files.

The attackers know the published file, the hierarchies and the rules; who is alone in a cell also knows his own part.
They build the relations anew from codes. What can be worked out by whom is in `attackers`.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import discreet
from campaign.attackers import Asked, Attacker, Floats, find_insiders, level
from campaign.found import Found

TABLE = "a published table withstands every attacker"
ATTACKED = "no unsafe cell of a published table can be narrowed down below its protection level"
SUBTRACTED = "no unsafe cell of a published table follows by adding and subtracting"
INSIDE = "no sole contributor can narrow down what others contribute below what the rules ask for"
INSIDE_SUBTRACTED = "what others contribute does not follow for a sole contributor by adding and subtracting"
PUBLISHED = "what is published of a table is true, and no unsafe cell is published"
REFUSED = "a table that cannot be protected is refused"

METHODS = ("search", "search", "search", "hypercube", "hypercube", "exact", "ga-one-p", "ls-swap")
RULES: tuple[dict[str, Any], ...] = (
    {"p": 5, "threshold": 2},
    {"p": 10, "threshold": 3},
    {"p": 25},
    {"threshold": 3},
    {"dominance": (1, 75)},
    {"p": 20, "coalition": 2, "dominance": (2, 90)},
)
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

    @property
    def is_flat(self) -> bool:
        """Whether there is nothing but codes under a total."""
        return set(self.above.values()) == {"Total"}

    def only(self, leaves: Collection[str]) -> Axis:
        """The dimension with some of its codes alone."""
        return Axis(self.name, {code: parent for code, parent in self.above.items() if code in leaves})

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
class Contribution:
    """What somebody contributes to a cell."""

    cell: Cell
    who: int
    amount: float


def run(seed: int, folder: Path) -> Found:
    """Publish one random table and attack it."""
    rng = np.random.default_rng([seed, 2])
    found = Found()
    axes, rule, contributions = draw(rng)
    by = write(folder, axes, contributions)
    try:
        table = discreet.tabulate(folder / "data.csv", by=by, value="amount", holding="who", top=4)
        flagged = discreet.primary(table, **rule)
        kept = discreet.suppress(flagged, method=str(rng.choice(METHODS)), steps=int(rng.integers(1, 8)), seed=seed)
        kept.write(folder / "public.csv")
    except discreet.DiscreetError:
        found.hold(REFUSED, not (folder / "public.csv").exists(), "refused, and a file is left behind")
        return found
    attack(found, axes, folder / "public.csv", contributions, rule)
    return found


def draw(rng: np.random.Generator) -> tuple[list[Axis], dict[str, Any], list[Contribution]]:
    """The dimensions of a random table, the rule that it is judged by, and what was contributed."""
    axes = [draw_axis(rng, name, int(rng.integers(2, 5))) for name in "ABC"[: int(rng.choice([2, 2, 3]))]]
    rule = RULES[int(rng.integers(len(RULES)))]
    return axes, rule, _draw_contributions(rng, axes)


def write(folder: Path, axes: list[Axis], contributions: list[Contribution]) -> list[str]:
    """Write the microdata and the hierarchies; tell what to break down by."""
    _write_microdata(folder, axes, contributions)
    return [_by(folder, axis) for axis in axes]


def draw_axis(rng: np.random.Generator, name: str, leaves: int) -> Axis:
    """A dimension, flat or with one level of sums over some of its codes."""
    codes = [f"{name.lower()}{at}" for at in range(leaves)]
    above = dict.fromkeys(codes, "Total")
    if leaves > 2 and rng.random() < 0.5:
        inside = codes[: int(rng.integers(2, leaves))]
        above = dict.fromkeys(inside, f"{name}x") | {f"{name}x": "Total"} | dict.fromkeys(codes[len(inside) :], "Total")
    return Axis(name, above)


def _draw_contributions(rng: np.random.Generator, axes: list[Axis]) -> list[Contribution]:
    """Skewed contributions, whole or with two decimals; some cells have none, some one of 0; some have a holding."""
    places = []
    decimals, size = int(rng.choice([0, 0, 2])), float(rng.choice([1, 100, 1e7]))
    for cell in product(*(axis.leaves for axis in axes)):
        for _ in range(int(rng.poisson(rng.choice([0.5, 2, 4])))):
            amount = 0.0 if rng.random() < 0.03 else round(float(size * rng.lognormal(2, 1.5)), decimals)
            places.append((cell, amount))
    places = places or [(tuple(axis.leaves[0] for axis in axes), 1.0)]
    n = len(places)
    who = rng.integers(0, max(2, int(0.7 * n)), n) if rng.random() < 0.4 else np.arange(n)
    return [Contribution(cell, int(one), amount) for (cell, amount), one in zip(places, who, strict=True)]


def _write_microdata(folder: Path, axes: list[Axis], contributions: list[Contribution]) -> None:
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*(axis.name for axis in axes), "who", "amount"])
        out.writerows([*one.cell, one.who, one.amount] for one in contributions)


def _by(folder: Path, axis: Axis) -> str:
    """What to break down by; a hierarchy goes into a file of its own, level by level with leading signs."""
    return axis.name if axis.is_flat else f"{axis.name}@{hierarchy_file(folder, axis)}"


def hierarchy_file(folder: Path, axis: Axis) -> Path:
    """A file of the codes of a dimension, level by level with leading signs."""
    parts = axis.below()
    path = folder / f"{axis.name}.hrc"
    lines: list[str] = []

    def write(code: str, depth: int) -> None:
        lines.append("@" * depth + code)
        for below in parts.get(code, []):
            write(below, depth + 1)

    for top in parts["Total"]:
        write(top, 0)
    path.write_text("\n".join(lines) + "\n")
    return path


def list_sums(axes: list[Axis], cell: Cell) -> Iterator[Cell]:
    """A cell and all that it is part of."""
    return product(*(axis.line_up(code) for axis, code in zip(axes, cell, strict=True)))


def _bring(axes: list[Axis], contributions: list[Contribution]) -> dict[Cell, dict[Hashable, float]]:
    """Who contributes to each cell of the table, and how much."""
    brought: dict[Cell, dict[Hashable, float]] = {}
    for one in contributions:
        for sums in list_sums(axes, one.cell):
            mine = brought.setdefault(sums, {})
            mine[one.who] = round(mine.get(one.who, 0.0) + one.amount, 2)
    return brought


def read_public(path: Path, axes: list[Axis]) -> dict[Cell, float | None]:
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


def attack(
    found: Found,
    axes: list[Axis],
    path: Path,
    contributions: list[Contribution],
    rule: dict[str, Any],
    left: frozenset[Cell] = frozenset(),
) -> None:
    """Attack a published table as an outsider and as every sole contributor; what is said to be left is left out."""
    public = read_public(path, axes)
    brought = _bring(axes, contributions)
    unit = 1.0 if all(one.amount == int(one.amount) for one in contributions) else 0.01
    truth = {cell: round(sum(mine.values()), 2) for cell, mine in brought.items()}
    levels = {cell: level(list(mine.values()), rule, unit) for cell, mine in brought.items()}
    unsafe = [cell for cell in brought if levels[cell] > 0]
    true = all(
        number is None or abs(number - truth[cell]) <= 1e-9 * max(1.0, truth[cell]) for cell, number in public.items()
    )
    hidden = all(public.get(cell) is None for cell in unsafe)
    found.hold(PUBLISHED, true and hidden and set(public) == set(truth), "a cell is wrong, or unsafe and published")
    if not unsafe or not hidden:
        return
    before = len(found.broken)
    cells = [cell for cell, number in public.items() if number is None]
    place = {cell: at for at, cell in enumerate(cells)}
    value = np.array([truth[cell] for cell in cells])
    # What anybody could think of a cell: at least 0, at most one and a half of the largest total, or what is asked.
    most = max(1.5 * max(truth.values()), *(truth[cell] + levels[cell] for cell in unsafe))
    attacker = Attacker(_relations(axes, public, cells), value, np.zeros(len(cells)), np.full(len(cells), most))
    asked: Asked = {place[cell]: (min(levels[cell], truth[cell]), levels[cell]) for cell in unsafe if cell not in left}
    _count(found, ATTACKED, SUBTRACTED, attacker, asked, [], "")
    insiders = find_insiders([brought[cell] for cell in cells], list(asked), rule, most - value, unit)
    for insider in insiders.values():
        alone = f", to who is alone in {len(insider.known)}"
        _count(found, INSIDE, INSIDE_SUBTRACTED, attacker, insider.asked, insider.known, alone)
    found.hold(TABLE, len(found.broken) == before, "see the cells")


def _count(
    found: Found, narrowed: str, followed: str, attacker: Attacker, asked: Asked, known: list[int], to: str
) -> None:
    """Count for each cell whether it withstands."""
    if not asked:
        return
    short, fixed = attacker.find_short(asked, known), attacker.find_determined(known)
    for cell, (_, up) in asked.items():
        found.hold(narrowed, cell not in short, f"a cell of level {up:g}{to}")
        found.hold(followed, not fixed[cell], f"a cell of level {up:g}{to}")


def attack_file(values: list[int], hidden: set[int], unsafe: list[int], level: int) -> bool:
    """Whether the unsafe cells of a square table with margins, row by row, are protected up to a level."""
    size, cells = round(len(values) ** 0.5), sorted(hidden)
    signs = np.array([*([1.0] * (size - 1)), -1.0])
    relations = np.zeros((2 * size, size * size))
    for one in range(size):
        relations[one, size * one : size * (one + 1)] = signs
        relations[size + one, one::size] = signs
    value, none = np.array([float(values[cell]) for cell in cells]), np.zeros(len(cells))
    attacker = Attacker(relations[:, cells], value, none, none + 3.0 * max(values) + 10)
    asked: Asked = {cells.index(cell): (min(level, values[cell]), level) for cell in unsafe}
    return not attacker.find_short(asked, first=True)


def _relations(axes: list[Axis], public: dict[Cell, float | None], cells: list[Cell]) -> Floats:
    """Sum = parts, for every sum along every axis; of suppressed cells alone, for all others are known."""
    place = {cell: at for at, cell in enumerate(cells)}
    rows = []
    for axis_at, axis in enumerate(axes):
        for total, parts in axis.below().items():
            for cell in public:
                if cell[axis_at] != total:
                    continue
                row = np.zeros(len(cells))
                for code, sign in [(total, -1.0), *((part, 1.0) for part in parts)]:
                    other = (*cell[:axis_at], code, *cell[axis_at + 1 :])
                    if other in place:
                        row[place[other]] += sign
                if row.any():
                    rows.append(row)
    return np.array(rows).reshape(-1, len(cells))
