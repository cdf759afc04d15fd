"""Two releases of one table tell what a plain linear program over both tells, and no unsafe cell falls to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import discreet
from discreet.cli.app import run
from discreet.errors import InputError, PromiseNotKept
from discreet.release.suppressed import SuppressedTable
from discreet.tabular.table import PRIMARY, Table
from random_tables import random_table

SLACK = 1e-5


def flagged(seed: int) -> Table:
    """A small table with unsafe cells, hierarchical every other time."""
    rng = np.random.default_rng(seed)
    made = random_table(rng, [4, 3] if seed % 2 else [3, 2, 2], hierarchical=seed % 4 == 1)
    return discreet.primary(made, threshold=2 + seed % 2)


def protect(table: Table, path: Path, **wishes: Any) -> SuppressedTable:
    found = discreet.suppress(table, method="search", steps=2, singletons=False, partial=True, **wishes)
    found.write(path)
    return found


def jointly(now: Table, then: Any, growth: float = 0.0) -> dict[int, tuple[float, float]]:
    """The interval of each unsafe cell, by variables of both releases: what one publishes, and how they are coupled."""
    n, matrix = len(now), now.relations.matrix.toarray()
    lines = [np.concatenate([np.zeros_like(matrix), matrix], axis=1)]
    if not growth:
        lines += [np.concatenate([matrix, np.zeros_like(matrix)], axis=1), np.eye(n, 2 * n) - np.eye(n, 2 * n, n)]
    equal = np.concatenate(lines)
    bounds = [(low, high) for low, high in zip(now.lower, now.upper, strict=True)] * 2
    for cell in range(n):
        if not then[cell]:
            bounds[cell] = (now.value[cell], now.value[cell])
        if not now.suppressed[cell]:
            bounds[n + cell] = (now.value[cell], now.value[cell])
    if growth:
        # Of a later period: what was published then, give or take.
        for cell in np.flatnonzero(~np.asarray(then)).tolist():
            room = growth / 100 * abs(now.value[cell])
            low, high = bounds[n + cell]
            bounds[n + cell] = (max(low, now.value[cell] - room), min(high, now.value[cell] + room))
    found = {}
    for cell in np.flatnonzero(now.status == PRIMARY).tolist():
        aim = np.zeros(2 * n)
        ends = []
        for sign in (1.0, -1.0):
            aim[n + cell] = sign
            answer = linprog(aim, A_eq=equal, b_eq=np.zeros(len(equal)), bounds=bounds, method="highs")
            assert answer.status == 0
            ends.append(sign * answer.fun)
        found[cell] = (ends[0], ends[1])
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("growth", [0.0, 15.0])
def test_an_audit_with_an_earlier_release_finds_what_both_together_tell(
    seed: int, growth: float, tmp_path: Path
) -> None:
    table = flagged(seed)
    old = protect(table, tmp_path / "old.csv", cost="unit")
    new = protect(table, tmp_path / "new.csv", avoid=old.secondary.tolist() or None)
    audit = discreet.audit(
        new.table, previous_release=tmp_path / "old.csv", growth=growth, intervals=True, strict=False
    )
    told = dict(zip(audit.cells.tolist(), zip(audit.lower, audit.upper, strict=True), strict=True))
    plain = jointly(new.table, old.table.suppressed, growth)
    scale = SLACK * max(1.0, float(table.value.max()))
    for cell, ends in plain.items():
        assert told[cell] == pytest.approx(ends, abs=scale)
    low, high = np.array([plain[cell] for cell in sorted(plain)]).reshape(-1, 2).T
    cells = np.array(sorted(plain), dtype=np.int64)
    value = table.value[cells]
    short = (value - low < table.lpl[cells] - scale) | (high - value < table.upl[cells] - scale)
    assert set(cells[short].tolist()) <= set(audit.failed.tolist())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("growth", [0.0, 40.0])
def test_what_is_suppressed_with_an_earlier_release_stands_both_together(
    seed: int, growth: float, tmp_path: Path
) -> None:
    table = flagged(seed)
    old = protect(table, tmp_path / "old.csv", cost="unit")
    is_refused = False
    try:
        new = discreet.suppress(
            table, steps=2, singletons=False, previous_release=[tmp_path / "old.csv"], growth=growth
        )
    except PromiseNotKept:
        is_refused = True
        # Only where some of it cannot be had even where everything else is suppressed.
        most = table.but(status=np.where(table.status == 0, 2, table.status).astype(np.uint8))
        ends = jointly(most, old.table.suppressed, growth)
    else:
        ends = jointly(new.table, old.table.suppressed, growth)
        assert any("published then" in note for note in new.evidence["notes"])
    scale = SLACK * max(1.0, float(table.value.max()))
    short = [
        cell
        for cell, (low, high) in ends.items()
        if table.value[cell] - low < table.lpl[cell] - scale or high - table.value[cell] < table.upl[cell] - scale
    ]
    assert bool(short) == is_refused


def test_revised_cells_tell_nothing_and_what_is_no_release_is_refused(tmp_path: Path) -> None:
    table = flagged(1)
    old = protect(table, tmp_path / "old.csv", cost="unit")
    text = pl.read_csv(tmp_path / "old.csv", infer_schema=False)
    value = text.columns[-1]
    kept = text[value] == "x"
    text.with_columns(pl.when(kept).then(pl.lit("x")).otherwise(pl.lit("123456789")).alias(value)).write_csv(
        tmp_path / "revised.csv"
    )
    with pytest.raises(InputError, match=r"revised\.csv: no cell .* with the value of now"):
        discreet.audit(old.table, previous_release=tmp_path / "revised.csv")
    lines = (tmp_path / "old.csv").read_text().splitlines()
    at = next(at for at, line in enumerate(lines) if at and not line.endswith(",x"))
    lines[at] = lines[at].rpartition(",")[0] + ",123456789"
    (tmp_path / "one.csv").write_text("\n".join(lines) + "\n")
    found = discreet.audit(old.table, previous_release=tmp_path / "one.csv")
    assert any("1 cell with another, taken to tell nothing" in note for note in found.notes)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"other\.csv is no earlier release"):
        discreet.audit(old.table, previous_release=tmp_path / "other.csv")
    with pytest.raises(InputError, match="name it by --previous-release"):
        discreet.audit(old.table, growth=5)
    with pytest.raises(InputError, match="leave one of the two out"):
        discreet.suppress(table, protect_secondaries=True, previous_release=tmp_path / "old.csv")


def test_the_command_names_the_cells_that_follow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(r, c, 10.0 * (3 * r + c + 1)) for r in range(3) for c in range(3) for _ in range(4)] + [(0, 0, 5000.0)]
    frame = pl.DataFrame(rows, schema=["r", "c", "sales"], orient="row").with_columns(pl.col("r", "c").cast(pl.String))
    table = discreet.primary(discreet.tabulate(frame, by=["r", "c"], value="sales"), p=20)
    first = protect(table, tmp_path / "first.csv")
    avoid = first.secondary[first.table.codes[first.secondary].min(axis=1) > 0].tolist()
    second = protect(table, tmp_path / "second.csv", avoid=avoid, cost="unit")
    second.write(tmp_path / "again.csv", internal=tmp_path / "second.parquet")
    assert run(["audit", str(tmp_path / "second.parquet")]) == 0
    capsys.readouterr()
    arguments = ["audit", str(tmp_path / "second.parquet"), "--previous-release", str(tmp_path / "first.csv")]
    both = set(np.flatnonzero(first.table.suppressed & second.table.suppressed).tolist())
    assert run(arguments) == (1 if len(both) < 4 else 0)
    told = capsys.readouterr().out
    assert "published then with the value of now" in told
    assert len(both) >= 4 or "r=0 × c=0" in told


def test_a_configuration_names_the_earlier_release(tmp_path: Path) -> None:
    table = flagged(1)
    protect(table, tmp_path / "old.csv")
    config = tmp_path / "now.toml"
    config.write_text(f'previous_release = "{tmp_path / "old.csv"}"\ngrowth = 10\nno_rules = true\n', encoding="utf-8")
    said = discreet.suppress(table, steps=2, singletons=False, partial=True, config=config)
    same = discreet.suppress(
        table, steps=2, singletons=False, partial=True, previous_release=tmp_path / "old.csv", growth=10, no_rules=True
    )
    assert said.table.suppressed.tolist() == same.table.suppressed.tolist()
    config.write_text(f'previous_release = "{tmp_path / "old.csv"}"\ngrowth = 10\n', encoding="utf-8")
    told, asked = (
        discreet.audit(said.table, **how)
        for how in ({"config": config}, {"previous_release": tmp_path / "old.csv", "growth": 10})
    )
    assert told.notes == asked.notes
    assert told.notes != discreet.audit(said.table).notes
