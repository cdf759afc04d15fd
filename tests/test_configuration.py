"""Configurations: every setting of a run fits into one, and data with other columns than it names is refused."""

import json
import tomllib
from pathlib import Path

import polars as pl
import pytest

import discreet
from canary import CANARY
from discreet.cli.app import run
from discreet.configuration import OPTIONS, READING, load
from discreet.data import toml
from discreet.errors import InputError

RECORDS = [f"n{i};{20 + i % 7},5;{i % 3};r{i % 2}" for i in range(24)]
COLUMNS = '[columns.name]\nrole = "identifier"\n[columns.age]\nrole = "quasi"\n[columns.size]\nrole = "quasi"\n'
SETTINGS = """
k = 3
missing = "impute"
method = "vmdav"
time = 2
seed = 4
threads = 1
bound = true
measures = ["id"]
order = "kept"
delimiter = ";"
encoding = "cp1252"
decimal = ","
header = true
confidential = "ort"
params.gamma = 0.1
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text("name;age;size;ort\n" + "\n".join([*RECORDS, "n24;21,5;1;ü"]) + "\n", encoding="cp1252")
    return path


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_every_setting_of_a_run_fits_into_a_configuration(data: Path, tmp_path: Path) -> None:
    config = written(tmp_path / "all.toml", SETTINGS + COLUMNS)
    release = discreet.protect(data, config=config)
    used = release.evidence["parameters"]
    assert {name: used[name] for name in ("k", "missing", "method", "time", "seed", "threads")} == {
        "k": 3, "missing": "impute", "method": "vmdav", "time": 2, "seed": 4, "threads": 1,
    }  # fmt: skip
    assert used["params"] == {"gamma": 0.1}
    assert release.evidence["bound"] is not None
    assert "id" in release.measures
    assert "dld" not in release.measures
    assert release.data["ort"].to_list() == [*(f"r{i % 2}" for i in range(24)), "ü"]
    release.write(tmp_path / "python.csv")
    assert run(["protect", str(data), "--config", str(config), "-o", str(tmp_path / "line.csv"), "--quiet"]) == 0
    assert (tmp_path / "line.csv").read_bytes() == (tmp_path / "python.csv").read_bytes()
    account = json.loads((tmp_path / "line.csv.evidence.json").read_text())
    assert account["output"]["order"] == "kept"
    assert "id" in account["measures"]
    # What the call gives wins.
    again = ["--order", "sorted", "--measures", "k", "--method", "mdav", "--quiet"]
    run(["protect", str(data), "--config", str(config), "-o", str(tmp_path / "sorted.csv"), *again])
    account = json.loads((tmp_path / "sorted.csv.evidence.json").read_text())
    assert account["output"]["order"] == "sorted"
    assert "id" not in account["measures"]


def test_every_setting_is_checked(tmp_path: Path) -> None:
    for name in (*OPTIONS, *READING):
        with pytest.raises(InputError, match=f"'{name}' must be"):
            load(written(tmp_path / "wrong.toml", f"{name} = 1979-05-27\n"))


@pytest.mark.parametrize("setting", ['order = "shuffled"', 'measures = "none of that"', "decimal = ';'"])
def test_a_wrong_setting_is_refused_by_name(setting: str, data: Path, tmp_path: Path) -> None:
    config = written(tmp_path / "wrong.toml", f"k = 3\nconfidential = 'ort'\n{setting}\n" + COLUMNS)
    with pytest.raises(InputError, match=setting.split()[0][:-1]):
        discreet.protect(data, config=config)


def test_columns_that_came_or_went_are_named(tmp_path: Path) -> None:
    config = written(tmp_path / "month.toml", 'k = 2\nconfidential = ["ort", "gone"]\n' + COLUMNS)
    frame = pl.DataFrame({"name": [CANARY] * 4, "size": [1, 1, 2, 2], "ort": ["a"] * 4, "street": [CANARY] * 4})
    with pytest.raises(InputError) as caught:
        discreet.protect(frame.rename({"street": "new"}), config=config)
    text = str(caught.value)
    assert "month.toml" in text
    assert "missing in the data: 'gone', 'age'" in text
    assert "new in the data, without a role: 'new'" in text
    assert CANARY not in text
    with pytest.raises(InputError, match=r"missing in the data: 'size' \(did you mean 'sizes'\?\)"):
        discreet.protect(frame.rename({"size": "sizes"}).with_columns(age=1, gone=2), config=config)
    # What is new and has a role by the call is no surprise.
    whole = frame.with_columns(age=pl.Series([1, 1, 2, 2]), gone=2)
    discreet.protect(whole, config=config, ignore=["street"])
    with pytest.raises(InputError, match="new in the data, without a role: 'street'"):
        discreet.protect(whole, config=config)


@pytest.mark.parametrize("rest", ["ignore = 'rest'", "confidential = 'rest'", "quasi = 'all'"])
def test_what_a_configuration_expects_is_all_that_the_rest_takes_in(rest: str, tmp_path: Path) -> None:
    config = written(
        tmp_path / "month.toml", f"k = 2\nexpected = ['age', 'ill']\n{rest}\n[columns.age]\nrole='quasi'\n"
    )
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "ill": [1, 0, 0, 1]})
    release = discreet.protect(frame, config=config)
    assert not any("rest" in note for note in release.evidence["notes"])
    with pytest.raises(InputError, match=r"month.toml .*new in the data, without a role: 'street'.*'expected'"):
        discreet.protect(frame.with_columns(street=7), config=config)
    with pytest.raises(InputError, match="missing in the data: 'ill'"):
        discreet.protect(frame.drop("ill"), config=config)
    discreet.protect(frame.with_columns(street=7), config=config, identifier=["street"])
    assert [column.name for column in discreet.inspect(frame.with_columns(street=7), config=config).columns][
        -1
    ] == "street"


def test_a_draft_lists_the_columns_it_expects(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "ill": [1, 0, 0, 1]})
    draft = discreet.inspect(frame).toml()
    config = written(tmp_path / "draft.toml", "k = 2\nquasi = 'all'\n" + draft)
    discreet.protect(frame, config=config)
    with pytest.raises(InputError, match="new in the data, without a role: 'street'"):
        discreet.protect(frame.with_columns(street=7), config=config)


def test_a_configuration_that_covers_the_rest_takes_new_columns(tmp_path: Path) -> None:
    config = written(tmp_path / "rest.toml", 'k = 2\nignore = "rest"\n[columns.age]\nrole = "quasi"\n')
    release = discreet.protect(pl.DataFrame({"age": [1, 1, 2, 2], "new": [1, 2, 3, 4]}), config=config)
    assert release.data.columns == ["age"]
    assert any("the rest" in note and "'new'" in note for note in release.evidence["notes"])


CELLS = pl.DataFrame({"r": list("aabbab"), "s": list("xyxyxy"), "v": [1, 20, 30, 40, 50, 60]})
STEPS = """
[tabulate]
by = ["r", "s"]
value = "v"
total = "All"

