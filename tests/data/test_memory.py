import gc
import weakref

from discreet.data.memory import LARGE, give_back


class Held:
    """Something that only a cycle of references holds."""

    def __init__(self) -> None:
        self.itself = self


def test_of_many_records_nothing_is_kept_in_cycles() -> None:
    gc.collect()
    gc.disable()
    try:
        held = Held()
        kept = weakref.ref(held)
        del held
        give_back(LARGE)
        assert kept() is not None
        give_back(LARGE + 1)
        assert kept() is None
    finally:
        gc.enable()
