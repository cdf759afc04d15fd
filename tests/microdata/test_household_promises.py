"""l-diversity and t-closeness of households: kept in the file as written, each household having one vote."""

import csv
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import discreet
from discreet.cli.app import run
from discreet.errors import InputError, PromiseNotKept
from discreet.kernels.promised.constraints import DISTINCT, ENTROPY, EQUAL, ORDERED
from discreet.methods import make as make_method
from discreet.microdata import protection
from discreet.microdata.method import Run, begin_records
from discreet.microdata.records import records_at
from discreet.release.evidence import schema
from plain_promises import constrain, plain_keep

QUASI = ["age", "rooms"]
COLUMNS: dict[str, Any] = {"quasi": QUASI, "confidential": ["ill", "income"], "household": "home", "measures": "none"}


def make(seed: int, sizes: dict[int, int], *, gaps: bool = False) -> pl.DataFrame:
    """So many households of each size, with ties and missing values; rows are mixed up."""
    rng = np.random.default_rng(seed)
    homes = np.repeat(
        rng.permutation(1000)[: sum(sizes.values())], [size for size, n in sizes.items() for _ in range(n)]
    )
    n = len(homes)
    ages, incomes = rng.integers(0, 9, n).tolist(), rng.integers(0, 7, n).tolist()
    frame = pl.DataFrame(
        {
            "home": homes,
            "age": [None if gaps and rng.random() < 0.3 else age for age in ages],
            "rooms": homes % 5,
            "ill": [None if x > 2 else "abc"[x] for x in rng.integers(0, 4, n).tolist()],
            "income": [None if x == 0 else 100 * x for x in incomes],
        }
    )
    return frame[rng.permutation(n)]


def match(values: list[set[str]]) -> int:
    """The most households of which each shows a value that none of the others shows."""
    shown: dict[str, int] = {}

    def find(household: int, seen: set[str]) -> bool:
        for value in values[household] - seen:
            seen.add(value)
            if value not in shown or find(shown[value], seen):
                shown[value] = household
                return True
        return False

    return sum(find(household, set()) for household in range(len(values)))


