"""Households protected as wholes: at least k look alike in the file as written, and their numbers are new."""

import itertools
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import discreet
from discreet.cli.app import run
from discreet.data.attributes import read_attribute
from discreet.data.dataset import accept
from discreet.data.embedding import embed
from discreet.data.roles import Declaration
from discreet.errors import InputError, PromiseNotKept
from discreet.evolution.stops import Cycles
from discreet.listening import heard_by
from discreet.microdata import protection
from discreet.microdata.households import HouseholdClass, Households, number_households, read_households
from discreet.microdata.members import join_members, kept_members, match_members
from discreet.microdata.records import Records, records_of
from discreet.release.evidence import schema
from discreet.release.release import Release

COLUMNS: dict[str, Any] = {"quasi": ["age", "sex", "rooms"], "confidential": "ill", "household": "home"}


def make(seed: int, sizes: dict[int, int], *, strata: int = 1, gaps: float = 0.0) -> pl.DataFrame:
    """So many households of each size in each stratum; rooms is the same for a household, rows are mixed up."""
    rng = np.random.default_rng(seed)
    homes = [(stratum, size) for stratum in range(strata) for size, number in sizes.items() for _ in range(number)]
    names = rng.permutation(1000)[: len(homes)]
    rows = []
    for name, (stratum, size) in zip(names.tolist(), homes, strict=True):
        rooms = int(rng.integers(1, 6))
        for _ in range(size):
            age, sex = int(rng.integers(0, 90)), str(rng.choice(["m", "f"]))
            rows.append((name, f"s{stratum}", None if rng.random() < gaps else age, sex, rooms, int(rng.integers(3))))
    frame = pl.DataFrame(rows, ["home", "area", "age", "sex", "rooms", "ill"], orient="row")
    return frame[rng.permutation(frame.height)]


