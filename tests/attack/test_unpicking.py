"""Elimination finds what single relations give away, and nothing that several equations leave open."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from numpy.typing import NDArray

from discreet.attack.system import exposed_primaries, unpick
from discreet.tabular.table import PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit
from plain_attacker import hidden_at_random, lines
from random_tables import generators, random_table


def fixpoint(table: Table, hidden: NDArray[np.bool_]) -> set[int]:
    """Look at every relation again and again until none has a single unknown cell."""
    unknown = hidden.copy()
    matrix = lines(table) != 0
    while True:
        rows = np.flatnonzero((matrix & unknown).sum(axis=1) == 1)
        if not len(rows):
            return set(np.flatnonzero(hidden & ~unknown).tolist())
        for row in rows:
            unknown[matrix[row]] = False


def some_table(rng: np.random.Generator) -> Table:
    return random_table(
        rng,
        hierarchical=rng.random() < 0.5,
        second=rng.random() < 0.3,
        linked=rng.random() < 0.3,
        zeros=0.2,
        complete=rng.random() < 0.5,
    )


@given(rng=generators)
def test_elimination_to_the_end(rng: np.random.Generator) -> None:
    table = some_table(rng)
    hidden = hidden_at_random(rng, table)
    found = unpick(table, hidden)
    assert len(set(found.tolist())) == len(found)
    assert set(found.tolist()) == fixpoint(table, hidden)
    # In this order each follows from those before it and what is published.
    unknown = hidden.copy()
    matrix = lines(table) != 0
    for cell in found.tolist():
        assert ((matrix[:, cell]) & ((matrix & unknown).sum(axis=1) == 1)).any()
        unknown[cell] = False


@settings(max_examples=30)
@given(rng=generators)
def test_what_is_eliminated_is_determined_by_the_equations(rng: np.random.Generator) -> None:
    table = some_table(rng)
    hidden = hidden_at_random(rng, table)
    columns = np.flatnonzero(hidden)
    matrix = lines(table)[:, columns]
    rank = np.linalg.matrix_rank(matrix)
    for cell in unpick(table, hidden).tolist():
        at = int(np.searchsorted(columns, cell))
        # A cell that the equations determine is no part of any solution of the homogeneous ones.
        assert np.linalg.matrix_rank(np.delete(matrix, at, axis=1)) == rank - 1


@given(rng=generators)
def test_exposed_primaries_follow_where_only_they_are_suppressed(rng: np.random.Generator) -> None:
    table = some_table(rng)
    hidden = hidden_at_random(rng, table)
    assume(hidden.any())  # with nothing suppressed there is nothing to audit, and the audit says so
    status = np.where(hidden, np.where(rng.random(len(table)) < 0.5, PRIMARY, SECONDARY), 0).astype(np.uint8)
    held = table.but(status=status)
    assert set(exposed_primaries(held).tolist()) == fixpoint(table, status == PRIMARY)
    assert unpick(held).tolist() == unpick(held, hidden).tolist()
    assert audit(held).eliminated.tolist() == sorted(fixpoint(table, hidden))
