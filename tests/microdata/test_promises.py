"""Groups keep what is promised besides their size, whatever the method, and are as good as they can be."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import discreet
from discreet.configuration import Config
from discreet.data.dataset import accept
from discreet.data.embedding import Axis
from discreet.errors import InputError
from discreet.evolution.process import Process
from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.promised import closeness
from discreet.kernels.promised.constraints import DISTINCT, ENTROPY, EQUAL, ORDERED
from discreet.methods import make
from discreet.microdata.classes import attribute_groups
from discreet.microdata.memetic import promised
from discreet.microdata.memetic.memetic import Memetic
from discreet.microdata.method import Run, begin_records
from discreet.microdata.options import Settings
from discreet.microdata.promises import Constraints, check_possible, constraints_of, repair
from discreet.microdata.protection import declare, promise_of, read_attributes
from discreet.microdata.records import Records, records_at
from partitions import cloud, groups_of, plain_sse
from plain_methods import exchange_first, merge_far, one_from_each
from plain_promises import constrain, constraints, plain_keep

METHODS = ("memetic", "mdav", "t-merging", "k-first", "t-first", "tour", "genetic")


def mixed_records(n: int, seed: int) -> Records:
    """Records of two numbers and two nominal columns."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (n, 2)).astype(np.int32)
    axes = [Axis(name, np.zeros(1), 1.0, np.zeros(1)) for name in "ab"]
    for name, column in zip("cd", codes.T, strict=True):
        shares = np.bincount(column, minlength=3) / n
        axes.append(Axis(name, shares, 1.0 / np.sqrt(1.0 - (shares**2).sum())))
    return Records(rng.normal(size=(n, 2)), codes, tuple(axes))


@st.composite
def problems(draw: st.DrawFn, most: int = 60) -> tuple[Records, Constraints]:
    k = draw(st.integers(2, 4))
    n = draw(st.integers(2 * k, most))
    kind = draw(st.sampled_from(("scattered", "crowded", "constant")))
    return records_at(cloud(n, 2, kind, draw(st.integers(0, 2**32)))), draw(constraints(n, k))


def advance(process: Process[Ints], epochs: int) -> Ints:
    for _ in islice(process.epochs(), epochs):
        pass
    return process.answer()


@pytest.mark.parametrize("name", METHODS)
@given(problem=problems())
@settings(max_examples=15)
def test_every_group_keeps_all_promises(name: str, problem: tuple[Records, Constraints]) -> None:
    records, own = problem
    process = begin_records(make(name, {}), records, own.k, Run(constraints=own))
    labels = advance(process, 2)
    assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
    assert plain_keep(own, labels)


def set_partitions(n: int) -> Iterator[Ints]:
    """All partitions of n records."""

    def grow(labels: list[int], count: int) -> Iterator[Ints]:
        if len(labels) == n:
            yield np.array(labels)
            return
        for label in range(count + 1):
            yield from grow([*labels, label], max(count, label + 1))

    yield from grow([0], 1)


@given(st.data(), st.integers(0, 2**32))
@settings(max_examples=8)
def test_exhaustive_finds_the_best_that_keeps_all_promises(data: st.DataObject, seed: int) -> None:
    points, own = cloud(7, 2, "scattered", seed), data.draw(constraints(7, 2))
    labels = begin_records(make("exact", {}), records_at(points), 2, Run(constraints=own)).answer()
    best = min(plain_sse(points, other) for other in set_partitions(7) if plain_keep(own, other))
    assert plain_keep(own, labels)
    assert plain_sse(points, labels) == pytest.approx(best)


@given(st.data(), st.integers(4, 12), st.integers(0, 2**32))
@settings(max_examples=15)
def test_the_search_finds_the_optimum_of_a_few_records(data: st.DataObject, n: int, seed: int) -> None:
    points, own = records_at(cloud(n, 2, "scattered", seed)), data.draw(constraints(n, 2))
    process = begin_records(Memetic(), points, 2, Run(constraints=own))
    found = points.loss(advance(process, 400))
    assert found == pytest.approx(begin_records(make("exact", {}), points, 2, Run(constraints=own)).cost, rel=1e-9)


