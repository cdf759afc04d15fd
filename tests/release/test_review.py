"""A second person approves a release or returns it, and the evidence says so."""

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import discreet
from discreet.errors import InputError
from discreet.release.evidence import schema
from discreet.release.review import decide


def test_decisions_go_into_the_evidence_and_earlier_ones_are_kept(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "ill": [0, 1, 0, 1, 1, 0]})
    release = discreet.protect(frame, k=3, quasi=["age"], confidential=["ill"], steps=1)
    evidence = release.write(tmp_path / "out.csv").files["evidence"]
    before = json.loads(evidence.read_text())
    decide(evidence, reviewer="A", decision="returned", remarks="k is too small")
    decide(evidence, reviewer=" B ", decision="approved")
    after = json.loads(evidence.read_text())
    review = after.pop("review")
    assert after == before
    assert (review["reviewer"], review["decision"]) == ("B", "approved")
    assert review["decided_on"]
    assert [one["decision"] for one in review["earlier"]] == ["returned"]
    jsonschema.validate(json.loads(evidence.read_text()), schema("evidence"))


def test_what_is_no_decision_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.evidence.json"
    path.write_text("[]")
    for words in ({"reviewer": "A", "decision": "maybe"}, {"reviewer": " ", "decision": "approved"}):
        with pytest.raises(InputError):
            decide(path, **words)
    with pytest.raises(InputError, match="evidence"):
        decide(path, reviewer="A", decision="approved")
    assert path.read_text() == "[]"
