"""Suppression from end to end: every pattern stands the audit, every wish is granted or refused in words."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from jsonschema import validate

import discreet
from discreet.errors import InputError, PromiseNotKept
from discreet.methods import names
from discreet.release.evidence import schema
from discreet.release.suppressed import SuppressedTable
from discreet.tabular.files.formats import render
from discreet.tabular.table import FIXED, PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit
from random_tables import random_table


def unsafe_table(seed: int, dims: int | None = None, **kinds: Any) -> Table:
    """A random table with some unsafe cells that have room to move."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, dims, **kinds)
    unsafe = (table.value > 0) & (rng.random(len(table)) < 0.15)
    status = np.where(unsafe, PRIMARY, np.where(table.value == 0, FIXED, 0)).astype(np.uint8)
    level = np.where(unsafe, np.maximum(np.round(0.1 * table.value), 1.0), 0.0)
    return table.but(
        status=status,
        upl=level,
        lpl=np.minimum(level, table.value),
        cost=np.maximum(np.abs(table.value), 1.0),
        upper=np.full(len(table), 2 * float(table.value.max()) + float(level.max())),
    )


def released(table: Table, **wishes: Any) -> SuppressedTable:
    return discreet.suppress(table, steps=3, seed=1, partial=True, **wishes)


@pytest.mark.parametrize("seed", range(24))
def test_every_pattern_stands_the_audit(seed: int) -> None:
    table = unsafe_table(seed)
    found = released(table)
    assert bool(found.audit) != found.partial
    lost = found.evidence["measures"]["unprotected_count"]
    unsafe = int((table.status == PRIMARY).sum())
    again = audit(found.table.but(rules={"words": {}}))
    assert len(again.failed) == lost
    assert again.failed.tolist() == found.unprotected.tolist() == found.audit.failed.tolist()
    assert (found.table.status == PRIMARY).sum() == unsafe
    assert not found.table.suppressed[table.status == FIXED].any()
    assert found.cost == pytest.approx(found.table.cost[found.secondary].sum())


@pytest.mark.parametrize("method", [name for name in names("suppression") if name != "exact"])
@pytest.mark.parametrize("dims", [2, 3])
def test_every_method_protects(method: str, dims: int) -> None:
    found = released(unsafe_table(dims, dims), method=method)
    assert bool(found.audit) != found.partial
    assert found.evidence["search"]["method"] == method


@pytest.mark.parametrize("seed", [4, 7, 9, 13])
def test_no_secondary_cell_is_suppressed_for_nothing(seed: int) -> None:
    made = random_table(np.random.default_rng(seed), linked=bool(seed % 2), hierarchical=True, zeros=0.2)
    found = discreet.suppress(discreet.primary(made, threshold=3), method="marginal", partial=True, singletons=False)
    assert len(found.secondary)
    # What follows by subtraction hides nothing; only an unsafe cell of a partial release may be left so.
    assert set(found.audit.eliminated.tolist()) <= set(found.unprotected.tolist())


@pytest.mark.parametrize("seed", range(6))
def test_frozen_cells_stay_published_and_strict_levels_are_exceeded(seed: int) -> None:
    table = unsafe_table(seed, 2)
    free = released(table)
    frozen = free.secondary[:2].tolist()
    found = released(table, frozen=frozen, strict=True)
    assert not found.table.suppressed[frozen].any()
    assert (
        audit(found.table.but(rules={"words": {}}), strict=True).failed.size
        <= found.evidence["measures"]["unprotected_count"]
    )


@pytest.mark.parametrize("seed", range(6))
def test_insiders_and_secondaries_are_looked_after(seed: int) -> None:
    table = unsafe_table(seed, 2)
    try:
        found = released(table, singletons=True, protect_secondaries=True)
    except PromiseNotKept:
        # It cannot be done: with every cell suppressed that may be, somebody still knows too much.
        most = table.but(status=np.where(table.status == 0, SECONDARY, table.status).astype(np.uint8))
        assert not audit(most, singletons=True, secondaries=True)
        return
    assert found.audit.insiders == []
    assert audit(found.table.but(rules={"words": {}}), secondaries=True, singletons=True).insiders == []


