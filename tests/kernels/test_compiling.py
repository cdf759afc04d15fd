"""An interrupt is kept back, not lost."""

import signal
import threading

import pytest

from discreet.kernels.compiling import uninterrupted


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
