"""A search kept in a file goes on as if it had not stopped; a file of another run is refused and left alone."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.microdata.memetic import blocks as large
from discreet.microdata.memetic import islands, regions
from discreet.microdata.methods import genetic
from discreet.microdata.solving import Partition
from partitions import any_partition, cloud, no_worse

POINTS = cloud(260, 3, "scattered", 1)
# Cycles so short that a few steps go through all phases.
HASTY: dict[str, Any] = {"cycle": 2, "proofs": 2}
SEARCHES: dict[str, dict[str, Any]] = {
    "memetic": {"params": HASTY},
    "in blocks": {"params": {"large": 50, "block": 10}},
    "genetic": {"method": "genetic", "params": {"generations": 400}},
    "two-step": {"method": "two-step", "params": {"generations": 700}},
    "two-step with a memetic inner search": {"method": "two-step", "params": {"inner": "memetic", "steps": 7}},
}


def run(path: Path | None, steps: int, **options: Any) -> Partition:
    return discreet.partition(POINTS, k=3, checkpoint=path, steps=steps, **{"seed": 7, **options})


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cycle ends with regions and a proof; several blocks and few generations a step."""
    monkeypatch.setattr(islands, "FIRST_REGION_CYCLE", 0)
    monkeypatch.setattr(islands, "PROVABLE", {3: (1000, 0)})
    monkeypatch.setattr(regions, "RELAXATION_PIECES", 2)
    monkeypatch.setattr(regions, "FEW_GROUPS", 10_000)
    monkeypatch.setattr(regions, "NODES", 1)
    monkeypatch.setattr(large, "EPOCH_RECORDS", 100)
    monkeypatch.setattr(genetic, "EPOCH_GENES", 200_000)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("options", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("first", [1, 5, 11])
def test_resumed_equals_uninterrupted(options: dict[str, Any], first: int, tmp_path: Path) -> None:
    whole = run(None, 12, **options)
    path = tmp_path / "search.npz"
    half = run(path, first, threads=2, **options)
    assert half.search["steps"] == first
    resumed = run(path, 12, threads=1, **options)
    np.testing.assert_array_equal(resumed.labels, whole.labels)
    assert resumed.sse == whole.sse
    assert (resumed.search["steps"], resumed.search["stopped"]) == (whole.search["steps"], whole.search["stopped"])
    assert [(step, cost) for step, _, cost in resumed.search["trace"]] == [
        (step, cost) for step, _, cost in whole.search["trace"]
    ]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("options", SEARCHES.values(), ids=SEARCHES)
@given(breaks=st.lists(st.integers(1, 15), min_size=2, max_size=4, unique=True), seed=st.integers(0, 99))
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_run_broken_off_again_and_again_ends_where_it_would_have(
    options: dict[str, Any], breaks: list[int], seed: int, tmp_path: Path
) -> None:
    whole = run(None, 16, seed=seed, **options)
    path = tmp_path / "search.npz"
    path.unlink(missing_ok=True)
    for steps in [*sorted(breaks), 16]:
        part = run(path, steps, seed=seed, **options)
    np.testing.assert_array_equal(part.labels, whole.labels)
    assert (part.search["steps"], part.search["stopped"]) == (whole.search["steps"], whole.search["stopped"])
    assert part.bound == whole.bound


@pytest.mark.usefixtures("hasty")
def test_regions_and_proofs_are_part_of_what_was_compared() -> None:
    """The test above would be worth little if no search had come that far."""
    seen = dict.fromkeys(("_recombine_regions", "_prove"), 0)

    def counted(name: str) -> Any:
        original = getattr(islands.Islands, name)

        def call(process: islands.Islands) -> Any:
            seen[name] += 1
            return original(process)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in seen:
            patch.setattr(islands.Islands, name, counted(name))
        run(None, 12, params=HASTY)
    assert min(seen.values()) > 1


def test_going_on_from_the_end_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "search.npz"
    first = run(path, 5)
    again = run(path, 3)
    assert again.search["steps"] == 5
    np.testing.assert_array_equal(first.labels, again.labels)


def test_strata_go_on_too(tmp_path: Path) -> None:
    frame = pl.DataFrame(POINTS, schema=["a", "b", "c"]).with_columns(s=pl.Series(["x", "y"] * 130))
    path = tmp_path / "search.npz"

    def protect(steps: int, checkpoint: Path | None) -> pl.DataFrame:
        data = discreet.protect(
            frame, k=3, quasi=["a", "b", "c"], by="s", steps=steps, checkpoint=checkpoint, measures="none"
        ).data
        assert isinstance(data, pl.DataFrame)
        return data

    protect(4, path)
    assert protect(9, path).equals(protect(9, None))


def refused(path: Path, said: str, points: Any = POINTS, **options: Any) -> None:
    """Assert that a run is refused in words that name the file, and that the file is as it was."""
    before = path.read_bytes()
    with pytest.raises(InputError) as error:
        discreet.partition(points, checkpoint=path, **{"k": 3, "steps": 9, "seed": 7, **options})
    assert str(path) in str(error.value)
    assert said in str(error.value)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "search.npz"
    run(path, 2)
    other = POINTS.copy()
    other[5, 1] += 1e-9
    refused(path, "was made from other data", other)
    refused(path, "was made from other data", POINTS[:-1])
    refused(path, "was made from other data", POINTS[:, :2])
    refused(path, "was made from other data", POINTS.reshape(-1, 2))
    refused(path, "k = 3, this run has k = 4", k=4)
    refused(path, "seed = 7, this run has seed = 8", seed=8)
    refused(path, "params.heat = 0.03, this run has params.heat = 0.05", params={"heat": 0.05})
    refused(path, "method = memetic, this run has method = genetic", method="genetic")
    refused(path, "started from other groups", start=any_partition(260, 3, 1))
    monkeypatch.setattr("discreet.running.__version__", "99.9")
    refused(path, "version = ")
    refused(path, "this run has version = 99.9")
    monkeypatch.undo()
    run(path, 3)  # its own run goes on


@pytest.mark.parametrize("harm", ["cut", "flipped", "empty", "text", "other archive"])
def test_a_damaged_checkpoint_is_refused(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "search.npz"
    run(path, 2)
    whole = path.read_bytes()
    middle = len(whole) // 2
    if harm == "other archive":
        np.savez(path, labels=np.arange(9))
    else:
        path.write_bytes(
            {
                "cut": whole[:-100],
                "flipped": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
                "empty": b"",
                "text": b"a,b\n1,2\n",
            }[harm]
        )
    refused(path, "damaged or no checkpoint")


def test_a_place_where_nothing_can_be_kept_is_told_before_the_search(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder of the checkpoint does not exist"):
        run(tmp_path / "nowhere" / "search.npz", 10**9)
    with pytest.raises(InputError, match="cannot be kept"):
        run(tmp_path, 10**9)


def test_the_split_into_strata_is_part_of_the_run(tmp_path: Path) -> None:
    """The same records in the same order, cut elsewhere."""
    frame = pl.DataFrame(POINTS, schema=["a", "b", "c"]).with_columns(
        s=pl.Series(["x"] * 100 + ["y"] * 160), t=pl.Series(["x"] * 130 + ["y"] * 130)
    )
    path = tmp_path / "search.npz"
    options: dict[str, Any] = {"quasi": ["a", "b", "c"], "ignore": "rest", "checkpoint": path, "measures": "none"}
    discreet.protect(frame, k=3, by="s", steps=2, **options)
    before = path.read_bytes()
    with pytest.raises(InputError, match="was made from other data, or with other columns"):
        discreet.protect(frame, k=3, by="t", steps=2, **options)
    assert path.read_bytes() == before


def test_a_search_that_goes_on_is_not_worse_than_its_start(tmp_path: Path) -> None:
    start = run(None, 40).labels
    path = tmp_path / "search.npz"
    first = run(path, 2, start=start)
    again = run(path, 4, start=start)
    for part in (first, again):
        assert no_worse(POINTS, part.labels, start)


def test_a_method_that_is_no_search_keeps_nothing(tmp_path: Path) -> None:
    run(tmp_path / "search.npz", 2, method="mdav")
    assert list(tmp_path.iterdir()) == []