def test_a_cell_that_nothing_protects_is_named_and_nothing_is_handed_out() -> None:
    frame = {"region": ["a", "b"], "sales": [5.0, 7.0]}
    table = discreet.primary(discreet.tabulate(pl.DataFrame(frame), by="region", value="sales"), threshold=3)
    fixed = table.but(status=np.where(table.status == PRIMARY, PRIMARY, FIXED).astype(np.uint8))
    alone = fixed.but(status=np.array([FIXED, PRIMARY, FIXED], np.uint8))
    with pytest.raises(PromiseNotKept, match="region=a"):
        discreet.suppress(alone, steps=1)
    assert discreet.suppress(alone, steps=1, partial=True).evidence["measures"]["unprotected_count"] == 1


def test_a_partial_release_is_not_verified_and_only_the_steward_learns_which_cells(tmp_path: Path) -> None:
    # Two cells and their total; one is unsafe, the other must be published.
    frame = pl.DataFrame({"region": ["a", *"bbbb"], "sales": [5.0, 7.0, 2.0, 4.0, 6.0]})
    table = discreet.primary(discreet.tabulate(frame, by="region", value="sales"), threshold=3)
    frozen = [cell for cell in range(len(table)) if table.status[cell] != PRIMARY]
    found = discreet.suppress(table, frozen=frozen, steps=1, partial=True)
    assert found.partial
    assert not found.audit
    assert found.audit.verdict.tolist() == ["exposed"]
    assert found.audit.eliminated.tolist() == found.unprotected.tolist() == table.primary.tolist()
    assert "NOT PROTECTED: 1 of 1 cells" in found.summary()
    assert "region=a" in found.summary()
    files = found.write(tmp_path / "out.csv")
    record = json.loads(files["record"].read_text())
    assert (record["verified"], record["partial"]) == (False, True)
    validate(record, schema("release"))
    kept = discreet.suppress(unsafe_table(1, 2), steps=1)
    assert not kept.partial
    whole = json.loads(kept.write(tmp_path / "whole.csv")["record"].read_text())
    assert whole["verified"] is True
    # The words of the two records differ in nothing else.
    assert {key for key in record if key not in whole} == {"partial"}
    assert "region=a" not in files["record"].read_text()
    evidence = json.loads(files["evidence"].read_text())
    validate(evidence, schema("evidence"))
    assert evidence["verification"]["passed"] is False
    assert any("region=a" in note for note in evidence["notes"])
    assert "partial" not in files["release"].read_text()


def test_the_same_seed_and_steps_give_the_same_pattern_and_prices_matter() -> None:
    table = unsafe_table(5, 2)
    one, other = (discreet.suppress(table, steps=8, seed=3, partial=True) for _ in range(2))
    assert np.array_equal(one.secondary, other.secondary)
    by_count = discreet.suppress(table, steps=8, seed=3, partial=True, cost="unit")
    assert len(by_count.secondary) <= len(one.secondary)
    if len(one.secondary):
        dear = one.secondary.tolist()
        spared = discreet.suppress(table, steps=8, seed=3, partial=True, avoid=dear)
        assert len(np.intersect1d(spared.secondary, dear)) <= len(dear)


def test_a_previous_pattern_is_begun_with_and_changes_are_counted(tmp_path: Path) -> None:
    table = unsafe_table(7, 2)
    first = discreet.suppress(table, steps=5, seed=1, partial=True)
    first.write(tmp_path / "public.csv", internal=tmp_path / "last.parquet")
    again = discreet.suppress(table, steps=1, seed=2, partial=True, previous=tmp_path / "last.parquet")
    assert again.cost <= first.cost + 1e-9
    changes = again.evidence["measures"]["changes"]
    assert changes == len(np.setxor1d(again.secondary, first.secondary))


