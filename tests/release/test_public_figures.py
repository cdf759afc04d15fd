"""No public figure narrows a value: an attacker of our own solves each of them for the values of single groups."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.release import public_figures
from discreet.release.evidence import record
from discreet.release.public_figures import PublicFigures
from discreet.release.release import Release
from discreet.release.reports.public import loss_facts

# An interval that is narrower, in parts of the value, tells the value.
NARROW = 0.1
Range = tuple[float, float]


# What is published.


def published(release: Release) -> dict[str, Any]:
    """All figures of the record and the public report, as they are written."""
    account = release.evidence | {"output": {"records": release.data.height}, "verification": {"passed": True}}
    facts = loss_facts(release._subject("out.csv", account), PublicFigures.of(release.measures, release.data.height))
    found: dict[str, Any] = {"lost": {}, "moved": {}}
    told = record(account)["measures"]
    if told:
        found["il"] = f"{told['il']:.2g}"
        assert float(facts["il"].removesuffix(" %")) == pytest.approx(told["il"], abs=0.005)
    if facts["figure"] is not None:
        found["lost"] = dict(re.findall(r"[ :,] ?(\w+) ([\d.e+-]+) %", facts["figure"].alternative))
    elif facts["il"] and len(release.measures["il_per_attribute"]) == 1:
        found["lost"] = dict.fromkeys(release.measures["il_per_attribute"], found["il"])
    for name, _, variance in facts["grid"].rows if facts["grid"] else []:
        if variance not in ("–", "0 %"):  # 0 % says no more than the loss does
            found["moved"][name] = variance.removesuffix(" %").replace("−", "-")
    return found


def bounds(text: str) -> Range:
    """The numbers that are written so in two significant digits."""
    number = float(text)
    half = 0.5 * 10.0 ** (math.floor(math.log10(abs(number))) - 1) if number else 0.005
    return number - half, number + half


def meet(one: Range, other: Range) -> Range:
    return max(one[0], other[0]), min(one[1], other[1])


def shares_lost(told: dict[str, Any], columns: list[str]) -> dict[str, Range]:
    """For each column between what shares, in percent, its loss must lie, by all figures together."""
    found = dict.fromkeys(columns, (0.0, 100.0))
    for name, text in told["lost"].items():
        found[name] = meet(found[name], bounds(text))
    for name, text in told["moved"].items():
        low, high = bounds(text)
        found[name] = meet(found[name], (-high, -low))
    if "il" in told:
        low, high = (len(columns) * end for end in bounds(told["il"]))
        for name in columns:
            others = [found[other] for other in columns if other != name]
            rest = (low - sum(one[1] for one in others), high - sum(one[0] for one in others))
            found[name] = meet(found[name], rest)
    return found


# What values of a class can be.


def order_range(count: int, mean: float, spread: Range) -> list[Range]:
    """Of so many numbers, none negative, with a mean and a sum of squared deviations in a range: for each rank, the
    largest first, between what ends it must lie.

    At an end the numbers have three levels at most: zero, that of the rank, and one of all others (first-order
    conditions of Lagrange). All of them are tried, at both ends of the range, and those with one level beside zero.
    """
    total = count * mean
    slack = 1e-9 * max(1.0, total) ** 2
    low, high = max(0.0, spread[0]), min(spread[1], total * total * (count - 1) / count)
    tried: list[tuple[tuple[tuple[float, int], ...], float]] = []
    for zeros in range(count):
        tried.append((((total / (count - zeros), count - zeros), (0.0, zeros)), math.nan))
        for one in range(1, count - zeros):
            rest = count - zeros - one
            for end in (low, high):
                # one·a + rest·b = total and one·a² + rest·b² = end + count·mean².
                squares = end + count * mean * mean
                inside = one * rest * ((one + rest) * squares - total * total)
                if inside < -slack:
                    continue
                root = math.sqrt(max(0.0, inside))
                for sign in (-1.0, 1.0):
                    a = (one * total + sign * root) / (one * (one + rest))
                    b = (total - one * a) / rest
                    if a >= -1e-9 * total and b >= -1e-9 * total:
                        tried.append((((a, one), (b, rest), (0.0, zeros)), end))
    ends: list[list[float]] = [[] for _ in range(count)]
    for levels, _ in tried:
        found = sum(number * (value - mean) ** 2 for value, number in levels)
        if low - slack <= found <= high + slack:
            values = sorted((value for value, number in levels for _ in range(number)), reverse=True)
            for rank, value in enumerate(values):
                ends[rank].append(value)
    return [(min(values), max(values)) if values else (mean, mean) for values in ends]


@dataclass(frozen=True)
class Breach:
    """A value that figures tell: of which column, by a member of the class or an outsider, and how closely."""

    column: str
    by_member: bool
    value: float
    told: Range
    untold: Range


def breaches(original: pl.DataFrame, released: pl.DataFrame, told: dict[str, Any]) -> Iterator[Breach]:
    """The values that the figures pin down and the released values alone do not."""
    names = original.columns
    classes = np.unique(released.to_numpy(), axis=0, return_inverse=True)[1].ravel()
    members = np.split(np.argsort(classes, kind="stable"), np.cumsum(np.bincount(classes))[:-1])
    for name, (low, high) in shares_lost(told, names).items():
        x, y = original[name].to_numpy(), released[name].to_numpy()
        if low <= 0.0 and high >= 100.0:
            continue
        between = float(((y - y.mean()) ** 2).sum())
        least, most = between * max(0.0, low) / (100.0 - max(0.0, low)), between * high / max(1e-9, 100.0 - high)
        possible = np.array([len(own) * (len(own) - 1) * y[own[0]] ** 2 for own in members])
        # What other classes can have brought at most, or none.
        for own, can in zip(members, possible, strict=True):
            own_range = (least - (possible.sum() - can), most)
            if own_range[0] <= 0.0 and own_range[1] >= can:
                continue
            for who in (None, *own.tolist()):
                rest = own if who is None else own[own != who]
                if len(rest) < 2:
                    continue
                mean = float(x[rest].mean())
                known = float(((x[own] - y[own[0]]) ** 2).sum() - ((x[rest] - mean) ** 2).sum())
                narrowed = order_range(len(rest), mean, (own_range[0] - known, own_range[1] - known))
                free = order_range(len(rest), mean, (0.0, math.inf))
                for value, new, old in zip(sorted(x[rest].tolist(), reverse=True), narrowed, free, strict=True):
                    assert new[0] - 1e-6 * value <= value <= new[1] + 1e-6 * value, "the attacker computes wrongly"
                    if new[1] - new[0] <= NARROW * value < old[1] - old[0]:
                        yield Breach(name, who is not None, value, new, old)


# Firms: a few of them are larger than all others together.


def firms(seed: int, columns: int = 1, records: int = 1_200) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    found = {}
    for column in range(columns):
        values = 3_000.0 * draw.lognormal(0.0, 1.0, records)
        values[draw.choice(records, 3, replace=False)] = 1e6 * draw.uniform(1.0, 10.0, 3)
        found[f"turnover{column}"] = values
    return pl.DataFrame(found)


def townsfolk(seed: int) -> pl.DataFrame:
    """Records of which none stands out, so that figures are told."""
    draw = np.random.default_rng(seed)
    return pl.DataFrame({name: draw.uniform(10.0, 90.0, 1_500) for name in ("age", "income", "rent", "hours")})


def protected(frame: pl.DataFrame, k: int) -> Release:
    return discreet.protect(frame, k=k, quasi="all", method="mdav", measures=["change"], threads=1)


SEEDS = range(20)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_no_figure_of_firms_tells_a_value(k: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    without_rule = 0
    for seed in SEEDS:
        frame = firms(seed, columns)
        release = protected(frame, k)
        assert list(breaches(frame, release.data, published(release))) == []
        with monkeypatch.context() as patch:
            patch.setattr(public_figures, "MOST_OF_A_GROUP", math.inf)
            patch.setattr(public_figures, "LEAST_REACH", 0.0)
            told = published(release)
        assert told["lost"]
        without_rule += bool(list(breaches(frame, release.data, told)))
    assert without_rule > 0, "the attack finds nothing even without the rule, so it proves nothing"


@pytest.mark.parametrize("k", [2, 3, 5])
def test_figures_that_are_told_tell_no_value(k: int) -> None:
    for seed in range(5):
        frame = townsfolk(seed)
        release = protected(frame, k)
        told = published(release)
        assert told["il"]
        assert set(told["lost"]) == set(told["moved"]) == set(frame.columns)
        assert list(breaches(frame, release.data, told)) == []


def test_a_loss_so_small_that_it_bounds_every_value_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a reach: 400 groups of three that differ by a thousandth, and none stands out."""
    draw = np.random.default_rng(0)
    centre = np.repeat(draw.uniform(1_000.0, 2_000.0, 400), 3)
    frame = pl.DataFrame({"weight": centre * draw.uniform(0.999, 1.001, 1_200)})
    release = protected(frame, 3)
    shares = release.measures["contributions"]["weight"]
    assert shares["lost"] <= public_figures.MOST_OF_A_GROUP
    assert published(release) == {"lost": {}, "moved": {}}
    monkeypatch.setattr(public_figures, "LEAST_REACH", 0.0)
    assert list(breaches(frame, release.data, published(release)))


