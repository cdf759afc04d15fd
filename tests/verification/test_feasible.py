"""Tables whose suppressed values are not known: the same intervals as with them, or the relations that contradict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attacks import case
from discreet.errors import InputError
from discreet.tabular.table import PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit
from discreet.verification.pattern import centre_of
from tabulated import random_table


def unknown(table: Table, cells: Any = None) -> Table:
    """The table as it is published: no value where a cell is suppressed."""
    gone = table.suppressed if cells is None else np.isin(np.arange(len(table)), cells)
    return table.but(value=np.where(gone, np.nan, table.value))


@pytest.mark.parametrize("seeds", [range(start, start + 40) for start in (0, 40, 80)], ids=str)
def test_intervals_need_no_values(seeds: range) -> None:
    for seed in seeds:
        one = case(seed)
        scale = 1e-6 * max(1.0, float(np.abs(one.table.value).max()))
        centre = centre_of(unknown(one.table))
        assert np.abs(one.table.relations.residuals(centre)).max(initial=0.0) <= scale
        assert (centre >= one.table.lower - scale).all()
        assert (centre <= one.table.upper + scale).all()
        said = audit(unknown(one.table))
        assert said.exact
        assert said.cells.tolist() == one.cells.tolist()
        for found, true in (
            (said.lower, one.table.value[one.cells] - one.down),
            (said.upper, one.table.value[one.cells] + one.up),
        ):
            finite = np.isfinite(true)
            assert (found[~finite] == true[~finite]).all(), seed
            assert np.abs(found[finite] - true[finite]).max(initial=0.0) <= scale, seed
        assert (said.verdict == "").all()
        assert any("not known" in note for note in said.notes)


@pytest.mark.parametrize("seed", range(0, 40, 3))
def test_some_values_may_be_known(seed: int) -> None:
    one = case(seed)
    gone = one.cells[::2]
    centre = centre_of(unknown(one.table, gone))
    kept = np.setdiff1d(np.arange(len(one.table)), gone)
    assert (centre[kept] == one.table.value[kept]).all()
    assert np.abs(one.table.relations.residuals(centre)).max() <= 1e-6 * max(1.0, float(np.abs(one.table.value).max()))
    said = audit(unknown(one.table, gone), secondaries=True)
    known = np.isin(said.cells, kept)
    assert (said.verdict[~known] == "").all()
    assert (said.verdict[known] != "").all()
    # Whoever audits may know some of the suppressed values; the attacker knows none.
    finite = np.isfinite(one.down)
    scale = 1e-6 * max(1.0, float(np.abs(one.table.value).max()))
    assert np.abs((one.table.value[one.cells] - one.down - said.lower)[finite]).max(initial=0.0) <= scale


def lines_of_three() -> Table:
    """A table of two dimensions with a whole line but for its total suppressed."""
    table = random_table(np.random.default_rng(3), [3, 3], complete=True)
    status = np.where((table.codes[:, 0] == 1) & (table.codes[:, 1] > 0), SECONDARY, 0)
    status[np.flatnonzero(status)[0]] = PRIMARY
    return table.but(status=status.astype(np.uint8))


def test_what_cannot_be_is_refused_with_the_relations() -> None:
    table = lines_of_three()
    value = table.value.copy()
    # What is published adds up, but only if a suppressed cell were negative.
    value[(table.codes <= 1).all(axis=1)] -= 1e5
    published = unknown(table.but(value=value, lower=np.where(table.suppressed, 0.0, -1e6)))
    with pytest.raises(InputError, match="no values of the suppressed cells fit") as told:
        audit(published)
    assert "over '" in str(told.value)
    assert "relation" in str(told.value)
    assert not any(f"{number:g}" in str(told.value) for number in value.tolist() if abs(number) > 10)


def test_bounds_may_leave_no_room() -> None:
    table = unknown(lines_of_three())
    with pytest.raises(InputError, match="widen the bounds"):
        audit(table.but(upper=np.where(np.isnan(table.value), 0.5, table.upper)))


def test_a_published_cell_must_have_a_value() -> None:
    table = lines_of_three()
    cell = int(np.flatnonzero(~table.suppressed)[3])
    with pytest.raises(InputError, match="is published, but has no value") as told:
        audit(unknown(table, [cell]))
    assert table.name(cell) in str(told.value)