[primary]
threshold = 2
dominance = [1, 95]
range = 40

[suppress]
steps = 2

[audit]
strict = true
"""


def test_the_steps_of_a_table_can_stand_in_one_configuration(tmp_path: Path) -> None:
    config = written(tmp_path / "steps.toml", STEPS)
    table = discreet.tabulate(CELLS, config=config)
    assert table.dimensions[0].total == "All"
    assert len(table) == len(discreet.tabulate(CELLS, by=["r", "s"], value="v"))
    flagged = discreet.primary(table, config=config)
    assert flagged.rules["parameters"]["range"] == 40
    assert list(flagged.rules["parameters"]["dominance"]) == [1, 95]
    # What the call gives wins, even if it is the default.
    assert discreet.primary(table, config=config, range=30.0).rules["parameters"]["range"] == 30
    assert discreet.audit(discreet.suppress(flagged, config=config).table, config=config).strict

    data, cells, unsafe = tmp_path / "data.csv", tmp_path / "cells.parquet", tmp_path / "unsafe.parquet"
    CELLS.write_csv(data)
    line = ["--config", str(config), "--quiet"]
    assert run(["tabulate", str(data), "--header", "yes", "-o", str(cells), *line]) == 0
    assert run(["primary", str(cells), "-o", str(unsafe), *line]) == 0
    assert run(["suppress", str(unsafe), "-o", str(tmp_path / "public.csv"), *line]) == 0
    assert len(discreet.primary(cells, config=config).primary) == len(flagged.primary)


def test_a_configuration_of_tables_is_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown key"):
        discreet.tabulate(CELLS, config=written(tmp_path / "a.toml", "bye = 3\n"))
    with pytest.raises(InputError, match="'top' must be a whole number"):
        discreet.tabulate(CELLS, config=written(tmp_path / "b.toml", "[tabulate]\ntop = 'x'\n"))
    with pytest.raises(InputError, match="say what to break down by"):
        discreet.tabulate(CELLS, config=written(tmp_path / "c.toml", "top = 3\n"))


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 60_000 + " = 1",
        '"a".' * 60_000 + "b = 1",
        "[a" + ".a" * 60_000 + "]",
        "k = {a" + " . a" * 60_000 + " = 1}",
    ],
    ids=["plain", "quoted", "table", "inline"],
)
def test_a_key_of_very_many_parts_is_refused_before_it_is_parsed(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(f"k = 3\n{text}\n")
    monkeypatch.setattr(tomllib, "loads", lambda _: pytest.fail("it was parsed"))
    with pytest.raises(InputError, match="near line 2 has more than 50 parts"):
        load(path)


def test_dots_in_texts_numbers_and_comments_are_no_parts_of_a_key(tmp_path: Path) -> None:
    path = tmp_path / "dots.toml"
    dots = "a." * 1000
    path.write_text(f'x = [{"1.5, " * 1000}]\ny = \'{dots}\'\nz = """\n{dots}\n""" # {dots}\nd = "{dots}\\""\n')
    assert toml.read(path)["z"] == f"{dots}\n"


def test_an_unknown_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    path.write_text('k = 3\nnominal = ["pl030"]\n')
    with pytest.raises(InputError, match=r"odd\.toml, line 2: unknown key 'nominal'; allowed are k, "):
        load(path)
    path.write_text(f"{'x' * 1000} = 1\n")
    with pytest.raises(InputError, match=f"unknown key '{'x' * 40}…'"):
        load(path)
