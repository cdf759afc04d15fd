"""What can be told of a published table from outside: it is the file of its record, adds up and gives nothing away."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from jsonschema import validate

import discreet
from discreet.cli.app import run
from discreet.errors import InputError
from discreet.release.evidence import evidence_of_verification, schema
from discreet.tables.primary import primary
from discreet.tables.suppress import suppress
from discreet.tables.tabulate import tabulate
from discreet.tabular import Hierarchy


def published(folder: Path, suffix: str = "csv", **wishes: object) -> tuple[Path, Path]:
    """A table of sales by region and size, published with its record."""
    rng = np.random.default_rng(4)
    records = [(r, c, float(rng.integers(1, 100))) for r in "abcd" for c in "xyz" for _ in range(4)]
    records += [("a", "x", 9_000.0), ("c", "z", 7_000.0)]
    frame = pl.DataFrame(records, schema=["region", "size", "sales"], orient="row")
    found = suppress(primary(tabulate(frame, by=["region", "size"], value="sales"), p=20), steps=2, **wishes)  # type: ignore[arg-type]
    files = found.write(folder / f"out.{suffix}")
    return files["release"], files["record"]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_a_publication_passes_and_what_cannot_be_seen_is_said(suffix: str, tmp_path: Path) -> None:
    release, record = published(tmp_path, suffix)
    for by in (None, ["region", "size"]):
        verdict = discreet.verify(release, promise=record, by=by)
        assert verdict
        assert "add up, and no suppressed cell follows" in verdict.words()
        assert any("cannot be checked from outside" in note for note in verdict.notes)
    validate(evidence_of_verification(verdict, release, record), schema("evidence"))
    assert run(["verify", str(release), "--promise", str(record)]) == 0


def changed(release: Path, record: Path, old: str, new: str) -> str:
    """The verdict on a publication that somebody has changed, record and all."""
    text = release.read_text()
    assert old in text
    release.write_text(text.replace(old, new, 1))
    content = json.loads(record.read_text())
    content["output"]["sha256"] = discreet.data.files.sha256(release)
    record.write_text(json.dumps(content))
    verdict = discreet.verify(release, promise=record, by=["region", "size"])
    assert not verdict
    return verdict.words()


def test_every_change_is_seen(tmp_path: Path) -> None:
    release, record = published(tmp_path)
    table = pl.read_csv(release, infer_schema=False)
    hidden = table.filter(pl.col("sales") == "x").row(0)
    whole = table.filter((pl.col("sales") != "x").all().over("region")).row(0)
    line = ",".join(hidden)
    before = release.read_text()
    release.write_text(before.replace(line, line.replace(",x", ",1"), 1))
    verdict = discreet.verify(release, promise=record)
    assert not verdict
    assert "SHA-256 differs" in verdict.words()
    for old, new, words in (
        (line, ",".join([*hidden[:-1], "-"]), "different marks"),
        (",".join(whole), ",".join([*whole[:-1], "1"]), "do not add up"),
        (line, ",".join([*hidden[:-1], "1"]), "follow by subtraction alone"),
        (line + "\n", "", "not as many as the record says"),
    ):
        release.write_text(before)
        assert words in changed(release, record, old, new), words


def test_hierarchies_stand_in_the_record_and_are_not_guessed_where_it_is_an_older_one(tmp_path: Path) -> None:
    frame = pl.DataFrame({"town": ["a1", "a2", "b1", "b2"] * 4, "sales": [float(at) for at in range(1, 17)]})
    (tmp_path / "town.hrc").write_text("A\n@a1\n@a2\nB\n@b1\n@b2\n")
    by = [f"town@{tmp_path / 'town.hrc'}"]
    files = suppress(primary(tabulate(frame, by=by, value="sales"), threshold=2), steps=1).write(tmp_path / "out.csv")
    stated = discreet.verify(files["release"], promise=files["record"])
    assert stated
    assert "3 sums of published values add up" in stated.words()
    content = json.loads(files["record"].read_text())
    del content["output"]["dimensions"]
    files["record"].write_text(json.dumps(content | {"schema": "discreet/release/2"}))
    plain = discreet.verify(files["release"], promise=files["record"])
    assert plain
    assert any("name the hierarchies" in note for note in plain.notes)
    told = discreet.verify(files["release"], promise=files["record"], by=by)
    assert told
    assert "3 sums of published values add up" in told.words()


def test_a_partial_release_does_not_pass_and_what_is_no_table_is_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"region": ["a", *"bbbb"], "sales": [5.0, 7.0, 2.0, 4.0, 6.0]})
    table = primary(tabulate(frame, by="region", value="sales"), threshold=3)
    frozen = [cell for cell in range(len(table)) if cell not in table.primary]
    files = suppress(table, frozen=frozen, steps=1, partial=True).write(tmp_path / "out.csv")
    verdict = discreet.verify(files["release"], promise=files["record"])
    assert "partial" in verdict.words()
    assert "follows by subtraction alone" in verdict.words()
    assert run(["verify", str(files["release"]), "--promise", str(files["record"])]) == 1
    with pytest.raises(InputError, match="no quasi-identifiers"):
        discreet.verify(files["release"], promise=files["record"], k=3)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_each_of_several_linked_files_is_checked_by_the_one_record(suffix: str, tmp_path: Path) -> None:
    files = linked(tmp_path / f"out.{suffix}")
    for name in ("release", "table 1", "table 2"):
        verdict = discreet.verify(files[name], promise=files["record"])
        assert verdict, verdict.words()
        assert "sums of published values add up" in verdict.words()
    files["table 1"].write_bytes(files["table 2"].read_bytes())
    verdict = discreet.verify(files["table 1"], promise=files["record"])
    assert "SHA-256 differs" in verdict.words()
    assert "its columns are not the dimensions that the record names" in verdict.words()


def linked(path: Path) -> dict[str, Path]:
    """Linked tables with a hierarchy, published each on its own as well."""
    rng = np.random.default_rng(4)
    places = {"n1": "n", "n2": "n", "s1": "s", "s2": "s"}
    records = [(d, c, f, float(rng.integers(1, 100))) for d in places for c in "xyz" for f in "ab" for _ in range(4)]
    records += [("n1", "x", "a", 9_000.0), ("s2", "z", "b", 7_000.0)]
    frame = pl.DataFrame(records, schema=["district", "size", "form", "sales"], orient="row")
    districts = Hierarchy.from_pairs([("n", "Total"), ("s", "Total"), *places.items()])
    by = {"district": districts, "size": None, "form": None}
    made = tabulate(frame, by=by, value="sales", parts=[["district", "size"], ["district", "form"]])
    return suppress(primary(made, p=20), steps=2).write(path, split=True)


def test_sums_of_the_hierarchy_that_the_record_tells_are_checked(tmp_path: Path) -> None:
    files = linked(tmp_path / "out.csv")
    text = files["release"].read_text().splitlines()
    at = next(at for at, line in enumerate(text) if line.startswith("Total,x,Total"))
    text[at] = "Total,x,Total,123.0"
    files["release"].write_text("\n".join(text) + "\n")
    verdict = discreet.verify(files["release"], promise=files["record"])
    assert "do not add up" in verdict.words()
    text[at] = "Nowhere,x,Total,123.0"
    files["release"].write_text("\n".join(text) + "\n")
    verdict = discreet.verify(files["release"], promise=files["record"])
    assert "1 cell with a code that the record does not have" in verdict.words()
    assert "Nowhere" not in verdict.words()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_a_publication_is_audited_and_taken_as_a_pattern(suffix: str, tmp_path: Path) -> None:
    release, _ = published(tmp_path, suffix)
    found = discreet.audit(release)
    assert found.exact
    assert "intervals only" in " ".join(found.notes)
    rng = np.random.default_rng(4)
    records = [(r, c, float(rng.integers(1, 100))) for r in "abcd" for c in "xyz" for _ in range(4)]
    records += [("a", "x", 9_000.0), ("c", "z", 7_000.0)]
    frame = pl.DataFrame(records, schema=["region", "size", "sales"], orient="row")
    flagged = primary(tabulate(frame, by=["region", "size"], value="sales"), p=20)
    inside = discreet.audit(flagged, pattern=release, intervals=True)
    assert inside
    # An outsider finds the same intervals, but for the bound that he takes from the largest value he sees.
    own, theirs = found.intervals("polars"), inside.intervals("polars")
    keys = ["region", "size"]
    both = own.join(theirs, on=keys, validate="1:1")
    assert both.height == own.height == theirs.height
    assert np.allclose(both["lower"], both["lower_right"])
    assert np.allclose(both["upper"], both["upper_right"])
    again = suppress(flagged, previous=release, steps=1)
    assert again.evidence["measures"]["changes"] is not None
