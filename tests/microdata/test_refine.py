"""A release made by anyone becomes one whose groups are at least as good, or is refused in words."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.release.release import Release
from partitions import any_partition, cloud
from random_frames import ORDER, ROLES, frames

QUASI = ["a", "b"]
FRAME = pl.DataFrame(cloud(90, 2, "scattered", 1), schema=QUASI).with_columns(
    id=pl.Series(range(1000, 1090)), stratum=pl.Series(["n", "n", "s"] * 30), d=pl.Series([i % 7 for i in range(90)])
)
ALL: dict[str, Any] = {"quasi": QUASI, "identifier": ["id"], "confidential": ["stratum", "d"]}


def released(frame: pl.DataFrame, labels: Any, quasi: list[str] = QUASI) -> pl.DataFrame:
    """A release made elsewhere: the means of groups."""
    return frame.with_columns(pl.col(quasi).mean().over(pl.Series("label", labels)))


def refine(release: Any, frame: Any = FRAME, **options: Any) -> Release:
    return discreet.refine(frame, release, **{**ALL, "steps": 12, "measures": "none", **options})


def check(better: Release, k: int, by: list[str] | None = None) -> None:
    """Assert that the promise holds on what is handed out, and that the groups are no worse than they were."""
    by = by or []
    assert min(Counter(better.data.select([*by, *QUASI]).rows()).values()) >= k
    assert better.verification
    assert better.evidence["verification"]["passed"]
    assert better.evidence["promise"]["k"] == k
    assert better.measures["partition_il"] <= better.measures["start_il"] * (1 + 1e-9)
    assert better.measures["largest_group"] <= 2 * k - 1


@given(st.integers(2, 6), st.integers(0, 2**32))
@settings(max_examples=15)
def test_the_groups_never_get_worse(k: int, seed: int) -> None:
    start = any_partition(90, k, seed)
    better = refine(released(FRAME, start), k=k, steps=2, seed=seed)
    check(better, k)
    assert better.data["d"].equals(FRAME["d"])
    z = (FRAME.select(QUASI).to_numpy() - FRAME.select(QUASI).to_numpy().mean(0)) / FRAME.select(QUASI).to_numpy().std(
        0
    )
    sse = sum(((z[start == g] - z[start == g].mean(0)) ** 2).sum() for g in range(start.max() + 1))
    assert better.measures["start_il"] == pytest.approx(100 * sse / z.size)


def test_a_release_of_mdav_gets_better() -> None:
    made = discreet.protect(FRAME, k=3, method="mdav", **ALL)
    better = refine(made.data)
    check(better, 3)
    assert better.measures["start_il"] == pytest.approx(made.measures["partition_il"])
    assert better.measures["partition_il"] < 0.98 * better.measures["start_il"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_sorted_release_of_ours_by_its_row_map(tmp_path: Path, suffix: str) -> None:
    original, out, rows = tmp_path / "in.csv", tmp_path / f"out.{suffix}", tmp_path / "rows.csv"
    FRAME.write_csv(original)
    made = discreet.protect(original, k=3, method="mdav", **ALL)
    made.write(out, row_map=rows)
    better = refine(out, original, row_map=rows)
    check(better, 3)
    assert better.measures["start_il"] == pytest.approx(made.measures["partition_il"])
    with pytest.raises(InputError, match=r"order of the records was destroyed .*\(key\).*\(row_map\)"):
        refine(out, original)


def test_a_release_in_another_order_by_its_key() -> None:
    made = released(FRAME, any_partition(90, 4, 1)).sample(fraction=1.0, shuffle=True, seed=1)
    better = refine(made, key="id")
    check(better, 4)
    assert "id" not in better.data.columns  # a key that names records is not released
    by_position = refine(released(FRAME, any_partition(90, 4, 1)))
    assert better.data.equals(by_position.data)


def test_a_key_without_a_role_is_not_released() -> None:
    made = released(FRAME, any_partition(90, 4, 1)).sample(fraction=1.0, shuffle=True, seed=1)
    better = refine(made, key="id", identifier=None, confidential="rest")
    assert better.data.columns == ["a", "b", "stratum", "d"]
    kept = refine(made, key="id", identifier=None, confidential=["id", "d"], ignore="rest")
    assert kept.data.columns == ["a", "b", "id", "d"]


def test_k_is_that_of_the_release_unless_it_is_said() -> None:
    labels = np.repeat(np.arange(15), 6)
    assert refine(released(FRAME, labels)).evidence["promise"]["k"] == 6
    better = refine(released(FRAME, labels), k=3)
    check(better, 3)
    uneven = np.repeat(np.arange(4), [20, 5, 40, 25])
    better = refine(released(FRAME, uneven))
    check(better, 5)


def test_k_of_the_configuration_is_taken(tmp_path: Path) -> None:
    config = tmp_path / "k.toml"
    config.write_text("k = 3\n")
    assert refine(released(FRAME, np.repeat(np.arange(15), 6)), config=config).evidence["promise"]["k"] == 3


def test_strata_are_respected() -> None:
    made = discreet.protect(FRAME, k=3, quasi=QUASI, identifier=["id"], confidential=["d"], by="stratum", method="mdav")
    better = refine(made.data, confidential=["d"], by="stratum")
    check(better, 3, ["stratum"])
    for group in set(better.labels):
        assert FRAME["stratum"].gather(np.flatnonzero(better.labels == group)).n_unique() == 1
    # Groups that reach over strata are cut there; those that are then too small are refused.
    with pytest.raises(InputError, match=r"of its \d+ groups have fewer than k = 3 records within their stratum"):
        refine(discreet.protect(FRAME, k=3, method="mdav", **ALL).data, k=3, confidential=["d"], by="stratum")


def test_k_is_the_least_within_a_stratum() -> None:
    """The same values in two strata are two groups, though they look like one."""
    frame = pl.concat([FRAME.head(30)] * 2).with_columns(
        stratum=pl.Series(["n"] * 30 + ["s"] * 30), id=pl.Series(range(60))
    )
    labels = np.tile(np.arange(30) // 3, 2)
    better = refine(released(frame, labels), frame, confidential=["d"], by="stratum")
    check(better, 3, ["stratum"])


@given(frames(least=12), st.integers(2, 4), st.integers(0, 9))
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
def test_releases_of_any_types_with_missing_values(frame: pl.DataFrame, k: int, seed: int) -> None:
    options: dict[str, Any] = {**ROLES, "ordinal": {"size": ORDER}, "missing": "separate", "measures": "none"}
    try:
        made = discreet.protect(frame, k=k, method="mdav", **options)
    except InputError:
        return  # too few records in a stratum or of a pattern
    better = discreet.refine(frame, made.data, k=k, steps=2, seed=seed, **options)
    assert min(Counter(better.data.select("stratum", *ROLES["quasi"]).rows()).values()) >= k
    # Of what is written: dates are whole days there, categories modes.
    assert better.measures["start_il"] == pytest.approx(made.measures["il"], rel=1e-9, abs=1e-9)
    assert better.measures["il"] <= better.measures["start_il"] * (1 + 1e-9)


@pytest.mark.parametrize("method", ["memetic", "genetic", "two-step"])
def test_any_search_will_do(method: str) -> None:
    params = {"generations": 50} if method != "memetic" else {}
    better = refine(released(FRAME, any_partition(90, 3, 1)), method=method, params=params, k=3)
    check(better, 3)
    assert better.evidence["search"]["method"] == method


def test_refining_again_goes_on_from_there() -> None:
    better = refine(released(FRAME, any_partition(90, 3, 1)))
    again = refine(better.data, k=3, seed=5)
    assert again.measures["start_il"] == pytest.approx(better.measures["partition_il"])
    check(again, 3)


MADE = released(FRAME, any_partition(90, 3, 1))


@pytest.mark.parametrize(
    ("release", "options", "said"),
    [
        (MADE.drop("b"), {}, "there is no column 'b'; a release must have all quasi-identifiers"),
        (MADE, {"k": 10}, r"of its \d+ groups have fewer than k = 10 records"),
        (FRAME, {}, "shares its quasi-identifiers with no other, so it has no groups to start from"),
        (FRAME, {"k": 3}, "90 of its 90 groups have fewer than k = 3 records"),
        (MADE.head(80), {}, "has 90 records and .* has 80"),
        (MADE, {"key": "nr"}, "there is no column 'nr' to be the key"),
        (MADE.drop("id"), {"key": "id"}, "the release: there is no column 'id' to be the key"),
        (MADE.with_columns(id=pl.lit(3)), {"key": "id"}, "the release: the key 'id' is not unique"),
        (MADE, {"key": "d"}, "the original: the key 'd' is not unique"),
        (
            MADE.with_columns(pl.col("id") + 1),
            {"key": "id"},
            "1 row of it has no record in the original by",
        ),
        (MADE, {"key": "id", "row_map": pl.DataFrame({"x": [1]})}, "either a key or a row map, not both"),
        (MADE, {"row_map": pl.DataFrame({"x": [1]})}, "not a row map"),
        (MADE, {"method": "mdav"}, "the method mdav does not start from given groups"),
        (MADE, {"method": "recursive"}, "the method recursive does not start from given groups"),
        (MADE, {"k": 1}, "k must be at least 2"),
        (MADE, {"quasi": ["a", "c"]}, "'c'"),
        (3, {}, "expected a path, or a pandas, polars or Arrow frame, not an object of type int"),
    ],
)
def test_what_cannot_be_refined_is_refused_in_words(release: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        refine(release, **options)


def test_an_example_of_the_docstring() -> None:
    frame = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "ill": [0, 1, 0, 1, 1, 0]})
    made = pl.DataFrame({"age": [36, 36, 51, 36, 51, 51], "ill": [0, 1, 0, 1, 1, 0]})
    better = discreet.refine(frame, made, quasi=["age"], confidential=["ill"], steps=5)
    assert better.data["age"].to_list() == [24.0] * 3 + [63.0] * 3


def test_the_evidence_holds_both_losses_and_the_search() -> None:
    better = refine(MADE, seed=4)
    measures = better.evidence["measures"]
    assert measures["start_il"] > measures["partition_il"] > 0
    assert better.evidence["search"]["seed"] == 4
    assert better.evidence["search"]["steps"] == 12


def test_a_checkpoint_of_a_refinement_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "search.npz"
    refine(MADE, steps=5, checkpoint=path)
    resumed = refine(MADE, steps=12, checkpoint=path)
    assert resumed.data.equals(refine(MADE, steps=12).data)
    with pytest.raises(InputError, match="started from other groups"):
        refine(released(FRAME, any_partition(90, 3, 2)), checkpoint=path)
    with pytest.raises(InputError, match="started from other groups"):
        discreet.protect(FRAME, k=3, steps=12, checkpoint=path, measures="none", **ALL)


def test_a_target_that_is_not_the_loss_is_refused_and_not_ignored(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("target = 'score'\n")
    with pytest.raises(InputError, match="leave the target out, or use protect"):
        refine(released(FRAME, np.arange(90) // 3), config=tmp_path / "config.toml")
