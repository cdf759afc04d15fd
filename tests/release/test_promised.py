"""Releases that promise l, t and persons: what their record and evidence say, and that a broken one is not written."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

import discreet
from discreet.cli.app import run
from discreet.errors import InputError, PromiseNotKept
from discreet.release.evidence import schema

FRAME = pl.DataFrame(
    {
        "age": [30, 41, 31, 43, 32, 42],
        "ill": ["flu", "flu", "cold", "cold", "none", "none"],
        "pay": [10, 11, 20, 21, 30, 31],
        "who": ["a", "b", "c", "d", "e", "f"],
    }
)
LABELS = [0, 1, 0, 1, 0, 1]
COLUMNS: dict[str, Any] = {"k": 3, "quasi": "age", "confidential": ["ill", "pay"]}
PROMISED: dict[str, Any] = {"l": {"ill": 3, "pay": "entropy:2"}, "t": {"pay": 0.2}, "person": "who"}


def test_record_and_evidence_say_what_is_promised_and_what_was_found(tmp_path: Path) -> None:
    release = discreet.protect(FRAME, labels=LABELS, **COLUMNS, **PROMISED)
    assert release.data.columns == ["age", "ill", "pay"]
    written = release.write(tmp_path / "out.csv", row_map=tmp_path / "map.csv")
    record, evidence = (
        json.loads((tmp_path / f"out.csv.{name}.json").read_text(encoding="utf-8")) for name in ("release", "evidence")
    )
    jsonschema.validate(record, schema("release"))
    jsonschema.validate(evidence, schema("evidence"))
    assert record["persons"] == "verified at writing"
    assert record["promise"]["person"] == "who"
    assert record["promise"]["l"][1] == {"column": "pay", "least": 2, "entropy": True, "type": "numeric"}
    found = evidence["verification"]["checks"][0]
    assert [one["worst"] for one in found["l"]] == pytest.approx([3, 3])
    assert found["t"][0]["worst"] == pytest.approx(0.1)
    # The distribution that t was measured against is that of the original.
    assert evidence["input"]["distributions"] == {"pay": found["t"][0]["distribution_sha256"]}
    assert evidence["verification"]["notes"] == []
    summary = release.summary(written)
    for part in ("3 persons with 3 different values", "t = 0.2", "the rarest with 3 persons"):
        assert part in " ".join(summary.split())


def test_the_file_is_verified_again_by_its_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    discreet.protect(FRAME, labels=LABELS, **COLUMNS, **PROMISED).write(
        tmp_path / "out.csv", row_map=tmp_path / "m.csv"
    )
    FRAME.write_csv(tmp_path / "in.csv")
    command = ["verify", str(tmp_path / "out.csv"), "--promise", str(tmp_path / "out.csv.release.json")]
    assert run(command) == 1
    assert "persons not verified" in capsys.readouterr().out
    command += ["--original", str(tmp_path / "in.csv"), "--row-map", str(tmp_path / "m.csv")]
    assert run(command) == 0
    text = (tmp_path / "out.csv").read_text(encoding="utf-8")
    (tmp_path / "out.csv").write_text(text.replace("cold", "flu", 1), encoding="utf-8")
    assert run(command) == 1
    assert "NOT KEPT" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([0, 0, 0, 1, 1, 1], {"l": {"ill": 3}}),
        ([0, 0, 0, 1, 1, 1], {"l": {"ill": "entropy:2"}}),
        ([0, 0, 0, 1, 1, 1], {"t": {"pay": 0.2}}),
        (LABELS, {"person": "who"}),
    ],
)
def test_a_release_that_breaks_one_is_refused(labels: list[int], said: dict[str, Any]) -> None:
    frame = FRAME.with_columns(who=pl.Series(["a", "b", "c", "d", "a", "f"]))
    columns = COLUMNS | ({} if "person" in said else {"ignore": "who"})
    with pytest.raises(PromiseNotKept, match="refused"):
        discreet.protect(frame, labels=labels, **columns, **said)


NOTHING: list[dict[str, Any]] = [{"l": {"ill": 1}}, {"t": {"pay": 1}}, {"person": "who"}, {"l": {"ill": "entropy:1"}}]


@pytest.mark.parametrize("said", NOTHING, ids=str)
@pytest.mark.parametrize("method", ["memetic", "mdav"])
def test_what_every_group_keeps_changes_no_byte(said: dict[str, Any], method: str, tmp_path: Path) -> None:
    common: dict[str, Any] = COLUMNS | {"method": method} | ({"steps": 3} if method == "memetic" else {})
    plain = discreet.protect(FRAME, identifier="who", **common)
    promised = discreet.protect(FRAME, **common | ({} if "person" in said else {"identifier": "who"}), **said)
    plain.write(tmp_path / "plain.csv")
    promised.write(tmp_path / "promised.csv")
    assert (tmp_path / "plain.csv").read_bytes() == (tmp_path / "promised.csv").read_bytes()


def test_python_toml_and_command_line_say_the_same(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "in.csv")
    pl.DataFrame({"group": LABELS}).write_csv(tmp_path / "labels.csv")
    (tmp_path / "run.toml").write_text(
        'k = 3\nquasi = ["age"]\nconfidential = ["ill", "pay"]\nperson = "who"\n'
        'l = { ill = 3, pay = "entropy:2" }\nt = { pay = 0.2 }\n',
        encoding="utf-8",
    )
    asked = ["--labels", str(tmp_path / "labels.csv"), "--quiet", "-o"]
    by_toml = ["protect", str(tmp_path / "in.csv"), "--config", str(tmp_path / "run.toml")]
    assert run([*by_toml, *asked, str(tmp_path / "toml.csv")]) == 0
    typed = ["--k", "3", "--quasi", "age", "--confidential", "ill,pay", "--person", "who"]
    typed += ["--l", "ill=3", "--l", "pay=entropy:2", "--t", "pay=0.2"]
    assert run(["protect", str(tmp_path / "in.csv"), *typed, *asked, str(tmp_path / "typed.csv")]) == 0
    records = [json.loads((tmp_path / f"{name}.csv.release.json").read_text("utf-8")) for name in ("toml", "typed")]
    assert records[0]["promise"] == records[1]["promise"]
    release = discreet.protect(tmp_path / "in.csv", labels=LABELS, **COLUMNS, **PROMISED)
    assert release.promise.as_dict() == records[0]["promise"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"t": {"pay": 15}, "ignore": "who"}, "15 %\\? then 0.15"),
        ({"l": {"age": 2}, "ignore": "who"}, "known to intruders"),
        ({"l": {"who": 2}, "ignore": "who"}, "of 'who' it is ignore"),
        ({"l": {"il": 2}, "ignore": "who"}, "did you mean 'ill'"),
        ({"person": "whom", "ignore": "who"}, "no column 'whom'"),
        ({"person": "who", "confidential": ["ill", "pay", "who"]}, "name it as identifier"),
    ],
)
def test_promises_are_checked_at_the_door(said: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        discreet.protect(FRAME, labels=LABELS, **COLUMNS | said)


def test_a_record_without_a_person_is_refused() -> None:
    frame = FRAME.with_columns(who=pl.Series(["a", "b", None, "d", "e", "f"]))
    with pytest.raises(InputError, match="does not say whose 1 record is \\(row 2\\)"):
        discreet.protect(frame, labels=LABELS, person="who", **COLUMNS)


def test_a_person_who_is_covered_by_the_rest_is_an_identifier() -> None:
    frame = FRAME.drop("pay")
    release = discreet.protect(frame, labels=LABELS, k=3, quasi="age", confidential="rest", person="who")
    assert "who" not in release.data.columns


def test_a_plan_tells_what_would_be_promised() -> None:
    plan = discreet.plan(FRAME, labels=LABELS, **COLUMNS, **PROMISED)
    assert "at least 3 persons" in plan.summary()