def count_alike(path: Path, quasi: list[str], home: str) -> tuple[int, int]:
    """By pandas, from the file: the fewest households that look alike, and the fewest records that do."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    looks = table[quasi].agg("|".join, axis=1)
    whole = looks.groupby(table[home]).agg(lambda own: " & ".join(sorted(own)))
    return int(whole.value_counts().min()), int(looks.value_counts().min())


@settings(max_examples=12)
@given(
    st.integers(0, 10**6),
    st.dictionaries(st.integers(1, 9), st.integers(3, 7), min_size=1, max_size=4),
    st.integers(2, 3),
    st.integers(1, 2),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([{"method": "mdav"}, {"method": "mdav", "missing": "impute"}, {"steps": 2}]),
)
def test_k_households_look_alike_in_the_file(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    sizes: dict[int, int],
    k: int,
    strata: int,
    gaps: float,
    how: dict[str, Any],
) -> None:
    frame = make(seed, sizes, strata=strata, gaps=gaps)
    # A column without any value is refused for itself.
    assume(all(frame[name].null_count() < frame.height for name in COLUMNS["quasi"]))
    by = ["area"] if strata > 1 else []
    said: dict[str, Any] = {"k": k, "by": by, "ignore": [] if by else ["area"], "measures": "none"} | COLUMNS | how
    try:
        release = discreet.protect(frame, **said)
    except InputError:
        # Too few households lack what they lack to be put together.
        assert gaps > 0
        with pytest.raises(InputError, match=r"household.* lack"):
            discreet.plan(frame, **said)
        return
    path = tmp_path_factory.mktemp("households") / "out.csv"
    release.write(path)
    households, records = count_alike(path, [*by, *COLUMNS["quasi"]], "home")
    assert households >= k
    # Whoever knows one member finds as many: k-anonymity of records follows.
    assert records >= k
    assert release.verification.checks[0].smallest == households
    # A household stays together, under a number that is new: from 1, and of no other.
    pairs = set(zip(frame["home"], release.data["home"], strict=True))
    assert len(pairs) == frame["home"].n_unique() == release.data["home"].n_unique()
    assert sorted(new for _, new in pairs) == list(range(1, len(pairs) + 1))
    assert discreet.verify(path, promise=f"{path}.release.json")
    assert not discreet.verify(path, quasi=COLUMNS["quasi"], by=by, k=households + 1, household="home")


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_numbers_depend_on_what_is_released_alone(seed: int, values: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, 20)
    codes = np.unique(codes, return_inverse=True)[1]
    frame = pl.DataFrame({"a": rng.integers(0, values, 20), "b": rng.integers(0, values, 20).astype(str)})
    frame = frame.with_columns(a=pl.when(pl.col("a") == 0).then(None).otherwise(pl.col("a")))
    rows, names = rng.permutation(20), rng.permutation(int(codes.max()) + 1)
    first = frame.with_columns(new=number_households(frame, Households("home", codes)))
    mixed = frame[rows]
    second = mixed.with_columns(new=number_households(mixed, Households("home", names[codes[rows]])))
    assert first.sort(pl.all()).equals(second.sort(pl.all()))


def as_records(frame: pl.DataFrame, kinds: dict[str, Any]) -> Records:
    attributes = [read_attribute(accept(frame), Declaration(name, "quasi", kind))[0] for name, kind in kinds.items()]
    return records_of(embed(attributes)[0], [attribute.values for attribute in attributes])


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_a_household_is_as_far_as_its_members_together(seed: int, size: int) -> None:
    frame = make(seed, {size: 7})
    records = as_records(frame, {"age": "numeric", "sex": "nominal", "rooms": "nominal"})
    members = Households("home", np.unique(frame["home"], return_inverse=True)[1]).by_size()[0]
    whole = join_members(records, members)
    labels = np.random.default_rng(seed).integers(0, 2, 7)
    labels[:2] = 0, 1
    single = np.empty(len(records), np.int64)
    single[members] = labels[:, None] * size + np.arange(size)
    assert whole.sse(labels) == pytest.approx(records.sse(single))
    assert whole.loss(labels) == pytest.approx(records.loss(single))
    # The rooms are there once.
    assert whole.codes.shape[1] <= size + 1 + (frame["rooms"].n_unique() == 0)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 6), st.booleans())
def test_members_stand_where_they_fit_best(seed: int, size: int, gaps: bool) -> None:
    rng = np.random.default_rng(seed)
    points, labels = rng.normal(size=(6 * size, 2)), np.array([0, 0, 1, 1, 1, 0])
    kinds = np.arange(size) % 2 if gaps else np.zeros(size, np.int64)
    part = HouseholdClass(rng.permutation(6 * size).reshape(6, size), kinds)

    def loss(members: np.ndarray) -> float:
        own = points[members]
        return float(sum(((own[labels == group] - own[labels == group].mean(axis=0)) ** 2).sum() for group in (0, 1)))

    matched = match_members(points, part, labels)
    assert loss(matched) <= loss(part.members) + 1e-9
    for before, after in zip(part.members.tolist(), matched.tolist(), strict=True):
        assert sorted(before) == sorted(after)
        # Who lacks other values stands elsewhere.
        assert all(kinds[before.index(member)] == kinds[place] for place, member in enumerate(after))
    means = [points[matched[labels == group]].mean(axis=0) for group in (0, 1)]
    for members, group in zip(matched, labels, strict=True):
        allowed = (one for one in itertools.permutations(range(size)) if (kinds[list(one)] == kinds).all())
        best = min(float(((points[members[list(one)]] - means[group]) ** 2).sum()) for one in allowed)
        assert float(((points[members] - means[group]) ** 2).sum()) <= best * (1 + 1e-4) + 1e-9


def test_a_broken_release_is_refused_and_a_broken_file_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = make(1, {1: 4, 3: 6})
    said: dict[str, Any] = {"k": 3, "ignore": "area", "method": "mdav"} | COLUMNS
    discreet.protect(frame, **said).write(tmp_path / "out.csv")
    verify = ["verify", str(tmp_path / "out.csv"), "--quasi", "age,sex,rooms", "--k", "3", "--household", "home"]
    assert run(verify) == 0
    lines = (tmp_path / "out.csv").read_text("utf-8").splitlines()
    homes = [int(line.split(",")[0]) for line in lines[1:]]
    # Members of two households of different sizes change places: every record looks as before.
    large, small = (1 + next(at for at, home in enumerate(homes) if homes.count(home) == size) for size in (3, 1))
    swapped = [lines[large].split(",")[0], lines[small].split(",")[0]]
    for at, home in zip((small, large), swapped, strict=True):
        lines[at] = ",".join([home, *lines[at].split(",")[1:]])
    (tmp_path / "out.csv").write_text("\n".join(lines) + "\n", "utf-8")
    assert run(verify) == 1
    assert "households" in capsys.readouterr().out
    assert run(verify[:-2]) == 0
    monkeypatch.setattr(protection, "number_households", lambda frame, households: np.arange(frame.height) // 2)
    with pytest.raises(PromiseNotKept, match="fewer than 3 households"):
        discreet.protect(frame, **said)


def test_sizes_of_too_few_households_are_told_with_what_would_do() -> None:
    frame = make(2, {2: 5, 4: 4, 6: 2, 7: 1})
    said: dict[str, Any] = {"k": 3, "ignore": "area", "method": "mdav"} | COLUMNS
    with pytest.raises(InputError, match=r"6 \(2 households\), 7 \(1 household\).* split_households 5 would do"):
        discreet.plan(frame, **said)
    release = discreet.protect(frame, split_households=5, **said)
    measures = release.measures
    assert [measures[name] for name in ("households", "households_cut", "household_parts")] == [15, 3, 6]
    assert "3 households became 6 parts with numbers of their own" in " ".join(release.summary().split())
    assert max(release.data["home"].value_counts()["count"]) == 4
    strata = pl.concat([frame, make(3, {2: 2}).with_columns(home=pl.col("home") + 1000, area=pl.lit("t"))])
    with pytest.raises(InputError, match=r"strata of area: 2 \(2 households\).*split_households 1 would do, or name"):
        discreet.plan(strata, **said | {"by": "area", "ignore": []})


@pytest.mark.parametrize("cut", [1, 2, 3, 5])
def test_large_households_are_cut_into_parts_as_equal_as_can_be(cut: int) -> None:
    frame = make(4, {1: 2, 3: 2, 7: 2})
    found = read_households(accept(frame), "home", [], cut)
    sizes = np.bincount(found.codes)
    assert sizes.max() <= cut
    for home in frame["home"].unique():
        own = np.bincount(found.codes[(frame["home"] == home).to_numpy()])
        assert np.ptp(own[own > 0]) <= 1
        assert np.count_nonzero(own) == -(-own.sum() // cut)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"by": "sex"}, "whole households"),
        ({"household": "house"}, "no column 'house'"),
        ({"household": 3}, "name of a column"),
        ({"household": None, "split_households": 3, "identifier": "home"}, "needs household"),
        ({"split_households": 0}, "split_households"),
        ({"person": "sex"}, "leave out person"),
        ({"labels": list(range(15)) * 2}, "members of 15 households have different ones"),
        ({"confidential": ["ill", "home"]}, "name it as identifier"),
    ],
)
def test_what_makes_no_sense_is_refused(said: dict[str, Any], words: str) -> None:
    columns: dict[str, Any] = COLUMNS | {"quasi": ["age", "rooms"], "ignore": "rest", "k": 3}
    with pytest.raises(InputError, match=words):
        discreet.protect(make(5, {2: 15}), **columns | said)


def test_labels_are_groups_of_whole_households() -> None:
    frame = make(5, {2: 9, 3: 6})
    said: dict[str, Any] = {"k": 3, "ignore": "area", "measures": "none"} | COLUMNS
    # A group of all households becomes one for each size.
    release = discreet.protect(frame, labels=[0] * frame.height, **said)
    assert release.verification.checks[0].combinations == 2
    assert "cut at size, strata" in release.summary()
    homes = frame["home"].rank("dense").to_numpy()
    with pytest.raises(InputError, match="fewer than k = 3 households"):
        discreet.protect(frame, labels=homes, **said)


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5]))
def test_refine_makes_households_no_worse(tmp_path_factory: pytest.TempPathFactory, seed: int, gaps: float) -> None:
    frame = make(seed, {1: 6, 2: 8, 4: 7}, gaps=gaps)
    said: dict[str, Any] = {"ignore": "area", "measures": "none", "missing": "impute"} | COLUMNS
    folder = tmp_path_factory.mktemp("refine")
    first = discreet.protect(frame, k=3, method="mdav", **said)
    first.write(folder / "first.csv", row_map=folder / "map.csv")
    better = discreet.refine(frame, folder / "first.csv", row_map=folder / "map.csv", steps=3, **said)
    assert better.measures["il"] <= first.measures["il"] + 1e-9
    assert better.measures["start_il"] == pytest.approx(first.measures["il"])
    better.write(folder / "better.csv")
    assert count_alike(folder / "better.csv", COLUMNS["quasi"], "home")[0] >= 3
    with pytest.raises(InputError, match="fewer than k = 9 households"):
        discreet.refine(frame, folder / "first.csv", row_map=folder / "map.csv", k=9, steps=3, **said)


def test_what_is_proven_of_members_bounds_the_loss_of_households() -> None:
    frame = make(4, {1: 6, 2: 7})
    said: dict[str, Any] = {"k": 3, "ignore": ["area", "sex"], "measures": "none"} | COLUMNS
    said["quasi"] = ["age", "rooms"]
    release = discreet.protect(frame, steps=30, bound=True, **said)
    bound = release.evidence["bound"]
    assert 0 < bound["value"] <= release.measures["partition_il"]
    assert "of members one by one" in bound["method"]


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_weighted_totals_of_households_are_kept_within_each_class(seed: int, size: int) -> None:
    frame = make(seed, {size: 8}).with_columns(weight=np.random.default_rng(seed).uniform(1, 9, 8 * size))
    said: dict[str, Any] = {"k": 3, "ignore": "area", "measures": "none", "method": "mdav"} | COLUMNS
    release = discreet.protect(frame, sampling_weight="weight", **said | {"confidential": ["ill", "weight"]})
    weights = frame["weight"].to_numpy()
    for column in ("age", "rooms"):
        before, after = (
            np.bincount(release.labels, weights * one.to_numpy()) for one in (frame[column], release.data[column])
        )
        np.testing.assert_allclose(before, after)


def test_a_record_without_a_household_is_refused() -> None:
    frame = make(5, {2: 15}).with_columns(home=pl.when(pl.int_range(pl.len()) == 2).then(None).otherwise("home"))
    with pytest.raises(InputError, match=r"'home' does not say whose 1 record is.* each household"):
        discreet.protect(frame, k=3, ignore="area", **COLUMNS)


def test_gaps_of_too_few_households_are_told() -> None:
    frame = make(6, {2: 6}).with_columns(age=pl.when(pl.int_range(pl.len()) > 0).then("age"))
    with pytest.raises(InputError, match="1 household of 2 members lacks a value in 'age'"):
        discreet.protect(frame, k=3, ignore="area", **COLUMNS)


@pytest.mark.parametrize("kind", ["int64", "str", "category", "float"])
def test_frames_of_any_kind_get_the_new_numbers(kind: str) -> None:
    frame = make(7, {1: 4, 2: 4}).to_pandas()
    frame["home"] = frame["home"].astype(kind)
    said: dict[str, Any] = {"k": 2, "ignore": "area", "method": "mdav"} | COLUMNS
    release = discreet.protect(frame, **said)
    assert sorted(release.data["home"].unique()) == list(range(1, 9))
    assert list(release.data.columns) == ["home", "age", "sex", "rooms", "ill"]
    arrow = discreet.protect(pl.from_pandas(frame).to_arrow(), **said)
    assert sorted(set(arrow.data["home"].to_pylist())) == list(range(1, 9))


def test_python_toml_and_command_line_say_the_same(tmp_path: Path) -> None:
    make(8, {1: 5, 2: 5, 5: 2}).write_csv(tmp_path / "in.csv")
    (tmp_path / "run.toml").write_text(
        'k = 3\nquasi = ["age", "sex", "rooms"]\nconfidential = ["ill"]\nignore = ["area"]\nhousehold = "home"\n'
        'split_households = 2\nmethod = "mdav"\n',
        encoding="utf-8",
    )
    common = ["protect", str(tmp_path / "in.csv"), "--quiet", "-o"]
    assert run([*common, str(tmp_path / "toml.csv"), "--config", str(tmp_path / "run.toml")]) == 0
    typed = ["--k", "3", "--quasi", "age,sex,rooms", "--confidential", "ill", "--ignore", "area", "--method", "mdav"]
    typed += ["--household", "home", "--split-households", "2"]
    assert run([*common, str(tmp_path / "typed.csv"), *typed]) == 0
    release = discreet.protect(tmp_path / "in.csv", k=3, ignore="area", method="mdav", split_households=2, **COLUMNS)
    release.write(tmp_path / "python.csv")
    assert len({(tmp_path / f"{name}.csv").read_bytes() for name in ("toml", "typed", "python")}) == 1
    record, evidence = (
        json.loads((tmp_path / f"toml.csv.{name}.json").read_text("utf-8")) for name in ("release", "evidence")
    )
    jsonschema.validate(record, schema("release"))
    jsonschema.validate(evidence, schema("evidence"))
    assert record["promise"]["household"] == "home"
    assert "at least 3 households" in record["promise"]["words"]
    assert evidence["parameters"]["split_households"] == 2


def test_the_search_is_the_same_on_any_number_of_threads_and_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    frame = make(9, {1: 9, 2: 12, 4: 9})
    said: dict[str, Any] = {"k": 3, "ignore": "area", "steps": 6, "measures": "none"} | COLUMNS
    first = discreet.protect(frame, threads=1, checkpoint=tmp_path / "search", **said)
    for again in (
        discreet.protect(frame, threads=2, **said),
        discreet.protect(frame, checkpoint=tmp_path / "search", **said),
    ):
        assert first.data.equals(again.data)
    assert first.measures["il"] <= discreet.protect(frame, **said | {"steps": None, "method": "mdav"}).measures["il"]


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 10**6),
    st.dictionaries(st.integers(1, 5), st.integers(6, 20), min_size=1, max_size=3),
    st.lists(st.integers(1, 14), min_size=2, max_size=3, unique=True),
    st.sampled_from([["age", "sex", "rooms"], ["age", "rooms"]]),
)
def test_members_are_matched_anew_after_steps_that_depend_on_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, seed: int, sizes: dict[int, int],
    breaks: list[int], quasi: list[str],
) -> None:  # fmt: skip
    # Cycles so short that a few steps go through several.
    monkeypatch.setattr("discreet.microdata.members.CYCLES", Cycles(2, 1.5))
    path = tmp_path_factory.mktemp("search") / "kept"
    frame = make(seed, sizes)
    said: dict[str, Any] = {"k": 3, "ignore": "rest", "measures": "none"} | COLUMNS | {"quasi": quasi, "seed": seed}
    longest = discreet.protect(frame, steps=15, threads=1, **said)
    course = costs_of(longest)
    for steps in [*sorted(breaks), 15]:
        whole = discreet.protect(frame, steps=steps, threads=2, **said)
        resumed = discreet.protect(frame, steps=steps, checkpoint=path, **said)
        assert resumed.data.equals(whole.data)
        # A run of some steps is the beginning of every longer one.
        assert costs_of(whole) == costs_of(resumed) == [point for point in course if point[0] <= steps]
    assert whole.data.equals(longest.data)


@pytest.mark.parametrize(("seed", "sizes"), [(1, {1: 30, 2: 40}), (2, {3: 60}), (3, {2: 300, 5: 40})])
def test_a_search_by_time_is_repeated_by_its_steps(seed: int, sizes: dict[int, int]) -> None:
    said: dict[str, Any] = {"k": 3, "ignore": "area", "measures": "none"} | COLUMNS
    frame = make(seed, sizes)
    by_time = discreet.protect(frame, time=0.3, **said)
    steps = by_time.evidence["search"]["steps"]
    by_steps = discreet.protect(frame, steps=max(steps, 1), **said)
    assert by_steps.data.equals(by_time.data)
    assert by_steps.measures["il"] == by_time.measures["il"]
    assert costs_of(by_steps) == costs_of(by_time)


def costs_of(release: Release) -> list[tuple[int, float]]:
    return [(step, cost) for step, _, cost in release.evidence["search"]["trace"]]


def test_members_kept_of_other_households_are_refused() -> None:
    own = HouseholdClass(np.array([[0, 1, 2], [3, 4, 5]]), np.array([0, 0, 1]))
    assert kept_members(own, np.array([[1, 0, 2], [3, 4, 5]])).tolist() == [[1, 0, 2], [3, 4, 5]]
    for wrong in ([[0, 2, 1], [3, 4, 5]], [[3, 1, 2], [0, 4, 5]], [[0, 0, 2], [3, 4, 5]], [[0, 1], [3, 4]]):
        with pytest.raises(ValueError, match="members"):
            kept_members(own, np.array(wrong))


class Told:
    """Listens to a search."""

    def __init__(self) -> None:
        self.losses: list[float] = []

    def stage(self, name: str, fraction: float) -> None:
        pass

    def moment(self, steps: int, seconds: float, cost: float, bound: float | None) -> None:
        self.losses.append(cost)

    def found(self) -> None:
        pass


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_who_listens_is_told_the_loss_of_what_is_written(gaps: float) -> None:
    frame = make(4, {1: 90, 2: 90}, gaps=gaps)
    said: dict[str, Any] = {"k": 3, "measures": "none", "steps": 5, "ignore": "area"} | COLUMNS
    told = Told()
    with heard_by(told):
        release = discreet.protect(frame, missing="separate", **said)
    searched = told.losses[:5]
    assert told.losses[5] == release.measures["il"]
    # What is told while the search is on is never another figure: only the last matching of members is still to come.
    assert searched == sorted(searched, reverse=True)
    assert release.measures["il"] - 1e-9 <= searched[-1] <= 1.15 * release.measures["il"]


@pytest.mark.parametrize(
    "how", [{}, {"missing": "impute"}, {"digits": {"age": 0}}, {"aggregate": {"age": "median"}}, {"household": None}]
)
def test_the_last_loss_told_is_that_of_the_release_however_it_is_written(how: dict[str, Any]) -> None:
    frame = make(5, {1: 90, 2: 90}, gaps=0.2)
    said: dict[str, Any] = {"k": 3, "measures": "none", "steps": 3, "ignore": "rest"} | COLUMNS
    told = Told()
    with heard_by(told):
        release = discreet.protect(frame, **said | how)
    assert told.losses[3] == release.measures["il"]


def test_labels_of_the_old_numbers_stay_behind(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = make(11, {1: 4, 2: 4}).with_columns(home=pl.col("home").rank("dense").cast(pl.Float64))
    named = {float(home): f"family {home}" for home in range(1, 9)}
    pyreadstat.write_sav(
        frame, tmp_path / "in.sav", variable_value_labels={"home": named}, missing_ranges={"home": [99.0]}
    )
    release = discreet.protect(tmp_path / "in.sav", k=2, ignore="area", method="mdav", **COLUMNS)
    release.write(tmp_path / "out.sav")
    about = pyreadstat.read_sav(tmp_path / "out.sav")[1]
    assert about.variable_value_labels == {}
    assert about.missing_ranges == {}


def test_each_group_of_columns_keeps_it(tmp_path: Path) -> None:
    release = discreet.protect(
        make(10, {2: 9}), k=3, ignore="area", grouping=[["age"], ["sex", "rooms"]], method="mdav", **COLUMNS
    )
    release.write(tmp_path / "out.csv")
    for group in (["age"], ["sex", "rooms"]):
        assert count_alike(tmp_path / "out.csv", group, "home")[0] >= 3
