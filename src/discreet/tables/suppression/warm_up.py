"""Compile the kernels on a tiny dummy table, so that compile time is not search time."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiling import Kernels, compiling, second_process
from discreet.kernels.flows.circulation import shortfalls
from discreet.kernels.flows.patterns import clean, protect
from discreet.kernels.flows.repairs import ruin_and_repair
from discreet.kernels.random import below, seeded, uniform
from discreet.tables.suppression.bounds import lower_bound
from discreet.tables.suppression.boxes import Boxes, Branches
from discreet.tables.suppression.certificates import Certificates
from discreet.tables.suppression.exact.branch_and_cut import Exact
from discreet.tables.suppression.lattice import lattice_of
from discreet.tables.suppression.network_pattern import NetworkPattern
from discreet.tables.suppression.problem import SIZE_CLASSES, Problem, problem_of, settle_ranges
from discreet.tables.suppression.program_pattern import LinearProgramPattern
from discreet.tables.suppression.splitting import SplittingProver
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import PRIMARY, Table


def warm_up(problem: Problem) -> None:
    """Compile the kernels that a problem asks for."""
    with compiling():
        for part in problem.components():
            if part.is_network:
                _compile_flows()
            else:
                on_lattice = len(part) >= SIZE_CLASSES.lattice and lattice_of(part) is not None
                _compile_boxes(on_lattice, not on_lattice and len(part) >= SIZE_CLASSES.large)
                if len(part) >= (SIZE_CLASSES.sliced if on_lattice else SIZE_CLASSES.vast):
                    _compile_flows()
                if LinearProgramPattern(part).is_split:
                    _compile_splitting()


def _compile_flows() -> NetworkPattern:
    """What the first patterns of networks need; what repairs and proofs need is compiled while these are made."""
    later: Kernels = {
        "discreet.kernels.flows.repairs": [ruin_and_repair],
        "discreet.kernels.flows.circulation": [shortfalls],
    }
    small = problem_of(_small(2))
    with second_process({"discreet.kernels.flows.patterns": [protect, clean]}, later):
        settle_ranges(small)
    pattern = NetworkPattern(small)
    pattern.protect(np.arange(small.requirements, dtype=np.int64))
    pattern.clean()
    return pattern


def _compile_repairs(pattern: NetworkPattern) -> None:
    """What repairs and proofs need."""
    state = seeded(0, 0)
    pattern.improve(state, 2, 2, 0.1)
    below(state, 2)
    uniform(state)
    assert pattern.cost >= 0.0
    nothing = np.empty(0, dtype=np.int64)
    next(Exact(pattern.problem, pattern.twin(), pattern.suppressed, nothing).epochs(), None)


def compile_all() -> None:
    """Compile the kernels that any problem may ask for."""
    with compiling():
        _compile_repairs(_compile_flows())
        _compile_boxes(with_lattice=True, with_branches=True)
        _compile_splitting()


def _compile_splitting() -> None:
    """What programs of whole tables need."""
    small, _ = settle_ranges(problem_of(_small(3)))
    amount, nothing = float(small.side[0] * small.level[0]), np.zeros(len(small))
    SplittingProver(small).cheapest(small.weight, int(small.cell[0]), amount, nothing, 0.0)


def _compile_boxes(with_lattice: bool, with_branches: bool) -> None:
    """What patterns need that are built by linear programs: boxes, and more where there are many columns."""
    small, _ = settle_ranges(problem_of(_small(3)))
    order, suppressed = small.by_level(), small.primary.copy()
    Boxes(small).protect(suppressed, Certificates(len(small), small.requirements), order)
    lattice = lattice_of(small) if with_lattice else None
    if lattice is not None:
        price, nothing = small.weight + 1.0, np.zeros(len(small))
        lattice.cheapest(price, int(small.cell[0]), float(small.side[0] * small.level[0]), nothing, 0.0)
    lower_bound(small, 16)
    if with_branches:
        Branches(small).protect(suppressed, Certificates(len(small), small.requirements), order)


def _small(axes: int) -> Table:
    """A table of so many axes, two or more, each a total and three parts, with one cell that is unsafe."""
    dimensions = [Dimension(f"axis {axis}", Hierarchy.flat(["1", "2", "3"])) for axis in range(axes)]
    codes = np.stack([grid.ravel() for grid in np.indices((4,) * axes)], axis=1)
    full = np.array([[9.0, 5.0, 7.0], [4.0, 8.0, 6.0], [3.0, 2.0, 5.0]])
    full = full + np.arange(3.0 ** (axes - 2)).reshape((3,) * (axes - 2) + (1, 1))
    for axis in range(axes):
        full = np.concatenate([full.sum(axis=axis, keepdims=True), full], axis=axis)
    status, level = np.zeros(full.size, np.uint8), np.zeros(full.size)
    unsafe = int(np.ravel_multi_index((1,) * axes, full.shape))
    status[unsafe], level[unsafe] = PRIMARY, 2.0
    return Table.of(full.ravel(), dimensions=dimensions, codes=codes, status=status, upl=level, lpl=level)
