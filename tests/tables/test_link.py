"""Tables that share cells, linked by the verb and by the command, are one system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.cli.app import run
from discreet.errors import InputError
from discreet.release.atomic import write_table
from discreet.tabular.files.formats import read_table

FRAME = pl.DataFrame(
    {
        "region": ["n", "n", "s", "s", "s", "n"],
        "size": ["1", "2", "1", "2", "2", "2"],
        "form": ["x", "y", "x", "y", "y", "x"],
        "sales": [10, 20, 30, 40, 50, 60],
    }
)


def test_tables_linked_by_a_command_are_those_made_together(tmp_path: Path) -> None:
    for name in ("size", "form"):
        table = discreet.tabulate(FRAME, by=["region", name], value="sales")
        write_table(discreet.primary(table, threshold=2), tmp_path / f"{name}.parquet")
    paths = [str(tmp_path / f"{name}.parquet") for name in ("size", "form")]
    assert run(["link", *paths, "-o", str(tmp_path / "linked.parquet"), "--quiet"]) == 0
    linked = read_table(tmp_path / "linked.parquet")
    whole = discreet.primary(
        discreet.tabulate(
            FRAME, by=["region", "size", "form"], value="sales", parts=[["region", "size"], ["region", "form"]]
        ),
        threshold=2,
    )
    names = ["region", "size", "form"]
    assert linked.frame().sort(names).drop("sole").equals(whole.frame().sort(names).drop("sole"))
    assert len(linked.relations) == len(whole.relations)
    assert len(linked.parts) == 2
    assert discreet.link(paths).frame().equals(linked.frame())


def test_what_cannot_be_linked_is_refused(tmp_path: Path) -> None:
    one = discreet.tabulate(FRAME, by=["region", "size"], value="sales")
    with pytest.raises(InputError, match="two tables at least"):
        discreet.link([one])
    with pytest.raises(InputError, match="must be a list of tables"):
        discreet.link("one.parquet")
    other = discreet.tabulate(FRAME.head(4), by=["region", "form"], value="sales")
    with pytest.raises(InputError, match="disagree on the value of 3 cells they share"):
        discreet.link([one, other])


def test_rules_that_differ_are_noted() -> None:
    one = discreet.primary(discreet.tabulate(FRAME, by=["region", "size"], value="sales"), threshold=2)
    other = discreet.primary(discreet.tabulate(FRAME, by=["region", "form"], value="sales"), threshold=1)
    assert "judged by different rules" in discreet.link([one, other]).notes[-1]
    assert "judged by different rules" not in "".join(discreet.link([one, one.but(source="again")]).notes)


def test_the_turnover_tables_of_the_reference(table_reference: Callable[[str], Path]) -> None:
    activity = f"ACTIVITY@{table_reference('rtauargus/activity_corr_table.csv')}"
    flagged = [
        discreet.primary(
            table_reference(f"rtauargus/turnover_act_{name.lower()}.csv"),
            by=[activity, name],
            value="TOT",
            count="N_OBS",
            max="MAX",
            decimals=4,
            threshold=3,
            dominance=(1, 85),
        )
        for name in ("SIZE", "CJ")
    ]
    linked = discreet.link(flagged)
    shared = len(flagged[0].dimensions[0].codes)
    assert len(linked) == len(flagged[0]) + len(flagged[1]) - shared
    assert len(linked.primary) <= sum(len(one.primary) for one in flagged)
    assert linked.decimals == 4
    assert np.isfinite(linked.value).all()


def test_contributions_can_be_rounded_before_they_are_summed() -> None:
    frame = pl.DataFrame({"size": ["a", "a", "b"], "sales": [0.1234567, 0.2, 0.5]})
    table = discreet.tabulate(frame, by="size", value="sales", decimals=2)
    assert (table.decimals, table.value.tolist()) == (2, [0.82, 0.32, 0.5])
    assert "1 contribution rounded to 2 decimals" in table.notes


def test_three_tables_that_share_margins_are_protected_as_one_with_a_bound() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {name: rng.integers(0, 6, 300).astype(str) for name in ("region", "size", "form")}
        | {"sales": rng.integers(1, 500, 300)}
    )
    pairs = (["region", "size"], ["region", "form"], ["size", "form"])
    tables = [discreet.primary(discreet.tabulate(frame, by=by, value="sales"), p=15, threshold=6) for by in pairs]
    found = discreet.suppress(discreet.link(tables), steps=10, seed=1, singletons=False)
    assert found.audit
    assert found.bound is not None
    assert 0 < found.bound["value"] <= found.cost
