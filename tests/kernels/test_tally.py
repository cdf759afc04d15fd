"""The largest contributions and the only contributor of each cell are those of a sorted list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels.tally import alone, largest

records = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 9), st.integers(0, 3)), max_size=40)


@given(records, st.integers(0, 4))
def test_tops_are_the_largest_in_falling_order(given: list[tuple[int, int, int]], places: int) -> None:
    cells = np.array([cell for cell, _, _ in given], dtype=np.int64)
    amounts = np.array([amount for _, amount, _ in given], dtype=np.float64)
    tops = np.full((5, places), -np.inf)
    largest(cells, amounts, 5, tops)
    for cell in range(5):
        held = sorted((amount for at, amount, _ in given if at == cell), reverse=True)
        assert tops[cell].tolist() == [*held, *[-np.inf] * places][:places]


@given(records)
def test_who_is_alone_is_in_every_record_of_the_cell(given: list[tuple[int, int, int]]) -> None:
    cells = np.array([cell for cell, _, _ in given], dtype=np.int64)
    owners = np.array([owner for _, _, owner in given], dtype=np.int64)
    found = alone(cells, owners, 5)
    for cell in range(5):
        held = {owner for at, _, owner in given if at == cell}
        assert found[cell] == (held.pop() if len(held) == 1 else -1)
