"""Patterns that do not stand the audit are mended, also in tables of many dimensions with zeros and negatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.attack.levels import NOT_SHOWN, PROTECTED
from discreet.attack.system import Bools
from discreet.errors import PromiseNotKept
from discreet.tables.suppression import protection
from discreet.tables.suppression.guards import with_status
from discreet.tables.suppression.problem import Problem, problem_of, settle_ranges
from discreet.tables.suppression.standing import ROUNDS, stand
from discreet.tabular.table import Table
from discreet.verification.audit import audit
from discreet.verification.verdict import Audit
from unsafe_tables import case


def far_apart(seed: int) -> Table:
    """A table of four or five dimensions in which some cells are zero or negative and others are of millions.

    Values have six digits behind the point, so that the smallest level is one part in many million million.
    """
    rng = np.random.default_rng([seed, 34])
    sizes = (3, 3, 2, 3) if seed % 2 else (2, 3, 2, 2, 2)
    records = []
    for codes in np.ndindex(*sizes):
        kind = rng.random()
        for _ in range(int(rng.integers(1, 5))):
            value = 0.0 if kind < 0.2 else float(np.round(rng.lognormal(11.0, 3.0), 6))
            records.append(
                (*(f"{'abcde'[axis]}{code}" for axis, code in enumerate(codes)), -value if kind > 0.9 else value)
            )
    names = list("abcde"[: len(sizes)])
    frame = pl.DataFrame(records, schema=[*names, "v"], orient="row")
    table = discreet.tabulate(frame, by=names, value="v")
    assert (table.value < 0).any()
    assert (table.value == 0).any()
    return discreet.primary(table, threshold=3)


@pytest.mark.parametrize("seed", range(10))
def test_tables_of_many_dimensions_with_zeros_and_negatives_come_out_protected(seed: int) -> None:
    table = far_apart(seed)
    found = discreet.suppress(table, steps=3, seed=seed % 2, singletons=False, partial=True)
    _, lost = settle_ranges(problem_of(table, settle=False))
    assert found.unprotected.tolist() == lost.tolist()
    again = audit(found.table, intervals=True)
    assert np.setdiff1d(again.failed, lost).tolist() == []
    counts = found.audit.as_dict()
    assert counts["not_shown"] == 0
    assert counts["certified"] == counts["protected"]


@pytest.mark.parametrize(
    ("name", "by", "steps"),
    [("datatest1", 4, 3), ("datatest1", 4, 120), ("datatest2", 5, 3), ("datatest2", 5, 25)],
)
def test_real_tables_of_four_and_five_dimensions_come_out_protected(
    table_reference: Callable[[str], Path], name: str, by: int, steps: int
) -> None:
    ending = ".csv" if name == "datatest1" else ".csv.gz"
    frame = pl.read_csv(table_reference(f"rtauargus/{name}{ending}"), infer_schema_length=None)
    table = discreet.primary(
        frame,
        by=["treff", "cj", "type_distrib", "A10", "nuts1"][:by],
        value="pizzas_tot",
        count="nb_obs",
        manual=str(table_reference(f"rtauargus/{name}_unsafe.csv")),
    )
    found = discreet.suppress(table, steps=steps, seed=1)
    assert found.audit
    assert found.audit.as_dict()["by_solver_only"] == 0


def problem_and_pattern(seed: int) -> tuple[Problem, Bools]:
    table = case(seed, "cube").table
    problem = problem_of(table)
    hidden = np.zeros(len(table), dtype=np.bool_)
    hidden[problem.system.cells[problem.primary]] = True
    return problem, hidden


class Grudge:
    """Audits a pattern, and finds a cell at fault as long as fewer than so many are hidden."""

    def __init__(self, table: Table, cell: int, least: int) -> None:
        self.table, self.cell, self.least, self.asked = table, cell, least, 0

    def __call__(self, hidden: Bools) -> Audit:
        self.asked += 1
        found = audit(with_status(self.table, hidden))
        at_fault = (found.cells == self.cell) & (hidden.sum() < self.least)
        fine = np.where(np.isin(found.verdict, ["", PROTECTED]), found.verdict, PROTECTED)
        return replace(found, verdict=np.where(at_fault, NOT_SHOWN, fine))


@pytest.mark.parametrize("seed", range(6))
def test_whatever_a_cell_is_at_fault_for_a_pattern_is_widened_until_it_stands(seed: int) -> None:
    problem, hidden = problem_and_pattern(seed)
    if not problem.requirements:
        return
    cell, every = int(problem.system.cells[problem.cell[0]]), len(problem)
    for least in (int(hidden.sum()), (int(hidden.sum()) + every) // 2, every):
        judge = Grudge(problem.table, cell, least)
        found, verdict = stand(problem, hidden, judge)
        assert verdict
        assert (found | hidden).sum() >= least
        assert not (found & ~hidden)[np.setdiff1d(np.arange(len(hidden)), problem.system.cells)].any()
        assert judge.asked <= 3 * ROUNDS


def test_what_nothing_mends_ends_with_the_pattern_that_was_found() -> None:
    problem, hidden = problem_and_pattern(1)
    judge = Grudge(problem.table, int(problem.system.cells[problem.cell[0]]), 10**9)
    found, verdict = stand(problem, hidden, judge)
    assert np.array_equal(found, hidden)
    assert not verdict
    assert judge.asked <= 3 * ROUNDS + 1


def test_what_is_not_shown_is_written_as_partial_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    problem, _ = problem_and_pattern(1)
    doubted = int(problem.system.cells[problem.cell[0]])

    def judge(*given: object, **how: object) -> Audit:
        found = audit(*given, **how)  # type: ignore[arg-type]
        return replace(found, verdict=np.where(found.cells == doubted, NOT_SHOWN, found.verdict))

    monkeypatch.setattr(protection, "audit", judge)
    with pytest.raises(PromiseNotKept, match="NOT SHOWN TO BE PROTECTED"):
        discreet.suppress(problem.table, steps=1)
    found = discreet.suppress(problem.table, steps=1, partial=True)
    assert found.partial
    assert found.unprotected.tolist() == [doubted]
    said = found.audit.summary()
    assert "(1 not shown)" in " ".join(said.split())
    assert "known" not in said.split("Verdict")[1].split("Elimination")[0]
    found.write(tmp_path / "out.csv")
    assert '"verified": true' not in (tmp_path / "out.csv.release.json").read_text()
