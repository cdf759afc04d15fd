"""What must hold of the 2012 paper's experiments, at a size that a test can bear."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import mean

import numpy as np
import polars as pl
import pytest

from discreet.experiments.page import Table, Text
from discreet.experiments.papers.p2012 import page, runs
from discreet.experiments.papers.p2012.duels import AGAINST, FAILS, FOR, HOLDS, OPEN, PART, Duel, duel
from discreet.experiments.papers.p2012.findings import (
    count_verdicts,
    find_best,
    find_gains,
    find_protected,
    find_sets,
    find_sizes,
    tell_search,
)
from discreet.experiments.papers.p2012.orders import describe_audit, rooms, shared
from discreet.experiments.papers.p2012.page import PAPER
from discreet.experiments.papers.p2012.published import TABLE_3, TABLE_4, TABLE_5, TABLE_6, TABLES_7_8
from discreet.experiments.papers.p2012.runs import (
    GENETIC,
    LARGE_KINDS,
    LOCAL,
    ONCE,
    OWN,
    SETS,
    SMALLER,
    TESTS,
    WEIGHT,
    Kind,
    find_exposed,
    full_size,
    generate,
    improvement_runs,
    smaller,
    suppress_and_attack,
    timed_runs,
    weight_runs,
)
from discreet.experiments.papers.paper import Budget
from discreet.tables.suppression.problem import problem_of

QUICK = Budget(quick=True)
SMALL = Kind("12x6", 0.15, 0.1)


@pytest.mark.parametrize("method", [WEIGHT, *LOCAL, *GENETIC, *SETS, *ONCE, *OWN])
def test_every_pattern_is_audited_and_stands(method: str) -> None:
    calls = {"evaluations": 15} if method in (*LOCAL, *GENETIC, *SETS) else {}
    found = suppress_and_attack({**SMALL.said(3), "method": method, "seed": 1, "seconds": 0.05, **calls})
    assert found["failed"] == 0
    assert found["unsafe"] > 0
    costs = [cost for _, _, cost in json.loads(found["trace"])]
    assert costs == sorted(costs, reverse=True)
    assert found["cost"] == pytest.approx(costs[-1])


def test_the_audit_finds_what_is_exposed() -> None:
    problem = problem_of(generate(SMALL, 3))
    assert set(find_exposed(problem, problem.primary)) <= set(problem.table.primary.tolist())
    assert find_exposed(problem, problem.primary)
    assert not find_exposed(problem, np.ones(len(problem), dtype=np.bool_))
    frame = pl.DataFrame({"failed": [0, 2], "hopeless": [0, 1]})
    assert "1 patterns FAILED" in describe_audit(frame)
    assert "All 1 patterns stood" in describe_audit(frame.head(1))


def test_searches_never_cost_more_than_the_order_by_weight() -> None:
    # They begin with it, as in the paper.
    assert (improvement_runs(QUICK)["gain"] >= -1e-9).all()
    # All have the same number of calls.
    assert (improvement_runs(QUICK)["calls"] == 12).all()


def test_a_run_by_calls_can_be_repeated() -> None:
    settings = {**SMALL.said(1), "method": "ga-invert", "seed": 4, "seconds": None, "evaluations": 25}
    one, other = suppress_and_attack(settings), suppress_and_attack(settings)
    assert [one[name] for name in ("cost", "calls", "secondary")] == [
        other[name] for name in ("cost", "calls", "secondary")
    ]


def test_all_methods_of_the_comparison_see_the_same_tables() -> None:
    runs = timed_runs(QUICK)
    assert set(runs["method"]) == {*SETS, *ONCE, *OWN}
    assert runs.group_by("table").agg(pl.col("unsafe").n_unique())["unsafe"].max() == 1
    proven = runs.filter(pl.col("method") == "exact")
    least = runs.group_by("table").agg(pl.col("cost").min())
    both = proven.filter(pl.col("bound").is_not_null()).join(least, on="table", suffix="_least")
    assert (both["bound"] <= both["cost_least"] + 1e-6).all()
    assert weight_runs(QUICK).height == 4


def test_a_duel_counts_tables_and_is_the_same_from_either_side() -> None:
    costs = {"a": [1.0, 2, 3, 4, 5, 6, 7], "b": [2.0, 3, 4, 5, 6, 8, 7], "c": [2.0]}
    runs = pl.DataFrame(
        [{"method": m, "table": str(i), "cost": c} for m, own in costs.items() for i, c in enumerate(own)]
    )
    one, other = duel(runs, "a", "b"), duel(runs, "b", "a")
    assert one.score == "better on 6, worse on 0, equal on 1"
    assert other.score == "better on 0, worse on 6, equal on 1"
    assert one.sign == other.sign == 2 * 0.5**6
    assert one.confidence.startswith(f"{100 * (1 - one.wilcoxon):.1f} %")
    assert list(one.gains) == pytest.approx([100 * (b - a) / b for a, b in zip(costs["a"], costs["b"], strict=True)])
    # Only tables that both were run on count.
    assert duel(runs, "c", "b").gains == [0.0]
    assert one.verdict == HOLDS
    assert other.verdict.startswith(FAILS)


@pytest.mark.parametrize(
    ("wins", "losses", "verdict"),
    [(6, 0, HOLDS), (5, 0, FOR), (3, 2, FOR), (2, 2, OPEN), (0, 0, OPEN), (2, 3, AGAINST), (0, 6, FAILS)],
)
def test_a_finding_holds_by_the_sign_test(wins: int, losses: int, verdict: str) -> None:
    found = Duel([1.0] * wins + [-1.0] * losses + [0.0] * 3)
    assert found.verdict == verdict
    assert f"equal on 3; cheaper by {(wins - losses) / (wins + losses + 3):z.2f} %" in found.words


def test_findings_are_told_from_the_figures() -> None:
    cost = {"ls-swap": 90.0, "ga-swap": 80.0}
    fixed = pl.DataFrame(
        [
            {
                "table": f"{kind} {draw}",
                "kind": kind,
                "cells": cells,
                "method": name,
                "cost": cost[name] + cells / 10,
            }
            for kind, cells in (("4x4", 25), ("8x8", 81))
            for draw in range(3)
            for name in cost
        ]
    ).with_columns(gain=100 - pl.col("cost"), spent=pl.lit(4.0))
    _, ours, verdict = find_gains(fixed, 20.0)
    assert ours.startswith(
        "on 6 of 6 tables, by 14.70 % (11.90 to 17.50); never worse; no pattern at all could gain more"
    )
    assert verdict == HOLDS
    assert (
        find_gains(fixed.with_columns(gain=pl.when(pl.col("kind") == "4x4").then("gain").otherwise(0)), 20.0)[2] == PART
    )
    assert find_sizes(fixed)[1:] == ("4×4 12.50 %, 8×8 6.90 %", HOLDS)
    assert find_sizes(fixed.with_columns(gain=pl.col("cells")))[2] == FAILS
    assert find_best(fixed)[1].startswith("better on 6, worse on 0, equal on 0; cheaper by 10.")
    sets = fixed.select("table", "kind", "cost", "spent").group_by("table", maintain_order=True).first()
    timed = pl.concat(
        sets.with_columns(method=pl.lit(name), cost=pl.col("cost") * factor, spent=pl.lit(2.0))
        for name, factor in (("ga-one-p", 1.0), ("ga-one-k", 1.0), ("ga-group-k", 1.1), ("search", 0.5))
    )
    verdicts = [verdict for _, _, verdict in find_sets(timed, "8x8")]
    assert verdicts == [OPEN, FAILS, AGAINST, AGAINST]
    told = tell_search(fixed, timed)
    assert "same seconds of the processor: better on 6, worse on 0" in told
    assert "had 2 times the seconds" in told
    counted = count_verdicts([("a", "", HOLDS), ("b", "", FOR), ("c", "", HOLDS)])
    assert counted == f"The verdicts on 3 findings: {HOLDS} (2); {FOR} (1)."


def test_the_published_numbers_agree_with_what_the_paper_says_of_them() -> None:
    # Table VI counts Table V, size by size.
    for place, name in ((0, "GA-group-K"), (1, "Hypercube"), (2, "Modular"), (3, "Optimal"), (4, "Marginal")):
        counts = tuple(
            sum(row[place] is not None for (own, _), rows in TABLE_5.items() if own == size for row in rows)
            for size in ("200x5", "200x50", "4000x10")
        )
        assert counts == TABLE_6[name]
    # Section VI.B: 21 of 30 tables are best protected by GA-group-K.
    rows = [row for own in TABLE_5.values() for row in own]
    assert sum(row[0] == min(cost for cost in row if cost is not None) for row in rows) == 21
    # Ranks of six add up to 21, and the best improvements occur for the smallest tables.
    assert sum(TABLE_4.values()) == pytest.approx(21, abs=0.05)
    averages = [mean(gain for row in own for gain in row) for own in TABLE_3.values()]
    assert min(averages[:2]) > max(averages[2:4]) > max(averages[4:])
    # Section VII.B: half of the large tables are improved, by 15.12 % at best.
    assert sum(gain > 0 for *_, gain in TABLES_7_8) == 7
    assert max(gain for *_, gain in TABLES_7_8) == 15.12


def test_the_tests_are_the_papers_or_a_part_of_them() -> None:
    for test in TESTS:
        assert (test.kind.sizes, test.kind.sensitive) in TABLE_3
        assert test.draws <= 5
        assert test.calls <= 10_000
    assert len(LARGE_KINDS) == len(TABLES_7_8)
    assert {kind.sensitive for kind in SMALLER} <= {kind.sensitive for kind in LARGE_KINDS}


def test_the_surrogate_ends_with_a_safe_pattern() -> None:
    runs = smaller(QUICK)
    assert (runs["failed"] == 0).all()
    assert set(runs["method"]) == {"ga-group-k", "search"}


def test_large_tables_are_protected_from_the_first_pattern_on() -> None:
    runs = full_size(QUICK)
    assert (runs["failed"] == 0).all()
    _, ours, verdict = find_protected(runs)
    assert ours.startswith(f"by `search` {runs.height} of {runs.height}")
    assert verdict == HOLDS
    assert find_protected(runs.with_columns(failed=pl.lit(1)))[2] == FAILS


def test_children_of_the_crossover_share_little_with_a_parent() -> None:
    cross, *mutations = shared(100, 200).values()
    assert cross < 10 < 25 < min(mutations)
    assert max(mutations) < 42  # the least of two places lies at a third


def test_a_quick_page(tmp_path: Path) -> None:
    pytest.importorskip("statsmodels")
    pytest.importorskip("altair")
    page = PAPER.page(QUICK, "discreet reproduce 2012 --quick")
    assert len(page.sections) == len(PAPER.parts)
    assert page.sections[-1].title == "What our own methods reach"
    text = page.markdown(None)
    assert "FAILED" not in text
    for table in (block for section in page.sections for block in section.blocks if isinstance(block, Table)):
        assert all(len(row) == len(table.header) for row in table.rows)
    written = page.write(tmp_path / "2012.md")
    assert len(written) == 6


def test_tables_that_exact_is_not_run_on_are_told_and_ranked_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "QUICK", tuple(replace(test, proven=1) for test in runs.QUICK))
    budget = Budget(quick=True, seed=7)
    timed = timed_runs(budget)
    tables = timed["table"].n_unique()
    assert timed.filter(pl.col("method") == "exact")["table"].n_unique() == rooms(budget).height == len(runs.QUICK)
    assert timed.filter(pl.col("method") == "search")["table"].n_unique() == tables > len(runs.QUICK)
    listed = next(block for block in page.table_5(budget).blocks if isinstance(block, Table))
    assert sum(row[-1] == "not run" and "–" in row for row in listed.rows) == tables - len(runs.QUICK)
    ranked = [block for block in page.own_methods(budget).blocks if isinstance(block, Text)]
    assert any(f"on {len(runs.QUICK)} tables" in block.text for block in ranked)
