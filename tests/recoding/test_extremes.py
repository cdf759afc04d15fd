"""Top and bottom coding and rounding: what stands beyond a limit is shared by k records or more, and nobody's value."""

import json
import re
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet
from discreet.cli.app import run
from discreet.data.attributes import Attribute
from discreet.data.dataset import accept
from discreet.data.roles import Declaration, declare
from discreet.errors import InputError
from discreet.measures.loss import information_loss
from discreet.recoding.extremes import read_recoded, recode_confidential
from discreet.release.evidence import schema

LOSSES = re.compile(r"the loss is ([\d.]+) % so, and ([\d.]+) % with")


def recode(values: list[float | None], k: int, **how: Any) -> np.ndarray[Any, Any]:
    dataset = accept(pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64), "q": range(len(values))}))
    said = declare(["x", "q"], {"quasi": ["q"], "confidential": ["x"]}, {"x": how}, "separate")
    found = recode_confidential(dataset, said, k)[0].frame["x"]
    quasi, _ = read_recoded(dataset, Declaration("x", "quasi", **how), k)
    np.testing.assert_array_equal(quasi.values, found.to_numpy())
    return found.to_numpy()


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.sampled_from([-7.5, 0.0, 1.0, 2.0, 3.0, 40.0, 1e6])), min_size=2, max_size=40),
    st.integers(2, 5),
    st.floats(1, 99),
    st.sampled_from(["topcode", "bottomcode"]),
)
def test_values_beyond_a_share_stand_at_a_mean_of_k_or_more(
    values: list[float | None], k: int, share: float, how: str
) -> None:
    known = np.array([value for value in values if value is not None])
    assume(len(known))
    edge = np.sort(known if how == "topcode" else -known)
    within = max(int(np.ceil((share / 100 if how == "topcode" else 1 - share / 100) * len(edge))), 1)
    if (edge > edge[within - 1]).sum() < k and (len(edge) < k or edge[-k] == edge[0]):
        # There are not k values, or the k outermost are not apart from the rest.
        with pytest.raises(InputError, match="not k"):
            recode(values, k, **{how: f"{share}%"})
        return
    found = recode(values, k, **{how: f"{share}%"})
    before = np.array([np.nan if value is None else value for value in values])
    changed = before != found
    changed &= ~np.isnan(before)
    assert np.isnan(found).tolist() == np.isnan(before).tolist()
    if changed.any():
        assert changed.sum() >= k
        (stand_in,) = set(found[changed])
        assert stand_in not in known
        inside = before[~changed & ~np.isnan(before)]
        outside = before[changed]
        assert (outside > inside.max()).all() if how == "topcode" else (outside < inside.min()).all()
        assert outside.min() <= stand_in <= outside.max() or len(set(outside)) == 1


def test_a_share_leaves_so_many_where_they_are() -> None:
    values: list[float | None] = [float(value) for value in range(1000)]
    assert (recode(values, 3, topcode="99%") != values).sum() == 10
    assert (recode(values, 3, bottomcode="1%") != values).sum() == 10
    assert (recode(values, 30, topcode="99%") != values).sum() == 30  # at least k
    assert recode(values, 3, topcode="99%")[-1] == 994.5


def test_a_bound_stands_in_for_what_is_beyond() -> None:
    values: list[float | None] = [1.0, 2.0, 3.0, 40.0, 50.0]
    assert recode(values, 2, topcode=10).tolist() == [1.0, 2.0, 3.0, 10.0, 10.0]
    assert recode(values, 2, bottomcode="2.5").tolist() == [2.5, 2.5, 3.0, 40.0, 50.0]
    with pytest.raises(InputError, match="fewer than k = 3"):
        recode(values, 3, topcode=10)
    with pytest.raises(InputError, match="this very value"):
        recode(values, 2, topcode=3)


def test_rounding_is_to_multiples_and_comes_last() -> None:
    assert recode([149.0, 250.1, None, -30.0], 2, round=100)[[0, 1, 3]].tolist() == [100.0, 300.0, 0.0]
    assert recode([1.0, 2.0, 3.0, 1004.0, 1050.0], 2, topcode=500.5, round=10).tolist() == [0.0, 0.0, 0.0, 500.0, 500.0]


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 2.0, 4.0, 9.0, 10.0, 12.0]), min_size=4, max_size=30),
    st.sampled_from([{"topcode": "80%"}, {"bottomcode": "30%"}, {"topcode": 8.7}, {"bottomcode": 0.25}]),
    st.sampled_from([0.1, 1, 2, 5]),
)
def test_what_stands_in_is_nobodys_value_after_rounding_too(
    values: list[float | None], how: dict[str, Any], step: float
) -> None:
    try:
        plain = recode(values, 2, **how)
    except InputError:
        assume(False)
    coded = plain != np.array(values)
    found = recode(values, 2, round=step, **how)
    assert len({f"{value:.12g}" for value in found[coded]}) <= 1
    assert not {f"{value:.12g}" for value in found[coded]} & {f"{value:.12g}" for value in values}
    multiples = found[~coded] / step
    np.testing.assert_allclose(multiples, np.round(multiples), atol=1e-9)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"topcode": {"pay": "99"}, "confidential": "pay", "nominal": "pay"}, "is nominal"),
        ({"topcode": {"pay": "high"}, "confidential": "pay"}, "share such as 99%"),
        ({"topcode": {"pay": "100%"}, "confidential": "pay"}, "share such as 99%"),
        ({"round": {"pay": 0}, "confidential": "pay"}, "above 0"),
        ({"topcode": {"pay": "99%"}, "ignore": "pay"}, "it is ignore"),
        ({"round": {"age": 5}, "coarsen": {"age": "width:5"}, "ignore": "pay"}, "keep one of the two"),
    ],
)
def test_what_makes_no_sense_is_refused(said: dict[str, Any], words: str) -> None:
    frame = pl.DataFrame({"age": [30, 31, 32, 33], "pay": [1, 2, 3, 4]})
    with pytest.raises(InputError, match=words):
        discreet.protect(frame, k=2, quasi="age", **said)


