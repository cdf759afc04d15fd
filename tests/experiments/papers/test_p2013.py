"""What must hold of the 2013 paper's experiments, at a size that a test can bear."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from discreet.errors import InputError
from discreet.experiments.page import Table
from discreet.experiments.papers.p2013.page import ON_ELEMENTS, ON_GROUPS, PAPER, SCORES
from discreet.experiments.papers.p2013.runs import (
    CENSUS,
    FIGURE_K,
    FILES,
    KS,
    QUICK,
    WATER,
    own_runs,
    run_search,
    runs_of_paper,
)
from discreet.experiments.papers.paper import Budget
from discreet.measures.measure import measure
from discreet.microdata.protect import protect

TINY = Budget(quick=True)


@pytest.fixture
def data(reference: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the reference data, or a skip."""
    folder, *_ = {reference(Path(name).name).parents[1] for name in FILES.values()}
    monkeypatch.setenv("DISCREET_REFERENCE_DATA", str(folder))
    return folder


def test_a_score_is_that_of_the_release(data: Path) -> None:
    # All attributes together is one of the rivals: its score follows from a release by the public verbs.
    path = data / FILES[CENSUS]
    settings: dict[str, str | int | bool] = {
        "data": CENSUS,
        "k": 25,
        "method": "gomm",
        "inner": "mdav",
        "seed": 1,
        "told": False,
        **QUICK,
    }
    rivals = json.loads(run_search(settings)["rivals"])
    release = protect(path, k=25, quasi="all", method="mdav")
    found = measure(path, release.data, quasi="all", measures=["il", "dr"])
    assert rivals["all together"][0] == pytest.approx((found["il"] + found["dr"]) / 2, rel=1e-6)


def test_what_must_hold_of_the_runs(data: Path) -> None:
    paper, own = runs_of_paper(TINY), own_runs(TINY)
    for runs in (paper, own):
        assert (runs["score"] - (runs["il"] + runs["dr"]) / 2).abs().max() < 1e-9  # type: ignore[operator]
        assert (runs["dr"] - (runs["dld"] + runs["id"]) / 2).abs().max() < 1e-9  # type: ignore[operator]
    # Begun with the ad-hoc groupings, a search is never worse than they are.
    for run in own.filter(pl.col("method") == "gomm").iter_rows(named=True):
        assert run["score"] <= min(score for score, _ in json.loads(run["rivals"]).values()) + 1e-9
    told = paper.filter(pl.col("told"))
    assert told.select("data", "k").unique().rows() == [(WATER, FIGURE_K)]
    names = {record["operator"] for record in json.loads(told["operators"][0])}
    assert names == {"crossover", *ON_GROUPS, *ON_ELEMENTS}


def test_a_quick_page(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    page = PAPER.page(TINY, "discreet reproduce 2013 --quick")
    assert len(page.sections) == len(PAPER.parts)
    assert page.sections[-1].title == "What our own methods reach"
    for table in (block for section in page.sections for block in section.blocks if isinstance(block, Table)):
        assert all(len(row) == len(table.header) for row in table.rows)
    text = page.markdown(None)
    assert "not available" in text
    assert "34.3 / 40.9 = 0.84" in text
    assert len(page.write(tmp_path / "2013.md")) == 3


def test_the_published_points_are_among_ours() -> None:
    assert {k for _, k in SCORES} <= set(KS)
    assert 5 <= min(KS) <= max(KS) <= 100


def test_missing_data_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DISCREET_REFERENCE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"census\.csv.*looked for at.*DISCREET_REFERENCE_DATA"):
        run_search({"data": CENSUS, "k": 5, "method": "gomm", "inner": "mdav", "seed": 1, "told": False})
