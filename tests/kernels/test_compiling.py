"""While kernels are compiled: interrupts are kept back, clocks stand still, other processes are waited for."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from discreet.kernels.compiling import compiling, search_clock, uninterrupted


def test_an_interrupt_comes_after_the_block() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), uninterrupted():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        reached = True
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def work() -> None:
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_termination_that_is_handled_comes_after_the_block_too() -> None:
    def handle(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, handle)
    try:
        reached = False
        with pytest.raises(KeyboardInterrupt), uninterrupted():  # noqa: PT012
            signal.raise_signal(signal.SIGTERM)
            reached = True
        assert reached
        assert signal.getsignal(signal.SIGTERM) is handle
    finally:
        signal.signal(signal.SIGTERM, previous)


def test_the_clock_of_searches_stands_still_while_something_is_compiled(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    now = 0.0
    monkeypatch.setattr("discreet.kernels.compiling.time.perf_counter", lambda: now)
    began = search_clock()
    now += 1.0
    with compiling():
        now += 2.0
        with search_clock.pause():
            now += 3.0
            assert search_clock() - began == 1.0
    now += 4.0
    assert search_clock() - began == 5.0


LATER = """
import sys
import discreet.kernels.compiling as compiling
compiling._processors = lambda: 2
from {module} import doubled
with compiling.second_process({{}}, {{"{named}": [doubled]}}):
    pass
doubled(1.0)
print(sum(doubled.stats.cache_hits.values()), sum(doubled.stats.cache_misses.values()))
"""
MODULE = """
from discreet.kernels.jit import kernel

@kernel
def doubled(x):
    return 2.0 * x

def rehearse():
    doubled(1.0)
"""


@pytest.mark.parametrize(("named", "hits_and_misses"), [("late", "1 0"), ("no_such_module", "0 1")])
def test_a_kernel_that_another_process_compiles_is_waited_for(tmp_path: Path, named: str, hits_and_misses: str) -> None:
    (tmp_path / "late.py").write_text(MODULE)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", LATER.format(module="late", named=named)],
        env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == hits_and_misses, done.stderr
    assert "ResourceWarning" not in done.stderr
