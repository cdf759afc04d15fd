"""What the summaries say, and that whoever decides is told the same elsewhere, in the same words."""

from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.examples import make
from discreet.release.summary import _fallen, tell_release, tell_table


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


def in_summary(told: list[tuple[str, str]], summary: str) -> bool:
    """Whether a summary says it all; it may break lines elsewhere."""
    whole = " ".join(summary.split())
    return all(" ".join(text.split()) in whole for _, text in told)


def test_what_is_told_of_a_release_is_what_its_summary_says(tmp_path: Path) -> None:
    make("survey", tmp_path, n=300)
    release = discreet.protect(
        tmp_path / "survey.csv",
        k=3,
        quasi=["region", "sex", "income", "education"],
        grouping=[["region", "sex"], ["income", "education"]],
        confidential=["diagnosis", "hours", "visits", "weight"],
        ignore="rest",
        sampling_weight="weight",
        steps=2,
    )
    told = tell_release(release.evidence)
    titles = [title for title, _ in told]
    assert titles.count("Beware") >= 2  # groups of columns, and the weights that are released
    assert {"Beware", "Intruder", "Disclosed", "Analyst", "Population", "Assumed"} <= set(titles)
    assert in_summary(told, release.summary())
    assert not in_summary([("", "something else")], release.summary())
    assert ("Blanked" in titles) == bool(release.measures["blanked"])


@pytest.mark.parametrize("singletons", [None, False])
def test_what_is_told_of_a_table_is_what_its_summary_says(tmp_path: Path, singletons: bool | None) -> None:
    make("companies", tmp_path)
    table = discreet.tabulate(tmp_path / "companies.csv", by=["district", "size_class"], value="turnover")
    release = discreet.suppress(discreet.primary(table, threshold=3), steps=2, singletons=singletons)
    told = tell_table(release.evidence)
    assert {"Verdict", "Insiders", "Suppressed"} <= {title for title, _ in told}
    assert in_summary(told, release.summary())
