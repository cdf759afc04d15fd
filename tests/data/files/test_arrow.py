"""Parquet and Arrow: the schema comes through, and nothing that cannot be seen."""

from __future__ import annotations

import contextlib
import datetime
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from discreet.data.files import arrow as columnar
from discreet.errors import InputError

CANARY = "Zyxwv-4711"
FORMATS = ["parquet", "arrow"]

FRAME = pl.DataFrame(
    {
        "int8": pl.Series([1, None, 3], dtype=pl.Int8),
        "uint64": pl.Series([1, None, 2**64 - 1], dtype=pl.UInt64),
        "float32": pl.Series([0.1, None, 3], dtype=pl.Float32),
        "float": [0.1, None, -1e300],
        "text": ["Köln", None, ""],
        "date": [datetime.date(2020, 1, 2), None, datetime.date(1890, 1, 1)],
        "zoned": pl.Series([datetime.datetime(2020, 1, 2, 3)] * 2 + [None]).dt.replace_time_zone("Europe/Berlin"),
        "nanos": pl.Series([1, None, 2], dtype=pl.Datetime("ns")),
        "time": [datetime.time(1, 2, 3), None, None],
        "duration": [datetime.timedelta(seconds=1), None, None],
        "money": pl.Series([Decimal("1.50"), None, Decimal("-2.25")], dtype=pl.Decimal(12, 2)),
        "bool": [True, None, False],
        "town": pl.Series(["Ulm", None, "Bonn"], dtype=pl.Categorical),
        "size": pl.Series(["S", None, "L"], dtype=pl.Enum(["S", "L"])),
    }
)


@pytest.mark.parametrize("name", FORMATS)
def test_schema_and_values_come_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / "out.tmp"
    columnar.write(FRAME, path, name)
    back = columnar.read(path, name)
    assert_frame_equal(back.frame, FRAME)
    assert back.format == name
    assert back.place(2) == "record 3"


@pytest.mark.parametrize("name", FORMATS)
def test_pandas_reads_the_same(tmp_path: Path, name: str) -> None:
    path = tmp_path / "out.tmp"
    columnar.write(FRAME, path, name)
    seen = pd.read_parquet(path) if name == "parquet" else pd.read_feather(path)
    assert seen["text"].tolist()[0] == "Köln"
    assert seen["size"].cat.ordered
    assert list(seen["size"].cat.categories) == ["S", "L"]
    assert str(seen["zoned"].dtype).endswith("Europe/Berlin]")
    assert seen["money"].tolist()[2] == Decimal("-2.25")


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.none() | st.text(st.characters(exclude_categories=["Cs"])), st.none() | st.floats(allow_nan=False)
        ),
        min_size=1,
    )
)
def test_any_text_and_number_comes_back(tmp_path: Path, rows: list[tuple[str | None, float | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"t": pl.String, "x": pl.Float64}, orient="row")
    for name in FORMATS:
        columnar.write(frame, tmp_path / "out.tmp", name)
        assert_frame_equal(columnar.read(tmp_path / "out.tmp", name).frame, frame)


def test_nan_is_read_and_written_as_null(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0, float("nan"), None]}), tmp_path / "in.parquet")
    assert columnar.read(tmp_path / "in.parquet", "parquet").frame["x"].to_list() == [1.0, None, None]
    columnar.write(pl.DataFrame({"x": [1.0, float("nan")]}), tmp_path / "out", "arrow")
    assert pf.read_table(tmp_path / "out")["x"].to_pylist() == [1.0, None]


def test_files_of_pandas_and_order_of_categories(tmp_path: Path) -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["lo", "hi", "lo"], ["no", "lo", "hi"], ordered=True)}, index=[5, 6, 7])
    frame.to_parquet(tmp_path / "in.parquet")
    source = columnar.read(tmp_path / "in.parquet", "parquet")
    assert source.frame.schema["c"] == pl.Enum(["no", "lo", "hi"])
    assert "__index_level_0__ was the row index" in source.notes[0]


