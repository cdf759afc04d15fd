"""What must hold of the 2021 paper's experiments, at a size that a test can bear."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.errors import InputError
from discreet.experiments.papers import find
from discreet.experiments.papers.p2021.page import (
    CASES,
    METHODS,
    OF_PAPER,
    PRINTED,
    balance,
    claims_1,
    claims_2,
    count_misled,
    known,
    make_release,
    run_and_measure,
)
from discreet.experiments.papers.paper import Budget
from discreet.experiments.records import literature

pytest.importorskip("altair")


def made_up(change: Callable[[str, int, str], dict[str, float]]) -> dict[tuple[str, int, str], dict[str, float]]:
    """Measures of every case and method: all 1, but what is changed."""
    names = ("il", "gil", "dld", "id", "gdr", "si", "seconds")
    return {
        (*case, method): {**dict.fromkeys(names, 1.0), **change(*case, method)} for case in CASES for method in METHODS
    }


def test_a_release_holds_the_means_of_its_groups() -> None:
    frame = pl.DataFrame({"a": [1.0, 3.0, 10.0, 20.0], "b": [0.0, 0.0, 4.0, 8.0]})
    assert make_release(frame, np.array([0, 0, 1, 1])).to_dict(as_series=False) == {
        "a": [2.0, 2.0, 15.0, 15.0],
        "b": [0.0, 0.0, 6.0, 6.0],
    }


def test_the_key_variables_are_those_of_the_paper() -> None:
    assert known([f"Var{i}" for i in range(1, 14)]) == ["Var1", "Var2", "Var3", "Var5", "Var10", "Var11", "Var12"]


def test_mdav_is_judged_as_the_specification_says(reference: Callable[[str], Path]) -> None:
    reference("tarragona.csv")
    found = run_and_measure({"data": "tarragona", "k": 3, "method": "mdav", "steps": 0, "seed": 1})
    assert found["il"] == pytest.approx(16.9326, abs=1e-4)
    assert found["gdr"] == pytest.approx((found["dld"] + found["id"]) / 2)
    assert found["si"] == pytest.approx((found["gil"] + found["gdr"]) / 2)
    assert all(0 <= found[name] <= 100 for name in ("gil", "dld", "id"))


def test_claims_that_hold_need_no_explanation() -> None:
    ideal = made_up(
        lambda data, k, method: {
            "il": float(k),
            "gil": abs(k - (3 if data == "census" else 4)) + (0.5 if method == "recursive" else 1.0),
            "dld": 10.0 - k,
            "seconds": k * (1.0 if method == "recursive" else 4.0),
        }
    )
    assert [row[3] for row in claims_1(ideal) if row[0] != "time saved by recursive"] == ["none"] * 5
    told = {row[0]: row for row in claims_2(ideal)}
    for name in ("Census: k of the least GIL", "Tarragona: k of the least GIL", "recursive has the least GIL"):
        assert told[name][3] == "none"
    assert claims_1(ideal)[3][2] == "75 to 75 %"


def test_claims_that_fail_are_said_to_fail() -> None:
    worse = made_up(
        lambda _data, _k, method: {"il": 2.0, "gil": 3.0, "gdr": 2.0} if method in ("recursive", PRINTED) else {}
    )
    assert claims_1(worse)[0][2] == "in 0 of 6 cases"
    assert claims_1(worse)[0][3] != "none"
    assert "in 6 of 6 cases" in str(balance(worse)[2])
    printed = made_up(lambda _data, _k, method: {"il": 9.0, "si": 0.5} if method == PRINTED else {})
    assert count_misled(printed) == len(CASES)


def test_the_quick_page_says_what_is_lost(reference: Callable[[str], Path]) -> None:
    reference("census.csv")
    reference("tarragona.csv")
    text = find("2021").page(Budget(quick=True), "discreet reproduce 2021 --quick").markdown(None)
    assert text.count("not available") >= 2 * len(CASES) * len(OF_PAPER)
    for line in ("## Table 1", "## Table 2", "## Figure 1", "what explains the difference", "IL of recursive equal to"):
        assert line in text
    assert text.rindex("## ") == text.index("## What our own methods reach")


def test_a_missing_data_set_is_told_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    literature.cache_clear()
    monkeypatch.setenv("DISCREET_REFERENCE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"microdata/census\.csv is not here: it was looked for at") as error:
        find("2021").page(Budget(quick=True, seed=99), "c", ["table 1"])
    assert str(tmp_path) in str(error.value)
    literature.cache_clear()


def test_the_page_of_the_manual_is_complete() -> None:
    text = (Path(__file__).parents[3] / "docs" / "papers" / "2021.md").read_text(encoding="utf-8")
    assert "A quick run" not in text
    assert text.count("\n## ") == len(find("2021").parts)
