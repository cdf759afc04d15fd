"""Branched boxes: what they protect is protected, sub-totals too."""

import numpy as np
import pytest

from discreet.tables.suppression.boxes import Branches
from discreet.tables.suppression.certificates import Certificates
from discreet.tables.suppression.problem import problem_of
from discreet.tabular.table import PRIMARY, SECONDARY
from discreet.verification.audit import audit
from random_tables import random_table
from unsafe_tables import tree_table


@pytest.mark.parametrize("seed", range(40))
def test_what_a_branched_box_protects_stands_the_audit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = tree_table(rng, 3)
    problem = problem_of(table)
    suppressed, proofs = problem.primary.copy(), Certificates(len(problem), problem.requirements)
    Branches(problem).protect(suppressed, proofs, problem.by_level())
    for task in np.flatnonzero(proofs.number >= 0).tolist():
        assert suppressed[proofs.cells(task)].all()
    status = table.status.copy()
    status[problem.system.cells[suppressed & ~problem.primary]] = SECONDARY
    # Where a task has no box its cell is not judged.
    status[problem.system.cells[problem.cell[proofs.number < 0]]] = SECONDARY
    assert not len(audit(table.but(status=status, rules={"words": {}})).failed)


def test_they_are_found_for_sub_totals() -> None:
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = random_table(rng, 2, hierarchical=True, second=False, linked=False)
        inner = np.zeros(len(table), dtype=np.bool_)
        for axis, one in enumerate(table.dimensions):
            inner |= ~one.base[table.codes[:, axis]] & (table.codes[:, axis] > 0)
        cells = np.flatnonzero(inner & (table.value >= 2))[:1]
        if not len(cells):
            continue
        status, level = np.zeros(len(table), np.uint8), np.zeros(len(table))
        status[cells], level[cells] = PRIMARY, 1.0
        problem = problem_of(table.but(status=status, upl=level, lpl=level))
        proofs = Certificates(len(problem), problem.requirements)
        Branches(problem).protect(problem.primary.copy(), proofs, problem.by_level())
        found += int((proofs.number >= 0).any())
    assert found >= 5
