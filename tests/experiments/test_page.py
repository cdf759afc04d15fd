"""Pages say what they are made of, and their files appear under the names they link to."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.errors import DiscreetError, InputError
from discreet.experiments import charts
from discreet.experiments.page import Made, Page, Picture, Section, Table, Text, shown, spans
from discreet.text import duration

pytest.importorskip("altair")

RUNS = pl.DataFrame(
    {
        "rate": [0.1, 0.1, 0.5, 0.5] * 2,
        "size": [10] * 4 + [20] * 4,
        "sse": [3.0, 4, 9, 8, 3, 2, 7, 8],
        "kind": ["a", "b"] * 4,
    }
)


def _charts() -> dict[str, Any]:
    ranks = pl.DataFrame({"method": ["one", "two", "three"], "rank": [1.2, 1.5, 2.9]})
    one = charts.heat_map(RUNS, "rate", "size", "sse", title="Heat", bent=True)
    return {
        "heat": charts.side_by_side([one, one], title="Heat"),
        "lines": charts.lines(RUNS, "rate", "sse", "kind", title="Lines"),
        "bars": charts.bars(RUNS, "kind", "sse", title="Bars"),
        "ranks": charts.critical_difference(ranks, 0.5, title="Ranks"),
    }


def test_a_page_and_its_pictures_are_written(tmp_path: Path) -> None:
    drawn = [Picture(name, chart, f"{name} in words") for name, chart in _charts().items()]
    table = Table(("what", "ours"), [("a|b", 0.123456), ("lost", None)])
    made = Made("discreet reproduce 2006", 7, 2, 65.0, "Half of it was cut.")
    page = Page("Title", "About.", made, [Section("First", [Text("Words."), table]), Section("Drawn", drawn)])
    (tmp_path / "papers").mkdir()
    written = page.write(tmp_path / "papers" / "page.md", tmp_path / "pictures")
    assert len(written) == 5
    text = written[0].read_text(encoding="utf-8")
    for part in ("# Title", "seed 7", "65 s", "Half of it was cut.", "a\\|b", "0.1235", "not available"):
        assert part in text
    for name in _charts():
        assert f"![{name} in words](../pictures/{name}.svg)" in text
        assert (tmp_path / "pictures" / f"{name}.svg").read_text().startswith("<svg")
    assert "svg" not in page.markdown(None)
    assert "## Drawn" not in page.markdown(None)
    (tmp_path / "file").touch()
    with pytest.raises(DiscreetError, match="file"):
        page.write(tmp_path / "papers" / "other.md", tmp_path / "file")
    with pytest.raises(InputError, match="exists already"):
        page.write(tmp_path / "papers" / "page.md", tmp_path / "pictures")


def _data(spec: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    """The rows of a layer; equal data of several layers is kept once, in another place."""
    data = spec["layer"][layer].get("data", spec.get("data"))
    rows: list[dict[str, Any]] = spec["datasets"][data["name"]] if "name" in data else data["values"]
    return rows


def test_a_heat_map_shows_means_and_marks_the_least() -> None:
    spec = charts.heat_map(RUNS, "rate", "size", "sse", title="Heat").to_dict()
    cells = {(cell["rate"], cell["size"]): cell["mean"] for cell in _data(spec, 0)}
    assert cells == {(0.1, 10): 3.5, (0.5, 10): 8.5, (0.1, 20): 2.5, (0.5, 20): 7.5}
    (ring,) = _data(spec, 1)
    assert (ring["rate"], ring["size"]) == (0.1, 20)


def test_methods_are_joined_only_if_they_are_not_told_apart() -> None:
    ranks = pl.DataFrame({"method": ["one", "two", "three"], "rank": [1.2, 1.5, 2.9]})
    spec = charts.critical_difference(ranks, 0.5, title="Ranks").to_dict()
    assert _data(spec, 0) == [{"method": "one", "rank": 1.2, "end": 1.5}]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not available"), (True, "yes"), (12345, "12,345"), (0.0, "0"), (6.834, "6.834"), (1384.4, "1,384"),
        (2.5e-14, "2.5e-14"), (float("nan"), "–"), (float("inf"), "∞"), ("x", "x"),
    ],
)  # fmt: skip
def test_values_in_tables(value: object, text: str) -> None:
    assert shown(value) == text


def test_neighbours_in_a_grid_are_a_range() -> None:
    grid = [0.0, 0.1, 0.2, 0.5, 1.0]
    assert spans([0.1, 0.2, 1.0], grid) == "0.1 – 0.2, 1"
    assert spans([0.0], grid) == "0"
    assert spans(["auto", 0.2], [0.2, "auto"]) == "0.2 – auto"
    assert [duration(s) for s in (2.34, 42, 600, 9000)] == ["2.3 s", "42 s", "10 min", "2.5 h"]