@given(st.data(), st.integers(2, 4), st.integers(8, 30), st.integers(0, 2**32))
@settings(max_examples=30)
def test_baselines_are_as_published(data: st.DataObject, k: int, n: int, seed: int) -> None:
    points, own, rng = cloud(n, 2, "scattered", seed), data.draw(constraints(n, k)), np.random.default_rng(seed)

    def far(members: list[int]) -> float:
        return float(own.take(np.array(members)).excesses(np.zeros(len(members), np.int64))[0])

    labels = np.unique(rng.integers(0, 5, n), return_inverse=True)[1].astype(np.int64)
    merged = closeness.merge_far(points, own.promised, labels)
    assert groups_of(merged) == groups_of(merge_far(points, labels, far))
    exchanged = closeness.exchange_first(points, own.promised, k)
    assert groups_of(exchanged) == groups_of(exchange_first(points, k, far))
    ranks, size = rng.permutation(n), int(rng.integers(k, n + 1))
    parted = closeness.one_from_each(points, own.promised, ranks, size)
    assert groups_of(parted) == groups_of(one_from_each(points, ranks, size, far))


def test_t_first_keeps_t_by_the_size_of_its_classes() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(200, 2))
    own = constrain(3, np.arange(200), (ORDERED, 0.06, rng.permutation(200)))
    labels = begin_records(make("t-first", {}), records_at(points), 3, Run(constraints=own)).answer()
    # 200/(2·199·0.06 + 1) is just above 8: 22 classes of 9, and two records join.
    assert np.bincount(labels).min() == 9
    assert plain_keep(own, labels)


def test_a_repair_leaves_groups_alone_that_nobody_needs() -> None:
    points = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [20.0], [20.1], [20.2]])
    own = constrain(2, np.arange(8), (DISTINCT, 2, np.array([1, 2, 1, 1, 1, 1, 1, 2])))
    labels = repair(records_at(points), own, np.array([0, 0, 0, 1, 1, 2, 2, 2]))
    assert plain_keep(own, labels)
    changed = {int(labels[0]) != int(labels[1]), int(labels[5]) != int(labels[7])}
    assert False in changed


