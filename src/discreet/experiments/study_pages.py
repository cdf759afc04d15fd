"""What a comparison of methods or a sensitivity analysis found, as a page to read."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl

from discreet.experiments.charts import bars, critical_difference, gap_curves, heat_map, loss_and_risk, side_by_side
from discreet.experiments.compare import Compared
from discreet.experiments.page import Block, Made, Page, Picture, Section, Table, Text, spans
from discreet.experiments.sensitivity import Sensitivity, Step
from discreet.experiments.statistics import ALPHA
from discreet.experiments.tradeoff import Tradeoff

# Moments at which the curves of time to quality are looked at, and the first of them at the earliest, in seconds.
MOMENTS, SHORTEST = 60, 1e-4


def curves(traces: pl.DataFrame) -> pl.DataFrame:
    """The median over all runs of a method of the gap to the best value of any run on the case.

    Parameters
    ----------
    traces : polars.DataFrame
        `case`, `method`, `seed`, `seconds`, `value`: each time a run got better.

    Returns
    -------
    polars.DataFrame
        `method`, `seconds` (evenly spaced on a logarithmic scale), `gap` in percent, with its quartiles `low` and
        `high`. A method has no point before all of its runs have a value.
    """
    best = dict(traces.group_by("case").agg(pl.col("value").min()).rows())
    first, last = (float(getattr(traces["seconds"], end)() or SHORTEST) for end in ("min", "max"))
    moments = np.geomspace(max(first, SHORTEST), max(last, first, SHORTEST) * 1.02, MOMENTS)
    rows: list[dict[str, Any]] = []
    for (method,), own in traces.group_by("method", maintain_order=True):
        gaps = [
            _gaps(run.sort("seconds"), best[run["case"][0]], moments)
            for _, run in own.group_by("case", "seed", maintain_order=True)
        ]
        for moment, column in zip(moments, np.array(gaps).T, strict=True):
            if not np.isnan(column).any():
                low, gap, high = np.percentile(column, (25, 50, 75))
                rows.append({"method": method, "seconds": moment, "gap": gap, "low": low, "high": high})
    return pl.DataFrame(
        rows, schema={"method": pl.String, **dict.fromkeys(("seconds", "gap", "low", "high"), pl.Float64)}
    )


def _gaps(run: pl.DataFrame, best: float, moments: Any) -> Any:
    """The gap of one run at each moment; NaN before its first value."""
    values = np.minimum.accumulate(run["value"].to_numpy())
    gap = np.where(values <= best, 0.0, 100.0 * (values / best - 1) if best > 0 else 100.0)
    place = np.searchsorted(run["seconds"].to_numpy(), moments, side="right") - 1
    return np.where(place >= 0, gap[np.maximum(place, 0)], np.nan)


# With fewer cases not even a method that always wins has a p-value of Wilcoxon's test below 0.05.
ENOUGH_CASES = 6


def comparison_page(found: Compared, title: str, made: Made) -> Page:
    """The page: ranks and tests first, then medians and spreads, then time to quality."""
    curve = curves(found.traces)
    seen = set(curve["method"])
    late = [method for method in found.methods if method not in seen]
    text = "How far a method is above the best of all runs on a case after so many seconds."
    if late:
        text += f" Not drawn, for some run of theirs has no value: {', '.join(late)}."
    return Page(
        title,
        "",
        made,
        [
            Section("Which method is better", _tests(found)),
            Section("Medians and spreads", _medians(found)),
            Section("Time to quality", [Text(text), Picture("time-to-quality", gap_curves(curve), "Gap over seconds")]),
        ],
    )


def _tests(found: Compared) -> list[Block]:
    cases, tests = len(found.cases), found.tests
    words = f"{len(found.methods)} methods, {cases} case{'s' * (cases > 1)}, {found.runs['seed'].n_unique()} seeds"
    runs = f"{words}: {found.runs.height:,} runs. The value is {found.unit}; less is better."
    few = (
        [
            Text(
                f"With fewer than {ENOUGH_CASES} cases Wilcoxon's test cannot tell two methods apart, "
                "however they differ."
            )
        ]
        if cases < ENOUGH_CASES
        else []
    )
    if found.pair is not None:
        row = found.pair
        sign = "differ" if row["p"] < ALPHA else "are not told apart"
        text = (
            f"`{row['one']}` is better on {row['wins']} cases, equal on {row['ties']}, worse on {row['losses']}; by "
            f"Wilcoxon's signed-rank test p = {row['p']:.3g}: they {sign}."
        )
        return [Text(runs), Text(text), *few]
    if tests is None:
        return [Text(runs), Text("One case only: tests over cases need at least two; add data sets, tables or k.")]
    verdict = "the methods differ" if tests.p < ALPHA else "no method is told from the others"
    pairs = tests.pairs.select("one", "other", "wins", "ties", "losses", "p", "holm", "nemenyi")
    return [
        Text(runs),
        Text(f"Friedman's test: χ² = {tests.statistic:.2f}, p = {tests.p:.3g}: {verdict}."),
        Table(("method", "mean rank", f"median {found.unit}"), tests.ranks.rows()),
        Picture(
            "critical-difference",
            critical_difference(tests.ranks, tests.critical_difference, title="Mean ranks"),
            "Mean ranks with the critical difference",
        ),
        Text(
            "Pairs: on how many cases the one is better, equal, worse; p of Wilcoxon's signed-rank test, corrected for "
            "all pairs by Holm's procedure; p of Nemenyi's test on the ranks."
        ),
        Table.of(pairs),
        *few,
    ]


def _medians(found: Compared) -> list[Block]:
    table = found.summary()
    rows = [
        (row["case"], row["method"], row["median"], row["low"], row["high"], f"{row['above']:.2f}", row["seconds"])
        for row in table.to_dicts()
    ]
    header = ("case", "method", f"median {found.unit}", "lower quartile", "upper quartile", "above the best, %", "s")
    return [Table(header, rows)]


TEST_NAMES = {"tukey": "Tukey", "scheffe": "Scheffé"}
RESPONSE_NAMES = {"sse": "SSE", "converged": "convergence epoch"}


def sensitivity_page(found: Sensitivity, title: str, made: Made) -> Page:
    """The page: best values first, then the four steps, then pictures."""
    sections = [
        Section("Best values", _best_values(found)),
        *_sections(found.quality, "Step 1: which factors matter for the SSE", "Step 2: their groups of values"),
        *_sections(
            found.speed,
            "Step 3: which factors matter for the convergence epoch, within the best group",
            "Step 4: their groups of values",
        ),
        Section("Pictures", [_picture(found.runs, found.factors, response) for response in RESPONSE_NAMES]),
    ]
    return Page(title, "", made, sections)


def _best_values(found: Sensitivity) -> list[Block]:
    rows = [
        (factor, spans(values, found.runs[factor].unique().to_list()), _why(found, factor))
        for factor, values in found.best.items()
    ]
    least = float(found.runs["sse"].min())  # type: ignore[arg-type]
    text = f"{found.runs.height:,} runs; the least SSE is {least:.4f}."
    if found.optimum is not None:
        share = 100.0 * float((found.runs["sse"] <= found.optimum * (1 + 1e-6)).mean())  # type: ignore[arg-type]
        text += f" The proven optimum is {found.optimum:.4f}; {share:.1f} % of the runs found it."
    return [Text(text), Table(("factor", "best values", "because"), rows)]


def _why(found: Sensitivity, factor: str) -> str:
    matters = [RESPONSE_NAMES[step.response] for step in (found.quality, found.speed) if factor in step.groups]
    return f"matters for the {' and the '.join(matters)}" if matters else "does not matter"


def _sections(step: Step, first: str, second: str) -> list[Section]:
    tables: list[Block] = []
    for factor, tests in step.groups.items():
        tukey, scheffe = tests["tukey"], tests["scheffe"]
        rows = [
            (value, runs, mean, groups, others)
            for value, runs, mean, groups, others in zip(
                *(tukey[name] for name in ("value", "runs", "mean", "groups")), scheffe["groups"], strict=True
            )
        ]
        header = (factor, "runs", f"mean {RESPONSE_NAMES[step.response]}", *TEST_NAMES.values())
        tables.append(Table(header, [tuple(_plain(cell) for cell in row) for row in rows]))
    if not tables:
        tables = [Text("No factor matters here.")]
    else:
        tables.insert(0, Text("Values that share a letter are not told apart; group a is the best."))
    return [Section(first, [Table.of(step.anova.table)]), Section(second, tables)]


def _plain(cell: object) -> object:
    """A value of a factor as it was given, and not with three decimals."""
    return f"{cell:g}" if isinstance(cell, float) and cell == round(cell, 3) and abs(cell) < 1e4 else cell


def _picture(runs: pl.DataFrame, factors: tuple[str, ...], response: str) -> Picture:
    word = RESPONSE_NAMES[response]
    if len(factors) == 1:
        chart = bars(runs.sort(factors[0]), factors[0], response, title=f"Median {word} and its spread", unit=word)
        return Picture(response, chart, f"{word} by {factors[0]}")
    maps = [
        heat_map(runs, one, other, response, title=f"{other} and {one}", unit=word)
        for other, one in itertools.combinations(factors, 2)
    ]
    chart = side_by_side(maps, title=f"Mean {word}", subtitle="A ring marks the least, if it is one")
    return Picture(response, chart, f"Mean {word} by {' and '.join(factors)}, as heat maps")


RISKS = {"dr": "DR, the mean of linkage and interval disclosure", "dld": "DLD, distance-based linkage"}


def tradeoff_page(found: Tradeoff, title: str, made: Made) -> Page:
    """The page: the map of loss and risk, and the figures behind it."""
    front = found.front()
    best = front.sort("score" if found.risk == "dr" else found.risk).row(0, named=True)
    told = [name for name in ("il", "dld", "id", "dr", "score") if not found.runs[name].null_count()]
    listed = front.select("k", "method").rows()
    kept = ", ".join(f"{method} with k = {k}" for k, method in listed)
    text = (
        f"Loss is IL, risk is {RISKS[found.risk]}; both in percent, less is better. No other release is better in both "
        f"than: {kept}."
    )
    if found.risk == "dr":
        text += f" The least score, the mean of both, has {best['method']} with k = {best['k']}: {best['score']:.2f}."
    return Page(
        title,
        "",
        made,
        [
            Section(
                "Loss and risk",
                [
                    Text(text),
                    Picture(
                        "loss-and-risk", loss_and_risk(found.runs, found.risk), "Risk over loss, a line per method"
                    ),
                    Table.of(found.runs.select("k", "method", *told, "groups")),
                ],
            )
        ],
    )