def test_what_is_published_has_one_mark_and_no_value_behind_it(tmp_path: Path) -> None:
    import polars as pl

    found = discreet.suppress(unsafe_table(11, 2), steps=3, partial=True)
    found.write(tmp_path / "public.csv", internal=tmp_path / "all.jj", mark="..")
    found.write(tmp_path / "public.parquet")
    text = pl.read_csv(tmp_path / "public.csv", infer_schema=False)
    typed = pl.read_parquet(tmp_path / "public.parquet")
    hidden = found.table.suppressed
    assert (text.to_series(text.width - 1) == "..").to_numpy().tolist() == hidden.tolist()
    assert typed["suppressed"].to_list() == hidden.tolist()
    assert typed.to_series(typed.width - 2).is_null().to_list() == hidden.tolist()
    record = (tmp_path / "public.csv.release.json").read_text()
    assert "cost" not in record
    assert "secondary" not in record
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "all.jj",
        "public.csv",
        "public.csv.evidence.json",
        "public.csv.release.json",
        "public.parquet",
        "public.parquet.evidence.json",
        "public.parquet.release.json",
    ]


def test_a_table_that_no_rule_was_applied_to_is_refused(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(0), 2)
    table = table.but(cost=np.ones(len(table)))
    for name in ("t.csv", "t.parquet", "t.jj", "t.tab"):
        for path, content in render(table, tmp_path / name).items():
            path.write_bytes(content)
    for given in (table, *(tmp_path / name for name in ("t.csv", "t.parquet", "t.jj", "t.tab"))):
        with pytest.raises(InputError, match=r"no rule was ever applied.*discreet primary.*--no-rules"):
            discreet.suppress(given, steps=2)
        found = discreet.suppress(given, steps=2, no_rules=True)
        assert found.cost == 0
        assert found.audit
    # A rule that finds nothing has been applied.
    judged = discreet.primary(table, threshold=1)
    assert not len(judged.primary)
    assert discreet.suppress(judged, steps=2).cost == 0
    for path, content in render(judged, tmp_path / "again.csv").items():
        path.write_bytes(content)
    assert discreet.suppress(tmp_path / "again.csv", steps=2).cost == 0
    # What another tool calls unsafe needs none.
    for path, content in render(unsafe_table(1, 2), tmp_path / "unsafe.jj").items():
        path.write_bytes(content)
    assert discreet.suppress(tmp_path / "unsafe.jj", steps=2).cost > 0


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"method": "serch"}, "did you mean 'search'"),
        ({"time": 0}, "time must be"),
        ({"steps": 0}, "steps must be"),
        ({"seed": -1}, "seed must be"),
        ({"cost": "nothing"}, "cost must be one of"),
        ({"params": {"mist": 1}}, "no parameter 'mist'"),
        ({"frozen": [10**6]}, "frozen"),
        ({"previous": "nothing.parquet"}, "nothing.parquet"),
    ],
)
def test_bad_wishes_are_refused_in_words(wishes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        discreet.suppress(unsafe_table(1, 2), **wishes)


def test_unsafe_and_frozen_cannot_be_both() -> None:
    table = unsafe_table(1, 2)
    with pytest.raises(InputError, match="unsafe and frozen"):
        discreet.suppress(table, frozen=table.primary[:1].tolist())


@pytest.mark.parametrize("name", ["all.jj", "all.jj.gz", "all.tab", "all.ods"])
def test_files_that_hold_every_value_are_never_published(name: str, tmp_path: Path) -> None:
    found = discreet.suppress(unsafe_table(1, 2), steps=1, partial=True)
    with pytest.raises(InputError, match=name):
        found.write(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_pattern_is_of_the_same_table(tmp_path: Path) -> None:
    other = discreet.suppress(unsafe_table(2, 3), steps=1, partial=True)
    other.write(tmp_path / "p.csv", internal=tmp_path / "other.parquet")
    with pytest.raises(InputError, match="same table"):
        discreet.suppress(unsafe_table(1, 2), steps=1, previous=tmp_path / "other.parquet")


def test_statuses_are_those_of_the_release() -> None:
    found = discreet.suppress(unsafe_table(3, 2), steps=2, partial=True)
    assert set(np.flatnonzero(found.table.status == SECONDARY)) == set(found.secondary.tolist())
