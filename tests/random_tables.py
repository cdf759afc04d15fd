"""Small random statistical tables made from contributions, for property tests, and plain ways of looking at them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from hypothesis import strategies as st

from discreet.tables.tabulation import Contributions, leave_out_soles, tally
from discreet.tables.tabulation import complete as completed
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import TOTAL, Hierarchy
from discreet.tabular.linking import link
from discreet.tabular.table import Table

generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)
"""Random generators, for a test that draws what it needs itself."""

NAMES = "ABCDE"


def random_hierarchy(rng: np.random.Generator, items: Sequence[str], prefix: str, levels: int) -> Hierarchy:
    """A tree over the items: some of what is at the top so far goes under a new code, level by level."""
    above: dict[str, str] = {}
    tops = list(items)
    for level in range(levels):
        if len(tops) < 3:
            break
        # A code with one code below it says the same as that code: rare, but registers have them.
        size = 1 if rng.random() < 0.1 else int(rng.integers(2, len(tops)))
        chosen = sorted(rng.choice(len(tops), size, replace=False).tolist())
        name = f"{prefix}{level}"
        above |= {tops[at]: name for at in chosen}
        tops = [code for at, code in enumerate(tops) if at not in chosen]
        tops.insert(int(rng.integers(0, len(tops) + 1)), name)
    pairs = [(code, above.get(code, TOTAL)) for code in [*above.values(), *tops, *items]]
    return Hierarchy.from_pairs(list(dict.fromkeys(pairs)), total=TOTAL)


def random_dimension(
    rng: np.random.Generator, name: str, leaves: int, *, hierarchical: bool = False, second: bool = False
) -> Dimension:
    """A dimension of `leaves` base codes.

    Parameters
    ----------
    rng
        Source of randomness.
    name
        Its name; in small letters the beginning of its codes.
    leaves
        Number of base codes.
    hierarchical
        Whether some of them are put together, in branches of unequal depth.
    second
        Whether there is a second hierarchy over the same base codes, or over sums of them, nested in no other.
    """
    items = [f"{name.lower()}{at}" for at in range(leaves)]
    first = random_hierarchy(rng, items, f"{name}x", int(rng.integers(1, 4)) if hierarchical else 0)
    ways = [first]
    if second:
        # Over the base codes, or over the codes right under the total: a code may be a leaf here and a sum there.
        below = [code for code, parent in first.pairs() if parent == first.total]
        over = below if len(below) > 2 and rng.random() < 0.5 else items
        other = random_hierarchy(rng, over, f"{name}y", int(rng.integers(1, 3)))
        if other != first:
            ways.append(other)
    return Dimension(name, ways)


def random_dimensions(
    rng: np.random.Generator,
    dims: int | Sequence[int] | None = None,
    *,
    hierarchical: bool = False,
    second: bool = False,
) -> tuple[Dimension, ...]:
    """Dimensions, as many as told or with as many base codes each; the first is hierarchical if any is to be."""
    if dims is None:
        dims = int(rng.integers(2, 6))
    if isinstance(dims, int):
        most = {1: 9, 2: 7, 3: 5, 4: 4}.get(dims, 3)
        least = 3 if hierarchical or second else 2
        dims = [int(rng.integers(least, max(least, most) + 1)) for _ in range(dims)]
        if len(dims) > 4:
            dims = [dims[0], *(2 for _ in dims[1:])]
    return tuple(
        random_dimension(
            rng,
            NAMES[at],
            leaves,
            hierarchical=hierarchical and (at == 0 or rng.random() < 0.4),
            second=second and (at == 0 or rng.random() < 0.2),
        )
        for at, leaves in enumerate(dims)
    )


def random_contributions(
    rng: np.random.Generator,
    dimensions: Sequence[Dimension],
    *,
    zeros: float = 0.0,
    decimals: int = 0,
    holdings: bool = False,
    weights: bool = False,
    asked: bool = False,
) -> Contributions:
    """Contributions of a skewed distribution to the combinations of base codes.

    Parameters
    ----------
    rng
        Source of randomness.
    dimensions
        What to break down by.
    zeros
        The share of combinations with nothing in them: half of them have no contributor, half contribute nothing.
    decimals
        Digits behind the point of the contributions.
    holdings, weights, asked
        Whether contributors belong to holdings, stand for more than themselves, ask for protection.
    """
    places = list(product(*(np.flatnonzero(one.base).tolist() for one in dimensions)))
    number = rng.poisson(2.0, len(places)) + (rng.random(len(places)) < 0.8)
    kind = rng.random(len(places))
    number[kind < zeros / 2] = 0
    if not number.any():
        number[0] = 1
    at = np.repeat(np.arange(len(places)), number)
    units = np.ceil(rng.lognormal(3.0, 1.3, len(at)) * 10.0**decimals)
    units[(kind[at] >= zeros / 2) & (kind[at] < zeros)] = 0.0
    return Contributions(
        np.array(places, dtype=np.int32)[at],
        units / 10.0**decimals,
        rng.integers(1, 5, len(at)) / 2.0 if weights else None,
        rng.integers(0, max(2, len(at) // 2), len(at)) if holdings else None,
        rng.random(len(at)) < 0.2 if asked else None,
    )


def table_of(
    dimensions: Sequence[Dimension], given: Contributions, *, top: int = 3, complete: bool = False, source: str = ""
) -> Table:
    """The table of contributions."""
    cells = tally(dimensions, given, top)
    cells = completed(dimensions, cells) if complete else cells
    soles = cells.sole[cells.sole >= 0]
    return Table.of(
        cells.value,
        dimensions=dimensions,
        codes=cells.codes,
        count=cells.count,
        tops=cells.tops,
        asked=cells.asked,
        sole=cells.sole,
        others=None if given.holding is None else leave_out_soles(dimensions, given, cells, soles),
        decimals=cells.decimals,
        response="amount",
        source=source or "the table",
    )


def random_table(
    rng: np.random.Generator,
    dims: int | Sequence[int] | Sequence[Dimension] | None = None,
    *,
    hierarchical: bool = False,
    second: bool = False,
    linked: bool = False,
    zeros: float = 0.0,
    decimals: int = 0,
    holdings: bool = False,
    weights: bool = False,
    asked: bool = False,
    complete: bool = False,
    top: int = 3,
) -> Table:
    """A table of 2 to 5 dimensions with the counts, largest and sole contributors that its contributions make.

    Parameters
    ----------
    rng
        Source of randomness.
    dims
        Number of dimensions, or the number of base codes of each, or the dimensions; 2 to 5 if None.
    hierarchical, second
        Whether the first dimension (and some of the others) is hierarchical, has a second hierarchy.
    linked
        Whether to make two or three tables over some of the dimensions each, linked by the margins they share. With
        `second` each of them may have another of the hierarchies.
    zeros
        The share of combinations of base codes with nothing in them; see `random_contributions`. Those without
        contributors are cells only with `complete`.
    decimals, holdings, weights, asked
        As in `random_contributions`.
    complete
        Whether to make cells also where nobody contributes.
    top
        How many of the largest contributions to keep.
    """
    if dims is None or isinstance(dims, int) or all(isinstance(one, int) for one in dims):
        if linked and dims is None:
            dims = int(rng.integers(3, 5))
        made = random_dimensions(rng, dims, hierarchical=hierarchical, second=second)  # type: ignore[arg-type]
    else:
        made = tuple(dims)  # type: ignore[arg-type]
    given = random_contributions(
        rng, made, zeros=zeros, decimals=decimals, holdings=holdings, weights=weights, asked=asked
    )
    if not linked:
        return table_of(made, given, top=top, complete=complete)
    parts: list[Table] = []
    for span in random_spans(rng, len(made)):
        inside = [made[axis] for axis in span]
        codes = given.codes[:, span]
        for at, one in enumerate(inside):
            if len(one.hierarchies) > 1 and rng.random() < 0.6:
                inside[at], codes[:, at] = _one_way(one, int(rng.integers(len(one.hierarchies))), codes[:, at])
        there = Contributions(codes, given.amount, given.weight, given.holding, given.asked)
        parts.append(table_of(inside, there, top=top, complete=complete, source=f"table {len(parts) + 1}"))
    return link(parts)


def random_outline(rng: np.random.Generator, dimensions: Sequence[Dimension], picks: int) -> Table:
    """A table of zeros that does not go down to the base codes everywhere: some cells and all that they are part of."""
    picked = [[int(rng.integers(len(one.codes))) for one in dimensions] for _ in range(picks)]
    cells = {
        cell
        for codes in picked
        for cell in product(*(one.ancestors[code].tolist() for one, code in zip(dimensions, codes, strict=True)))
    }
    return Table.of(np.zeros(len(cells)), dimensions=dimensions, codes=sorted(cells))


def random_spans(rng: np.random.Generator, dims: int) -> list[list[int]]:
    """The axes of two or three linked tables, which together have all axes; the first is in all of them."""
    others = rng.permutation(np.arange(1, dims)).tolist()
    cut = int(rng.integers(1, len(others))) if len(others) > 1 else 1
    spans = [sorted([0, *others[:cut]]), sorted([0, *(others[cut:] or others[:1])])]
    if rng.random() < 0.3 and dims > 2:
        spans.append(sorted(rng.choice(dims, 2, replace=False).tolist()))
    return spans


def _one_way(one: Dimension, way: int, codes: np.ndarray) -> tuple[Dimension, np.ndarray]:
    """The dimension with one of its hierarchies, and the codes of contributions at its leaves."""
    held = Dimension(one.name, one.hierarchies[way], one.missing)
    leaves = set(held.hierarchies[0].leaves)
    home = [
        next((held.position[one.codes[up]] for up in one.ancestors[at].tolist() if one.codes[up] in leaves), -1)
        for at in range(len(one.codes))
    ]
    return held, np.array(home, dtype=np.int32)[codes]


@st.composite
def tables(draw: st.DrawFn, *, most: int = 4, linked: bool | None = None, weights: bool = False) -> Table:
    """Tables of every kind: flat, hierarchical, of two hierarchies, linked; sparse or full; whole or decimal."""
    rng = draw(generators)
    parts = draw(st.booleans()) if linked is None else linked
    return random_table(
        rng,
        draw(st.integers(3 if parts else 2, most)),
        hierarchical=draw(st.booleans()),
        second=draw(st.booleans()),
        linked=parts,
        zeros=draw(st.sampled_from([0.0, 0.3, 0.8])),
        decimals=draw(st.sampled_from([0, 2])),
        holdings=draw(st.booleans()),
        weights=weights and draw(st.booleans()),
        complete=draw(st.booleans()),
    )


def names_of(table: Table) -> list[tuple[str, ...]]:
    """The codes of every cell, as text."""
    columns = [table.codes_of(axis) for axis in range(len(table.dimensions))]
    return list(zip(*columns, strict=True))


def cell_of(table: Table, *codes: str) -> int:
    """The cell with these codes."""
    return names_of(table).index(codes)


def ancestors_of(dimension: Dimension, code: str) -> set[str]:
    """A code and everything it is part of, found by walking up every hierarchy until nothing new is met."""
    found = {code}
    while True:
        more = {parent for way in dimension.hierarchies for child, parent in way.pairs() if child in found} - found
        if not more:
            return found
        found |= more