# The rule itself.


def account(**shares: Any) -> dict[str, Any]:
    return {"contributions": {"a": {"constant": False, "lost": 0.02, "spread": 0.02, "reach": 1.0} | shares}}


@pytest.mark.parametrize(
    "shares",
    [{"lost": 0.11}, {"spread": 0.5}, {"variance": 0.2}, {"mean": 0.3}, {"total": 0.2}, {"lost": None}, {"reach": 0.1}],
)
def test_each_sum_is_held_to_the_rule(shares: dict[str, Any]) -> None:
    assert PublicFigures.of(account(), 1_000).whole
    told = PublicFigures.of(account(**shares), 1_000)
    assert not told.whole
    assert told.columns == frozenset()
    assert told.why


def test_nothing_is_told_of_few_records_or_of_an_account_without_shares() -> None:
    assert not PublicFigures.of(account(), 999).columns
    old = PublicFigures.of({"il": 3.0, "il_per_attribute": {"a": 3.0}}, 100_000)
    assert not old.whole
    assert "not known" in old.why


def test_one_column_that_must_not_be_told_keeps_the_whole_back() -> None:
    both = account()["contributions"] | {"b": account(lost=0.5)["contributions"]["a"]}
    told = PublicFigures.of({"contributions": both}, 5_000)
    assert told.columns == {"a"}
    assert not told.whole
    constant = account()["contributions"] | {"c": {"constant": True, "lost": None, "spread": None, "reach": None}}
    assert PublicFigures.of({"contributions": constant}, 5_000).whole


