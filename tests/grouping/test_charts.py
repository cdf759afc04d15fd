"""What the charts of groupings show: every point, every label readable, every operator; drawn from start to end."""

import json
from itertools import combinations
from typing import Any

import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.grouping.charts import HEIGHT, WIDTH, front_chart, operators_chart
from discreet.release.charts import LETTER, LINE, POINT, label_places

FRONT = [
    {"k": 5, "il": 10.0, "dr": 50.0, "groups": [["a"], ["b"]]},
    {"k": 25, "il": 30.0, "dr": 20.0, "groups": [["a", "b"]]},
    {"k": 25, "il": 20.0, "dr": 30.0, "groups": [["a", "b"]]},
]
RIVALS = {
    "all together": {"il": 33.0, "dr": 21.0},
    "each alone": {"il": 9.0, "dr": 70.0},
    "correlated together, 1": {"il": 33.0, "dr": 21.0},
}
OPERATORS = ["crossover", "group create", "group eliminate", "group split", "element swap", "element move"]


def rows(chart: Any) -> list[list[dict[str, Any]]]:
    """The rows of each layer of a chart."""
    content = chart.to_dict()
    return [content["datasets"][layer["data"]["name"]] for layer in content["layer"]]


def drawn(chart: Any) -> str:
    """The picture as text; an expression or a field that is not there would fail or warn."""
    picture = vl_convert.vegalite_to_svg(chart.to_dict())
    assert picture.startswith("<svg")
    assert "NaN" not in picture
    return picture


def test_the_front_is_drawn_from_low_to_high_loss_with_rivals_and_the_chosen_one() -> None:
    chart = front_chart(FRONT, RIVALS, FRONT[1])
    line, points, others, ring, *_ = rows(chart)
    assert [row["il"] for row in line] == [10.0, 20.0, 30.0]
    assert line == points
    assert points[0]["groups"] == "[a] [b]"
    assert points[0]["score"] == 30.0
    # Rivals with the same figures are one point under both names.
    assert [row["name"] for row in others] == ["all together = correlated together, 1", "each alone"]
    assert [(row["il"], row["dr"]) for row in ring] == [(30.0, 20.0)]
    picture = drawn(chart)
    for text in ("chosen", "each alone", "Information loss (IL), %", "Disclosure risk (DR), %"):
        assert text in picture


def test_several_k_have_colours_and_a_legend_and_one_k_has_none() -> None:
    assert ">25</text>" in drawn(front_chart(FRONT, {}, None))
    assert '"legend"' not in json.dumps(front_chart(FRONT[1:], {}, None).to_dict()["layer"])


def test_charts_of_little_are_drawn() -> None:
    drawn(front_chart([FRONT[0]]))
    drawn(front_chart([], {}, None))
    drawn(front_chart([{"k": 3, "il": 0.0, "dr": 0.0, "groups": []}], {"all": {"il": 0.0, "dr": 0.0}}))


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.text("abc ", min_size=1, max_size=24), st.floats(0, WIDTH), st.floats(0, HEIGHT)), max_size=14
    )
)
def test_no_label_lies_on_another_or_on_a_point(labels: list[tuple[str, float, float]]) -> None:
    points = [(x, y) for _, x, y in labels]
    places = label_places(labels, points, (WIDTH, HEIGHT))
    assert len(places) == len(labels)
    boxes = [
        (place.x - len(text) * LETTER / 2, place.y - LINE / 2, place.x + len(text) * LETTER / 2, place.y + LINE / 2)
        for (text, _, _), place in zip(labels, places, strict=True)
        if place is not None
    ]
    dots = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in points]
    for a, b in [*combinations(boxes, 2), *((box, dot) for box in boxes for dot in dots)]:
        assert a[2] <= b[0] + 1e-9 or b[2] <= a[0] + 1e-9 or a[3] <= b[1] + 1e-9 or b[3] <= a[1] + 1e-9
    for left, top, right, bottom in boxes:
        assert left >= 0
        assert top >= 0
        assert right <= WIDTH
        assert bottom <= HEIGHT
    if len(labels) == 1 and 60 < labels[0][1] < WIDTH - 200:
        assert places[0] is not None


def records(generations: int) -> list[dict[str, Any]]:
    return [
        {
            "generation": generation,
            "operator": operator,
            # The last operator has stopped after the first generation, as in D-GOMM.
            "born": 0 if operator == OPERATORS[-1] and generation > 1 else 10,
            "clones": 1,
            "unused": 70.0,
            "lifetime": 2.5,
            "improved": 3,
            "worsened": 6,
            "efficiency": -4.0 if generation > 1 else float("nan"),
            "best": 2.0,
            "worst": None,
        }
        for generation in range(1, generations + 1)
        for operator in OPERATORS
    ]


def test_every_operator_has_its_panels_in_the_order_given() -> None:
    chart = operators_chart(records(12))
    picture = drawn(chart)
    for text in (*OPERATORS, "Unused, %", "Life time", "Efficacy, %", "Efficiency, %", "Generation"):
        assert text in picture
    content = chart.to_dict()
    assert len(content["vconcat"]) == 4
    assert all(panel["facet"]["column"]["sort"] == OPERATORS for panel in content["vconcat"])
    lines = [row for values in content["datasets"].values() for row in values]
    assert {row["kind"] for row in lines} == {"unused", "life time", "better", "worse", "best", "mean"}
    # Counts are shares of the children born; an operator that has stopped has no line.
    assert {row["value"] for row in lines if row["kind"] == "better"} == {30.0}
    assert {row["generation"] for row in lines if row["operator"] == OPERATORS[-1]} == {1}
    assert {row["generation"] for row in lines if row["kind"] == "mean"} == set(range(2, 13))


def test_a_run_without_generations_is_drawn() -> None:
    drawn(operators_chart([]))
    drawn(operators_chart(records(1)))
