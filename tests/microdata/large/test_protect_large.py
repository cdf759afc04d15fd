"""Data in parts: protected, conserved, sorted as a whole; what a release in memory keeps, it keeps too."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.configuration import load
from discreet.data.dataset import accept
from discreet.data.embedding import embed
from discreet.errors import InputError, PromiseNotKept
from discreet.microdata.large.blocks import sort_rows
from discreet.microdata.large.look import Moments, load_picture
from discreet.microdata.large.sort import bisect
from discreet.microdata.protection import declare, read_attributes
from microdata.large.registers import (
    QUASI,
    ROLES,
    UNCHANGED,
    count_smallest,
    read_bytes,
    read_parts,
    register,
    write_parts,
)

HOW: dict[str, Any] = {"k": 3, "method": "tour", "block_records": 200, "workers": 1, **ROLES}


@pytest.mark.parametrize("format_name", ["parquet", "csv", "arrow"])
def test_a_folder_becomes_a_verified_folder(tmp_path: Path, format_name: str) -> None:
    frame = register()
    data = write_parts(frame, tmp_path / "in", format_name=format_name)
    found = discreet.protect_large(data, tmp_path / "out", **HOW)
    release = read_parts(tmp_path / "out")
    assert release.height == frame.height
    assert count_smallest(release, ["stratum", *QUASI]) >= 3
    # Unchanged values stay with each other.
    before, after = (one.select(pl.col(UNCHANGED).cast(pl.String)).sort(UNCHANGED) for one in (frame, release))
    assert before.equals(after)
    # No identifier, and nothing but parts and the record.
    assert "id" not in release.columns
    suffix = f".{format_name}"
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {suffix, ".json"}
    assert len(list((tmp_path / "out").iterdir())) > 3
    assert not (tmp_path / "out.work").exists()
    assert discreet.verify(tmp_path / "out")
    assert found.evidence["output"]["conservation"]["records"] == dict.fromkeys(["read", "in_blocks", "written"], 1200)
    if format_name != "csv":
        assert release.equals(release.sort(release.columns, nulls_last=True))


@settings(max_examples=5)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.02, 0.2]), st.sampled_from(["tour", "mdav"]), st.integers(2, 6))
def test_any_register_keeps_k(
    tmp_path_factory: pytest.TempPathFactory, seed: int, gaps: float, method: str, k: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    frame = register(700, seed, gaps)
    data = write_parts(frame, folder / "in", parts=1 + seed % 3)
    how = HOW | {"k": k, "method": method, "block_records": 100}
    try:
        release = discreet.protect_large(data, folder / "out", **how)
    except InputError:
        # Too few records lack the same values: then there is no release in memory either.
        with pytest.raises(InputError):
            discreet.protect(frame, k=k, method=method, **ROLES)
        return
    parts = read_parts(folder / "out")
    assert count_smallest(parts, ["stratum", *QUASI]) >= k
    assert parts.select(UNCHANGED).sort(UNCHANGED).equals(frame.select(UNCHANGED).sort(UNCHANGED))
    assert release.measures["groups"] >= 1


def test_the_look_finds_what_a_file_in_memory_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedding, from sums of pieces, is that of all records at once; so is the loss of what is written."""
    monkeypatch.setattr("discreet.microdata.large.seal.shutil.rmtree", lambda *_given, **_more: None)
    frame = register(900, 1, 0.0)
    data = write_parts(frame, tmp_path / "in")
    found = discreet.protect_large(data, tmp_path / "out", **HOW)
    dataset = accept(frame)
    declared = declare(dataset, load(None), **ROLES)
    attributes, _ = read_attributes(dataset, declared)
    picture = load_picture(str(tmp_path / "out.work"))
    for mine, theirs in zip(picture.embedding.axes, embed(attributes)[0].axes, strict=True):
        np.testing.assert_allclose(mine.center, theirs.center, rtol=1e-12)
        np.testing.assert_allclose(mine.scale, theirs.scale, rtol=1e-12)
    release = read_parts(tmp_path / "out").sort("diagnosis")
    measured = discreet.measure(frame.sort("diagnosis"), release, measures="il", quasi=QUASI, ordinal=ROLES["ordinal"])
    assert found.measures["il"] == pytest.approx(measured["il"], rel=1e-9)


@given(st.lists(st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), max_size=20), min_size=1, max_size=6))
def test_moments_add_up(pieces: list[list[float]]) -> None:
    whole = Moments()
    for piece in pieces:
        whole.add(Moments.of(np.array(piece)))
    seen = np.array([value for piece in pieces for value in piece])
    seen = seen[~np.isnan(seen)]
    assert whole.count == len(seen)
    if len(seen):
        np.testing.assert_allclose(whole.mean, seen.mean(), rtol=1e-9, atol=1e-6)
        np.testing.assert_allclose(whole.squares, ((seen - seen.mean()) ** 2).sum(), rtol=1e-6, atol=1e-4)


@given(
    st.lists(st.tuples(st.integers(0, 3) | st.none(), st.sampled_from("aä") | st.none()), min_size=1), st.integers(0)
)
def test_bisect_finds_the_place_of_a_row(rows: list[tuple[int | None, str | None]], which: int) -> None:
    frame = pl.DataFrame(rows, schema={"n": pl.Int64, "t": pl.String}, orient="row")
    frame = frame.sort(frame.columns, nulls_last=True)
    row = rows[which % len(rows)]
    assert bisect(frame, row) == [*frame.iter_rows()].index(row)


