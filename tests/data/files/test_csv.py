"""Delimited text: what was written is what is read, and what is wrong is said without a value of a person."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import random
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from discreet.data.files import csv as delimited
from discreet.data.files.source import Dialect, Source
from discreet.errors import InputError

CANARY = "Zyxwv-4711"

# NUL is refused on reading; a lone surrogate is not text; a leading U+FEFF is the byte order mark.
TEXT = st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), max_size=12)
AWKWARD = st.text('",;|\t\r\n ab1.', max_size=6)


def put(path: Path, content: str | bytes, encoding: str = "utf-8") -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def refused(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        delimited.read(path, **options)  # type: ignore[arg-type]
    error: BaseException | None = caught.value
    while error is not None:  # nor in an error that a traceback would show along with ours
        assert CANARY not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert CANARY not in str(caught.value)
    return str(caught.value)


def rows_of(source: Source) -> list[tuple[str | None, ...]]:
    return source.frame.rows()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "survey.csv"


class TestFindingOut:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_delimiter(self, file: Path, delimiter: str) -> None:
        content = "\n".join(
            delimiter.join(row) for row in [["id", "age", "town"], ["1", "34", "Ulm"], ["2", "51", "Bonn"]]
        )
        source = delimited.read(put(file, content))
        assert source.dialect == Dialect(delimiter=delimiter)
        assert source.frame.columns == ["id", "age", "town"]
        assert rows_of(source) == [("1", "34", "Ulm"), ("2", "51", "Bonn")]

    @pytest.mark.parametrize(
        ("content", "delimiter"),
        [
            ("1,5;2,5\n1,7;3,5\n", ";"),  # the commas would give three fields in every line
            ("1;hello, world\n2;hello, you\n", ";"),
            ("income, gross;age\n1;2\n3;4\n", ";"),
            ('a,b\n"x;y;z",1\n"u;v;w",2\n', ","),
            ("x\n1,5\n2,75\n", ";"),  # one column with decimal commas
            ("x\n1\n2\n", ","),
            ("a|b\nx, y|1\nz, w|2\n", "|"),
            ("a;b;c\n1;2;3\n4;5\n", ";"),
        ],
    )
    def test_delimiter_in_doubt(self, file: Path, content: str, delimiter: str) -> None:
        from discreet.data.files import sniff

        assert sniff.delimiter_of(content) == delimiter

    @pytest.mark.parametrize(
        ("content", "decimal"),
        [
            ("a;b\n1,5;x\n2,25;y\n", ","),
            ("a;b\n1.5;x\n2;y\n", "."),
            ('a,b\n"1,5",x\n"2,75",y\n', ","),
            ('a,b\n"1,500",x\n"2,750",y\n', "."),  # thousands
            ("a;b\n1,500;1.5\n2,750;2.5\n", "."),
            ("a;b\n1,500;3\n2,750;4\n", ","),
            ("a;nace\n1,5;10.1\n2,25;11.2\n", ","),
            ("a;b\n1,5;x\nx;y\n", "."),  # not a column of numbers
            ("a;b\n;x\n-,5;y\n1,5e3;z\n", ","),
            ("a;b\n1;2\n3;4\n", "."),
        ],
    )
    def test_decimal(self, file: Path, content: str, decimal: str) -> None:
        dialect = delimited.read(put(file, content), header=True).dialect
        assert dialect is not None
        assert dialect.decimal == decimal

    @pytest.mark.parametrize(
        ("content", "doubt"),
        [
            ("id,age\n1,34\n2,51\n", ""),
            ("id,age\n1,34\nunknown,refused\n2,n.a.\n", ""),  # these words are missing values
            ('"","age"\n"1","34"\n"2","51"\n', ""),
            ("1,34\n2,51\n", "number"),
            ("34,1200\n", "number"),
            ("id,age,2019\n1,34,5\n2,51,6\n", "number"),
            ("region,2019,2020\nA,1,2\nB,3,4\n", "number"),
            ("2020-01-01,x\n2020-01-02,y\n", "date"),
            ("30.07.96,x\n31.07.96,y\n", "date"),
            ("NA,34,12\n5,51,13\n6,7,8\n", "number"),
            ("Anna,unknown,refused,1950\nBob,2,3,1960\nCy,4,5,1970\n", "number"),
            ("Anna,unknown,refused\nBob,2,3\nCy,4,5\n", "no text"),
            ("Anna,Keine Angabe,N.A.\nBob,2,3\nCy,4,5\n", "no text"),
            ("anna,M,x\nbob,M,5\neve,F,6\n", "comes again"),
            ("M,yes\nF,no\nM,yes\n", "comes again"),
            ("name,sex\nanna,F\nbob,M\n", "no text"),
        ],
    )
    def test_header(self, file: Path, content: str, doubt: str) -> None:
        from discreet.data.files import sniff

        assert doubt in sniff.doubt_header(sniff.records(content, ","))
        if not doubt:
            assert sniff.doubt_header(sniff.records(content, ",")) == ""
            assert "its first line the column names" in delimited.read(put(file, content)).notes[0]
        else:
            assert "--header" in refused(put(file, content.replace("Anna", CANARY)))

    def test_without_header_columns_are_numbered(self, file: Path) -> None:
        source = delimited.read(put(file, f"{CANARY},34\nx,51\ny,20\n"), header=False)
        assert source.frame.columns == ["column_1", "column_2"]
        assert source.frame.height == 3
        assert source.line(0) == 1
        assert CANARY not in " ".join(source.notes)

    def test_a_first_column_without_a_name_is_the_index(self, file: Path) -> None:
        source = delimited.read(put(file, '"","age"\n"1","34"\n"2","51"\n'))
        assert source.frame.columns == ["index", "age"]
        assert "the first column has no name and is called 'index'" in source.notes[1]
        assert delimited.read(put(file, ",index\na,1\nb,2\n")).frame.columns == ["index_1", "index"]

    def test_what_is_given_is_not_found_out(self, file: Path) -> None:
        content = "1;2,5\n3;4,5\n".encode("utf-16-le")
        source = delimited.read(put(file, content), delimiter=";", encoding="utf-16-le", decimal=".", header=True)
        assert source.dialect == Dialect(";", "utf-16-le", ".", True)
        assert source.frame.columns == ["1", "2,5"]
        assert source.notes == ("survey.csv: read as encoding utf-16-le",)

    def test_note_of_all_assumptions(self, file: Path) -> None:
        source = delimited.read(put(file, "id;größe\n1;1,75\n2;1,80\n", "cp1252"))
        note = (
            "read as ';'-delimited, decimal comma, encoding cp1252 (not valid UTF-8), its first line the column names"
        )
        assert source.notes == (f"survey.csv: {note}",)
        assert source.frame.columns == ["id", "größe"]

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    def test_byte_order_marks(self, file: Path, encoding: str) -> None:
        marks = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
        marks |= {"utf-32-le": codecs.BOM_UTF32_LE, "utf-32-be": codecs.BOM_UTF32_BE}
        raw = marks[encoding] + "id,town\r\n1,Köln €\r\n2,Ulm\r\n".encode(encoding)
        source = delimited.read(put(file, raw))
        assert source.dialect == Dialect(",", encoding, bom=True, newline="\r\n")
        assert source.frame["town"].to_list() == ["Köln €", "Ulm"]
        delimited.write(source.frame, file.with_name("out"), source.dialect)
        assert file.with_name("out").read_bytes() == raw

    def test_given_utf_16_agrees_with_either_mark(self, file: Path) -> None:
        for order in ("le", "be"):
            raw = "\ufeffid,age\n1,2\n".encode(f"utf-16-{order}")
            assert delimited.read(put(file, raw), encoding="utf-16").frame.columns == ["id", "age"]


class TestPlaces:
    def test_lines_count_header_quoted_newlines_and_blank_lines(self, file: Path) -> None:
        content = 'id,note\n1,"two\nlines"\n2,x\n\n3,"a\r\nb\rc"\n4,y\n'
        source = delimited.read(put(file, content))
        assert [source.line(row) for row in range(4)] == [2, 4, 6, 9]
        assert source.place(3) == "line 9"
        assert "1 blank lines skipped" in " ".join(source.notes)

    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    def test_line_ends(self, file: Path, newline: str) -> None:
        source = delimited.read(put(file, newline.join(["", "id,x", "1,a", "2,b", ""])))
        assert source.dialect is not None
        assert source.dialect.newline == newline
        assert rows_of(source) == [("1", "a"), ("2", "b")]
        assert source.line(0) == 3

    def test_blank_line_of_one_column_is_a_missing_value(self, file: Path) -> None:
        source = delimited.read(put(file, "age\n34\n\n51\n"))
        assert source.frame["age"].to_list() == ["34", None, "51"]
        assert source.line(2) == 4
        assert "1 blank lines read as missing values" in " ".join(source.notes)

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.tuples(TEXT | AWKWARD, TEXT | AWKWARD), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]))
    def test_lines_are_those_of_an_independent_reader(
        self, file: Path, rows: list[tuple[str, str]], newline: str
    ) -> None:
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer, lineterminator=newline, quoting=csv.QUOTE_ALL)
        writer.writerow(["a", "b"])
        starts = []
        for row in rows:
            before = buffer.getvalue()
            starts.append(1 + before.count("\n") + before.count("\r") - before.count("\r\n"))
            writer.writerow(row)
        source = delimited.read(put(file, buffer.getvalue()), delimiter=",", header=True)
        assert [source.line(row) for row in range(len(rows))] == starts


class TestValues:
    def test_text_comes_as_written_and_only_blank_is_null(self, file: Path) -> None:
        source = delimited.read(put(file, 'a,b,c\nNA, x ,007\nnull,,""\n1e5,5" pipe,"say ""hi"""\n'), header=True)
        assert rows_of(source) == [("NA", " x ", "007"), ("null", None, None), ("1e5", '5" pipe', 'say "hi"')]
        assert set(source.frame.dtypes) == {pl.String}

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        rows=st.lists(st.lists(TEXT | AWKWARD, min_size=2, max_size=2), min_size=1, max_size=6),
        delimiter=st.sampled_from(",;\t|"),
        newline=st.sampled_from(["\n", "\r\n"]),
    )
    @example(rows=[["", ""]], delimiter=",", newline="\n")
    def test_reads_what_the_standard_library_writes(
        self, file: Path, rows: list[list[str]], delimiter: str, newline: str
    ) -> None:
        buffer = io.StringIO(newline="")
        # With line feeds the standard library leaves a lone CR unquoted, so there it has to quote everything.
        if newline == "\n":
            writer = csv.writer(buffer, delimiter=delimiter, lineterminator=newline, quoting=csv.QUOTE_ALL)
        else:
            writer = csv.writer(buffer, delimiter=delimiter, lineterminator=newline)
        writer.writerows([["a", "b"], *rows])
        source = delimited.read(put(file, buffer.getvalue()), delimiter=delimiter, header=True)
        assert rows_of(source) == [tuple(value or None for value in row) for row in rows]

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        names=st.lists((TEXT | AWKWARD).filter(lambda name: bool(name.strip())), min_size=1, max_size=4, unique=True),
        delimiter=st.sampled_from(",;\t|"),
        newline=st.sampled_from(["\n", "\r\n"]),
        encoding=st.sampled_from(["utf-8", "utf-16-le"]),
        header=st.booleans(),
        data=st.data(),
    )
    def test_what_went_out_comes_in(
        self,
        file: Path,
        names: list[str],
        delimiter: str,
        newline: str,
        encoding: str,
        header: bool,
        data: st.DataObject,
    ) -> None:
        value = st.none() | (TEXT | AWKWARD).filter(bool)
        rows = data.draw(st.lists(st.tuples(*[value] * len(names)), min_size=1, max_size=6))
        frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
        dialect = Dialect(delimiter, encoding, header=header, newline=newline)
        delimited.write(frame, file, dialect)
        assume(file.read_bytes().decode(encoding).strip(" \r\n"))  # else the file counts as empty
        back = delimited.read(file, delimiter=delimiter, encoding=encoding, header=header)
        assert rows_of(back) == rows
        if header:
            assert back.frame.columns == names
        independent = list(csv.reader(io.StringIO(file.read_bytes().decode(encoding), newline=""), delimiter=delimiter))
        assert independent[int(header) :] == [[cell or "" for cell in row] for row in rows]

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8), st.sampled_from(".,"))
    def test_floats_read_back_the_same(self, file: Path, values: list[float], decimal: str) -> None:
        delimiter = ";" if decimal == "," else ","
        delimited.write(pl.DataFrame({"x": values, "y": values}), file, Dialect(delimiter, decimal=decimal))
        back = delimited.read(file, delimiter=delimiter, decimal=decimal, header=True).frame["x"].to_list()
        assert [float(text.replace(decimal, ".")) for text in back] == values

    def test_a_file_comes_back_byte_for_byte(self, file: Path) -> None:
        raw = 'id;größe;"a;b"\r\n1;1,75;"x;""y"""\r\n2;;=SUM(A1)\r\n3;NA;@x\r\n'.encode("cp1252")
        source = delimited.read(put(file, raw))
        assert source.dialect is not None
        delimited.write(source.frame, file.with_name("out"), source.dialect)
        assert file.with_name("out").read_bytes() == raw

    def test_types_are_written_plainly(self, file: Path) -> None:
        frame = pl.DataFrame(
            {"f": [0.1 + 0.2, math.nan], "d": [date(2020, 1, 2), None], "b": [True, None], "i": [1, None]}
        )
        delimited.write(frame, file, Dialect())
        assert file.read_text() == "f,d,b,i\n0.30000000000000004,2020-01-02,true,1\n,,,\n"

    def test_one_column_of_missing_values_keeps_its_records(self, file: Path) -> None:
        delimited.write(pl.DataFrame({"x": ["a", None]}), file, Dialect())
        assert file.read_text() == 'x\na\n""\n'
        assert delimited.read(file, header=True).frame["x"].to_list() == ["a", None]

    def test_a_record_larger_than_a_block_is_read(self, file: Path) -> None:
        long = "x" * 9_000_000
        source = delimited.read(put(file, f"id,note\n1,{long}\n2,y\n"), header=True)
        assert source.frame["note"].str.len_chars().to_list() == [9_000_000, 1]

    def test_many_records_over_many_blocks(self, file: Path) -> None:
        numbers = random.Random(1)
        rows = [[str(i), f'a"{numbers.random()}\n;'] for i in range(200_000)]
        buffer = io.StringIO(newline="")
        csv.writer(buffer, delimiter=";", lineterminator="\n").writerows([["id", "note"], *rows])
        source = delimited.read(put(file, buffer.getvalue()))
        assert source.frame["note"].to_list() == [row[1] for row in rows]
        assert source.line(199_999) == 2 + 2 * 199_999


