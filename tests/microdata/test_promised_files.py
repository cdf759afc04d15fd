"""Never a class that breaks a promise: protected files are read by pandas and counted from the definitions."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from plain_classes import look_at_classes

ROWS = st.lists(
    st.tuples(
        st.integers(18, 40),  # with ties
        st.one_of(st.none(), st.sampled_from([1.0, 2.5, 2.5, 7.0])),
        st.sampled_from("xyz"),
        st.sampled_from(["n", "s"]),
        st.sampled_from(["flu", "cold", "none", None]),
        st.one_of(st.none(), st.integers(0, 9)),
        st.integers(0, 11),
    ),
    min_size=12,
    max_size=40,
)
NAMES = ["age", "size", "kind", "region", "ill", "pay", "who"]


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    ROWS,
    st.integers(2, 3),
    st.fixed_dictionaries({}, optional={"ill": st.sampled_from([1, 2, "entropy:1.5"]), "pay": st.sampled_from([2, 3])}),
    st.fixed_dictionaries({}, optional={"ill": st.floats(0.2, 1), "pay": st.floats(0.15, 1)}),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["memetic", "mdav", "tour"]),
    st.sampled_from([None, [["age", "size"], ["kind"]]]),
)
def test_no_class_of_a_file_breaks_a_promise(
    rows: list[tuple[Any, ...]],
    k: int,
    diverse: dict[str, Any],
    close: dict[str, float],
    person: bool,
    strata: bool,
    method: str,
    grouping: list[list[str]] | None,
) -> None:
    frame = pl.DataFrame(rows, schema=NAMES, orient="row", strict=False)
    assume(all(frame[name].null_count() < frame.height for name in NAMES))
    said: dict[str, Any] = {"k": k, "quasi": ["age", "size", "kind"], "confidential": ["ill", "pay"], "l": diverse}
    said |= {"t": close, "method": method, "ignore": "rest", "measures": "none", "grouping": grouping}
    said |= {"steps": 2} if method == "memetic" else {}
    said |= {"person": "who"} if person else {}
    said |= {"by": "region"} if strata else {}
    release, told = None, ""
    try:
        release = discreet.protect(frame, **said)
    except InputError as error:
        told = str(error)
    if release is None:
        # What no grouping can keep is told, with what would be possible.
        assert "possible" in told or "fewer" in told, told
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out.csv"
        release.write(path, row_map=Path(folder) / "map.csv")
        released = pd.read_csv(path, keep_default_na=False, na_values={"pay": [""], "size": [""], "ill": [""]})
        order = pd.read_csv(Path(folder) / "map.csv")["input_record"].to_numpy() - 1
    released["who"] = frame["who"].to_numpy()[order]
    for group in grouping or [["age", "size", "kind"]]:
        keys = [*group, *(["region"] if strata else [])]
        for name in ("ill", "pay"):
            classes = look_at_classes(released, keys, name, "who" if person else None)
            assert classes["size"].min() >= k
            if name in close:
                assert classes["t"].max() <= close[name] + 1e-9
            if name in diverse:
                by_entropy = str(diverse[name]).startswith("entropy:")
                least = float(str(diverse[name]).removeprefix("entropy:"))
                assert classes["entropy" if by_entropy else "l"].min() >= least - 1e-8


def test_a_promise_costs_something_and_no_more_than_it_must() -> None:
    frame = pl.DataFrame({"age": [20, 21, 22, 60, 61, 62], "ill": ["a", "a", "b", "b", "b", "a"]})
    said: dict[str, Any] = {"k": 2, "quasi": "age", "confidential": "ill", "steps": 20}
    plain, promised = discreet.protect(frame, **said), discreet.protect(frame, l={"ill": 2}, **said)
    assert promised.verification.checks[0].held[0].worst == 2
    assert math.isclose(plain.measures["il"], promised.measures["il"])


@pytest.mark.parametrize("method", ["t-merging", "k-first", "t-first", "exact"])
def test_baselines_and_exact_keep_t(method: str) -> None:
    frame = pl.DataFrame({"age": [20, 25, 31, 33, 47, 52, 60, 61], "pay": [1, 9, 3, 4, 8, 2, 7, 5]})
    release = discreet.protect(frame, k=2, quasi="age", confidential="pay", t={"pay": 0.3}, method=method)
    classes = look_at_classes(release.data.to_pandas(), ["age"], "pay")
    assert classes["t"].max() <= 0.3 + 1e-9


FEW = pl.DataFrame({"age": [23, 24, 25, 61, 62, 63], "ill": ["asthma", "asthma", "asthma", "none", "cancer", "none"]})


@pytest.mark.parametrize("said", [{"l": {"ill": 2}}, {"t": {"ill": 0.2}}])
def test_refining_leaves_groups_that_break_a_promise(said: dict[str, Any]) -> None:
    made = FEW.with_columns(age=pl.Series([24, 24, 24, 62, 62, 62]))
    release = discreet.refine(FEW, made, quasi="age", confidential="ill", steps=5, **said)
    assert release.verification
    assert release.measures["il"] > release.measures["start_il"]


def test_a_plan_refuses_what_cannot_be_kept() -> None:
    with pytest.raises(InputError, match="l = 3 would be possible"):
        discreet.plan(FEW, k=3, quasi="age", confidential="ill", l={"ill": 4})