class TestSearch:
    """The memetic search under constraints."""

    records = mixed_records(120, 3)
    own = constrain(
        3,
        np.random.default_rng(3).integers(0, 100, 120),
        (ORDERED, 0.15, np.random.default_rng(4).integers(0, 50, 120)),
        (EQUAL, 0.4, np.random.default_rng(5).integers(0, 3, 120)),
        (ENTROPY, 0.5, np.random.default_rng(6).integers(0, 3, 120)),
        (DISTINCT, 2, np.random.default_rng(7).integers(0, 3, 120)),
    )

    def search(self, **how: object) -> Process[Ints]:
        return begin_records(Memetic(), self.records, 3, Run(constraints=self.own, **how))  # type: ignore[arg-type]

    @pytest.fixture(params=[5_000, 60])
    def _as_a_whole_or_in_blocks(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(promised, "MOST_WHOLE", request.param)
        monkeypatch.setattr(promised, "BLOCK_RECORDS", 40)
        monkeypatch.setattr(promised, "EPOCH_RECORDS", 60)

    @pytest.mark.usefixtures("_as_a_whole_or_in_blocks")
    def test_never_gets_worse_nor_breaks_a_promise(self) -> None:
        process = self.search(seed=1)
        before = np.inf
        for _ in islice(process.epochs(), 12):
            assert process.cost <= before
            assert plain_keep(self.own, process.answer())
            before = process.cost
        assert self.records.loss(process.answer()) <= before * (1 + 1e-9)

    @pytest.mark.usefixtures("_as_a_whole_or_in_blocks")
    def test_goes_on_from_what_was_kept_as_if_nothing_had_been(self) -> None:
        plain, broken = self.search(seed=2), self.search(seed=2, threads=2)
        advance(broken, 5)
        resumed = self.search(seed=2)
        resumed.load(broken.save())
        assert np.array_equal(advance(resumed, 4), advance(plain, 9))

    @pytest.mark.usefixtures("_as_a_whole_or_in_blocks")
    def test_refuses_a_state_whose_groups_break_a_promise(self) -> None:
        process = self.search()
        advance(process, 2)
        state = process.save()
        heads = np.zeros(120, np.int64)
        heads[::4] = 1
        with pytest.raises(ValueError, match=r"promise|partition|block"):
            self.search().load(state | {"phase.heads": heads, "phase.order": np.arange(120)})

    def test_is_never_worse_than_its_start(self) -> None:
        start = advance(self.search(seed=5), 6)
        assert self.search(start=start).cost == np.inf
        process = self.search(start=start)
        advance(process, 1)
        assert process.cost <= self.records.loss(start) * (1 + 1e-9)


FRAME = pl.DataFrame(
    {
        "q": [float(i % 7) for i in range(24)],
        "sex": ["f", "m"] * 12,
        "who": [i // 2 for i in range(24)],
        "income": [None if i % 6 == 0 else float(i) for i in range(24)],
        "ill": ["a", "b", "b", "b"] * 6,
    }
)


def read(frame: pl.DataFrame = FRAME, by: Sequence[str] = (), **asked: Any) -> Constraints | None:
    """The constraints of a frame, if they are possible."""
    dataset = accept(frame)
    confidential = ["income", "ill"] if by else ["income", "ill", "sex"]
    declared = declare(dataset, Config(), quasi=["q"], by=by, confidential=confidential, ignore=["who"])
    promise, persons = promise_of(dataset, declared, Settings(3, **asked), (("q",),))
    own = constraints_of(dataset, declared, promise, persons)
    if own is not None:
        attributes, _ = read_attributes(dataset, declared)
        check_possible(dataset, attribute_groups(dataset, attributes, [["q"]], list(by), 3), own)
    return own


def test_nothing_is_asked_for() -> None:
    assert read() is None
    assert read(l={"ill": 1}, t={"income": 1.0}) is None


def test_missing_is_the_lowest_value_and_texts_have_no_order() -> None:
    own = read(t={"income": 0.2, "ill": 0.3}, person="who")
    assert own is not None
    income, ill = own.columns
    assert (income.kind, ill.kind) == (ORDERED, EQUAL)
    assert income.codes[0] == 0
    assert income.shares[0] == pytest.approx(4 / 24)
    assert own.votes[0] == 0.5


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"l": {"ill": 3}}, "2 different values of 'ill': l = 2 would be possible"),
        ({"l": {"ill": "entropy:2"}}, "entropy:1.7547 is possible"),
        ({"t": {"ill": 0.1}, "by": ["sex"]}, "0.2500 from all records in 'ill': t = 0.2500 would be possible"),
    ],
)
def test_what_is_impossible_is_told_with_what_would_be_possible(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(**asked)


def test_too_few_persons_are_told() -> None:
    with pytest.raises(InputError, match="2 persons, fewer than k = 3: k = 2 would be possible"):
        read(FRAME.with_columns(who=pl.col("who") // 6), person="who")


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    """Strata, missing values, ties and persons with several records."""
    n, rng = draw(st.integers(24, 70)), np.random.default_rng(draw(st.integers(0, 2**32)))
    gap, gaps = rng.random(n) < 0.2, draw(st.booleans())
    return pl.DataFrame(
        {
            "q": [
                None if missing and gaps else x for x, missing in zip(rng.integers(0, 12, n).tolist(), gap, strict=True)
            ],
            "town": rng.choice(["x", "y"], n),
            "sex": np.arange(n) % 2,
            "who": rng.integers(0, n - n // 4, n),
            "income": [None if x == 3 else x for x in rng.integers(0, 9, n).tolist()],
            "ill": rng.choice(["a", "b", "c"], n),
        }
    )


@given(frames(), st.sampled_from(("memetic", "mdav")), st.sampled_from((2, "entropy:1.5")), st.sampled_from((0.2, 0.4)))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_file_read_back_by_others_keeps_all_promises(
    tmp_path: Path, frame: pl.DataFrame, method: str, diverse: str | int, t: float
) -> None:
    try:
        release = discreet.protect(
            frame,
            k=2,
            quasi=["q", "town"],
            by=["sex"],
            confidential=["income", "ill"],
            person="who",
            l={"ill": diverse},
            t={"income": t},
            method=method,
            steps=2,
            measures="none",
        )
    except InputError:  # a stratum or a pattern of gaps may have too few values or persons, or be too far
        assume(False)
    release.write(tmp_path / "safe.csv", row_map=tmp_path / "map.csv", force=True)
    with (tmp_path / "safe.csv").open(newline="") as file, (tmp_path / "map.csv").open(newline="") as link:
        written, rows = list(csv.DictReader(file)), list(csv.DictReader(link))
    who = {int(row["release_row"]) - 1: int(frame["who"][int(row["input_record"]) - 1]) for row in rows}
    records, levels = Counter(who.values()), sorted({row["income"] for row in written}, key=lambda x: float(x or -1))

    def cumulate(group: Sequence[int]) -> Floats:
        votes = dict.fromkeys(levels, 0.0)
        for at in group:
            votes[written[at]["income"]] += 1 / records[who[at]]
        return np.cumsum(list(votes.values())) / sum(votes.values())

    classes: dict[tuple[str, ...], list[int]] = {}
    for at, row in enumerate(written):
        classes.setdefault((row["q"], row["town"], row["sex"]), []).append(at)
    everybody = cumulate(range(len(written)))
    for group in classes.values():
        assert len({who[at] for at in group}) >= 2
        assert len({written[at]["ill"] for at in group}) >= 2
        assert np.abs(cumulate(group) - everybody).sum() / max(1, len(levels) - 1) <= t + 1e-9


def test_the_cost_of_a_repaired_search_is_that_of_its_answer() -> None:
    records, rng = records_at(cloud(40, 2, "scattered", 1)), np.random.default_rng(1)
    own = constrain(3, np.arange(40), (DISTINCT, 3, rng.integers(0, 4, 40)))
    for name in ("mdav", "genetic"):
        process = begin_records(make(name, {}), records, 3, Run(constraints=own))
        for _ in islice(process.epochs(), 3):
            assert process.cost == pytest.approx(records.loss(process.answer()))
        assert process.cost == pytest.approx(records.loss(process.answer()))


def test_a_bound_says_whether_it_knows_the_promises() -> None:
    frame, said = FRAME.head(12), {"quasi": ["q"], "confidential": ["ill"], "ignore": "rest", "k": 3, "l": {"ill": 2}}
    exact, plain = (
        discreet.protect(frame, method=method, bound=True, measures="none", **said)  # type: ignore[arg-type]
        for method in ("exact", "mdav")
    )
    assert exact.evidence["bound"]["method"] == "all groups looked at"
    assert exact.evidence["bound"]["gap"] == pytest.approx(0.0, abs=1e-9)
    assert "nothing but their size" in plain.evidence["bound"]["method"]
    assert plain.evidence["bound"]["value"] <= exact.evidence["bound"]["value"] + 1e-9


def test_trials_of_missing_values_keep_the_promises() -> None:
    lacking = pl.int_range(pl.len()) < 4
    frame = FRAME.with_columns(
        q=pl.when(lacking).then(None).otherwise("q"), ill=pl.when(lacking).then(pl.lit("a")).otherwise("ill")
    )
    said: dict[str, Any] = {"quasi": ["q"], "confidential": ["ill"], "ignore": "rest", "k": 3, "missing": "impute"}
    # Kept apart, those who lack it would all have one value.
    for diverse, word in (({}, "% with --missing separate"), ({"ill": 2}, "--missing separate is not possible")):
        release = discreet.protect(frame, l=diverse, steps=2, measures="none", **said)
        assert word in " ".join(release.summary().split())
