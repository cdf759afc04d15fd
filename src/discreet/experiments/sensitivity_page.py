"""What a sensitivity analysis found, as a page to read."""

from __future__ import annotations

import itertools

import polars as pl

from discreet.experiments.charts import bars, heat_map, side_by_side
from discreet.experiments.page import Block, Made, Page, Picture, Section, Table, Text, spans
from discreet.experiments.sensitivity import Sensitivity, Step

NAMES = {"tukey": "Tukey", "scheffe": "Scheffé"}
WORDS = {"sse": "SSE", "converged": "convergence epoch"}


def page(found: Sensitivity, title: str, made: Made) -> Page:
    """The page: best values first, then the four steps, then pictures."""
    sections = [
        Section("Best values", _best(found)),
        *_steps(found.quality, "Step 1: which factors matter for the SSE", "Step 2: their groups of values"),
        *_steps(
            found.speed,
            "Step 3: which factors matter for the convergence epoch, within the best group",
            "Step 4: their groups of values",
        ),
        Section("Pictures", [_picture(found.runs, found.factors, response) for response in WORDS]),
    ]
    return Page(title, "", made, sections)


def _best(found: Sensitivity) -> list[Block]:
    rows = [
        (factor, spans(values, found.runs[factor].unique().to_list()), _why(found, factor))
        for factor, values in found.best.items()
    ]
    least = float(found.runs["sse"].min())  # type: ignore[arg-type]
    told = f"{found.runs.height:,} runs; the least SSE is {least:.4f}."
    if found.optimum is not None:
        share = 100.0 * float((found.runs["sse"] <= found.optimum * (1 + 1e-6)).mean())  # type: ignore[arg-type]
        told += f" The proven optimum is {found.optimum:.4f}; {share:.1f} % of the runs found it."
    return [Text(told), Table(("factor", "best values", "because"), rows)]


def _why(found: Sensitivity, factor: str) -> str:
    matters = [WORDS[step.response] for step in (found.quality, found.speed) if factor in step.groups]
    return f"matters for the {' and the '.join(matters)}" if matters else "does not matter"


def _steps(step: Step, first: str, second: str) -> list[Section]:
    tables: list[Block] = []
    for factor, tests in step.groups.items():
        tukey, scheffe = tests["tukey"], tests["scheffe"]
        rows = [
            (value, runs, mean, groups, others)
            for value, runs, mean, groups, others in zip(
                *(tukey[name] for name in ("value", "runs", "mean", "groups")), scheffe["groups"], strict=True
            )
        ]
        header = (factor, "runs", f"mean {WORDS[step.response]}", *NAMES.values())
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
    word = WORDS[response]
    if len(factors) == 1:
        chart = bars(runs.sort(factors[0]), factors[0], response, title=f"Median {word} and its spread", unit=word)
        return Picture(response, chart, f"{word} by {factors[0]}")
    maps = [
        heat_map(runs, one, other, response, title=f"{other} and {one}", unit=word)
        for other, one in itertools.combinations(factors, 2)
    ]
    chart = side_by_side(maps, title=f"Mean {word}", subtitle="A ring marks the least, if it is one")
    return Picture(response, chart, f"Mean {word} by {' and '.join(factors)}, as heat maps")
