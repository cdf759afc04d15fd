"""What is told of a release: the record holds nothing that can be solved for a value; old accounts stay readable."""

import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.release.evidence import EVIDENCE, RECORD, schema
from discreet.release.public_figures import round_figure

ACCOUNTS = sorted((Path(__file__).parent / "accounts").glob("*.json"))


@pytest.mark.parametrize("path", ACCOUNTS, ids=lambda path: path.stem)
def test_accounts_of_earlier_versions_stay_readable(path: Path) -> None:
    """One account of each number that a schema has had."""
    account = json.loads(path.read_text(encoding="utf-8"))
    kind, number = path.stem.split(".")[1].split("-")
    assert account["schema"] == f"discreet/{kind}/{number}"
    jsonschema.validate(account, schema(kind))
    if kind == "release" and account["kind"] == "microdata":
        names = account["output"]["columns"]
        frame = pl.DataFrame(dict.fromkeys(names, [1.0] * 11))
        assert discreet.verify(frame, promise=path)


def test_one_account_of_each_earlier_number_is_kept() -> None:
    kept = {json.loads(path.read_text(encoding="utf-8"))["schema"] for path in ACCOUNTS}
    for current in (EVIDENCE, RECORD):
        stem, _, number = current.rpartition("/")
        assert {f"{stem}/{earlier}" for earlier in range(1, int(number))} <= kept


@given(st.floats(0, 1e6, allow_subnormal=False))
def test_figures_are_published_coarsely(il: float) -> None:
    told = round_figure(il)
    assert told == pytest.approx(il, rel=0.051)
    assert len(f"{told:e}".split("e")[0].rstrip("0").replace(".", "")) <= 2


@pytest.mark.parametrize("records", [60, 1200])
@pytest.mark.parametrize("grouping", [None, [["a", "b"], ["c", "d"]]])
def test_the_record_holds_no_exact_figure(tmp_path: Path, records: int, grouping: list[list[str]] | None) -> None:
    values = np.random.default_rng(1).uniform(10.0, 90.0, size=(records, 4))
    frame = pl.DataFrame(dict(zip("abcd", values.T, strict=True)))
    release = discreet.protect(frame, k=3, quasi="all", method="mdav", grouping=grouping)
    release.write(tmp_path / "out.csv")
    text = (tmp_path / "out.csv.release.json").read_text(encoding="utf-8")
    record = json.loads(text)
    jsonschema.validate(record, schema("release"))
    assert "dld" not in text
    assert str(release.measures["il"]) not in text
    told = {} if records < 1000 else {"il": float(f"{release.measures['il']:.2g}")}
    assert record["measures"] == told
    assert any("across the groups" in note for note in record["notes"]) == (grouping is not None)
    assert any("not published: of fewer than 1,000" in note for note in record["notes"]) == (records < 1000)


def test_the_record_and_report_of_a_table_say_neither_method_nor_rule_nor_version(tmp_path: Path) -> None:
    """By them whoever knows the program would rule out the values that give another pattern."""
    frame = pl.DataFrame({"r": ["n"] * 4 + ["s"] * 5, "c": list("aabbaabbb"), "v": [10, 20, 30, 40, 50, 60, 70, 80, 5]})
    flagged = discreet.primary(discreet.tabulate(frame, by=["r", "c"], value="v"), p=15, threshold=3)
    kept = discreet.suppress(flagged, method="hypercube")
    kept.write(tmp_path / "out.csv", report=True)
    record = json.loads((tmp_path / "out.csv.release.json").read_text(encoding="utf-8"))
    jsonschema.validate(record, schema("release"))
    assert not {"method", "version", "parameters"} & set(record)
    page = (tmp_path / "out.csv.report.html").read_text(encoding="utf-8")
    for text in ((tmp_path / "out.csv.release.json").read_text(encoding="utf-8"), page):
        assert discreet.__version__ not in text
        assert "hypercube" not in text
        assert not re.search(r"too few contributors|too closely|dominance|threshold|15 %", text)
    for name in ("method", "version"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(record | {name: "x"}, schema("release"))
    # The record alone is enough to check the file, and to report on it.
    (tmp_path / "out.csv.evidence.json").unlink()
    assert discreet.verify(tmp_path / "out.csv")
    discreet.report(tmp_path / "out.csv", force=True)
