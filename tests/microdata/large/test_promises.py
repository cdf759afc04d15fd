"""Whatever is promised of a file in memory is kept in parts: of persons, of households, of confidential columns."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.errors import InputError
from discreet.microdata.large import driver, gather
from discreet.verification.promise import Verification
from microdata.large.registers import read_bytes, read_parts, write_parts


def _survey(records: int, seed: int, gaps: float = 0.0, *, sizes: int = 3) -> pl.DataFrame:
    """Households of 1 to 3 members, whose members stand anywhere in the file; some are interviewed several times."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(records), rng.integers(1, sizes + 1, records))[:records]
    income = rng.lognormal(3, 1, records)
    frame = pl.DataFrame(
        {
            "house": [f"h{number}" for number in home],
            "who": rng.integers(0, records // 2, records).astype(str),
            "age": rng.integers(0, 90, records),
            "income": pl.Series(np.where(rng.random(records) < gaps, np.nan, income), nan_to_null=True),
            "town": rng.choice(["a", "b", "c"], records),
            "ill": rng.choice(["flu", "none", "gout", "pox"], records),
            "rent": np.round(income / 3 + rng.normal(size=records), 1),
            "weight": rng.integers(1, 9, records),
        }
    )
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


ROLES: dict[str, Any] = {
    "quasi": ["age", "income", "town"],
    "confidential": ["ill", "rent", "weight"],
    "ignore": "rest",
}
HOW: dict[str, Any] = {"k": 3, "method": "tour", "block_records": 100, "workers": 1, **ROLES}


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Piles of a few hundred records, and partitions of fewer: so that nothing is together by chance."""
    monkeypatch.setattr(driver, "PIECE", 150)
    monkeypatch.setattr(gather, "PIECE", 150)
    monkeypatch.setattr("discreet.verification.folder.PARTITION_ROWS", 100)


def _link(frame: pl.DataFrame, folder: Path, rows: Path) -> pl.DataFrame:
    """The released rows with the record of each, by the row map."""
    link = pl.concat([pl.read_parquet(path) for path in sorted(rows.iterdir())])
    release = read_parts(folder)
    assert link["release_row"].to_list() == list(range(1, frame.height + 1))
    assert sorted(link["input_record"]) == list(range(1, frame.height + 1))
    return release.with_columns(frame[link["input_record"] - 1].select(pl.all().name.suffix(" before")))


@pytest.mark.parametrize(("seed", "gaps"), [(0, 0.0), (1, 0.4)])
def test_households_are_never_split_and_k_look_alike(
    tmp_path_factory: pytest.TempPathFactory, seed: int, gaps: float
) -> None:
    folder = tmp_path_factory.mktemp("homes")
    frame = _survey(600, seed, gaps)
    how = HOW | {"household": "house", "row_map": folder / "rows", "l": {"ill": 2}}
    try:
        found = discreet.protect_large(write_parts(frame, folder / "in"), folder / "out", **how)
    except InputError:
        # Too few households lack the same values: then there is no release in memory either.
        with pytest.raises(InputError):
            discreet.protect(frame, k=3, method="tour", household="house", l={"ill": 2}, **ROLES)
        return
    linked = _link(frame, folder / "out", folder / "rows")
    # A household is one before and after, under another number.
    assert linked.group_by("house").agg(pl.col("house before").n_unique())["house before"].max() == 1
    assert linked["house"].n_unique() == frame["house"].n_unique() == found.measures["households"]
    assert sorted(linked["house"].unique()) == list(range(1, frame["house"].n_unique() + 1))
    # Counted plainly: what all members look like.
    texts = linked.with_columns(look=pl.format("{}|{}|{}", "age", pl.col("income").fill_null(-1), "town"))
    looks = texts.group_by("house").agg(pl.col("look").sort().str.join(";").alias("whole"))
    counted = texts.join(looks, on="house").group_by("whole").agg(pl.col("house", "ill").n_unique())
    assert counted["house"].min() >= 3  # type: ignore[operator]
    assert counted["ill"].min() >= 2  # type: ignore[operator]
    # What is not changed stays with its record.
    assert linked["rent"].equals(linked["rent before"].alias("rent"))
    assert discreet.verify(folder / "out")


def test_the_order_of_households_tells_nothing_of_their_blocks(tmp_path: Path) -> None:
    """Numbers depend on what is released alone: the same in blocks of any size, where the same is released."""
    frame = _survey(600, 3).with_columns(age=40, income=1.0, town=pl.lit("a"))
    data = write_parts(frame, tmp_path / "in")
    how = HOW | {"household": "house", "quasi": ["age"], "confidential": ["ill", "rent"]}
    for records in (100, 1000):
        discreet.protect_large(data, tmp_path / f"{records}", **how | {"block_records": records})
    one, other = (read_parts(tmp_path / name) for name in ("100", "1000"))
    keys = ["ill", "rent", "house"]
    assert one.sort(keys).equals(other.sort(keys))


def test_the_verifier_finds_households_torn_apart(tmp_path: Path) -> None:
    frame = _survey(600, 1)
    discreet.protect_large(write_parts(frame, tmp_path / "in"), tmp_path / "out", **HOW | {"household": "house"})
    whole = read_parts(tmp_path / "out")
    assert (
        discreet.verify(tmp_path / "out").checks == discreet.verify(whole, promise=tmp_path / "out/release.json").checks
    )
    path = tmp_path / "out" / "part-00000.parquet"
    part = pl.read_parquet(path)
    part.with_columns(house=part["house"].shuffle(seed=0)).write_parquet(path)
    assert not discreet.verify(tmp_path / "out")


@pytest.mark.parametrize(
    ("seed", "diverse", "close"), [(0, {"ill": 2}, True), (1, {"ill": "entropy:1.8"}, False), (2, {}, False)]
)
def test_persons_have_one_vote_wherever_their_records_are(
    tmp_path_factory: pytest.TempPathFactory, seed: int, diverse: dict[str, Any], close: bool
) -> None:
    folder = tmp_path_factory.mktemp("persons")
    frame = _survey(500, seed)
    how = HOW | {"person": "who", "row_map": folder / "rows", "l": diverse, "t": {"rent": 0.35} if close else {}}
    found = discreet.protect_large(write_parts(frame, folder / "in"), folder / "out", **how)
    assert found.verification
    linked = _link(frame, folder / "out", folder / "rows")
    assert linked.group_by("age", "income", "town").agg(pl.col("who before").n_unique())["who before"].min() >= 3  # type: ignore[operator]
    # The check of a file in memory, which knows all persons, finds the same.
    whole = linked.select(pl.col("age", "income", "town", "ill", "rent"), pl.col("who before").alias("who"))
    assert discreet.verify(
        whole, quasi=["age", "income", "town"], k=3, person="who", l=diverse or None, t=how["t"] or None
    )
    # So does the recount of the parts, by the original and the row map; not with somebody else's records.
    origin: dict[str, Any] = {"original": folder / "in", "row_map": folder / "rows"}
    recount = discreet.verify(folder / "out", **origin)
    alone = discreet.verify(read_parts(folder / "out"), promise=folder / "out" / "release.json")
    assert recount
    assert isinstance(recount, Verification)
    assert isinstance(alone, Verification)
    assert (recount.persons, alone.persons) == (True, False)
    assert recount.checks[0].smallest >= 3
    write_parts(frame.with_columns(who=pl.lit(1)), folder / "one person")
    assert not discreet.verify(folder / "out", **origin | {"original": folder / "one person"})
    write_parts(frame.head(100), folder / "fewer")
    with pytest.raises(InputError, match="each once; it is of another release"):
        discreet.verify(folder / "out", **origin | {"original": folder / "fewer"})
    with pytest.raises(InputError, match="name both"):
        discreet.verify(folder / "out", original=folder / "in")


@pytest.mark.parametrize("unit", [{}, {"household": "house"}])
def test_closeness_is_to_the_whole_file(tmp_path: Path, unit: dict[str, str]) -> None:
    """Rent goes with income, by which blocks are cut: one alone is far from all records, until some are joined."""
    frame = _survey(600, 5, sizes=2)
    how = HOW | unit | {"t": {"rent": 0.3, "ill": 0.5}}
    found = discreet.protect_large(write_parts(frame, tmp_path / "in"), tmp_path / "out", **how)
    recount = discreet.verify(tmp_path / "out")
    assert isinstance(recount, Verification)
    assert recount
    whole = discreet.verify(read_parts(tmp_path / "out"), promise=tmp_path / "out" / "release.json")
    for mine, theirs in zip(recount.checks[0].held, whole.checks[0].held, strict=True):
        assert mine.worst == pytest.approx(theirs.worst, abs=1e-9)
        assert mine.distribution == theirs.distribution
    assert found.evidence["input"]["distributions"] == recount.distributions()
    stricter = whole.promise.as_dict() | {"t": [one | {"most": 0.01} for one in whole.promise.as_dict()["t"]]}
    assert not discreet.verify(tmp_path / "out", promise=stricter)


def test_weighted_totals_are_kept(tmp_path: Path) -> None:
    frame = _survey(600, 2)
    how = HOW | {"sampling_weight": "weight", "quasi": ["income"], "confidential": ["weight", "ill"]}
    found = discreet.protect_large(write_parts(frame, tmp_path / "in"), tmp_path / "out", **how)
    assert any("'weight' are released unchanged" in note for note in found.evidence["notes"])
    release = read_parts(tmp_path / "out")
    totals = [float((one["income"] * one["weight"]).sum()) for one in (frame, release)]
    assert totals[0] == pytest.approx(totals[1], rel=1e-9)


def test_groups_of_columns_are_protected_each_on_its_own(tmp_path: Path) -> None:
    frame = _survey(600, 4, 0.05)
    how = HOW | {"grouping": [["age", "town"], ["income"]]}
    found = discreet.protect_large(write_parts(frame, tmp_path / "in"), tmp_path / "out", **how)
    release = read_parts(tmp_path / "out")
    for group in found.promise.groups:
        assert release.group_by(group).len()["len"].min() >= 3  # type: ignore[operator]
    assert release.group_by("age", "town", "income").len()["len"].min() < 3  # type: ignore[operator]
    assert discreet.verify(tmp_path / "out")


def test_two_processes_give_the_same_bytes_of_households(tmp_path: Path) -> None:
    data = write_parts(_survey(400, 7, 0.5), tmp_path / "in")
    how = HOW | {"household": "house", "t": {"rent": 0.5}}
    for workers in (1, 2):
        (tmp_path / f"{workers}").mkdir()
        discreet.protect_large(data, tmp_path / f"{workers}" / "out", **how | {"workers": workers})
    assert read_bytes(tmp_path / "1" / "out") == read_bytes(tmp_path / "2" / "out")


def test_a_household_without_a_number_is_told(tmp_path: Path) -> None:
    frame = _survey(400, 7).with_columns(house=pl.when(pl.int_range(400) == 370).then(None).otherwise("house"))
    with pytest.raises(discreet.DiscreetError, match=r"does not say whose 1 record is \(record 71\)"):
        discreet.protect_large(write_parts(frame, tmp_path / "in"), tmp_path / "out", **HOW | {"household": "house"})


@pytest.mark.parametrize("seed", [3, 4])
def test_households_searched_by_time_are_repeated_by_steps(tmp_path: Path, seed: int) -> None:
    parts = write_parts(_survey(400, seed), tmp_path / "in")
    how = {name: value for name, value in HOW.items() if name != "method"} | {"household": "house"}
    for name in ("time", "steps"):
        (tmp_path / name).mkdir()
    first = discreet.protect_large(parts, tmp_path / "time" / "out", time=0.2, **how)
    steps = max(first.evidence["search"]["steps"], 1)
    again = discreet.protect_large(parts, tmp_path / "steps" / "out", steps=steps, **how | {"workers": 2})
    assert read_bytes(tmp_path / "time" / "out") == read_bytes(tmp_path / "steps" / "out")
    assert again.measures["il"] == first.measures["il"]