FRAME = pl.DataFrame({"age": [30, 31, 32, 61, 62, 63, 64, 99], "pay": [10, 12, 11, 30, 29, 31, 28, 990]})


def test_python_toml_and_command_line_alike_and_the_record_says_it(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "in.csv")
    (tmp_path / "run.toml").write_text(
        'k = 2\nquasi = ["age"]\nconfidential = ["pay"]\nmethod = "mdav"\n'
        '[columns.age]\ntopcode = "70%"\n[columns.pay]\ntopcode = "80%"\nround = 10\n',
        encoding="utf-8",
    )
    source = ["protect", str(tmp_path / "in.csv"), "--quiet"]
    assert run([*source, "--config", str(tmp_path / "run.toml"), "-o", str(tmp_path / "toml.csv")]) == 0
    roles = ["--k", "2", "--quasi", "age", "--confidential", "pay", "--method", "mdav"]
    typed = [*roles, "--topcode", "age=70%", "--topcode", "pay=80%", "--round", "pay=10"]
    assert run([*source, *typed, "-o", str(tmp_path / "typed.csv")]) == 0
    columns: dict[str, Any] = {"quasi": "age", "confidential": "pay", "method": "mdav", "k": 2}
    release = discreet.protect(tmp_path / "in.csv", topcode={"age": "70%", "pay": "80%"}, round={"pay": 10}, **columns)
    release.write(tmp_path / "called.csv")
    texts = [(tmp_path / f"{name}.csv").read_text(encoding="utf-8") for name in ("toml", "typed", "called")]
    assert texts[0] == texts[1] == texts[2]
    assert sorted(set(pl.read_csv(tmp_path / "called.csv")["pay"].to_list())) == [10, 30, 510]
    record, evidence = (
        json.loads((tmp_path / f"called.csv.{kind}.json").read_text(encoding="utf-8"))
        for kind in ("release", "evidence")
    )
    jsonschema.validate(record, schema("release"))
    jsonschema.validate(evidence, schema("evidence"))
    assert record["output"]["recoded"] == {"age": "topcode 70%", "pay": "topcode 80%, round 10"}
    assert any("2 records at their mean" in note for note in evidence["notes"])


def test_the_loss_is_against_the_numbers_as_they_came_in() -> None:
    plain = discreet.protect(FRAME, k=4, quasi="age", confidential="pay", method="mdav")
    coded = discreet.protect(FRAME, k=4, quasi="age", confidential="pay", method="mdav", topcode={"age": "50%"})
    # The groups and their means are the same, so nothing more is lost than before.
    assert coded.data["age"].to_list() == plain.data["age"].to_list()
    assert coded.measures["il"] == pytest.approx(plain.measures["il"])


def test_frames_of_pandas_get_the_coded_values_too() -> None:
    frame = pd.DataFrame({"age": [30, 31, 32, 61, 62, 63], "pay": [10.0, 12.0, 11.0, 30.0, 29.0, 990.0]})
    release = discreet.protect(frame, k=2, quasi="age", confidential="pay", topcode={"pay": "60%"})
    assert release.data["pay"].max() == 510.0


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.01, 1.0, 1e3, 1e7, 1e9, 1e14]),
    st.sampled_from([-1.0, 0.0, 1.0]),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([{"round": 5}, {"topcode": "90%"}, {"bottomcode": "10%"}, {"round": 2, "topcode": "80%"}]),
    st.sampled_from(["separate", "impute"]),
)
def test_numbers_that_are_recoded_beside_gaps_lose_what_their_values_say(
    seed: int, size: float, sign: float, gaps: float, how: dict[str, Any], missing: str
) -> None:
    rng = np.random.default_rng(seed)
    ages = (rng.random(40) + sign) * size
    other = pl.Series(np.where(np.arange(40) < 6, np.nan, rng.normal(size=40)), nan_to_null=True)
    own = pl.Series(np.where(rng.random(40) < gaps, np.nan, ages), nan_to_null=True)
    frame = pl.DataFrame({"age": own, "size": other})
    said = {name: {"age": value * size if name == "round" else value} for name, value in how.items()}
    asked: dict[str, Any] = {"k": 2, "quasi": "all", "method": "mdav", "measures": "none", **said}
    tracemalloc.start()
    try:
        release = discreet.protect(frame, missing=missing, **asked)
        again = discreet.protect(frame, missing="impute" if missing == "separate" else "separate", **asked)
    except InputError:
        # Too few values beyond a limit, or too few that lack the same.
        assume(False)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 50e6
    [(loss, other_loss)] = LOSSES.findall(" ".join(release.evidence["notes"]))
    assert float(loss) == pytest.approx(release.measures["il"], abs=0.01)
    assert float(other_loss) == pytest.approx(again.measures["il"], abs=0.01)


def test_the_loss_of_recoded_numbers_is_that_of_the_numbers_that_came_in() -> None:
    x = np.array([-9.0, -4.0, np.nan, 0.0, 3.0, 1e9])
    fine = Attribute("x", "numeric", x, pl.Float64())
    rounded = replace(fine, values=np.round(x / 5) * 5, fine=fine)
    released = np.array([-7.0, -7.0, np.nan, 1.0, 1.0, 1e9])
    assert information_loss([rounded], [released]) == information_loss([fine], [released])
