"""What is kept stays within its limit, and what was asked for last stays longest."""

from hypothesis import given
from hypothesis import strategies as st

from discreet.grouping.evaluator import Cache


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6)), max_size=60), st.integers(0, 15))
def test_the_limit_holds_and_the_latest_stay(asked: list[tuple[int, int]], limit: int) -> None:
    cache: Cache[int, int] = Cache(limit)
    order: list[tuple[int, int]] = []  # by the last time it was asked for or put
    for key, size in asked:
        kept = dict(order)
        assert cache.get(key) == (key if key in kept else None)
        if key in kept:
            order.remove((key, kept[key]))
            order.append((key, kept[key]))
        else:
            cache.put(key, key, size)
            if size <= limit:
                order.append((key, size))
        while sum(own for _, own in order) > limit:
            order.pop(0)
        assert cache.size == sum(own for _, own in order) <= limit
        assert len(cache) == len(order)
