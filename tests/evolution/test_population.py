"""What is remembered, and for how long."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.evolution.population import Judged, Memory


class Judge:
    """Costs of words, and the words it was asked about."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, words: Sequence[str]) -> list[float]:
        self.asked += words
        return [float(len(word)) for word in words]


def test_clones_in_one_list_are_judged_once() -> None:
    judge = Judge()
    memory = Memory(judge, key=lambda word: word.lower().encode())
    assert memory.judge(["ab", "AB", "c"]) == [Judged(2.0, True), Judged(2.0, False), Judged(1.0, True)]
    assert judge.asked == ["ab", "c"]


def test_those_not_met_for_longest_are_forgotten() -> None:
    memory = Memory(judge := Judge(), key=str.encode, limit=2)
    for word in ["a", "b", "a", "c", "a", "b"]:
        memory.judge([word])
    assert judge.asked == ["a", "b", "c", "b"]


@given(st.lists(st.lists(st.text(max_size=2), max_size=5), max_size=10), st.integers(0, 5), st.integers(0, 10))
def test_a_memory_that_was_kept_goes_on_as_if_nothing_had_been(words: list[list[str]], limit: int, split: int) -> None:
    whole = Memory(first := Judge(), key=str.encode, limit=limit)
    told = [whole.judge(some) for some in words]
    before = Memory(second := Judge(), key=str.encode, limit=limit)
    kept = [before.judge(some) for some in words[:split]]
    after = Memory(second, key=str.encode, limit=limit)
    after.load(before.save())
    assert kept + [after.judge(some) for some in words[split:]] == told
    assert second.asked == first.asked
    assert after.evaluations == whole.evaluations == len(first.asked)


def test_a_wrong_limit_names_itself() -> None:
    with pytest.raises(ValueError, match="memory is -1; it must be a whole number of at least 0"):
        Memory(Judge(), limit=-1)
