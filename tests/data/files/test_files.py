"""One way in and one way out for every format."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet.data import files
from discreet.data.files.source import Dialect
from discreet.errors import InputError

FRAME = pl.DataFrame({"id": [1.5, 2.5], "town": ["Ulm", None]})
WRITABLE = [
    ".csv",
    ".tsv",
    ".txt",
    ".parquet",
    ".pq",
    ".arrow",
    ".feather",
    ".ipc",
    ".xlsx",
    ".dta",
    ".sav",
    ".zsav",
    ".xpt",
]


@pytest.mark.parametrize("suffix", WRITABLE)
def test_every_format_goes_out_and_comes_in(tmp_path: Path, suffix: str) -> None:
    final = tmp_path / f"out{suffix.upper()}"
    temporary = tmp_path / ".hidden"
    temporary.touch(mode=0o600)
    files.write(FRAME, temporary, format_name=files.check_writable_format(final), like=None)
    assert temporary.stat().st_mode & 0o777 == 0o600
    temporary.rename(final)
    source = files.read(final)
    assert source.format == files.format_of(final)
    assert source.path == final
    assert source.frame.columns == FRAME.columns
    assert [float(x) for x in source.frame["id"]] == [1.5, 2.5]
    assert source.frame["town"].to_list() == ["Ulm", None]


def test_dialect_of_the_source_is_kept(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes("id;größe\r\n1;1,5\r\n2;\r\n".encode("cp1252"))
    source = files.read(str(tmp_path / "in.csv"))
    files.write(pl.DataFrame({"größe": [0.25, None]}), tmp_path / "out", format_name="csv", like=source)
    assert (tmp_path / "out").read_bytes() == 'größe\r\n0,25\r\n""\r\n'.encode("cp1252")
    files.write(source.frame, tmp_path / "out", format_name="tsv", like=source)
    assert (tmp_path / "out").read_bytes() == "id\tgröße\r\n1\t1,5\r\n2\t\r\n".encode("cp1252")


def test_other_sources_give_plain_csv(tmp_path: Path) -> None:
    files.write(FRAME, tmp_path / "in.parquet", format_name="parquet", like=None)
    files.write(FRAME, tmp_path / "out.csv", format_name="csv", like=files.read(tmp_path / "in.parquet"))
    assert (tmp_path / "out.csv").read_text() == "id,town\n1.5,Ulm\n2.5,\n"
    assert files.read(tmp_path / "out.csv").dialect == Dialect()


def test_labels_of_the_source_are_kept(tmp_path: Path) -> None:
    import pyreadstat

    pyreadstat.write_sav(FRAME, tmp_path / "in.sav", column_labels={"id": "number"})
    files.write(FRAME, tmp_path / "out", format_name="zsav", like=files.read(tmp_path / "in.sav"))
    (tmp_path / "out").rename(tmp_path / "out.zsav")
    labels = files.read(tmp_path / "out.zsav").labels
    assert labels is not None
    assert labels.variables == {"id": "number"}


@pytest.mark.parametrize(
    ("name", "format_name", "writer"),
    [
        ("a.CSV", "csv", "csv"),
        ("a.b.tsv", "csv", "tsv"),
        ("x.zsav", "spss", "zsav"),
        ("x.Sav", "spss", "spss"),
        ("x.xpt", "sas", "sas"),
    ],
)
def test_names_of_formats(name: str, format_name: str, writer: str) -> None:
    assert files.format_of(name) == format_name
    assert files.check_writable_format(Path(name)) == writer


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.doc", "suffix '.doc' of a.doc is not known; known are .csv, .tsv"),
        ("a", "a has no suffix"),
        ("a.xlsx.gz", "unpack it first"),
        ("a.xls", "save it as .xlsx"),
    ],
)
def test_unknown_suffix(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        files.read(name)


@pytest.mark.parametrize(("name", "better"), [("a.sas7bdat", "a.xpt"), ("a.por", "a.sav"), ("a.xlsm", "a.xlsx")])
def test_formats_only_read(name: str, better: str) -> None:
    with pytest.raises(InputError, match=f"name the output {better}"):
        files.check_writable_format(name)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("a.parquet", {"delimiter": ";"}),
        ("a.parquet", {"encoding": "cp1252"}),
        ("a.dta", {"decimal": ","}),
        ("a.sav", {"header": False}),
        ("a.csv", {"sheet": "x"}),
        ("a.xlsx", {"delimiter": ","}),
    ],
)
def test_options_of_other_formats_are_refused(name: str, option: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(option))} does not apply to {name}"):
        files.read(name, **option)


NAMES = ["csv", "tsv", "parquet", "arrow", "excel", "stata", "spss", "zsav", "sas"]


@pytest.mark.parametrize("name", NAMES)
def test_what_was_written_is_read_back_whatever_it_looks_like(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"a": ["7", None, "9", None], "b": ["1,5", None, "x", None]})  # blank records, numbers as text
    if name == "excel":
        # Every reader of Excel files drops a blank row: it would be a release with a record fewer.
        with pytest.raises(InputError, match="blank in all columns"):
            files.write(frame, tmp_path / ".hidden", format_name=name, like=None)
        frame = frame.filter(pl.col("a").is_not_null())
    files.write(frame, tmp_path / ".hidden", format_name=name, like=None)
    assert files.read_back(tmp_path / ".hidden", name).rows() == frame.rows()


def test_read_back_without_header(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"1;2;3\r\n4;5;6\r\n")
    source = files.read(tmp_path / "in.csv", header=False)
    part = source.frame.select("column_3", "column_1")
    files.write(part, tmp_path / "out", format_name="csv", like=source)
    assert (tmp_path / "out").read_bytes() == b"3;1\r\n6;4\r\n"
    back = files.read_back(tmp_path / "out", "csv", source, columns=part.columns)
    assert back.rows(named=True) == part.rows(named=True)


def test_unknown_format_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown format 'sqlite'"):
        files.write(FRAME, tmp_path / "x", format_name="sqlite", like=None)


def test_delimited_text_packed_by_gzip_is_read_as_it_is(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.csv", tmp_path / "b.CSV.gz"
    plain.write_text("x,y\n1,ä\n2,b\n", encoding="utf-8")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert files.read(packed).frame.equals(files.read(plain).frame)
    with pytest.raises(InputError, match=r"can be read but not written; name the output b\.CSV"):
        files.check_writable_format(packed)
    with pytest.raises(InputError, match="max_size does not apply"):
        files.read(plain, max_size="1MB")


@pytest.mark.parametrize(
    "harm", [lambda data: data[:-9], lambda data: data[:20] + b"x" + data[21:], lambda _data: b"x,y"]
)
def test_a_damaged_packed_file_is_refused(harm: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(harm(gzip.compress(b"x,y\n" + b"1,b\n" * 99)))
    with pytest.raises(InputError, match="damaged or cut off, or not packed by gzip"):
        files.read(path)


@pytest.mark.parametrize("suffix", [".csv.gz", ".xlsx", ".parquet", ".zsav"])
def test_a_file_that_unpacks_to_more_than_allowed_is_refused(suffix: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": ["a" * 500] * 2000, "y": list(range(2000))})
    path = tmp_path / f"a{suffix}"
    if suffix == ".csv.gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        files.write(frame, path, format_name=files.check_writable_format(path))
    with pytest.raises(InputError, match="holds more than 100KB once it is unpacked; if that is right, allow more"):
        files.read(path, max_size="100KB")
    assert files.read(path, max_size="80MB").frame.height == 2000


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("sqlite:" + '"' * 40_000 + "#t", "too long"),
        (f"sqlite:{'a/' * 40_000}", "too long"),
        (f"{'a' * 5_000}.csv", "too long"),
        (Path(f"{'a' * 300}.parquet"), "too long"),
        ("a\0.csv", "zero byte"),
    ],
    ids=["quotes", "folders", "name", "path", "zero"],
)
@pytest.mark.parametrize(
    "verb",
    [
        files.read,
        discreet.inspect,
        lambda path: discreet.verify(path, quasi=["a"], k=2),
        lambda path: discreet.measure(path, path, quasi=["a"]),
    ],
    ids=["read", "inspect", "verify", "measure"],
)
def test_a_name_that_no_file_can_have_is_refused_in_our_words(
    path: Any, why: str, verb: Callable[[Any], object]
) -> None:
    with pytest.raises(InputError, match=f"{why}|table of SQLite"):
        verb(path)