def test_shares_are_those_of_the_groups() -> None:
    """Of numbers by hand: two groups, and what each brings."""
    frame = pl.DataFrame({"x": [0.0, 2.0, 10.0, 16.0], "y": ["a", "b", "c", "c"]})
    release = discreet.protect(frame, k=2, quasi="all", method="mdav")
    found = release.measures["contributions"]
    assert found["x"]["lost"] == pytest.approx(18.0 / 20.0)
    assert found["x"]["spread"] == pytest.approx((9.0 + 81.0) / (49.0 + 25.0 + 9.0 + 81.0))
    assert found["x"]["reach"] == pytest.approx(math.sqrt(20.0 / (2 * 13.0**2)))
    assert found["y"]["lost"] == 1.0
    assert found["y"]["reach"] is None


@pytest.mark.parametrize("aggregate", ["median", "mean"])
def test_a_mean_that_moves_is_judged(aggregate: str) -> None:
    draw = np.random.default_rng(2)
    frame = pl.DataFrame({"x": draw.lognormal(0.0, 1.5, 60)})
    release = discreet.protect(frame, k=3, quasi="all", aggregate={"x": aggregate}, method="mdav")
    assert ("mean" in release.measures["contributions"]["x"]) == (aggregate == "median")


def test_a_folder_tells_what_a_frame_does(tmp_path: Path) -> None:
    frame = townsfolk(1)
    (tmp_path / "in").mkdir()
    frame[:700].write_parquet(tmp_path / "in" / "a.parquet")
    frame[700:].write_parquet(tmp_path / "in" / "b.parquet")
    discreet.protect_large(tmp_path / "in", tmp_path / "out", k=3, quasi="all", method="mdav", workers=1)
    told = json.loads((tmp_path / "out" / "release.json").read_text())["measures"]
    whole = record_of(protected(frame, 3))
    assert told == whole
    evidence = json.loads((tmp_path / "out.evidence.json").read_text())["measures"]["contributions"]
    for name, shares in protected(frame, 3).measures["contributions"].items():
        assert evidence[name] == pytest.approx(shares, rel=1e-6)


def record_of(release: Release) -> dict[str, float]:
    account = release.evidence | {"output": {"records": release.data.height}, "verification": {"passed": True}}
    measures: dict[str, float] = record(account)["measures"]
    return measures