def test_borders_do_not_split_strata_and_follow_space(tmp_path: Path) -> None:
    """The loss in blocks is near that of all records at once; random blocks would lose twice as much."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=4000), "y": rng.normal(size=4000)})
    data = write_parts(frame, tmp_path / "in")
    how: dict[str, Any] = {"k": 5, "quasi": ["x", "y"], "method": "mdav"}
    found = discreet.protect_large(data, tmp_path / "out", block_records=500, workers=1, **how)
    assert found.measures["il"] < 1.15 * discreet.protect(frame, measures="none", **how).measures["il"]


def test_the_verifier_finds_what_is_wrong(tmp_path: Path) -> None:
    data = write_parts(register(), tmp_path / "in")
    discreet.protect_large(data, tmp_path / "out", **HOW)
    path = tmp_path / "out" / "part-00001.parquet"
    whole = pl.read_parquet(path)
    whole.with_columns(income=pl.col("income") + pl.int_range(whole.height)).write_parquet(path)
    verdict = discreet.verify(tmp_path / "out")
    assert not verdict
    assert any("SHA-256" in note for note in verdict.notes)
    whole[1:].write_parquet(path)
    with pytest.raises(PromiseNotKept, match=r"has 1,199 records, and its record says 1,200"):
        discreet.verify(tmp_path / "out")
    path.unlink()
    with pytest.raises(PromiseNotKept, match=r"part-00001.parquet is missing"):
        discreet.verify(tmp_path / "out")


def test_the_verifier_counts_as_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In many partitions too: a combination that stands in several parts is counted as one."""
    monkeypatch.setattr("discreet.verification.folder.PARTITION_ROWS", 50)
    numbers = [float(number) for number in range(40)] * 5
    frame = pl.DataFrame({"a": [*numbers, -0.0, 0.0, None, None], "b": ["x", None] * 102})
    data = write_parts(frame, tmp_path / "in")
    whole = discreet.verify(frame, quasi=["a", "b"], k=3)
    parts = discreet.verify(data, quasi=["a", "b"], k=3)
    assert parts.checks == whole.checks
    assert not parts


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"t": {"visits": 0.001}}, "from all records in 'visits': t = .* would be possible"),
    ({"person": "stratum", "by": None, "ignore": ["stratum"]}, "are of 2 persons, fewer than k = 3"),
    ({"household": "stratum", "by": None}, "the data has fewer than k = 3 households"),
    ({"topcode": {"income": "99%"}}, "topcode is not for data in parts"),
    ({"k": 400, "block_records": 800}, "of 2 strata of stratum have fewer than k = 400 records"),
    ({"block_records": 5}, "block_records must be at least 100"),
    ({"cluster": "tcp://example.org:8786"}, "is not encrypted"),
    ({"cluster": "nonsense"}, "must be the address of a Dask scheduler"),
]


@pytest.mark.parametrize(("asked", "words"), REFUSED, ids=lambda one: str(one)[:30])
def test_what_is_not_possible_is_refused(tmp_path: Path, asked: dict[str, Any], words: str) -> None:
    data = write_parts(register(600), tmp_path / "in")
    with pytest.raises(discreet.DiscreetError, match=words):
        discreet.protect_large(data, tmp_path / "out", **HOW | asked)
    assert not (tmp_path / "out").exists()


def test_parts_must_be_alike(tmp_path: Path) -> None:
    data = write_parts(register(600), tmp_path / "in")
    pl.read_parquet(data / "in-2.parquet").rename({"age": "years"}).write_parquet(data / "in-2.parquet")
    with pytest.raises(discreet.DiscreetError, match=r"in-2.parquet: its columns are not those of the first part"):
        discreet.protect_large(data, tmp_path / "out", **HOW)
    (data / "in-2.parquet").unlink()
    (data / "in-2.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="the parts must all be Parquet"):
        discreet.protect_large(data, tmp_path / "out", **HOW)


def test_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_parts(register(600), tmp_path / "in")

    class Usage:
        free = 1000

    monkeypatch.setattr("discreet.microdata.large.work.shutil.disk_usage", lambda _path: Usage)
    with pytest.raises(InputError, match="of disk, and 1KB are free"):
        discreet.protect_large(data, tmp_path / "out", **HOW)
    assert not list((tmp_path / "out.work").glob("chunk*"))


def test_time_becomes_steps_that_repeat(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = write_parts(pl.DataFrame({"x": rng.normal(size=900), "y": rng.normal(size=900)}), tmp_path / "in")
    how: dict[str, Any] = {"k": 3, "quasi": ["x", "y"], "block_records": 300, "workers": 1}
    timed = discreet.protect_large(data, tmp_path / "out", time=0.05, **how)
    steps = {block["steps"] for block in timed.evidence["output"]["blocks"]}
    assert len(steps) == 1
    before = read_bytes(tmp_path / "out")
    discreet.protect_large(data, tmp_path / "out", steps=steps.pop(), force=True, **how)
    assert read_bytes(tmp_path / "out") == before
    assert json.loads(before["release.json"])["output"]["parts"][0]["file"] == "part-00000.parquet"


VALUES = st.sampled_from([None, -0.0, 0.0, 1.5, -2.0, float("nan")])
ROWS = st.lists(st.tuples(VALUES, VALUES, st.sampled_from([None, "", "a", "b"])), max_size=12)


@given(ROWS, st.integers(1, 9))
def test_rows_are_sorted_by_all_columns(rows: list[tuple[Any, ...]], times: int) -> None:
    # Rows many times over are those of groups; a few others tie in the first column only.
    frame = pl.DataFrame(rows * times + rows[:2], {"x": pl.Float64, "y": pl.Float64, "z": pl.String}, orient="row")
    frame = frame.sample(fraction=1.0, shuffle=True, seed=times)
    whole = frame.sort(frame.columns, nulls_last=True, maintain_order=True)
    assert sort_rows(frame).equals(whole)
    assert sort_rows(frame.select("x")).equals(whole.select("x"))
