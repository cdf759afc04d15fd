"""An interrupt lets the epoch end, a second one does not wait, and no handler is left behind."""

import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from discreet.evolution.loop import Outcome, evolve, interruptible
from discreet.evolution.stops import MaxSteps
from evolution.searches import Countdown, endless


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    names = [signal.SIGINT, signal.SIGTERM]
    before = [signal.getsignal(number) for number in names]
    yield
    for number, handler in zip(names, before, strict=True):
        signal.signal(number, handler)


def at(step: int, do: Callable[[], object]) -> Callable[[int], None]:
    """Do something in the midst of one epoch."""

    def during(now: int) -> None:
        if now == step:
            do()

    return during


def interrupt(times: int = 1, number: int = signal.SIGINT) -> Callable[[], None]:
    def send() -> None:
        for _ in range(times):
            signal.raise_signal(number)

    return send


def test_the_epoch_ends_and_then_the_run() -> None:
    process = endless(at(3, interrupt()))
    outcome = evolve(process, MaxSteps(9))
    assert (outcome.steps, outcome.stopped, process.step) == (3, "interrupted", 3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_one_breaks_in() -> None:
    process = endless(at(3, interrupt(2)))
    with pytest.raises(KeyboardInterrupt):
        evolve(process, MaxSteps(9))
    assert process.step == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_run_that_is_finished_is_finished() -> None:
    assert evolve(Countdown([3.0, 2.0, 1.0], at(2, interrupt())), MaxSteps(9)).stopped == "finished"


def test_an_error_puts_the_handler_back() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        evolve(endless(at(1, fail)), MaxSteps(2))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_handler_of_another_is_wrapped_and_put_back() -> None:
    heard: list[int] = []
    handler: Callable[[int, Any], None] = lambda number, frame: heard.append(number)  # noqa: E731
    signal.signal(signal.SIGINT, handler)
    assert evolve(endless(at(2, interrupt())), MaxSteps(9)).stopped == "interrupted"
    assert heard == []
    assert signal.getsignal(signal.SIGINT) is handler
    with pytest.raises(KeyboardInterrupt):
        evolve(endless(at(2, interrupt(2))), MaxSteps(9))


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert evolve(endless(at(2, interrupt())), MaxSteps(9)).stopped == "steps"
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_termination_counts_where_it_means_an_interrupt() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    assert evolve(endless(at(2, interrupt(number=signal.SIGTERM))), MaxSteps(9)).steps == 2
    assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler

    def both() -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        evolve(endless(at(2, both)), MaxSteps(9))


def test_termination_is_left_alone_otherwise() -> None:
    seen: list[object] = []
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    evolve(endless(lambda _: seen.append(signal.getsignal(signal.SIGTERM))), MaxSteps(1))
    assert seen == [signal.SIG_DFL]


def test_a_search_within_an_epoch_runs_its_course() -> None:
    inner: list[Outcome] = []

    def search() -> None:
        inner.append(evolve(endless(at(3, interrupt())), MaxSteps(7)))

    outer = evolve(endless(at(2, search)), MaxSteps(9))
    assert [(outcome.steps, outcome.stopped) for outcome in inner] == [(7, "steps")]
    assert (outer.steps, outer.stopped) == (2, "interrupted")


def test_other_threads_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def work() -> None:
        with interruptible() as caught:
            seen.extend([signal.getsignal(signal.SIGINT), caught.caught])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before, False]
