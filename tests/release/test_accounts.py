"""What is told of a release: the record holds nothing that can be solved for a value; old accounts stay readable."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.release.evidence import EVIDENCE, RECORD, publish_loss, schema

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


@given(st.floats(0, 1e6, allow_subnormal=False), st.integers(2, 10**7))
def test_the_loss_is_published_of_many_records_and_coarsely(il: float, records: int) -> None:
    told = publish_loss(il, records)
    if records < 1000:
        assert told is None
    else:
        assert told is not None
        assert told == pytest.approx(il, rel=0.051)
        assert len(f"{told:e}".split("e")[0].rstrip("0").replace(".", "")) <= 2


@pytest.mark.parametrize("records", [60, 1200])
@pytest.mark.parametrize("grouping", [None, [["a", "b"], ["c"]]])
def test_the_record_holds_no_exact_figure(tmp_path: Path, records: int, grouping: list[list[str]] | None) -> None:
    values = np.random.default_rng(1).normal(size=(records, 3))
    frame = pl.DataFrame(dict(zip("abc", values.T, strict=True)))
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
    assert any("not published: of fewer" in note for note in record["notes"]) == (records < 1000)
