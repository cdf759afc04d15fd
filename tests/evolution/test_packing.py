"""Arrays that are packed come out as they were."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from discreet.evolution.checkpoint import pack, unpack


@st.composite
def alike(draw: st.DrawFn) -> list[NDArray[Any]]:
    """Arrays of one type and number of dimensions."""
    dtype = draw(st.sampled_from(["int8", "int64", "float32", "float64", "bool", "U3"]))
    dims = draw(st.integers(0, 3))
    shapes = hnp.array_shapes(min_dims=dims, max_dims=dims, min_side=0, max_side=4) if dims else st.just(())
    return draw(st.lists(hnp.arrays(dtype, shapes), min_size=1, max_size=6))


@given(alike())
def test_arrays_come_back(arrays: list[NDArray[Any]]) -> None:
    back = unpack(*pack(arrays))
    assert len(back) == len(arrays)
    for one, other in zip(arrays, back, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other, strict=True)
        assert other.base is None


def test_arrays_of_different_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match="of one type and number of dimensions"):
        pack([np.zeros(2), np.zeros(2, int)])
    with pytest.raises(TypeError, match="of one type and number of dimensions"):
        pack([np.zeros(2), np.zeros((2, 2))])