def test_arrow_streams_and_feather_are_read(tmp_path: Path) -> None:
    table = pa.table({"x": [1, 2], "t": ["a", "b"]})
    with pa.OSFile(str(tmp_path / "s.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    pf.write_feather(table, tmp_path / "f.feather", compression="zstd")
    for path in (tmp_path / "s.arrow", tmp_path / "f.feather"):
        assert columnar.read(path, "arrow").frame.rows() == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("name", FORMATS)
def test_no_metadata_gets_out(tmp_path: Path, name: str) -> None:
    table = pa.table({"x": [1, 2]}, metadata={"pandas": CANARY, "r": CANARY})
    table = table.cast(
        pa.schema([pa.field("x", pa.int64(), metadata={"note": CANARY})], metadata=table.schema.metadata)
    )
    pq.write_table(table, tmp_path / "in.parquet")
    columnar.write(columnar.read(tmp_path / "in.parquet", "parquet").frame, tmp_path / "out", name)
    assert CANARY.encode() not in (tmp_path / "out").read_bytes()


@pytest.mark.parametrize("name", FORMATS)
def test_no_level_that_does_not_occur_gets_out(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame(
        {
            "e": pl.Series(["x", "y"], dtype=pl.Enum(["y", CANARY, "x"])),
            "c": pl.Series([CANARY, "x", "y"], dtype=pl.Categorical).slice(1),
        }
    )
    columnar.write(frame, tmp_path / "out", name)
    assert CANARY.encode() not in (tmp_path / "out").read_bytes()
    back = columnar.read(tmp_path / "out", name).frame
    assert back.schema["e"] == pl.Enum(["y", "x"])
    assert back.rows() == [("x", "x"), ("y", "y")]


@pytest.mark.parametrize("name", FORMATS)
def test_no_value_behind_a_null_gets_out(tmp_path: Path, name: str) -> None:
    secret = 4711471147114711
    mask = pa.py_buffer(bytes([0b101]))
    texts = pa.array(["a", CANARY, "c"], pa.large_string())
    numbers = pa.array([1, secret, 3])
    hidden = pa.table(
        {
            "t": pa.Array.from_buffers(texts.type, 3, [mask, *texts.buffers()[1:]]),
            "n": pa.Array.from_buffers(numbers.type, 3, [mask, *numbers.buffers()[1:]]),
        }
    )
    frame = pl.from_arrow(hidden)
    assert isinstance(frame, pl.DataFrame)
    columnar.write(frame, tmp_path / "out", name)
    raw = (tmp_path / "out").read_bytes()
    assert CANARY.encode() not in raw
    assert secret.to_bytes(8, "little") not in raw
    assert columnar.read(tmp_path / "out", name).frame.rows() == [("a", 1), (None, None), ("c", 3)]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("damage", ["cut", "noise", "text", "empty"])
def test_damaged_files_are_refused_without_internals(tmp_path: Path, name: str, damage: str) -> None:
    path = tmp_path / "in.bin"
    columnar.write(pl.DataFrame({"x": [CANARY] * 1000, "y": range(1000)}), path, name)
    raw = path.read_bytes()
    noise = raw[:-40] + b"\xff" * 32 + raw[-8:]
    path.write_bytes({"cut": raw[: len(raw) // 2], "noise": noise, "text": CANARY.encode() * 9, "empty": b""}[damage])
    with pytest.raises(InputError, match=r"in\.bin") as caught:
        columnar.read(path, name)
    assert CANARY not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(FORMATS), st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=8))
def test_a_damaged_file_is_read_or_refused_but_never_breaks(
    tmp_path: Path, name: str, where: float, bad: bytes
) -> None:
    path = tmp_path / "in.bin"
    columnar.write(FRAME, path, name)
    raw = bytearray(path.read_bytes())
    at = int(where * len(raw))
    raw[at : at + len(bad)] = bad
    path.write_bytes(raw)
    with contextlib.suppress(InputError):
        columnar.read(path, name)


def test_unsupported_types_and_repeated_names_are_named(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"ok": [1], "wide": pa.array([Decimal("1.2")], pa.decimal256(60, 2))}), tmp_path / "a.parquet"
    )
    with pytest.raises(InputError, match="column 'wide' has the type decimal256"):
        columnar.read(tmp_path / "a.parquet", "parquet")
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pa.OSFile(str(tmp_path / "b.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match=r"'a' \(columns 1, 2\)"):
        columnar.read(tmp_path / "b.arrow", "arrow")


def test_no_records(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="no records"):
        columnar.read(tmp_path / "a.parquet", "parquet")


def test_nested_columns_are_read_but_not_released(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [[1, 2]], "b": [1]}), tmp_path / "a.parquet")
    frame = columnar.read(tmp_path / "a.parquet", "parquet").frame
    with pytest.raises(InputError, match="nested columns a"):
        columnar.write(frame, tmp_path / "out", "parquet")


def test_a_refusing_file_system_is_told(tmp_path: Path) -> None:
    for name in FORMATS:
        with pytest.raises(InputError, match="cannot be written"):
            columnar.write(FRAME, tmp_path / "no" / "out", name)
