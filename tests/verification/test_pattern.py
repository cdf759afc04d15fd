"""Patterns of other tools: laid over the right cells, judged by the table's levels, refused where they do not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.errors import InputError
from discreet.tables.primary import primary
from discreet.tables.suppress import suppress
from discreet.tables.tabulate import tabulate
from discreet.tabular.files import codevalue, jj
from discreet.tabular.files.formats import render
from discreet.tabular.table import FIXED, PRIMARY, SAFE, SECONDARY, Table
from discreet.verification.audit import audit
from discreet.verification.certificate import find_flaws
from discreet.verification.pattern import apply_pattern, previous_pattern
from plain_attacker import extremes, protected
from random_tables import random_table


def judged(seed: int = 5) -> Table:
    """A small table with a few unsafe cells."""
    return primary(random_table(np.random.default_rng(seed), [3, 4], complete=True), p=40)


def laid(table: Table, status: object) -> Table:
    return table.but(status=np.asarray(status, np.uint8))


def test_size_by_region(table_reference: Callable[[str], Path]) -> None:
    table = primary(
        tabulate(
            table_reference("tau_testW/tau_testW.asc"),
            by=["Size", "Region"],
            value="Var2",
            meta=table_reference("tau_testW/Tau_TestW.rda"),
        ),
        p=15,
    )
    pattern = table_reference("tau_testW/expected_size_region_modular.txt")
    said = audit(table, pattern=pattern, certificate=True, intervals=True)
    assert said
    assert len(said.table.primary) == 9
    assert (said.table.status == SECONDARY).sum() == 12
    assert (said.table.status[table.primary] == PRIMARY).all()
    hidden = said.table.suppressed
    down, up = extremes(said.table, hidden)
    scale = np.maximum(1.0, np.abs(table.value[said.cells]))
    assert (np.abs(table.value[said.cells] - down - said.lower) <= 1e-6 * scale).all()
    assert (np.abs(table.value[said.cells] + up - said.upper) <= 1e-6 * scale).all()
    assert protected(said.table, said.cells, down, up)[said.table.status[said.cells] == PRIMARY].all()
    assert said.certificate is not None
    assert said.certificate.exact
    assert find_flaws(said.table, hidden, said.certificate) == []


def test_enterprises(table_reference: Callable[[str], Path]) -> None:
    table = primary(
        tabulate(
            table_reference("enterprise/example_enterprise.asc"),
            by=["act", "product"],
            value="turnover",
            holding="h_id",
            meta=table_reference("enterprise/example_enterprise.rda"),
        ),
        p=10,
    )
    said = audit(table, pattern=table_reference("enterprise/expected_test_1.txt"))
    assert len(table.primary) == 283
    assert (said.table.status == SECONDARY).sum() == 133
    assert not len(np.flatnonzero(said.verdict == "published"))
    exact = audit(table, pattern=table_reference("enterprise/expected_test_1.txt"), intervals=True)
    assert (exact.verdict == "protected").tolist() == (said.verdict == "protected").tolist()
    rng = np.random.default_rng(0)
    some = np.sort(rng.choice(said.cells, 6, replace=False))
    down, up = extremes(said.table, said.table.suppressed, some)
    at = np.searchsorted(said.cells, some)
    scale = 1e-6 * np.maximum(1.0, np.abs(table.value[some]))
    assert (np.abs(table.value[some] - down - exact.lower[at]) <= scale).all()
    assert (np.abs(table.value[some] + up - exact.upper[at]) <= scale).all()


@pytest.mark.parametrize("kind", ["txt", "parquet", "jj"])
def test_unsafe_cells_that_are_published_are_told(kind: str, tmp_path: Path) -> None:
    table = judged()
    assert len(table.primary) >= 2
    status = np.full(len(table), SECONDARY)
    left = int(table.primary[0])
    status[left] = SAFE
    path = tmp_path / f"pattern.{kind}"
    if kind == "jj":
        path.write_text(jj.text(laid(table, status)), encoding="utf-8")
        numbered = tmp_path / "table.jj"
        numbered.write_text(jj.text(table), encoding="utf-8")
        said = audit(jj.read(numbered), pattern=path)
    elif kind == "txt":
        path.write_text(codevalue.text(laid(table, status)), encoding="utf-8")
        said = audit(table, pattern=path)
    else:
        for name, content in render(laid(table, status), path).items():
            name.write_bytes(content)
        said = audit(table, pattern=path)
    assert not said
    assert left in said.failed.tolist()
    at = said.cells.tolist().index(left)
    assert said.verdict[at] == "published"
    assert said.lower[at] == said.upper[at] == table.value[left]
    assert said.required_upper[at] == table.value[left] + table.upl[left]
    assert said.required_lower[at] == table.value[left] - table.lpl[left]
    assert said.as_dict()["published"] == 1
    assert (said.table.status[table.primary[1:]] == PRIMARY).all()


def test_what_the_pattern_calls_unsafe_counts_only_where_the_table_says_nothing(tmp_path: Path) -> None:
    table = judged()
    path = tmp_path / "pattern.txt"
    status = np.where(np.arange(len(table)) % 2, PRIMARY, SAFE)
    path.write_text(codevalue.text(laid(table, status)), encoding="utf-8")
    held, bare, notes = apply_pattern(table, path)
    assert (held.primary == np.intersect1d(table.primary, np.flatnonzero(status))).all()
    assert np.flatnonzero(bare).tolist() == np.setdiff1d(table.primary, np.flatnonzero(status)).tolist()
    assert any("taken as secondary" in note for note in notes)
    held, bare, notes = apply_pattern(laid(table, np.zeros(len(table))), path)
    assert (held.primary == np.flatnonzero(status)).all()
    assert not bare.any()
    assert any("names no unsafe cell" in note for note in notes)
    assert apply_pattern(table, None)[0] is table


def test_code_value_output_beside_a_table_of_ours_is_what_it_is(tmp_path: Path) -> None:
    table = judged()
    for path, content in render(table, tmp_path / "t.csv").items():
        path.write_bytes(content)
    assert (tmp_path / "t.table.json").exists()
    status = np.where(np.arange(len(table)) % 2, SECONDARY, SAFE)
    (tmp_path / "t.txt").write_text(codevalue.text(laid(table, status)), encoding="utf-8")
    held, _, _ = apply_pattern(table, tmp_path / "t.txt")
    assert held.suppressed.tolist() == (status == SECONDARY).tolist()


def test_a_pattern_may_fix_cells(tmp_path: Path) -> None:
    table = judged()
    path = tmp_path / "pattern.txt"
    status = np.where(np.arange(len(table)) == int(table.primary[0]), FIXED, SECONDARY)
    path.write_text(codevalue.text(laid(table, status)), encoding="utf-8")
    assert not audit(table, pattern=path)


def test_cells_are_found_by_their_codes(tmp_path: Path) -> None:
    table = judged()
    rng = np.random.default_rng(1)
    status = rng.integers(0, 3, len(table)).astype(np.uint8)
    lines = codevalue.text(laid(table, status)).splitlines()
    path = tmp_path / "pattern.txt"
    path.write_text("\n".join(lines[at] for at in rng.permutation(len(lines))) + "\n", encoding="utf-8")
    held, _, _ = apply_pattern(table, path)
    assert (held.suppressed == (status > 0)).all()


def test_patterns_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    table = judged()
    path = tmp_path / "pattern.txt"
    lines = codevalue.text(table).splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    with pytest.raises(InputError) as told:
        audit(table, pattern=path)
    assert "pattern.txt" in str(told.value)
    path.write_text("\n".join([*lines, lines[-1]]) + "\n", encoding="utf-8")
    with pytest.raises(InputError):
        audit(table, pattern=path)
    other = tmp_path / "other.jj"
    other.write_text(jj.text(judged(6)), encoding="utf-8")
    with pytest.raises(InputError, match=r"dimensions|cells"):
        audit(table, pattern=other)
    with pytest.raises(InputError):
        audit(table, pattern=tmp_path / "missing.txt")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_our_own_publication_is_a_pattern(seed: int, suffix: str, tmp_path: Path) -> None:
    table = judged(seed)
    found = suppress(table, steps=2, partial=True)
    public = tmp_path / f"out.{suffix}"
    found.write(public)
    said = audit(table.but(rules={"words": {}}), pattern=public)
    assert (said.table.suppressed == found.table.suppressed).all()
    assert (said.table.status == found.table.status).all() or (table.status == FIXED).any()
    assert said.failed.tolist() == found.audit.failed.tolist()
    # A published value that the table does not have is of another table.
    value = table.value + 1.0 * ~found.table.suppressed
    with pytest.raises(InputError, match="another value"):
        apply_pattern(table.but(value=value), public)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_earlier_pattern_is_matched_by_codes_where_cells_came_or_went(suffix: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    codes = {name: [f"{name}{at}" for at in range(5)] for name in ("r", "c")}
    records = [(r, c, float(rng.integers(1, 100))) for r in codes["r"] for c in codes["c"] for _ in range(3)]
    records += [("r1", "c1", 7.0)] * 2
    tables = []
    for gone in ("r4", "r0"):
        frame = pl.DataFrame([one for one in records if one[0] != gone], schema=["r", "c", "v"], orient="row")
        tables.append(primary(tabulate(frame, by=["r", "c"], value="v"), p=30))
    before, now = tables
    found = suppress(before, steps=2, partial=True)
    found.write(tmp_path / f"out.{suffix}", internal=tmp_path / "all.parquet")
    names = {before.name(cell): hidden for cell, hidden in enumerate(found.table.suppressed.tolist())}
    for path in (tmp_path / f"out.{suffix}", tmp_path / "all.parquet"):
        hidden, notes = previous_pattern(now, path)
        assert hidden.tolist() == [names.get(now.name(cell), False) for cell in range(len(now))]
        assert notes == [f"since {path.name} 6 cells came and 6 cells went; matched by codes"]
        again = suppress(now, steps=2, partial=True, previous=path)
        assert again.evidence["measures"]["changes"] is not None
        assert notes[0] in again.evidence["notes"]
        with pytest.raises(InputError, match="a pattern must be of the same table"):
            apply_pattern(now, path)
    other = tabulate(
        pl.DataFrame({"r": ["a", "b"], "c": ["d", "d"], "v": [1.0, 2.0]}), by=["r", "c"], value="v", total="All"
    )
    with pytest.raises(InputError, match="has no cell of"):
        previous_pattern(other, tmp_path / f"out.{suffix}")