class TestRefusals:
    def test_missing_file_and_folder(self, tmp_path: Path) -> None:
        assert "does not exist" in refused(tmp_path / "no.csv")
        assert "is a folder" in refused(tmp_path)

    def test_not_readable(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def deny(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied", CANARY)

        put(file, "a,b\n1,2\n")
        monkeypatch.setattr(Path, "open", deny)  # permissions do not bind an administrator, who may run this
        assert "cannot be read (Permission denied)" in refused(file)

    @pytest.mark.parametrize("content", ["", "\n", "\r\n\r\n", " \n\n", "\ufeff", "\ufeff\n"])
    def test_empty(self, file: Path, content: str) -> None:
        assert "is empty" in refused(put(file, content))

    def test_only_a_header(self, file: Path) -> None:
        assert "no records" in refused(put(file, "id,age\n"), header=True)
        assert "no records" in refused(put(file, "id,age\n\n\n"), header=True)

    def test_repeated_names(self, file: Path) -> None:
        message = refused(put(file, f"id,age,id,age\n1,2,3,{CANARY}\n4,5,6,7\n"))
        assert "'id' (columns 1, 3), 'age' (columns 2, 4)" in message

    def test_blank_names(self, file: Path) -> None:
        assert "no name for column 2, 4" in refused(put(file, f"id,,age, \n1,2,3,4\n1,2,3,{CANARY}\n"))

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"PAR1\x00\x00", "Parquet"),
            (b"PK\x03\x04\x14\x00", "Excel workbook or a zip"),
            (gzip.compress(b"a,b\n1,2\n", mtime=0), "gzip"),
            (b"ARROW1\x00\x00", "Arrow"),
            (b"a,b\n1,\x00\n", "NUL byte in line 2"),
            ("a,b\n1,2\n".encode("utf-16-le"), "--encoding utf-16-le"),
        ],
    )
    def test_binary(self, file: Path, content: bytes, words: str) -> None:
        assert words in refused(put(file, content))

    def test_neither_utf_8_nor_cp1252(self, file: Path) -> None:
        message = refused(put(file, b"a,b\n1,2\n" + CANARY.encode() + b",\x81\n"))
        assert "line 3" in message
        assert "--encoding" in message

    def test_damaged_utf_8_is_not_taken_for_cp1252(self, file: Path) -> None:
        message = refused(put(file, f"a,b\nKöln,{CANARY}\n".encode() + b"x,\xe4\n"))
        assert "line 3: not valid UTF-8" in message

    def test_wrong_encoding_given(self, file: Path) -> None:
        raw = f"a,b\n1,2\n\n{CANARY},ä\n".encode("cp1252")
        assert "line 4: the text is not valid utf-8" in refused(put(file, raw), encoding="utf-8")
        assert "unknown encoding" in refused(put(file, raw), encoding="no-such")
        assert "unknown encoding" in refused(put(file, raw), encoding="hex")
        assert "begins with a mark of utf-8" in refused(put(file, codecs.BOM_UTF8 + b"a,b\n1,2\n"), encoding="cp1252")
        odd = "a,b\n1,2\n".encode("utf-16-le") + b"x"
        assert "line 3: the text is not valid utf-16-le" in refused(put(file, odd), encoding="utf-16")

    def test_quote_never_closed(self, file: Path) -> None:
        message = refused(put(file, f'a,b\n1,2\n3,"{CANARY}\n5,6\n'))
        assert "line 3: a quote opens a field and is never closed" in message

    def test_quote_closed_by_a_later_field(self, file: Path) -> None:
        message = refused(put(file, f'a,b\n1,2\n3,"{CANARY}\n5,"x"\n7,8\n'))
        assert "line 3: a quote opens a field there" in message
        assert "line 4" in message

    def test_text_behind_a_closing_quote(self, file: Path) -> None:
        assert "line 2" in refused(put(file, f'a,b\n1,"2" {CANARY}\n'))

    def test_ragged(self, file: Path) -> None:
        message = refused(put(file, f'a,b,c\n1,"x\ny",3\n{CANARY},5\n\n6,7,8,{CANARY}\n9,9,9\n'))
        assert "the 3 fields of the first line (delimiter ',')" in message
        assert "line 4 has 2, line 6 has 4" in message

    def test_very_ragged_is_told_shortly(self, file: Path) -> None:
        message = refused(put(file, "a,b\n" + f"{CANARY}\n" * 40 + "1,2\n" * 10), delimiter=",")
        assert "line 6 has 1 and 35 more lines differ" in message

    def test_bad_options(self, file: Path) -> None:
        put(file, "a,b\n1,2\n")
        assert "delimiter must be one sign" in refused(file, delimiter="::")
        assert "delimiter must be one sign" in refused(file, delimiter='"')
        assert "decimal sign" in refused(file, decimal=":")

    def test_signs_the_encoding_cannot_write(self, file: Path) -> None:
        with pytest.raises(InputError, match="column 'b' has signs that cp1252") as caught:
            delimited.write(pl.DataFrame({"a": ["x"], "b": [f"≥ {CANARY}"]}), file, Dialect(encoding="cp1252"))
        assert CANARY not in str(caught.value)

    def test_nested_columns(self, file: Path) -> None:
        with pytest.raises(InputError, match=r"nested or binary values or spans of time \(b"):
            delimited.write(pl.DataFrame({"a": [1], "b": [[1, 2]]}), file, Dialect())

    def test_a_source_does_not_show_its_values(self, file: Path) -> None:
        assert CANARY not in repr(delimited.read(put(file, f"id,name\n1,{CANARY}\n2,x\n")))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=40) | st.text('",;|\t\r\n ab1.,é', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(file: Path, content: bytes) -> None:
    put(file, content)
    try:
        source = delimited.read(file)
    except InputError:
        return
    assert source.frame.height > 0
    assert source.line(source.frame.height - 1) <= 1 + len(content)
