import gc
import weakref
from pathlib import Path

import polars as pl
import pytest

from discreet.data import dataset as datasets
from discreet.data.dataset import Packed, accept
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


def test_a_packed_file_comes_back_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "LARGE", 10)
    frame = pl.DataFrame({"few": ["a", None, "b", "a"] * 100, "many": [f"x{i}" for i in range(400)], "n": range(400)})
    frame.write_parquet(tmp_path / "in.parquet")
    data = accept(tmp_path / "in.parquet")
    packed = Packed.of(data)
    assert packed.texts == ("few",)
    assert packed.dataset.frame.schema["few"] == pl.Categorical
    assert packed.dataset.source is not None
    assert packed.dataset.source.frame.height == 0
    assert packed.unpack().frame.equals(frame)
    assert packed.unpack().frame.schema == frame.schema
    assert packed.unpack().place(7) == data.place(7)
