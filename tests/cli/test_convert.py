"""`discreet convert`: what is written says the same as what was read, and nothing is written over by mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.cli.convert import convert
from discreet.errors import InputError
from discreet.tabular.files.formats import read_table
from discreet.tabular.hierarchy import Hierarchy

JJ = """0
3
0 30 30 s 0 158 0 0 0
1 20 20 u 0 158 3 3 0
2 10 10 m 0 158 0 0 0
1
0 3 : 0 (-1) 1 (1) 2 (1)
"""
CSV = "size,value,status\nTotal,30,s\n s,20,u\nl,10,m\n"
HRC = "n\n@ 1\n@ 2\ns\n"


def put(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


def test_a_table_through_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = put(tmp_path / "first.csv", CSV)
    for number, suffix in enumerate([".parquet", ".tab", ".csv", ".txt", ".jj", ".jj.gz"]):
        out = tmp_path / f"t{number}{suffix}"
        assert convert(given, out) == 0
        said = capsys.readouterr().err
        assert str(out) in said
        assert "internal: holds every value, suppressed ones too" in said
        if suffix != ".txt":
            table = read_table(out)
            assert table.value.tolist() == [30, 20, 10]
            assert table.status.tolist() == [0, 1, 2]
            given = out
    assert (tmp_path / "t3.txt").read_text() == '"Total",30,1\n" s",20,3\n"l",10,11\n'


def test_every_file_written_is_named_and_only_the_owner_can_read_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "a.csv", CSV)
    convert(tmp_path / "a.csv", tmp_path / "b.tab")
    said = capsys.readouterr().err
    assert "does not keep bounds" in said
    for name in ("b.tab", "b.rda"):
        assert str(tmp_path / name) in said
        assert (tmp_path / name).stat().st_mode & 0o077 == 0
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "b.tab", "b.rda"}


def test_nothing_is_replaced_unless_told_and_what_was_read_never(tmp_path: Path) -> None:
    given = put(tmp_path / "a.jj", JJ)
    out = put(tmp_path / "b.csv", "kept")
    with pytest.raises(InputError, match="exists already"):
        convert(given, out)
    put(tmp_path / "c.table.json", "kept")
    with pytest.raises(InputError, match=r"c\.table\.json exists already"):
        convert(given, tmp_path / "c.csv")
    assert (out.read_text(), (tmp_path / "c.csv").exists()) == ("kept", False)
    convert(given, out, force=True)
    assert read_table(out).value.tolist() == [30, 20, 10]
    for path in (out, tmp_path / "sub" / ".." / "b.csv"):
        (tmp_path / "sub").mkdir(exist_ok=True)
        with pytest.raises(InputError, match="never written over"):
            convert(out, path, force=True)


def test_files_that_describe_what_is_read_are_never_written_over(tmp_path: Path) -> None:
    put(tmp_path / "a.csv", CSV)
    convert(tmp_path / "a.csv", tmp_path / "a.tab")
    (tmp_path / "a.tab").rename(tmp_path / "b.tab")
    with pytest.raises(InputError, match=r"a\.rda.*never written over"):
        convert(tmp_path / "b.tab", tmp_path / "a.tab", meta=tmp_path / "a.rda", force=True)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx", ".sav"])
def test_microdata(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    from discreet.data.files import read

    put(tmp_path / "a.rda", "size 1 2 99\n <RECODEABLE>\n <DISTANCE> 1\nvalue 3 5 99999\n <NUMERIC>\n")
    put(tmp_path / "a.asc", " 1  1.5\n99   -2\n 199999\n")
    convert(tmp_path / "a.asc", tmp_path / f"b{suffix}")
    said = capsys.readouterr().err
    assert "<DISTANCE> is passed over" in said
    assert "internal" in said
    frame = read(tmp_path / f"b{suffix}").frame
    assert frame["size"].to_list() == [" 1", "99", " 1"]
    assert frame["value"].cast(pl.Float64).to_list() == [1.5, -2, None]


def test_separated_microdata_need_their_metadata(tmp_path: Path) -> None:
    meta = put(tmp_path / "m.rda", '<SEPARATOR> ";"\nsize "99"\n <RECODEABLE>\nvalue\n <NUMERIC>\n')
    for name in ("a.csv", "a.txt"):
        put(tmp_path / name, '" 1";1.5\n"99";2\n')
        convert(tmp_path / name, tmp_path / f"{name}.parquet", meta=meta)
        assert pl.read_parquet(tmp_path / f"{name}.parquet").rows() == [(" 1", 1.5), ("99", 2.0)]
    with pytest.raises(InputError, match="--meta"):
        convert(tmp_path / "a.txt", tmp_path / "b.parquet")


def test_microdata_without_metadata_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "a.asc", "1\n")
    with pytest.raises(InputError, match=r"a\.rda.*--meta"):
        convert(tmp_path / "a.asc", tmp_path / "b.csv")
    with pytest.raises(InputError, match="known are"):
        convert(tmp_path / "a.asc", tmp_path / "b.jj")


def test_a_hierarchy_there_and_back(tmp_path: Path) -> None:
    convert(put(tmp_path / "a.hrc", HRC), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "code,parent\nn,Total\n 1,n\n 2,n\ns,Total\n"
    convert(tmp_path / "a.csv", tmp_path / "b.hrc")
    assert (tmp_path / "b.hrc").read_text() == HRC
    assert Hierarchy.from_hrc(tmp_path / "b.hrc") == Hierarchy.from_hrc(tmp_path / "a.hrc")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("code;parent\nn;\n1;n\ns;\n", "n\n@1\ns\n"),
        ("code,parent\nn,All\n1,n\ns,All\n", "n\n@1\ns\n"),
        ("code,parent\nAll,\n1,All\n2,All\n", "1\n2\n"),
    ],
)
def test_the_total_of_a_hierarchy_made_by_hand_is_found_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, text: str
) -> None:
    convert(put(tmp_path / "a.csv", content), tmp_path / "a.hrc")
    assert (tmp_path / "a.hrc").read_text() == text
    assert "the code that all others belong to is the total" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "out", "told"),
    [
        ("a.hrc", HRC, "a.parquet", "from .hrc to .csv"),
        ("a.jj", JJ, "a.hrc", "from .hrc to .csv"),
        ("a.csv", "code,above\na,b\n", "a.hrc", "code and parent"),
        ("a.csv", "code,parent\n,b\n", "a.hrc", "no code"),
        ("a.csv", "code,parent\na,b\nb,a\n", "a.hrc", "circle"),
        ("a.jj", JJ, "a.xlsx", "known are"),
        ("a.jj", JJ, "b.tab", "no named dimensions"),
        ("a.jj", JJ.rpartition("1\n0 3")[0], "b.csv", "ends before"),
        ("a.xyz", JJ, "b.csv", "known are"),
    ],
)
def test_what_cannot_be_converted_leaves_nothing_behind(
    tmp_path: Path, name: str, content: str, out: str, told: str
) -> None:
    with pytest.raises(InputError, match=told.replace(".", r"\.")):
        convert(put(tmp_path / name, content), tmp_path / out)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_metadata_do_not_apply_to_everything(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not apply"):
        convert(put(tmp_path / "a.hrc", HRC), tmp_path / "b.csv", meta=tmp_path / "a.rda")
    with pytest.raises(InputError, match="leave"):
        convert(put(tmp_path / "a.jj", JJ), tmp_path / "b.csv", meta=tmp_path / "a.rda")


def test_the_reference_table(tmp_path: Path, table_reference: Callable[[str], Path]) -> None:
    convert(table_reference("tab/pp.tab"), tmp_path / "b.parquet")
    convert(tmp_path / "b.parquet", tmp_path / "c.tab")
    first, last = read_table(table_reference("tab/pp.tab")), read_table(tmp_path / "c.tab")
    assert first.dimensions == last.dimensions
    assert np.array_equal(first.value, last.value)
