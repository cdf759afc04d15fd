"""Sampling weights: aggregates, loss and risk are those of the population that the records stand for."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import discreet
from discreet.cli.app import run
from discreet.data.attributes import Attribute
from discreet.errors import InputError
from discreet.measures.loss import information_loss, weighted_loss
from discreet.measures.risk import individual_risk
from discreet.microdata.aggregate import aggregate
from discreet.release.evidence import schema

RECORDS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1.0, 2.0, 5.0]), st.integers(1, 4)), min_size=1)


def attribute_of(kind: str, values: np.ndarray[Any, Any], how: str) -> Attribute:
    categories = None if kind == "numeric" else pl.Series("x", list("abcdef"))
    return Attribute("x", kind, values, pl.Float64(), categories=categories, aggregate=how)


@settings(deadline=None)
@given(RECORDS, st.sampled_from(["numeric mean", "numeric median", "numeric mode", "ordinal median", "nominal mode"]))
def test_a_weight_of_three_counts_as_three_records(records: list[tuple[int, float, int]], what: str) -> None:
    kind, how = what.split()
    groups, values, weights = (np.array(column) for column in zip(*records, strict=True))
    labels = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    plain = attribute_of(kind, values, how)
    found = aggregate(replace(plain, sampling=weights.astype(float)), labels)
    known = aggregate(replace(plain, values=np.repeat(values, weights)), np.repeat(labels, weights))
    np.testing.assert_allclose(np.repeat(found, weights), known, rtol=1e-12)


@settings(deadline=None)
@given(RECORDS, st.sampled_from(["numeric", "nominal"]), st.booleans())
def test_the_weighted_loss_is_that_of_repeated_records(
    records: list[tuple[int, float, int]], kind: str, gap: bool
) -> None:
    groups, values, weights = (np.array(column) for column in zip(*records, strict=True))
    assume(len(set(values.tolist())) > 1)
    labels = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    attribute = attribute_of(kind, values, "mean" if kind == "numeric" else "mode")
    released = aggregate(attribute, labels)
    if gap:
        released[0] = np.nan
    repeated = replace(attribute, values=np.repeat(values, weights))
    known, _ = information_loss([repeated], [np.repeat(released, weights)])
    assert weighted_loss([attribute], [released], weights.astype(float)) == pytest.approx(known)


@pytest.mark.parametrize("f", [1, 2, 3, 30, 31, 400])
@pytest.mark.parametrize("population", [1.0, 1.5, 20.0, 1e5])
def test_individual_risk_is_the_integral_that_it_stands_for(f: int, population: float) -> None:
    p = 1 / population
    (found,) = individual_risk(np.array([f]), np.array([f * population]))
    if p == 1:
        assert found == pytest.approx(1 / f)
        return
    q = 1 - p
    # The integral of (p·exp(−t)/(1 − q·exp(−t)))^f over t, with the fraction itself as variable.
    known, _ = quad(lambda s: s ** (f - 1) * p / (p + q * s), 0, 1, points=[p, 0.99], epsabs=0, limit=500)
    assert found == pytest.approx(known, rel=1e-6)
    if f == 1:
        assert found == pytest.approx(p / q * math.log(1 / p))


def sample(n: int = 60) -> pl.DataFrame:
    random = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": random.integers(18, 90, n),
            "pay": random.lognormal(8, 1, n),
            "town": random.choice(["a", "b", "c"], n),
            "weight": random.integers(1, 9, n) / 2,
        }
    )


@pytest.mark.parametrize("role", ["confidential", "quasi", "ignore"])
@pytest.mark.parametrize("by", [None, "town"])
def test_weighted_totals_are_kept_within_each_class(role: str, by: str | None) -> None:
    frame = sample()
    columns: dict[str, Any] = {"quasi": ["age", "pay", *(["weight"] if role == "quasi" else [])]}
    columns |= {} if role == "quasi" else {role: ["weight"]}
    columns |= {"by": "town"} if by else {"quasi": [*columns["quasi"], "town"]}
    release = discreet.protect(frame, k=5, sampling_weight="weight", method="mdav", **columns)
    released = release.data
    assert ("weight" in released.columns) == (role != "ignore")
    weights = released["weight"] if role == "quasi" else frame["weight"]
    for name in ("age", "pay"):
        totals = pl.DataFrame(
            {
                "group": release.labels,
                "before": frame[name] * frame["weight"],
                "after": released[name] * weights,
            }
        )
        sums = totals.group_by("group").sum()
        np.testing.assert_allclose(sums["after"], sums["before"], rtol=1e-12)


def test_what_is_said_of_weights(tmp_path: Path) -> None:
    frame = sample()
    release = discreet.protect(
        frame, k=5, quasi=["age", "pay"], confidential=["weight", "town"], sampling_weight="weight", method="mdav"
    )
    alone = float(np.mean(pl.DataFrame({"group": release.labels, "weight": frame["weight"]}).is_unique().to_numpy()))
    (told,) = [note for note in release.evidence["notes"] if "sampling weights" in note]
    assert f"{100 * alone:.0f} % of the records" in told
    sums = pl.DataFrame({"group": release.labels, "weight": frame["weight"]}).group_by("group").sum()
    assert release.measures["population"]["smallest"] == pytest.approx(sums["weight"].min())
    assert 0 < release.measures["population"]["individual"]["largest"] < 20
    assert 0 < release.measures["weighted_il"] < 100
    assert "of the population" in " ".join(release.summary().split())
    written = release.write(tmp_path / "out.csv")
    record = json.loads((tmp_path / "out.csv.release.json").read_text(encoding="utf-8"))
    jsonschema.validate(record, schema("release"))
    jsonschema.validate(json.loads(json.dumps(written.evidence)), schema("evidence"))
    assert any("weighted" in note for note in record["notes"])
    found = discreet.measure(frame, release.data, quasi=["age", "pay"], measures=["il"], sampling_weight="weight")
    assert found["weighted_il"] == pytest.approx(release.measures["weighted_il"])
    assert found["population"] == release.measures["population"]
    assert len(found.per_record["individual_risk"]) == frame.height


def test_equal_weights_change_nothing() -> None:
    frame = sample().with_columns(weight=pl.lit(1.0))
    columns: dict[str, Any] = {"quasi": ["age", "pay", "town"], "k": 4, "method": "mdav", "ignore": "weight"}
    plain = discreet.protect(frame, **columns)
    weighted = discreet.protect(frame, sampling_weight="weight", **columns)
    assert weighted.data.equals(plain.data)
    assert weighted.measures["weighted_il"] == pytest.approx(plain.measures["il"])


def test_python_toml_and_command_line_alike(tmp_path: Path) -> None:
    sample().write_csv(tmp_path / "in.csv")
    (tmp_path / "run.toml").write_text(
        'k = 5\nquasi = ["age", "pay"]\nignore = ["town", "weight"]\nmethod = "mdav"\nsampling_weight = "weight"\n',
        encoding="utf-8",
    )
    start = ["protect", str(tmp_path / "in.csv"), "--quiet"]
    assert run([*start, "--config", str(tmp_path / "run.toml"), "-o", str(tmp_path / "toml.csv")]) == 0
    typed = ["--k", "5", "--quasi", "age,pay", "--ignore", "town,weight", "--method", "mdav"]
    assert run([*start, *typed, "--sampling-weight", "weight", "-o", str(tmp_path / "typed.csv")]) == 0
    assert (tmp_path / "toml.csv").read_bytes() == (tmp_path / "typed.csv").read_bytes()
    assert run([*start, *typed, "-o", str(tmp_path / "plain.csv")]) == 0
    assert (tmp_path / "toml.csv").read_bytes() != (tmp_path / "plain.csv").read_bytes()


@pytest.mark.parametrize(
    ("weights", "words"), [([1, None] * 30, "30 sampling weights missing"), ([0, 1] * 30, "not above 0")]
)
def test_weights_that_stand_for_nobody_are_refused(weights: list[int | None], words: str) -> None:
    frame = sample().with_columns(weight=pl.Series(weights))
    with pytest.raises(InputError, match=words):
        discreet.protect(frame, k=5, quasi=["age", "pay"], ignore="rest", sampling_weight="weight")
    with pytest.raises(InputError, match="no column 'w'"):
        discreet.protect(frame, k=5, quasi=["age", "pay"], ignore="rest", sampling_weight="w")


def test_tables_take_the_weight_by_both_names() -> None:
    frame = sample()
    old = discreet.tabulate(frame, by="town", value="pay", weight="weight")
    new = discreet.tabulate(frame, by="town", value="pay", sampling_weight="weight")
    np.testing.assert_array_equal(old.value, new.value)
    with pytest.raises(InputError, match="another name"):
        discreet.tabulate(frame, by="town", value="pay", weight="weight", sampling_weight="weight")
