"""What is published of a table: codes in the order of their hierarchies, in three formats, linked tables apart."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import openpyxl
import polars as pl
import pytest

import discreet
from discreet.errors import InputError
from discreet.release.suppressed import SuppressedTable
from discreet.tabular import Dimension, Hierarchy, Table

RNG = np.random.default_rng(5)
FRAME = pl.DataFrame(
    {
        "region": RNG.choice(["n1", "n2", "s1", "s2"], 80),
        "size": RNG.choice(["1", "2", "3"], 80),
        "form": RNG.choice(["x", "y", "z"], 80),
        "sales": RNG.integers(1, 99, 80),
    }
)
# The codes below a region stand behind all regions here, and before the next region in what is written.
REGION = Hierarchy(["Total", "s", "n", "n2", "n1", "s1", "s2"], [-1, 0, 0, 2, 2, 1, 1])
ORDER = ["Total", "s", "s1", "s2", "n", "n2", "n1"]


@pytest.fixture(scope="module")
def linked() -> SuppressedTable:
    table = discreet.tabulate(
        FRAME, by={"region": REGION, "size": None, "form": None}, value="sales",
        parts=[["region", "size"], ["region", "form"]],
    )  # fmt: skip
    return discreet.suppress(discreet.primary(table, dominance=(1, 40)), steps=2)


def test_codes_stand_in_the_order_of_their_hierarchy(linked: SuppressedTable) -> None:
    frame = linked.public()
    assert list(dict.fromkeys(frame["region"])) == ORDER
    whole = frame.filter((pl.col("size") == "Total") & (pl.col("form") == "Total"))
    assert whole["region"].to_list() == ORDER
    both = Dimension("where", [REGION, Hierarchy.from_pairs(
        [("coast", "Total"), ("n1", "coast"), ("s1", "coast"), ("inland", "Total"), ("n2", "inland"), ("s2", "inland")]
    )])  # fmt: skip
    listed = [both.codes[at] for at in np.argsort(both.ranks)]
    assert listed == [*ORDER, "coast", "inland"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".xlsx"])
def test_linked_tables_are_written_apart_with_one_record(suffix: str, linked: SuppressedTable, tmp_path: Path) -> None:
    files = linked.write(tmp_path / f"out{suffix}", split=True)
    names = {f"out{suffix}", f"out.region-size{suffix}", f"out.region-form{suffix}"}
    assert names | {f"out{suffix}.release.json", f"out{suffix}.evidence.json"} == {p.name for p in tmp_path.iterdir()}
    record = json.loads(files["record"].read_text())
    parts = record["output"]["parts"]
    assert {part["file"] for part in parts} | {record["output"]["file"]} == names
    for told in [record["output"], *parts]:
        assert told["sha256"] == hashlib.sha256((tmp_path / told["file"]).read_bytes()).hexdigest()
    public = linked.public()
    for name, other in (("size", "form"), ("form", "size")):
        wanted = public.filter(pl.col(other) == "Total").drop(other)
        assert read(tmp_path / f"out.region-{name}{suffix}") == [tuple(map(plain, row)) for row in wanted.rows()]


def plain(value: object) -> object:
    """A value as it is, whatever it was written as: nothing, a mark, or a number."""
    if value is None or value == "x":
        return None
    try:
        return float(str(value))
    except ValueError:
        return str(value)


def read(path: Path) -> list[tuple[object, ...]]:
    """The rows of a file, by a reader that is not ours where there is one."""
    if path.suffix == ".xlsx":
        sheet = openpyxl.load_workbook(path).active
        assert sheet is not None
        rows = [tuple(row) for row in sheet.iter_rows(min_row=2, values_only=True)]
    elif path.suffix == ".arrow":
        rows = pl.read_ipc(path).drop("suppressed").rows()
    else:
        frame = pl.read_csv(path, infer_schema=False) if path.suffix == ".csv" else pl.read_parquet(path)
        rows = frame.drop("suppressed", strict=False).rows()
    return [tuple(map(plain, row)) for row in rows]


def test_a_workbook_has_numbers_and_marks(linked: SuppressedTable, tmp_path: Path) -> None:
    linked.write(tmp_path / "out.xlsx", mark="c")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert sheet is not None
    values = [row[-1] for row in sheet.iter_rows(min_row=2, values_only=True)]
    hidden = linked.table.suppressed[linked.table.order]
    assert [value == "c" for value in values] == hidden.tolist()
    assert all(isinstance(value, int) for value in values if value != "c")


def test_a_table_that_is_not_linked_is_not_split(tmp_path: Path) -> None:
    table = discreet.primary(discreet.tabulate(FRAME, by=["region", "size"], value="sales"), threshold=2)
    release = discreet.suppress(table, steps=1)
    with pytest.raises(InputError, match="nothing to split"):
        release.write(tmp_path / "out.csv", split=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_come_out_as_the_kind_that_is_asked_for(kind: str, linked: SuppressedTable) -> None:
    found = discreet.audit(linked.table)
    for made in (linked.table.frame(kind), found.intervals(kind), linked.public(kind=kind)):
        assert type(made).__module__.split(".")[0] == {"arrow": "pyarrow"}.get(kind, kind)
    assert pl.DataFrame(linked.table.frame(kind)).equals(linked.table.frame())


def test_a_table_of_a_frame_gives_the_same_kind_of_frame() -> None:
    cells = pl.DataFrame({"size": ["Total", "a"], "value": [1, 1]})
    for data, kind in ((cells.to_pandas(), "pandas"), (cells, "polars"), (cells.to_arrow(), "pyarrow")):
        table = Table.from_frame(data, by="size")
        assert type(table.frame()).__module__.split(".")[0] == kind
        assert type(discreet.primary(table, zeros=1).frame()).__module__.split(".")[0] == kind
        flagged = discreet.primary(data, by="size", manual=[("a",)])
        assert type(discreet.audit(flagged).intervals()).__module__.split(".")[0] == kind
    with pytest.raises(InputError, match="kind is 'excel'; it must be one of"):
        table.frame("excel")
