"""Threads change neither results nor their order, and never wait for each other."""

import os
import signal
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.evolution.process import mapped


@given(st.lists(st.integers()), st.integers(1, 4))
def test_results_come_in_the_order_of_the_items(items: list[int], threads: int) -> None:
    assert mapped(lambda item: item * item, items, threads) == [item * item for item in items]


def test_one_thread_means_no_other_thread() -> None:
    here = threading.current_thread()
    assert mapped(lambda _: threading.current_thread(), range(5), 1) == [here] * 5


def test_several_threads_work_at_the_same_time() -> None:
    barrier = threading.Barrier(2, timeout=60)
    assert sorted(mapped(lambda _: barrier.wait(), range(2), 2)) == [0, 1]


def test_the_threads_are_kept() -> None:
    def who(_: int) -> threading.Thread:
        barrier.wait()
        return threading.current_thread()

    barrier = threading.Barrier(2, timeout=60)
    assert {*mapped(who, range(2), 2)} == {*mapped(who, range(2), 2)}


def test_work_within_work_is_done_on_the_spot() -> None:
    def outer(_: int) -> bool:
        return {*mapped(lambda _: threading.current_thread(), range(3), 2)} == {threading.current_thread()}

    assert mapped(outer, range(8), 2) == [True] * 8


def test_an_error_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        mapped(lambda item: 1 / item, [1, 0, 2], 2)


@pytest.mark.parametrize("threads", [0, -1, 1.5])
def test_a_wrong_number_of_threads_names_itself(threads: int) -> None:
    with pytest.raises(ValueError, match=r"threads is .*; it must be a whole number of at least 1"):
        mapped(str, [1, 2], threads)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    mapped(str, [1, 2], 2)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # rather than wait for ever for threads that are not there
        os._exit(0 if mapped(str, [1, 2], 2) == ["1", "2"] else 1)
    assert os.waitpid(child, 0)[1] == 0