def read_classes(path: Path) -> list[list[list[dict[str, str]]]]:
    """By the csv module: the households of each class, each with its members."""
    households: dict[str, list[dict[str, str]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            households.setdefault(row["home"], []).append(row)
    classes: dict[tuple[Any, ...], list[list[dict[str, str]]]] = {}
    for members in households.values():
        classes.setdefault(tuple(sorted(tuple(one[name] for name in QUASI) for one in members)), []).append(members)
    return list(classes.values())


def vote(households: list[list[dict[str, str]]], column: str) -> dict[str, float]:
    """The shares of the values, each household having one vote."""
    votes: Counter[str] = Counter()
    for members in households:
        for one in members:
            votes[one[column]] += 1 / len(members) / len(households)  # type: ignore[assignment]
    return dict(votes)


def check(path: Path, k: int, diverse: int | float, by_entropy: bool, t: float) -> None:
    """All that is promised, counted anew from the file."""
    classes = read_classes(path)
    everybody = vote([members for households in classes for members in households], "income")
    levels = sorted(everybody, key=lambda value: float(value or -1))
    for households in classes:
        assert len(households) >= k
        shares = vote(households, "ill")
        if by_entropy:
            assert -sum(p * math.log(p) for p in shares.values()) >= math.log(diverse) - 1e-9
        else:
            assert match([{one["ill"] for one in members} for members in households]) >= diverse
        own = vote(households, "income")
        far = np.abs(np.cumsum([own.get(level, 0.0) - everybody[level] for level in levels])).sum()
        assert far / max(1, len(levels) - 1) <= t + 1e-9


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(
    st.integers(0, 10**6),
    st.dictionaries(st.integers(1, 9), st.integers(6, 10), min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([("memetic", 2), ("mdav", 2), ("mdav", "entropy:1.6"), ("t-first", 3), ("memetic", "entropy:2")]),
    st.sampled_from([0.15, 0.25, 0.4]),
)
def test_the_file_read_back_by_others_keeps_all_promises(
    tmp_path: Path, seed: int, sizes: dict[int, int], gaps: bool, how: tuple[str, Any], t: float
) -> None:
    method, diverse = how
    frame = make(seed, sizes, gaps=gaps)
    said: dict[str, Any] = {"k": 2, "l": {"ill": diverse}, "t": {"income": t}, "missing": "impute"} | COLUMNS
    try:
        release = discreet.protect(frame, method=method, steps=2, **said)
    except InputError:
        # All households of a size are too far, or have too few values.
        with pytest.raises(InputError, match=r"household.* possible"):
            discreet.plan(frame, **said)
        assume(False)
    release.write(tmp_path / "out.csv", force=True)
    number = float(str(diverse).removeprefix("entropy:"))
    check(tmp_path / "out.csv", 2, number, diverse != number, t)
    assert discreet.verify(tmp_path / "out.csv", promise=tmp_path / "out.csv.release.json")
    found = release.verification.checks[0].held
    assert found[1].worst <= t + 1e-9
    if found[1].worst > 1e-3:
        tighter = {"income": found[1].worst - 1e-6}
        assert not discreet.verify(tmp_path / "out.csv", quasi=QUASI, k=2, household="home", t=tighter)


def test_a_broken_release_is_refused_and_a_broken_file_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = make(3, {1: 12, 3: 12})
    said: dict[str, Any] = {"k": 3, "method": "mdav", "l": {"ill": 3}, "t": {"income": 0.25}} | COLUMNS
    discreet.protect(frame, **said).write(tmp_path / "out.csv")
    verify = ["verify", str(tmp_path / "out.csv"), "--quasi", "age,rooms", "--k", "3", "--household", "home"]
    asked = [*verify, "--l", "ill=3", "--t", "income=0.25"]
    assert run(asked) == 0
    capsys.readouterr()
    # One household has all values of its class, which as values are as many as before.
    classes = read_classes(tmp_path / "out.csv")
    chosen = next(households for households in classes if len(households[0]) == 3)
    for members in chosen:
        for one, ill in zip(members, "abc", strict=True):
            one["ill"] = ill if members is chosen[0] else "a"
    rows = [one for households in classes for members in households for one in members]
    with (tmp_path / "out.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert run(asked[:-2]) == 1
    assert "3 households with 3 different values" in capsys.readouterr().out
    assert run(verify) == 0
    monkeypatch.setattr(protection, "constraints_of", lambda *_: None)
    with pytest.raises(PromiseNotKept, match=r"each household having one vote|households with"):
        discreet.protect(frame, **said | {"l": {"ill": 4}, "t": {"income": 0.05}})


def test_python_toml_and_command_line_say_the_same(tmp_path: Path) -> None:
    make(8, {1: 9, 2: 9, 5: 3}).write_csv(tmp_path / "in.csv")
    (tmp_path / "run.toml").write_text(
        'k = 3\nquasi = ["age", "rooms"]\nconfidential = ["ill", "income"]\nhousehold = "home"\nsplit_households = 2\n'
        'method = "mdav"\nl = { ill = 2 }\nt = { income = 0.4 }\n',
        encoding="utf-8",
    )
    common = ["protect", str(tmp_path / "in.csv"), "--quiet", "-o"]
    assert run([*common, str(tmp_path / "toml.csv"), "--config", str(tmp_path / "run.toml")]) == 0
    typed = ["--k", "3", "--quasi", "age,rooms", "--confidential", "ill,income", "--method", "mdav", "--household"]
    typed += ["home", "--split-households", "2", "--l", "ill=2", "--t", "income=0.4"]
    assert run([*common, str(tmp_path / "typed.csv"), *typed]) == 0
    release = discreet.protect(
        tmp_path / "in.csv", k=3, method="mdav", split_households=2, l={"ill": 2}, t={"income": 0.4}, **COLUMNS
    )
    release.write(tmp_path / "python.csv")
    assert len({(tmp_path / f"{name}.csv").read_bytes() for name in ("toml", "typed", "python")}) == 1
    check(tmp_path / "toml.csv", 3, 2, False, 0.4)
    record, evidence = (
        json.loads((tmp_path / f"toml.csv.{name}.json").read_text("utf-8")) for name in ("release", "evidence")
    )
    jsonschema.validate(record, schema("release"))
    jsonschema.validate(evidence, schema("evidence"))
    assert "at least 2 households with 2 different values" in record["promise"]["words"]
    assert "each household having one vote" in " ".join(release.summary().split())
    found = evidence["verification"]["checks"][0]["t"][0]
    assert found["distribution_sha256"] == evidence["input"]["distributions"]["income"]


def test_what_holds_anyway_changes_nothing(tmp_path: Path) -> None:
    frame = make(9, {2: 9, 3: 9})
    anyway: dict[str, Any] = {"l": {"ill": 1}, "t": {"income": 1}}
    for name, more in (("plain", {}), ("anyway", anyway)):
        discreet.protect(frame, k=3, steps=3, **more, **COLUMNS).write(tmp_path / f"{name}.csv")
    assert (tmp_path / "plain.csv").read_bytes() == (tmp_path / "anyway.csv").read_bytes()


def test_what_no_household_of_a_size_can_keep_is_told_with_what_would_be_possible() -> None:
    frame = make(1, {1: 6, 2: 6})
    alone = pl.len().over("home") == 1
    said: dict[str, Any] = {"k": 3} | COLUMNS
    same = frame.with_columns(ill=pl.when(alone).then(pl.lit("a")).otherwise("ill"))
    with pytest.raises(InputError, match=r"6 households of 1 member .* 1 different values of 'ill': l = 1 would be"):
        discreet.plan(same, l={"ill": 2}, **said)
    rich = frame.with_columns(income=pl.when(alone).then(9000).otherwise("income"))
    with pytest.raises(InputError, match=r"6 households of 1 member .* would be possible.*split_households"):
        discreet.protect(rich, t={"income": 0.1}, **said)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([DISTINCT, ENTROPY, ORDERED, EQUAL]), st.booleans())
def test_groups_of_households_are_judged_by_the_definitions(seed: int, size: int, kind: int, many: bool) -> None:
    rng = np.random.default_rng(seed)
    n, points = 9, rng.normal(size=(9, 2))
    values = rng.integers(0, 400 if many else 4, n * size)
    limit = {DISTINCT: 2.0, ENTROPY: 0.6, ORDERED: 0.25, EQUAL: 0.6}[kind]
    records = constrain(2, np.repeat(np.arange(n), size), (kind, limit, values))
    own = records.join(np.arange(n * size).reshape(n, size))
    assert len(own) == n
    for _ in range(20):
        labels = np.unique(rng.integers(0, 3, n), return_inverse=True)[1].astype(np.int64)
        assert own.keep(labels) == plain_keep(records, np.repeat(labels, size))
        part = rng.permutation(n)[:6]
        assert own.take(part).keep(np.zeros(6, np.int64)) == records.take(
            (part[:, None] * size + np.arange(size)).ravel()
        ).keep(np.zeros(6 * size, np.int64))
    if own.keep(np.zeros(n, np.int64)):
        best = begin_records(make_method("exact", {}), records_at(points), 2, Run(constraints=own)).cost
        process = begin_records(make_method("memetic", {}), records_at(points), 2, Run(constraints=own))
        for _ in zip(process.epochs(), range(200), strict=False):
            pass
        assert plain_keep(records, np.repeat(process.answer(), size))
        assert process.cost == pytest.approx(best, rel=1e-9)
