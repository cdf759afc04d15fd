"""No reader of a table, a hierarchy or a configuration repeats what a file says: whatever is wrong in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet
from canary import CANARY, Command
from discreet.release.atomic import write_table
from discreet.tabular.files import codevalue

TOKEN = re.compile(r"""[^\s,;"'<>()\[\]{}:=@+]+""")
# What takes the place of a word, a number or a code: also what ends a field, opens a quotation, or has too many digits.
CHANGES = (CANARY, f"{CANARY}x", f'"{CANARY}', f"{CANARY},5", f"{CANARY} 7", CANARY * 500, f"<{CANARY}", f"x\n{CANARY}")
RECORDS = [(f"{1 + at % 2}", "ab"[at % 3 % 2], 10 + at) for at in range(12)]
FILES = {
    "data.csv": "country,district,size,sales\n" + "".join(f"n,{d},{s},{v}\n" for d, s, v in RECORDS),
    "data.asc": "".join(f"{d} {s} {v:3}\n" for d, s, v in RECORDS),
    "data.rda": "district 1 1\n  <RECODEABLE>\n  <HIERARCHICAL>\n  <HIERCODELIST> r.hrc\n  <HIERLEADSTRING> @\n"
    'size 3 1 "9"\n  <RECODEABLE>\n  <TOTCODE> Total\nsales 5 3\n  <NUMERIC>\n  <DECIMALS> 0\n',
    "r.hrc": "n\n@1\n@2\n",
    "r.csv": "code,parent\nn,Total\n1,n\n2,n\n",
    "a.tab": '"Total";"Total";30;S\n"Total";"a";30;U\n"n";"Total";30;S\n"n";"a";30;M\n"1";"Total";30;S\n"1";"a";30;S\n',
    "a.rda": '<SEPARATOR> ";"\ndistrict\n  <RECODEABLE>\n  <HIERARCHICAL>\n  <HIERCODELIST> r.hrc\nsize\n'
    "  <RECODEABLE>\nsales\n  <NUMERIC>\nwhat\n  <STATUS>\n",
    "a.jj": "0\n3\n0 60 60 s 0 90 0 0 0\n1 10 10 u 0 90 1 1 0\n2 50 50 m 0 90 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n",
    "cells.csv": "district,size,status,lpl,upl\n1,a,u,1,2\n2,b,z,,\n",
    "suppress.toml": 'time = 0.01\ncost = "value"\n[params]\n',
    "groups.toml": 'groups = [["size"], ["sales"]]\nmethod = "x"\n',
    "protect.toml": 'k = 3\nquasi = ["size", "sales"]\nignore = "rest"\n[columns.size]\ntype = "nominal"\n',
}
OUT = ("--quiet", "--force", "-o")
READERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "microdata": (
        ("tabulate", "data.asc", "--meta", "data.rda", "--by", "district", "--by", "size", "--value", "sales", *OUT,
         "o.parquet"),
        ("data.asc", "data.rda", "r.hrc"),
    ),
    "hierarchy": (
        ("tabulate", "data.csv", "--by", "district@r.hrc", "--by", "size", "--value", "sales", *OUT, "o.csv"),
        ("r.hrc", "data.csv"),
    ),
    "nested": (("tabulate", "data.csv", "--by", "country>district", *OUT, "o.csv"), ("data.csv",)),
    "digits": (("tabulate", "data.csv", "--by", "sales@1+1", *OUT, "o.csv"), ("data.csv",)),
    "tab": (("convert", "a.tab", "o.parquet", "--force"), ("a.tab", "a.rda", "r.hrc")),
    "jj": (("convert", "a.jj", "o.csv", "--force"), ("a.jj",)),
    "hrc": (("convert", "r.hrc", "o.csv", "--force"), ("r.hrc",)),
    "pairs": (("convert", "r.csv", "o.hrc", "--force"), ("r.csv",)),
    "csv": (("primary", "t.csv", "--threshold", "2", *OUT, "o.csv"), ("t.csv", "t.table.json")),
    "plain": (("primary", "p.csv", "--zeros", "2", *OUT, "o.csv"), ("p.csv",)),
    "cells": (("primary", "t.csv", "--manual", "cells.csv", *OUT, "o.csv"), ("cells.csv",)),
    "pattern": (("audit", "t.csv", "--pattern", "pattern.txt", "--quiet"), ("pattern.txt",)),
    "options": (
        ("suppress", "t.csv", "--config", "suppress.toml", *OUT, "o.csv", "--previous", "none.csv"), ("suppress.toml",)
    ),
    "grouping": (
        ("protect", "data.csv", "--k", "3", "--quasi", "size,sales", "--ignore", "country,district", "--steps", "1",
         "--grouping", "groups.toml", *OUT, "o.csv"),
        ("groups.toml",),
    ),
    "configuration": (
        ("protect", "data.csv", "--steps", "1", "--config", "protect.toml", *OUT, "o.csv"), ("protect.toml",)
    ),
}  # fmt: skip
# Settings that a user writes into a configuration are repeated as they are when typed; what is not a setting is not.
SETTINGS = re.compile(r"(time|cost|quasi|ignore|role|type|k) = |.columns")
# Words of a file that are replaced, spread over it; runs by hand may take more.
MOST = 16


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    table = discreet.tabulate(tmp_path / "data.csv", by=["district", "size"], value="sales")
    flagged = discreet.primary(table, threshold=4)
    write_table(flagged, tmp_path / "t.csv")
    (tmp_path / "pattern.txt").write_text(codevalue.text(flagged))
    table.frame().select("district", "size", "value", "count").write_csv(tmp_path / "p.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mutate(name: str, text: str) -> Iterator[str]:
    """The file with each word in turn replaced, and with lines lost, repeated and added."""
    if name.endswith(".csv"):
        # The first line names the columns, which errors may name.
        head, _, text = text.partition("\n")
        head += "\n"
    else:
        head = ""
    words = list(TOKEN.finditer(text))
    for number, found in enumerate(words[:: 1 + len(words) // MOST]):
        line = text[text.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0]
        if name.endswith(".toml") and SETTINGS.match(line):
            continue
        if text[: found.start()].endswith('"name": "') or (name.endswith(".rda") and line.startswith(found[0])):
            continue  # errors may name columns
        change = CHANGES[number % len(CHANGES)]
        yield head + text[: found.start()] + change + text[found.end() :]
    lines = text.splitlines(keepends=True)
    for number in range(0, len(lines), 1 + len(lines) // 4):
        yield head + "".join(lines[:number] + lines[number + 1 :]).replace("1", CANARY, 1)
        yield head + "".join([*lines[: number + 1], *lines[number:]])
    yield head + text + f"{CANARY}\n"
    yield head + f"{CANARY};{CANARY},{CANARY} {CANARY}\n" + text


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_repeats_what_a_file_says(reader: str, folder: Path, command: Command) -> None:
    arguments, files = READERS[reader]
    assert command(*arguments).status == {"options": 2, "pattern": 1}.get(reader, 0)
    refused = 0
    for name in files:
        good = (folder / name).read_text()
        for bad in mutate(name, good):
            (folder / name).write_text(bad)
            # The fixture fails here if the canary is in what it prints.
            result = command(*arguments)
            assert result.status in (0, 1, 2), result
            assert "a fault in discreet itself" not in result.err, (name, bad, result.err)
            refused += result.status == 2
        (folder / name).write_text(good)
    assert refused


@pytest.mark.parametrize("column", ["district", "value", "count", "status", "rule", "lb", "top1", "sole"])
def test_no_value_of_a_parquet_table_is_repeated(column: str, folder: Path, command: Command) -> None:
    table = discreet.primary(discreet.tabulate("data.csv", by=["district", "size"], value="sales"), threshold=4)
    write_table(table, folder / "t.parquet")
    said = pl.read_parquet_metadata(folder / "t.parquet")["discreet.table"]
    frame = pl.read_parquet(folder / "t.parquet")
    day = pl.Series([2**31 - 1] * frame.height).cast(pl.Int32).cast(pl.Date)
    for wrong in (pl.lit(CANARY), pl.lit(float(CANARY)), day, pl.lit([CANARY]), pl.lit(CANARY.encode())):
        bad = frame.with_columns(wrong.alias(column))
        bad.write_parquet(folder / "bad.parquet", metadata={"discreet.table": said})
        told = command("convert", "bad.parquet", "o.csv", "--force").err
        assert "fault in discreet" not in told


def test_a_table_that_does_not_add_up_tells_no_amount(folder: Path, command: Command) -> None:
    frame = pl.read_csv("p.csv")
    frame.with_columns(value=pl.Series([float(CANARY), *frame["value"][1:]])).write_csv("p.csv")
    told = command("primary", "p.csv", "--zeros", "1", *OUT, "o.csv").err
    assert "does not add up" in told
    assert not re.search(r"7\.?316", told)


def test_rounded_values_are_told_to_be_rounded(folder: Path, command: Command) -> None:
    frame = pl.DataFrame({"size": ["Total", "a", "b"], "value": [1.0, 0.3, 0.6]})
    frame.write_csv("p.csv")
    assert "no more than rounding makes" in command("primary", "p.csv", "--zeros", "1", *OUT, "o.csv").err
    frame.with_columns(value=np.array([2.0, 0.3, 0.6])).write_csv("p.csv")
    assert "rounding" not in command("primary", "p.csv", "--zeros", "1", *OUT, "o.csv").err


def test_a_panic_of_a_library_is_told_without_its_words(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panic(*_given: object, **_options: object) -> None:
        raise pl.exceptions.PanicException(f"out of range: {CANARY}")

    assert not issubclass(pl.exceptions.PanicException, Exception)
    monkeypatch.setattr("discreet.tabular.files.formats.table_from", panic)
    result = command("primary", "t.csv", "--threshold", "2", *OUT, "o.csv")
    assert result.status == 1
    assert "a fault in discreet itself (PanicException" in result.err
