"""`discreet refine` from a release to a better one."""

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from canary import CANARY, Command
from discreet.release.evidence import schema

ROLES = ["--quasi", "town,age,income,born", "--confidential", "diagnosis", "--identifier", "name", "--by", "region"]
QUASI = ["region", "town", "age", "income", "born"]
SHORT = ["--steps", "20", "--measures", "none"]


@pytest.fixture
def made(command: Command, survey: Path, tmp_path: Path) -> Path:
    """A release by mdav, sorted, with its row map beside it."""
    out = tmp_path / "made.csv"
    rows = tmp_path / "rows.csv"
    result = command("protect", survey, "-o", out, "--k", 4, *ROLES, "--method", "mdav", "--row-map", rows)
    assert result.status == 0, result.err
    return out


def test_from_a_release_to_a_better_one(command: Command, survey: Path, made: Path, tmp_path: Path) -> None:
    out, links = tmp_path / "better.csv", tmp_path / "links.csv"
    result = command(
        "refine", survey, made, "-o", out, "--row-map", tmp_path / "rows.csv", "--new-row-map", links, *ROLES, *SHORT
    )
    assert result.status == 0, result.err
    assert "k = 4" in result.err
    assert "the groups it started from lost" in result.err
    better = pl.read_csv(out)
    assert better.group_by(QUASI).len()["len"].min() >= 4  # type: ignore[operator]
    evidence = json.loads((tmp_path / "better.csv.evidence.json").read_text())
    record = json.loads((tmp_path / "better.csv.release.json").read_text())
    jsonschema.validate(evidence, schema("evidence"))
    jsonschema.validate(record, schema("release"))
    before = json.loads((tmp_path / "made.csv.evidence.json").read_text())
    assert evidence["measures"]["start_il"] == pytest.approx(before["measures"]["il"])
    assert evidence["measures"]["il"] <= evidence["measures"]["start_il"]
    assert evidence["search"]["steps"] <= 20
    assert evidence["verification"]["passed"]
    assert CANARY not in json.dumps([evidence, record])
    assert command("verify", out, "--promise", f"{out}.release.json").status == 0
    # The new row map links each record to its row.
    original, link = pl.read_csv(survey), pl.read_csv(links)
    assert (
        original["diagnosis"]
        .gather(link["input_record"] - 1)
        .equals(better["diagnosis"].gather(link["release_row"] - 1))
    )


def test_a_release_made_elsewhere_in_another_order_by_its_key(command: Command, survey: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(survey, infer_schema=False)
    turned = frame.with_columns(
        pl.Series("age", [str(30 + i // 5) for i in range(40)]), pl.Series("income", [str(i // 5) for i in range(40)])
    ).reverse()
    other = tmp_path / "other.csv"
    turned.write_csv(other)
    out = tmp_path / "better.csv"
    call = ["refine", survey, other, "-o", out, "--quasi", "age,income", "--confidential", "diagnosis", *SHORT]
    result = command(*call, "--key", "name", "--ignore", "rest", "--json", "--quiet")
    assert result.status == 0, result.err
    evidence = json.loads(result.out)
    assert evidence["promise"]["k"] == 5
    assert evidence["measures"]["il"] <= evidence["measures"]["start_il"]
    assert pl.read_csv(out).columns == ["age", "income", "diagnosis"]
    without = command(*call, "--ignore", "rest", "--force")
    assert without.status == 2
    assert "order of the records was destroyed" in without.err


def test_an_option_of_reading_need_apply_to_one_of_the_two_files(
    command: Command, survey: Path, tmp_path: Path
) -> None:
    frame = pl.read_csv(survey, infer_schema=False)
    original, other = tmp_path / "original.csv", tmp_path / "other.parquet"
    frame.write_csv(original, separator="|")
    frame.with_columns(pl.Series("age", [str(i // 5) for i in range(40)])).write_parquet(other)
    roles = ["--quasi", "age", "--confidential", "diagnosis", "--ignore", "rest"]
    result = command("refine", original, other, "-o", tmp_path / "out.csv", *roles, "--delimiter", "|", *SHORT)
    assert result.status == 0, result.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "mdav"], "the method mdav does not start from given groups"),
        (["--k", "9"], "groups have fewer than k = 9 records"),
        (["--key", "nobody"], "there is no column 'nobody' to be the key"),
        (["--time", "0"], "time must be a positive number"),
        (["--steps", "0"], "steps must be at least 1"),
    ],
)
def test_what_cannot_be_refined_is_an_input_error(
    command: Command, survey: Path, made: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    before = sorted(tmp_path.iterdir())
    rows = [] if "--key" in options else ["--row-map", tmp_path / "rows.csv"]
    result = command("refine", survey, made, "-o", tmp_path / "better.csv", *rows, *ROLES, *options)
    assert result.status == 2
    assert said in result.err
    assert sorted(tmp_path.iterdir()) == before


def test_a_release_without_a_quasi_identifier_is_refused(
    command: Command, survey: Path, made: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    pl.read_csv(made, infer_schema=False).drop("income").write_csv(other)
    result = command("refine", survey, other, "-o", tmp_path / "better.csv", *ROLES)
    assert result.status == 2
    assert "other.csv: there is no column 'income'; a release must have all quasi-identifiers" in result.err


@pytest.mark.parametrize("target", ["survey.csv", "made.csv", "rows.csv", "search.npz"])
def test_what_is_read_is_never_written_over(
    command: Command, survey: Path, made: Path, tmp_path: Path, target: str
) -> None:
    (tmp_path / "search.npz").write_bytes(b"kept")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    options = ["--row-map", tmp_path / "rows.csv", "--checkpoint", tmp_path / "search.npz"]
    for written in (["-o", tmp_path / "new.csv", "--evidence", tmp_path / target], ["-o", tmp_path / target]):
        result = command("refine", survey, made, *written, *options, *ROLES, *SHORT, "--force")
        assert result.status == 2, result.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_help_is_that_of_the_verb(command: Command) -> None:
    result = command("refine", "--help")
    assert result.status == 0
    for word in ("--key", "--row-map", "--new-row-map", "--checkpoint", "--bound", "release to start from"):
        assert word in result.out


def test_a_bound_is_proven_where_it_is_asked_for(command: Command, survey: Path, made: Path, tmp_path: Path) -> None:
    result = command(
        "refine", survey, made, "-o", tmp_path / "better.csv", "--row-map", tmp_path / "rows.csv", *ROLES, *SHORT,
        "--bound", "--json",
    )  # fmt: skip
    assert result.status == 0, result.err
    evidence = json.loads(result.out)
    jsonschema.validate(evidence, schema("evidence"))
    assert 0 <= evidence["bound"]["value"] <= evidence["measures"]["partition_il"] * (1 + 1e-9)
    assert "Bound" in result.err
