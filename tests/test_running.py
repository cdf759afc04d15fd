"""One driver for all searches: until when, what is told, what the evidence says."""

from typing import Any

import pytest

from discreet import running
from discreet.errors import InputError
from discreet.evolution.stops import MaxSeconds
from discreet.kernels.compiling import search_clock
from discreet.running import SearchOptions, describe_search, run
from evolution.searches import Countdown, endless


def test_the_time_that_the_start_took_is_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def stop_after(seconds: float) -> MaxSeconds:
        asked.append(seconds)
        return MaxSeconds(seconds)

    monkeypatch.setattr(running, "MaxSeconds", stop_after)
    for used in (0.2, 40.0):
        run(endless(), SearchOptions(time=0.3), began=search_clock() - used)
    assert 0.0 < asked[0] <= 0.1
    assert asked[1] == running.INSTANT


def test_the_outcome_is_what_the_evidence_says() -> None:
    heard: list[float] = []
    outcome = run(Countdown([9.0, 5.0, 7.0, 4.0]), SearchOptions(steps=99, seed=3), tell=heard.append)
    said = describe_search(outcome, "counting", {"by": 1}, 3)
    assert {key: value for key, value in said.items() if key not in ("seconds", "trace")} == {
        "method": "counting",
        "params": {"by": 1},
        "seed": 3,
        "steps": 3,
        "stopped": "finished",
    }
    assert [(step, cost) for step, _, cost in said["trace"]] == [(0, 9.0), (1, 5.0), (3, 4.0)]
    assert heard[-1] == 1.0


@pytest.mark.parametrize("wrong", [{"time": 0}, {"time": "1"}, {"steps": 0}, {"seed": -1}, {"threads": 0}])
def test_a_wrong_option_names_itself(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        SearchOptions(**wrong)
