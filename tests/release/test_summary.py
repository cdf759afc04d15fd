"""What the summary of a suppressed table says of its search."""

from typing import Any

import pytest

from discreet.release.summary import _fallen


def search(stopped: str, *trace: tuple[int, float, float]) -> dict[str, Any]:
    return {"stopped": stopped, "seconds": 10.0, "steps": 100, "trace": [list(one) for one in trace]}


@pytest.mark.parametrize(
    ("account", "percent"),
    [
        (search("time", (0, 0.0, 200.0), (10, 7.0, 100.0), (90, 9.0, 80.0)), 20.0),
        (search("time", (0, 0.0, 200.0), (90, 7.0, 100.0)), 0.0),
        (search("steps", (0, 0.0, 200.0), (70, 9.9, 100.0), (76, 9.9, 90.0)), 10.0),
        (search("finished", (0, 0.0, 200.0), (90, 9.0, 100.0)), 0.0),
        (search("time", (0, 0.0, 0.0)), 0.0),
    ],
)
def test_how_far_the_cost_fell_in_the_last_quarter(account: dict[str, Any], percent: float) -> None:
    assert _fallen(account) == pytest.approx(percent)
