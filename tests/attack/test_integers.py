"""Whole tables: what is proven of counts is what integer programs of another solver find."""

from itertools import product
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from scipy.optimize import Bounds, LinearConstraint, milp

import discreet
from discreet.attack.attacker import Attacker
from discreet.attack.levels import EXPOSED, NARROW, PROTECTED
from discreet.tabular.relations import build_relations
from discreet.tabular.table import PRIMARY, SECONDARY, Table
from random_tables import generators


def counts(rng: np.random.Generator, sizes: list[int], mean: float = 1.2) -> Table:
    """A table of counts with its zeros, or of what exists."""
    cells = list(product(*(range(size) for size in sizes)))
    number = rng.poisson(mean, len(cells))
    number[0] += 1
    rows = [cell for cell, times in zip(cells, number.tolist(), strict=True) for _ in range(times)]
    names = "ABCD"[: len(sizes)]
    frame = pl.DataFrame([[str(code) for code in row] for row in rows], schema=list(names), orient="row")
    return discreet.tabulate(frame, by=list(names), existing_only=bool(rng.random() < 0.4))


def suppressed(rng: np.random.Generator, table: Table, share: float) -> Table:
    """The table with some of its cells suppressed, be they protected or not."""
    flagged = discreet.primary(table, threshold=int(rng.choice([2, 3, 5])))
    more = (rng.random(len(table)) < share) & (flagged.status != PRIMARY)
    return flagged.but(status=np.where(more, SECONDARY, flagged.status).astype(np.uint8))


def furthest(table: Table, cell: int, side: int) -> int:
    """How far a suppressed cell goes to a side in a whole table, by scipy."""
    hidden = np.flatnonzero(table.suppressed)
    matrix = table.relations.matrix.toarray()[:, hidden]
    cost = np.zeros(len(hidden))
    cost[np.flatnonzero(hidden == cell)] = -side
    bounds = Bounds((table.lower - table.value)[hidden], (table.upper - table.value)[hidden])
    rows = LinearConstraint(matrix, 0.0, 0.0)
    found = milp(cost, bounds=bounds, constraints=rows, integrality=np.ones(len(hidden)))
    assert found.status == 0
    return int(np.rint(-found.fun))


@given(generators)
def test_intervals_of_counts_are_those_of_integer_programs(rng: np.random.Generator) -> None:
    sizes = [[4, 4], [3, 3, 3], [3, 2, 2, 2]][int(rng.integers(3))]
    table = suppressed(rng, counts(rng, sizes), float(rng.choice([0.4, 0.7, 1.0])))
    if not table.suppressed.any():
        return
    found = discreet.audit(table, singletons=False, intervals=True)
    for at, cell in enumerate(found.cells.tolist()):
        assert found.lower[at] == table.value[cell] - furthest(table, cell, -1)
        assert found.upper[at] == table.value[cell] + furthest(table, cell, 1)


@given(generators)
def test_a_verdict_on_counts_is_what_whole_tables_show(rng: np.random.Generator) -> None:
    sizes = [[4, 4], [3, 3, 3], [3, 2, 2, 2]][int(rng.integers(3))]
    table = suppressed(rng, counts(rng, sizes), float(rng.choice([0.4, 0.7, 1.0])))
    if not len(table.primary):
        return
    found = discreet.audit(table, singletons=False)
    verdict = dict(zip(found.cells.tolist(), found.verdict.tolist(), strict=True))
    for cell in table.primary.tolist():
        down, up = furthest(table, cell, -1), furthest(table, cell, 1)
        is_protected = down >= table.lpl[cell] and up >= table.upl[cell]
        # Where nothing is asked of a side, nobody looks how far that is.
        is_seen = down + up == 0 and table.lpl[cell] > 0 and table.upl[cell] > 0
        failed = (EXPOSED,) if is_seen else (NARROW, EXPOSED) if down + up == 0 else (NARROW,)
        assert verdict[cell] in ((PROTECTED,) if is_protected else failed)


def test_halves_of_persons_prove_nothing() -> None:
    # Two triangles and a bridge: where the bridge moves by one, all others move by a half.
    ends = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
    rows = [node for node in range(6) for cell in ends if node in cell]
    cells = [at for node in range(6) for at, cell in enumerate(ends) if node in cell]
    sums = np.bincount(rows).astype(np.float64)
    relations = build_relations(np.array(rows, np.int32), np.array(cells, np.int32), np.ones(len(rows)), sums, 7)
    known: dict[str, Any] = {"relations": relations, "lower": np.zeros(7), "upper": np.full(7, 2.0), "decimals": 0}
    for kind, far in ((None, 1), ("whole", 0)):
        attacker = Attacker(Table.of(np.ones(7), counts=kind, **known), np.ones(7, dtype=np.bool_), whole=True)
        reach = attacker.reach(np.ones(7), np.ones(7))
        assert reach.up[3] == reach.down[3] == far
    known["upper"] = np.full(7, 3.0)
    attacker = Attacker(Table.of(np.ones(7), counts="whole", **known), np.ones(7, dtype=np.bool_), whole=True)
    assert attacker.reach(np.ones(7), np.full(7, 2.0)).up[3] == 2
