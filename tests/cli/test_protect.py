"""`discreet protect` from the file to the release."""

import csv
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from canary import CANARY, Command
from discreet.release.evidence import schema

ROLES = ["--quasi", "town,age,income,born", "--confidential", "diagnosis", "--identifier", "name", "--by", "region"]


def classes(path: Path, names: list[str]) -> Counter[tuple[str, ...]]:
    with path.open(newline="", encoding="utf-8") as file:
        return Counter(tuple(row[name] for name in names) for row in csv.DictReader(file))


def test_from_file_to_verified_release(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = command("protect", survey, "-o", out, "--k", 5, *ROLES)
    assert result.status == 0, result.err
    assert min(classes(out, ["region", "town", "age", "income", "born"]).values()) >= 5
    assert out.read_text().splitlines()[0] == "town,region,age,income,born,diagnosis"
    for word in ("Protected", "Unchanged", "Left out", "IL", "passed", "release.csv.evidence.json"):
        assert word.replace("release.csv", "out.csv") in result.err
    assert result.out == ""


def test_accounts_follow_their_schemas_and_hold_no_value(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = command("protect", survey, "-o", out, "--k", 5, *ROLES, "--json", "--seed", 3)
    evidence = json.loads((tmp_path / "out.csv.evidence.json").read_text())
    record = json.loads((tmp_path / "out.csv.release.json").read_text())
    jsonschema.validate(evidence, schema("evidence"))
    jsonschema.validate(record, schema("release"))
    assert json.loads(result.out) == evidence
    assert evidence["search"]["seed"] == 3
    assert evidence["verification"]["passed"]
    assert CANARY not in json.dumps([evidence, record])
    # What is internal stays out of the publishable record.
    assert not {"parameters", "search", "input", "verification"} & set(record)
    assert "3" not in json.dumps(record["method"])


def test_verify_accepts_the_release_and_catches_a_change(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    command("protect", survey, "-o", out, "--k", 5, *ROLES)
    promise = tmp_path / "out.csv.release.json"
    assert command("verify", out, "--promise", promise).status == 0
    assert command("verify", out, "--quasi", "town,age,income,born", "--by", "region", "--k", 5).status == 0
    told = command("verify", out, "--grouping", "town;age,born", "--k", 5, "--json")
    assert told.status == 0
    jsonschema.validate(json.loads(told.out), schema("evidence"))
    assert json.loads(told.out)["verification"]["passed"]
    lines = out.read_text().splitlines()
    fields = lines[5].split(",")
    out.write_text("\n".join([*lines[:5], ",".join([fields[0], fields[1], "17.25", *fields[3:]]), *lines[6:]]) + "\n")
    broken = command("verify", out, "--promise", promise)
    assert broken.status == 1
    assert "NOT KEPT" in broken.out
    assert "SHA-256 differs" in broken.err


def test_rows_are_sorted_and_the_row_map_links_them(command: Command, survey: Path, tmp_path: Path) -> None:
    out, rows = tmp_path / "out.csv", tmp_path / "rows.csv"
    command("protect", survey, "-o", out, "--k", 5, *ROLES, "--row-map", rows)
    released = pl.read_csv(out)
    assert released.rows() == sorted(released.rows())
    original, link = pl.read_csv(survey), pl.read_csv(rows)
    assert (
        original["diagnosis"]
        .gather(link["input_record"] - 1)
        .equals(released["diagnosis"].gather(link["release_row"] - 1))
    )
    command("protect", survey, "-o", out, "--k", 5, *ROLES, "--order", "kept", "--force")
    assert pl.read_csv(out)["diagnosis"].equals(original["diagnosis"])


def test_order_of_the_input_does_not_show(command: Command, survey: Path, tmp_path: Path) -> None:
    lines = survey.read_text().splitlines()
    turned = tmp_path / "turned.csv"
    turned.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    outs = []
    for path in (survey, turned):
        out = tmp_path / f"{path.stem}.out.csv"
        command(
            "protect", path, "-o", out, "--k", 5, *ROLES, "--quasi", "income", "--ignore", "rest", "--method", "mdav"
        )
        outs.append(out)
    first, second = (pl.read_csv(out) for out in outs)
    assert first["diagnosis"].sort().equals(second["diagnosis"].sort())


def test_permissions_are_the_owners_alone(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    command("protect", survey, "-o", out, "--k", 5, *ROLES)
    written = [path for path in tmp_path.iterdir() if path != survey]
    assert len(written) == 3
    assert {path.stat().st_mode & 0o777 for path in written} == {0o600}


def test_configuration_file(command: Command, survey: Path, tmp_path: Path) -> None:
    config = tmp_path / "survey.toml"
    config.write_text(
        'k = 4\nquasi = ["age"]\nignore = "rest"\n[columns.income]\nrole = "quasi"\naggregate = "median"\n'
    )
    out = tmp_path / "out.csv"
    assert command("protect", survey, "-o", out, "--config", config, "--confidential", "town").status == 0
    assert min(classes(out, ["age", "income"]).values()) >= 4
    assert out.read_text().splitlines()[0] == "town,age,income"


def test_options_reach_the_verb(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = command(
        "protect", survey, "-o", out, "--k", 3, "--quasi", "town,age", "--quasi", "income", "--ignore", "rest",
        "--ordinal", "town=t0<t1<t2<t3", "--weight", "age=2,income=0.5", "--aggregate", "age=median",
        "--digits", "age=0,income=1", "--method", "vmdav", "--param", "gamma=0.3", "--missing", "error", "--json",
        "--quiet",
    )  # fmt: skip
    assert result.err == ""
    evidence = json.loads(result.out)
    columns = evidence["parameters"]["columns"]
    assert columns["town"]["order"] == ["t0", "t1", "t2", "t3"]
    assert (columns["age"]["weight"], columns["age"]["aggregate"], columns["income"]["digits"]) == (2, "median", 1)
    assert evidence["search"]["method"] == "vmdav"
    assert all("." not in age for (age,) in classes(out, ["age"]))


def test_household_is_k_anonymous_on_exactly_what_is_written(
    command: Command, reference: Callable[[str], Path], tmp_path: Path
) -> None:
    quasi = ["sex", "age", "roof", "walls", "urbrur", "expend", "income", "savings"]
    out = tmp_path / "household.csv"
    result = command(
        "protect", reference("household_mixed.csv"), "-o", out, "--k", 5, "--quasi", ",".join(quasi),
        "--nominal", "sex,roof,walls,urbrur", "--ignore", "rest",
    )  # fmt: skip
    assert result.status == 0, result.err
    assert min(classes(out, quasi).values()) >= 5
    with out.open(newline="") as file:
        assert sum(1 for _ in csv.reader(file)) == 4581


def test_what_the_call_says_wins_over_the_configuration(command: Command, survey: Path, tmp_path: Path) -> None:
    survey.write_text(survey.read_text().replace(",22,", ",,"))
    config = tmp_path / "survey.toml"
    config.write_text('k = 3\nmissing = "impute"\nignore = "rest"\n[columns.age]\nrole = "quasi"\nmissing = "impute"\n')
    out = tmp_path / "out.csv"
    refused = command("protect", survey, "-o", out, "--config", config, "--missing", "error")
    assert refused.status == 2
    assert "'age' has 1 missing values, the first at line 4" in refused.err
    assert command("protect", survey, "-o", out, "--config", config).status == 0


def test_an_option_given_again_adds_to_what_was_given(command: Command, survey: Path, tmp_path: Path) -> None:
    options = ["--weight", "age=2", "--weight", "income=3", "--digits", "age=0", "--digits", "income=1"]
    result = command(
        "protect",
        survey,
        "-o",
        tmp_path / "out.csv",
        "--k",
        5,
        "--quasi",
        "age,income",
        "--ignore",
        "rest",
        *options,
        "--json",
    )
    columns = json.loads(result.out)["parameters"]["columns"]
    assert [columns[name]["weight"] for name in ("age", "income")] == [2, 3]
    assert [columns[name]["digits"] for name in ("age", "income")] == [0, 1]


def test_options_are_read_where_pydantic_is_loaded(command: Command, survey: Path, tmp_path: Path) -> None:
    pytest.importorskip("pydantic")  # by the web app, or by whoever calls; cyclopts then checks types by it
    groups = tmp_path / "groups.toml"
    groups.write_text('groups = [["age"], ["income"]]\n')
    roles = ["--quasi", "age,income", "--ignore", "rest", "--weight", "age=2", "--na", "999"]
    for said in (groups, "age;income"):
        made = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *roles, "--grouping", said, "--force")
        assert made.status == 0, made.err


def test_text_of_a_csv_gets_types_in_a_format_that_has_them(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    roles = ["--quasi", "town", "--confidential", "age,income,born,rest", "--identifier", "name", "--order", "kept"]
    assert command("protect", survey, "-o", out, "--k", 5, *roles).status == 0
    released, original = pl.read_parquet(out), pl.read_csv(survey, try_parse_dates=True)
    assert [str(dtype) for dtype in released.dtypes] == ["String", "String", "Int64", "Float64", "Date", "String"]
    for name in ("age", "income", "born"):
        assert released[name].equals(original[name])


def test_codes_too_long_for_a_double_stay_text(command: Command, tmp_path: Path) -> None:
    source, out = tmp_path / "codes.csv", tmp_path / "codes.parquet"
    codes = [f"12345678901234567890{i}" for i in range(6)]
    source.write_text("a,code\n" + "".join(f"{i},{code}\n" for i, code in enumerate(codes)))
    assert command("protect", source, "-o", out, "--k", 3, "--quasi", "a", "--confidential", "code").status == 0
    assert sorted(pl.read_parquet(out)["code"]) == codes


def test_verify_reads_a_release_as_its_record_says(command: Command, tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    # The name of the column is also one of its values, so that the header cannot be told from a record.
    source.write_text("urban,sex\n" + "urban,f\nrural,m\n" * 4)
    assert command("protect", source, "-o", out, "--k", 2, "--quasi", "all", "--header", "yes").status == 0
    result = command("verify", out, "--promise", f"{out}.release.json")
    assert result.status == 0, result.err


def test_it_works_where_no_cache_can_be_written(survey: Path, tmp_path: Path) -> None:
    code = (
        "import numba.core.caching as c\n"
        "c.CacheImpl._locator_classes = []\n"
        "import sys\nfrom discreet.cli.app import run\nsys.exit(run(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "protect", str(survey), "-o", str(tmp_path / "out.csv"), "--k", "5", "--quasi",
         "age", "--ignore", "rest", "--method", "univariate", "--measures", "none"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
