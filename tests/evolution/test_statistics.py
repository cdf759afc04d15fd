"""The account of the operators, against a run computed by hand."""

import math
from dataclasses import asdict
from typing import Any

import pytest

from discreet.evolution.loop import evolve
from discreet.evolution.population import Birth, Survival
from discreet.evolution.statistics import Row, Statistics
from discreet.evolution.stops import MaxSteps
from evolution.searches import generational, steady

# A percentage that is not there; pytest's own kind of NaN equals itself.
NONE: Any = pytest.approx(math.nan, nan_ok=True)
# The initial members 0, 1 and 2 cost 10, 20 and 40.
HISTORY: list[Birth | Survival] = [
    Survival(0, (0, 1, 2)),
    # Generation 1: member 3 is better than the mean of its parents, 15; 4 is worse; 5 and 6 are mutations of 1, one of
    # them a clone. Only 3 and 5 find a place.
    Birth(1, "cross", 3, 12.0, (0, 1), (10.0, 20.0)),
    Birth(1, "cross", 4, 60.0, (0, 2), (10.0, 40.0)),
    Birth(1, "move", 5, 15.0, (1,), (20.0,)),
    Birth(1, "move", 6, 20.0, (1,), (20.0,), computed=False),
    Survival(1, (0, 3, 5)),
    # Generation 2: 3 becomes a parent, 5 does not; both children are worse than what they come from, 8 less so.
    Birth(2, "cross", 7, 33.0, (0, 3), (10.0, 12.0)),
    Birth(2, "move", 8, 15.0, (3,), (12.0,)),
    Birth(2, "move", 9, 6.0, (3,), (12.0,)),
    Survival(2, (0, 3, 9)),
    Survival(3, (0, 9)),
]


def test_a_small_run() -> None:
    statistics = Statistics()
    for event in HISTORY:
        statistics(event)
    assert [asdict(row) for row in statistics.rows()] == [
        # 4 was discarded at once, 3 was used before it died: one of two. 3 survived the selections of generations 1 and
        # 2, 4 none. Efficiency: 100·(15 − 12)/15 = 20 and 100·(25 − 60)/25 = −140.
        asdict(Row(1, "cross", 2, 2, 50.0, 1.0, 1, 1, 50.0, -60.0, 20.0, -140.0, 20.0, -140.0)),
        # 5 survived once and died unused, 6 at once. Efficiency: 25 and 0.
        asdict(Row(1, "move", 2, 1, 100.0, 0.5, 1, 0, 50.0, 12.5, 25.0, NONE, 25.0, 0.0)),
        # Against the mean of 10 and 12: 100·(11 − 33)/11.
        asdict(
            Row(
                2,
                "cross",
                1,
                1,
                100.0,
                0.0,
                0,
                1,
                0.0,
                -200.0,
                NONE,
                -200.0,
                -200.0,
                -200.0,
            )
        ),
        # 9 is alive after two selections and has not been discarded, though nobody has used it yet.
        asdict(Row(2, "move", 2, 2, 50.0, 1.0, 1, 1, 50.0, 12.5, 50.0, -25.0, 50.0, -25.0)),
    ]


@pytest.mark.parametrize(
    ("parents", "child", "improved", "worsened", "efficiency"),
    [
        ((0.0,), 1.0, 0, 1, math.nan),
        ((math.inf,), 5.0, 1, 0, math.nan),
        ((5.0,), math.inf, 0, 1, math.nan),
        ((math.inf, 5.0), math.inf, 0, 0, math.nan),
        ((-10.0,), -12.0, 1, 0, 20.0),
    ],
)
def test_costs_without_a_percentage(
    parents: tuple[float, ...], child: float, improved: int, worsened: int, efficiency: float
) -> None:
    statistics = Statistics()
    statistics(Birth(1, "move", 9, child, tuple(range(len(parents))), parents))
    row = statistics.rows()[0]
    assert (row.improved, row.worsened) == (improved, worsened)
    assert row.efficiency == pytest.approx(efficiency, nan_ok=True)


def test_a_run_is_accounted_for_child_by_child() -> None:
    for make in (generational, steady):
        statistics = Statistics()
        events: list[Birth | Survival] = []
        process = make(4, listeners=[statistics, events.append])
        evolve(process, MaxSteps(15))
        births = {event.child: event for event in events if isinstance(event, Birth)}
        survivals = {event.generation: event.alive for event in events if isinstance(event, Survival)}
        used = {parent for birth in births.values() for parent in birth.parents}
        living = set(survivals[14])
        rows = statistics.rows()
        assert sum(row.children for row in rows) == len(births)
        for row in rows:
            mine = [b for b in births.values() if (b.generation, b.operator) == (row.generation, row.operator)]
            wasted = [birth for birth in mine if birth.child not in used and birth.child not in living]
            lives = [sum(birth.child in alive for alive in survivals.values()) for birth in mine]
            assert row.utilisation == 100 * len(wasted) / len(mine)
            assert row.life_time == sum(lives) / len(mine)
            assert row.improved == sum(birth.cost < sum(birth.parent_costs) / len(birth.parents) for birth in mine)
            assert row.computed == sum(birth.computed for birth in mine)


def test_it_keeps_nothing_of_the_dead() -> None:
    statistics = Statistics()
    evolve(steady(4, listeners=[statistics]), MaxSteps(40))
    assert len(statistics._alive) <= 10
    assert len(statistics._used) <= 10


def test_parents_from_before_it_listened_are_no_trouble() -> None:
    statistics = Statistics()
    process = generational(4, listeners=[statistics])
    evolve(before := generational(4), MaxSteps(5))
    process.load(before.save())
    evolve(process, MaxSteps(5))
    assert min(row.generation for row in statistics.rows()) == 5
