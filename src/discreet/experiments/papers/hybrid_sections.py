"""Table 7 of the 2008 chapter, and what other methods reach on its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.experiments.page import Block, Section, Table, Text
from discreet.experiments.papers.companies import timed
from discreet.experiments.papers.hybrid import MACRO, SMALL, missing, table_runs
from discreet.experiments.papers.paper import Budget, compared
from discreet.experiments.papers.published2008 import TABLE_7

if TYPE_CHECKING:
    import polars as pl

Rows = list[tuple[str, object, object, str]]

DRAW = "another draw of random data"


def table_7(budget: Budget) -> Section:
    """The two-step method against MDAV."""
    runs = table_runs(budget)
    here = runs["data"].unique().to_list()
    rows: Rows = []
    gains: dict[str, list[float]] = {}
    for (data, size), line in TABLE_7.items():
        told = f"{line.mdav:g} → {line.two_step:g}, {_percent(line.gain)}, {line.macro}"
        if data not in here:
            rows.append((f"{data}, K = {size}", told, None, missing().get(data, "left out of a quick run")))
            continue
        mdav, found = _sse(runs, data, "mdav"), _row(runs, data, "two-step", size, "genetic")
        gain = 100.0 * (1 - found["sse"] / mdav)
        gains.setdefault(data, []).append(gain)
        ours = f"{_figures(mdav)} → {_figures(found['sse'])}, {gain:.1f} %, {found['macro']}"
        rows.append((f"{data}, K = {size}", told, ours, _why(data)))
    every = [gain for each in gains.values() for gain in each]
    never_worse = sum(gain >= 0 for gain in every)
    means = {data: sum(gains[data]) / len(gains[data]) for data in SMALL}
    published = {data: sum(TABLE_7[data, size].gain or 0 for size in MACRO) / len(MACRO) for data in SMALL}
    blocks: list[Block] = [
        Text(
            "SSE of MDAV → SSE of two-step, improvement, number of macro-groups; *k* = 3. The genetic algorithm has "
            f"{_most(runs['generations']):,} generations in each macro-group; how many the chapter has it does not "
            "say. Its numbers of macro-groups count leftovers in a way that it does not tell; ours are those of MDAV."
        ),
        compared(rows),
        Text(
            f"Two-step is never worse than MDAV: true in {never_worse} of {len(every)} runs (Lemma 1 proves it). The "
            f"improvement on Clustered, {means['Clustered']:.1f} % on average, is "
            f"{means['Clustered'] / means['Scattered']:.1f} times that on Scattered, {means['Scattered']:.1f} %; "
            f"published: {published['Clustered']:.1f} % and {published['Scattered']:.1f} %. How much of "
            "what there is to gain in the macro-groups the genetic algorithm finds in so many generations shows when "
            "`memetic` searches them in its place (`inner=memetic`):"
        ),
        Table(("data set", "K", "gain with genetic", "gain with memetic"), _inner(runs)),
    ]
    return Section("Table 7: the hybrid approach", blocks)


def _inner(runs: pl.DataFrame) -> list[tuple[object, ...]]:
    """What two-step gains over MDAV with either search in the macro-groups."""
    rows: list[tuple[object, ...]] = []
    for data in runs["data"].unique(maintain_order=True):
        mdav = _sse(runs, data, "mdav")
        for size in MACRO:
            sse = [_row(runs, data, "two-step", size, inner)["sse"] for inner in ("genetic", "memetic")]
            rows.append((data, size, *(f"{100 * (1 - each / mdav):.1f} %" for each in sse)))
    return rows


def own_methods(budget: Budget) -> Section:
    """What our methods reach on the same data."""
    runs = table_runs(budget)
    rows: list[tuple[object, ...]] = []
    for data in runs["data"].unique(maintain_order=True):
        mdav, memetic = _sse(runs, data, "mdav"), _sse(runs, data, "memetic")
        chapter = min(float(_row(runs, data, "two-step", size, "genetic")["sse"]) for size in MACRO)
        inner = min(float(_row(runs, data, "two-step", size, "memetic")["sse"]) for size in MACRO)
        gain = f"{100 * (1 - memetic / mdav):.1f} %"
        rows.append((data, mdav, _sse(runs, data, "vmdav"), chapter, inner, memetic, gain))
    companies = [timed(method, budget)["sse"] for method in ("mdav", "vmdav", "genetic", "memetic")]
    gain = f"{100 * (1 - companies[3] / companies[0]):.1f} %"
    rows.append(("11 companies", companies[0], companies[1], companies[2], None, companies[3], gain))
    told = (
        "SSE on the same data, *k* = 3. `two-step` is the least over K = 12, 18, 27: with the chapter's genetic "
        "algorithm in the macro-groups, and with `memetic` there (`inner=memetic`); on the companies it is the genetic "
        "algorithm alone. [`memetic`](../methods.md) searches all records at once. For the random data of Tables 4 to "
        "6 see [the 2006 paper](2006.md)."
    )
    header = ("data set", "mdav", "vmdav", "two-step", "two-step, inner memetic", "memetic", "memetic below mdav")
    return Section("What our own methods reach", [Text(told), Table(header, rows)])


def _row(runs: pl.DataFrame, data: str, method: str, size: int, inner: str) -> dict[str, Any]:
    import polars as pl

    chosen = (
        (pl.col("data") == data) & (pl.col("method") == method) & (pl.col("K") == size) & (pl.col("inner") == inner)
    )
    return runs.filter(chosen).row(0, named=True)


def _sse(runs: pl.DataFrame, data: str, method: str) -> float:
    return float(_row(runs, data, method, 0, "")["sse"])


def _most(column: pl.Series) -> int:
    return int(column.max())  # type: ignore[arg-type]


def _percent(gain: float | None) -> str:
    return "not available" if gain is None else f"{gain:g} %"


def _figures(sse: float) -> str:
    return f"{sse:.2f}" if sse < 100 else f"{sse:.1f}"


def _why(data: str) -> str:
    if data == "Scattered":
        return f"{DRAW}; the chapter's rates and generations are not told"
    if data == "Clustered":
        return f"{DRAW}; how far the chapter shifts clusters, its rates and generations are not told"
    return "MDAV: none; two-step: the chapter's rates and generations are not told"
