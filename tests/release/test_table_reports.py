"""Reports of a table: the public one tells no more than the table, the internal one all but values that are hidden."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.release.reports.table_internal import reach, secondary_facts
from discreet.release.reports.tables import slice_of
from discreet.release.suppressed import SuppressedTable
from discreet.tabular import Hierarchy
from discreet.tabular.table import SECONDARY

NASTY = "<script>alert(1)</script>"


def make(seed: int) -> SuppressedTable:
    """A suppressed table of values that nobody writes by chance, with a code that would be a script."""
    chance = np.random.default_rng(seed)
    count = 60
    frame = pl.DataFrame(
        {
            "region": chance.choice(["n1", "n2", "s1", NASTY], count),
            "size": chance.choice(["small", "middle", "large"], count, p=[0.6, 0.3, 0.1]),
            "sales": np.round(chance.lognormal(9, 1.5, count), 3) + 0.137,
        }
    )
    region = Hierarchy.from_pairs([("n", "Total"), ("n1", "n"), ("n2", "n"), ("s", "Total"), ("s1", "s"), (NASTY, "s")])
    table = discreet.tabulate(frame, by={"region": region, "size": None}, value="sales", decimals=3)
    return discreet.suppress(discreet.primary(table, threshold=4), steps=2, partial=True)


@pytest.fixture(scope="module")
def suppressed() -> SuppressedTable:
    return make(1)


def hidden_texts(release: SuppressedTable) -> set[str]:
    """Every way in which a suppressed value could stand in a page."""
    values = release.table.value[release.table.suppressed]
    texts = {
        text for value in values for text in (f"{value:,.3f}", f"{value:.3f}", f"{value:,.0f}", repr(float(value)))
    }
    return {text for text in texts if len(text) > 5}  # shorter ones are in any page by chance


@settings(max_examples=4)
@given(st.integers(0, 10_000))
def test_no_hidden_value_is_in_either_report(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    release, folder = make(seed), tmp_path_factory.mktemp("reports")
    pages = [release.report(folder / f"{name}.html", internal=name == "i").read_text() for name in ("p", "i")]
    for page in pages:
        assert not [text for text in hidden_texts(release) if text in page]
        assert "<script" not in page
        assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    shown = release.table.value[~release.table.suppressed]
    assert all(f"{value:,.3f}" in pages[0] for value in shown)


def test_the_public_report_tells_unsafe_cells_from_others_nowhere(suppressed: SuppressedTable, tmp_path: Path) -> None:
    page = suppressed.report(tmp_path / "p.html").read_text()
    body = page[page.index("<body") :]
    assert "unsafe" not in body.replace("place an unsafe cell reaches its level", "")
    assert "secondary" not in body
    cost, levels = suppressed.cost, suppressed.table.upl[suppressed.table.primary]
    assert f"{cost:,.2f}" not in body
    assert not [level for level in levels if f"{level:,.2f}" in body]
    kinds = re.findall(r'<td class="right ?(\w*)">x</td>', body)
    assert set(kinds) == {"marked"}
    assert len(kinds) == int(suppressed.table.suppressed.sum())


def test_reach_is_the_interval_in_parts_of_what_is_required(suppressed: SuppressedTable) -> None:
    found = discreet.audit(suppressed.table, intervals=True)
    frame = found.intervals("polars").filter(pl.col("verdict").is_not_null())
    said = {cell: parts for cell, *parts in reach(found)}
    assert len(said) == frame.height == len(suppressed.table.primary) > 2
    for row in frame.iter_rows(named=True):
        below, above, _ = said[row["cell"]]
        value = row["value"]
        if below is not None:
            assert below == pytest.approx((value - row["lower"]) / (value - row["required_lower"]))
            assert above == pytest.approx((row["upper"] - value) / (row["required_upper"] - value))
    least = [min(part for part in parts if part is not None) for parts in said.values()]
    assert least == sorted(least)


def test_a_secondary_cell_is_there_for_those_whose_proof_it_moves_in(suppressed: SuppressedTable) -> None:
    found = discreet.audit(suppressed.table, certificate=True)
    proof = found.certificate
    assert proof is not None
    listed = secondary_facts(found)["grid"].rows
    assert len(listed) == int((suppressed.table.status == SECONDARY).sum()) > 0
    moved = {
        (cell, other)
        for cell, down, up in zip(proof.cells, proof.down, proof.up, strict=True)
        for way in (down, up)
        if way >= 0
        for other in proof.moves[way].cells
        if suppressed.table.status[other] == SECONDARY
    }
    assert sum(int(number) for _, number, _ in listed) == len(moved)


def test_the_grid_shows_every_cell_of_two_dimensions_in_the_order_of_its_hierarchy(suppressed: SuppressedTable) -> None:
    shown = slice_of(suppressed.table)
    assert shown is not None
    assert [name for _, name in shown.rows] == ["Total", "n", "n1", "n2", "s", "s1", NASTY]
    assert [depth for depth, _ in shown.rows] == [0, 1, 2, 2, 1, 2, 2]
    assert sorted(shown.cells[shown.cells >= 0].tolist()) == list(range(len(suppressed.table)))


def test_reports_are_made_later_from_the_files_with_the_same_figures(
    suppressed: SuppressedTable, tmp_path: Path
) -> None:
    files = suppressed.write(tmp_path / "out.csv", internal=tmp_path / "all.parquet", report=True)
    assert {"report", "internal report"} <= set(files)
    later = discreet.report(tmp_path / "out.csv", original=tmp_path / "all.parquet", output=tmp_path / "later.csv")
    numbers = [
        re.findall(r"\d+\.\d\d ×", path.read_text()) for path in (files["internal report"], later["internal report"])
    ]
    assert numbers[0] == numbers[1] != []
    bare = discreet.report(tmp_path / "out.csv", output=tmp_path / "bare.csv")
    assert "the internal table was not given (--original)" in bare["internal report"].read_text()
    content = (tmp_path / "out.csv").read_text().replace("n1", "n3")
    (tmp_path / "out.csv").write_text(content)
    with pytest.raises(InputError, match="SHA-256 differs"):
        discreet.report(tmp_path / "out.csv", output=tmp_path / "other.csv")
    assert not (tmp_path / "other.csv.report.html").exists()


def test_a_large_table_has_a_small_report(tmp_path: Path) -> None:
    frame = pl.DataFrame({"r": [f"r{i % 300}" for i in range(6000)], "c": [f"c{i % 7}" for i in range(6000)]})
    release = discreet.suppress(discreet.primary(discreet.tabulate(frame, by=["r", "c"]), threshold=3), steps=1)
    assert slice_of(release.table) is None
    page = release.report(tmp_path / "i.html", internal=True)
    assert page.stat().st_size < 300_000
    assert "too large to be shown" in page.read_text()
