"""Chunks report how far they are, adapt, and change nothing."""

import itertools

import numpy as np
import pytest

from discreet.kernels import chunks
from discreet.kernels.partitions.md import md
from discreet.kernels.partitions.mdav import mdav
from discreet.kernels.partitions.mst import forest
from discreet.kernels.partitions.path import cut_order
from discreet.kernels.partitions.tour import chain, curve_order
from discreet.kernels.partitions.vmdav import vmdav

POINTS = np.random.default_rng(3).normal(size=(600, 3))
RUNS = {
    "mdav": lambda progress: mdav(POINTS, 4, False, progress),
    "vmdav": lambda progress: vmdav(POINTS, 4, 0.7, progress),
    "md": lambda progress: md(POINTS, 4, progress),
    "forest": lambda progress: forest(POINTS, 4, progress),
    "chain": lambda progress: chain(POINTS, np.arange(600), progress),
    "curve": lambda progress: curve_order(POINTS, progress),
    "path": lambda progress: cut_order(POINTS, np.arange(600), 4, progress),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_result_does_not_depend_on_the_chunks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[float] = []
    whole = RUNS[name](reports.append)
    assert reports == sorted(reports)
    assert reports[-1] == pytest.approx(1.0)
    monkeypatch.setattr(chunks, "SECONDS", 0.0)  # chunks of one unit of work
    reports.clear()
    np.testing.assert_array_equal(RUNS[name](reports.append), whole)
    assert len(reports) > 50


def test_the_size_of_chunks_follows_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    now = 0.0

    def advance(work: int) -> float:
        nonlocal now
        now += work * 1e-3
        sizes.append(work)
        return next(clock) / 20

    sizes: list[int] = []
    monkeypatch.setattr("discreet.kernels.chunks.time.perf_counter", lambda: now)
    chunks.drive(advance, lambda _: None)
    assert sizes[-1] == pytest.approx(200, abs=1)


def test_an_interrupt_ends_the_run() -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mdav(POINTS, 3, False, interrupt)
