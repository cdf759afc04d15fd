"""`discreet protect` from the file to the release, and everything that can be wrong with what it is given."""

import csv
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
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
    assert command("verify", out, "--grouping", "town;age,born", "--k", 5, "--json").status == 0
    lines = out.read_text().splitlines()
    fields = lines[5].split(",")
    out.write_text("\n".join([*lines[:5], ",".join([fields[0], fields[1], "17.25", *fields[3:]]), *lines[6:]]) + "\n")
    broken = command("verify", out, "--promise", promise)
    assert broken.status == 1
    assert "NOT KEPT" in broken.err
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


def bad(survey: Path, name: str, change: Callable[[str], str | bytes]) -> Path:
    path = survey.with_name(name)
    content = change(survey.read_text())
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def line(number: int, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        lines = text.splitlines()
        lines[number - 1] = new
        return "\n".join(lines) + "\n"

    return change


def without_ages(text: str) -> str:
    rows = [line.split(",") for line in text.splitlines()]
    return "\n".join(",".join([*row[:3], row[3] if row[3] == "age" else "", *row[4:]]) for row in rows) + "\n"


PARQUET = b"PAR1" + bytes(range(200)) + b"PAR1"
BAD_FILES: dict[str, tuple[str, Callable[[str], str | bytes], str]] = {
    "empty": ("a.csv", lambda _: "", "empty"),
    "only a header": ("a.csv", lambda text: text.splitlines()[0] + "\n", "no records|header"),
    "duplicate names": ("a.csv", line(1, "name,town,town,age,income,born,diagnosis"), "'town'"),
    "binary": ("a.csv", lambda _: bytes(range(256)) * 9, "binary"),
    "parquet called csv": ("a.csv", lambda _: PARQUET, "Parquet"),
    "wrong encoding": ("a.csv", lambda text: text.encode().replace(b"n3,", b"\x81\x8d,"), "line 5"),
    "truncated parquet": ("a.parquet", lambda _: PARQUET[:50], "Parquet|truncated|damaged"),
    "text in numbers": ("a.csv", line(9, f"n,t1,r0,{CANARY}x,1,1950-01-01,d1"), "'age' has numbers and text.*line 9"),
    "infinite": ("a.csv", line(9, "n,t1,r0,30,inf,1950-01-01,d1"), "'income' has infinite values .line 9"),
    "ragged": ("a.csv", line(9, f"n,t1,r0,{CANARY}"), "line 9"),
    "all missing": ("a.csv", without_ages, "'age' has no values"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(command: Command, survey: Path, tmp_path: Path, case: str) -> None:
    name, change, said = BAD_FILES[case]
    path = bad(survey, name, change)
    before = sorted(tmp_path.iterdir())
    result = command("protect", path, "-o", tmp_path / "out.csv", "--k", 5, *ROLES)
    assert result.status == 2, result.err
    assert name in result.err
    assert re.search(said, result.err, re.DOTALL), result.err
    assert sorted(tmp_path.iterdir()) == before


BAD_OPTIONS: dict[str, tuple[list[str], str]] = {
    "k below 2": (["--k", "1"], "k must be at least 2"),
    "k above n": (["--k", "41", "--by", "", "--ignore", "region"], "k = 41 is more than the 40 records"),
    "small stratum": (["--k", "21"], "2 of 2 strata of region have fewer than k = 21 records"),
    "unknown column": (["--quasi", "agge"], "unknown column 'agge'.*Did you mean 'age'"),
    "two roles": (["--confidential", "age"], "'age' has two roles"),
    "unknown method": (["--method", "mdaw"], "mdav"),
    "unknown parameter": (["--method", "mdav", "--param", "gamma=1"], "gamma"),
    "bad parameter": (["--param", "gamma"], "expected parameter=value"),
    "bad number": (["--k", "five"], "(?i)k.*five"),
    "unknown option": (["--kk", "5"], "--kk"),
    "missing config": (["--config", "none.toml"], "none.toml: there is no such file"),
    "unknown format": (["-o", "out.xyz"], "'.xyz'"),
    "no such folder": (["-o", "none/out.csv"], "none: there is no such folder"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    options, said = BAD_OPTIONS[case]
    standard = ["-o", "out.csv", "--k", "5", *ROLES]
    for option, value in zip(options[::2], options[1::2], strict=True):
        if option in ("--k", "-o", "--by"):
            del standard[standard.index(option) : standard.index(option) + 2]
        if value:
            standard += [option, value]
    result = command("protect", survey, *standard)
    assert result.status == 2, result.err
    assert re.search(said, result.err, re.DOTALL), result.err
    assert sorted(tmp_path.iterdir()) == [survey]


def test_a_column_with_no_role_is_listed(command: Command, survey: Path, tmp_path: Path) -> None:
    result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, "--quasi", "age")
    assert result.status == 2
    assert "'name', 'town', 'region', 'income', 'born', 'diagnosis'" in result.err


def test_nothing_is_written_over_without_force(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old")
    result = command("protect", survey, "-o", out, "--k", 5, *ROLES)
    assert result.status == 2
    assert "exists already" in result.err
    assert out.read_text() == "old"
    itself = command("protect", survey, "-o", survey, "--k", 5, *ROLES, "--force")
    assert itself.status == 2
    assert "input itself" in itself.err


def test_a_folder_that_cannot_be_written_is_refused(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *ROLES)
    assert result.status == 2
    assert "cannot be written to" in result.err


def test_a_fault_of_ours_shows_no_value(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr("discreet.data.dataset.accept", broken)
    result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *ROLES)
    assert result.status == 1
    assert "RuntimeError" in result.err


def test_a_release_that_breaks_its_promise_is_refused(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import discreet.data.files as files

    honest = files.write

    def leaky(frame: pl.DataFrame, path: Path, **rest: object) -> None:
        if "age" in frame.columns:
            frame = frame.with_columns(age=pl.when(pl.int_range(pl.len()) == 3).then(17.25).otherwise("age"))
        honest(frame, path, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "write", leaky)
    result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *ROLES)
    assert result.status == 1
    assert "refused" in result.err
    assert list(tmp_path.iterdir()) == [survey]


DISCREET = [sys.executable, "-m", "discreet"]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "xlsx", "sav", "dta"])
def test_a_full_disk_leaves_the_old_file_and_no_trace(survey: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out.{suffix}"
    out.write_text("old")

    def small_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    done = subprocess.run(
        [*DISCREET, "protect", str(survey), "-o", str(out), "--k", "5", *ROLES, "--force"],
        preexec_fn=small_disk,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 2, done.stderr
    assert re.search(r"out\.\w+ (could not|cannot) be written", done.stderr), done.stderr
    assert out.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == sorted([survey, out])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    big = tmp_path / "big.csv"
    pl.DataFrame({"x": range(400_000), "y": [(i * 7919) % 400_009 for i in range(400_000)]}).write_csv(big)
    options = ["--k", "50", "--quasi", "all", "--method", "md"]
    process = subprocess.Popen(
        [*DISCREET, "protect", str(big), "-o", str(tmp_path / "out.csv"), *options], stderr=subprocess.PIPE, text=True
    )
    time.sleep(2)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted; nothing was written" in err
    assert list(tmp_path.iterdir()) == [big]


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


def test_text_of_a_csv_gets_types_in_a_format_that_has_them(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    roles = ["--quasi", "town", "--confidential", "rest", "--identifier", "name", "--order", "kept"]
    assert command("protect", survey, "-o", out, "--k", 5, *roles).status == 0
    released, original = pl.read_parquet(out), pl.read_csv(survey, try_parse_dates=True)
    assert [str(dtype) for dtype in released.dtypes] == ["String", "String", "Int64", "Float64", "Date", "String"]
    for name in ("age", "income", "born"):
        assert released[name].equals(original[name])


def test_one_file_under_two_names_is_refused(command: Command, survey: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    for other in ("sub/../out.csv", "link/out.csv"):
        for option in ("--evidence", "--row-map"):
            result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *ROLES, option, tmp_path / other)
            assert result.status == 2
            assert "same name" in result.err
    config = tmp_path / "survey.toml"
    config.write_text("k = 5\n")
    result = command(
        "protect", survey, "-o", tmp_path / "out.csv", "--config", config, *ROLES, "--evidence", config, "--force"
    )
    assert result.status == 2
    assert "never written over" in result.err


def test_a_first_record_is_not_published_as_column_names(command: Command, tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text(f"{CANARY}a,{CANARY}b\nAnna,x\nBob,y\nCy,z\nDi,w\n")
    for roles in (["--quasi", "all"], ["--quasi", "column_1"]):
        result = command("protect", source, "-o", tmp_path / "out.csv", "--k", 2, *roles)
        assert result.status == 2
        assert "--header" in result.err
    assert (
        command("protect", source, "-o", tmp_path / "out.csv", "--k", 2, "--quasi", "all", "--header", "no").status == 0
    )
    source.write_text("name,town\nAnna,x\nBob,y\nCy,z\nDi,w\n")
    named = ["--quasi", "town", "--ignore", "rest", "--force"]
    assert command("protect", source, "-o", tmp_path / "out.csv", "--k", 2, *named).status == 0


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
