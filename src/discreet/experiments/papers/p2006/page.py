"""Tables I to V and Figures 1 to 4 of the 2006 paper, which introduced `genetic`.

A. Solanas, A. Martínez-Ballesté, J. M. Mateo-Sanz, J. Domingo-Ferrer, Multivariate microaggregation based genetic
algorithms, 3rd International IEEE Conference on Intelligent Systems (2006) 65-70. The numbers that it prints come
first; nothing else is typed in by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from discreet.experiments.charts import heat_map, side_by_side
from discreet.experiments.page import Picture, Section, Table, Text, spans
from discreet.experiments.papers.p2006.runs import (
    FOUND_WITHIN,
    PLAIN_TESTS,
    TESTS,
    best_pair,
    best_run,
    bound,
    epoch_of_best,
    largest,
    percent_at,
    probability,
    range_over_draws,
    representatives,
    run_longer_test,
    run_test,
    run_test_without_elite,
    sse_of,
    with_both_operators,
)
from discreet.experiments.papers.paper import Budget, Paper, compare_figures

# Table I: a(n,k) for k = 3, 4, 5.
TABLE_1 = {
    10: (2, 2, 1),
    20: (6, 6, 5),
    30: (11, 14, 14),
    40: (18, 27, 29),
    50: (26, 45, 56),
    100: (94, 272, 520),
    500: (2134, 26477, 197549),
    1000: (8434, 205037, 2953389),
}
# Table II: SSE of MDAV; least SSE, its mutation and crossover rates and population; least average, its rates.
TABLE_2 = {
    "20x2": (5.39, 4.29, (0.1, 0.4, 60), 4.61, (0.1, 0.7)),
    "35x2": (5.01, 3.13, (0.1, 0.1, 90), 3.59, (0.1, 0.5)),
    "50x2": (5.92, 4.02, (0.1, 0.1, 50), 4.67, (0.1, 0.5)),
    "100x2": (5.48, 15.37, (0.1, 0.2, 50), 23.78, (0.1, 0.0)),
}
# Table III: average convergence epoch of the best results.
TABLE_3 = {"11x2": 1384, "20x2": 3251, "35x2": 5269, "50x2": 53405}
# Table IV: optimum, MDAV, genetic algorithm, average convergence epoch.
TABLE_4 = {"11x5": (29.36, 39.11, 29.36, 931), "11x7": (43.28, 52.47, 43.28, 839), "11x10": (68.66, 71.14, 68.66, 705)}
# Table V: best mutation rates, crossover rates and populations.
TABLE_5 = {
    "11x2": ("0.1 – 1", "0.3 – 1", "80 – 100"),
    "20x2": ("0.1 – 0.3", "0.1 – 1", "80 – 100"),
    "35x2": ("0.1", "0 – 0.3", "90 – 100"),
    "50x2": ("0.1", "0 – 1", "60 – 100"),
    "100x2": ("0.1", "0 – 0.8", "70 – 100"),
    "11x3": ("0.1 – 1", "0.5 – 1", "60 – 100"),
}
# Section III.A: the optimum by exhaustive search; the mutation rates of the best SSE in Figure 4.
OPTIMA = {"11x2": 6.83, "11x3": 15.20}
FIGURE_4 = {"20x2": (0.1, 0.2, 0.3, 0.4), "35x2": (0.1,), "50x2": (0.1,), "100x2": (0.1,)}
# Example 1: µ, and the bound times 10¹².
EXAMPLE_MU, EXAMPLE_BOUND = 1208883745669600000, 13.2977212023656


DRAW = "another draw of random data"
FEWER = f"{DRAW}, fewer runs and rates"


def table_1(_budget: Budget) -> Section:
    """The values of a(n,k)."""
    ours = {n: tuple(representatives(n, k) for k in (3, 4, 5)) for n in TABLE_1}
    equal = sum(a == b for n in TABLE_1 for a, b in zip(ours[n], TABLE_1[n], strict=True))
    rows = [(n, *(f"{a:,} / {b:,}" for a, b in zip(TABLE_1[n], ours[n], strict=True))) for n in TABLE_1]
    return Section(
        "Table I: representatives of optimal k-partitions",
        [
            Text("Published / ours. Sizes of *k* to 2*k*−1 that add up to *n*, whatever their order (equation 4)."),
            Table(("n", "k = 3", "k = 4", "k = 5"), rows),
            Text(f"{equal} of 24 entries are equal."),
        ],
    )


def example_1(_budget: Budget) -> Section:
    """The bound of Example 1."""
    limit = bound(30, 3)
    rows: list[tuple[str, object, object, str]] = [
        (
            "µ, equation 5",
            str(EXAMPLE_MU),
            str(largest(30, 3)),
            "none; the formula printed for it has a slip, 3 for 3!: 30!/(3!¹⁰ 10!) is what gives the number",
        ),
        ("bound of equation 6, × 10⁻¹²", f"{EXAMPLE_BOUND:.13f}", f"{float(limit * 10**12):.13f}", "none"),
        (
            "probability itself",
            None,
            f"{float(probability(30, 3)):.6f}",
            "the paper leaves it open; exact, as a fraction of whole numbers",
        ),
    ]
    return Section(
        "Example 1: how likely a random chromosome is a candidate",
        [
            compare_figures(rows),
            Text(
                "For *n* = 30 and *k* = 3. The probability is larger than what equation 6 gives: the equation divides "
                "a number of partitions, in which groups have no names, by a number of chromosomes, in which they "
                "have; one partition into 10 groups is 10! chromosomes. The conclusion stands: only one random "
                f"chromosome in {1 / float(probability(30, 3)):,.0f} is a candidate here, and for *n* = 100 one in "
                f"{1 / float(probability(100, 3)):,.0f}, so Algorithm I is needed."
            ),
        ],
    )


def figure_1(budget: Budget) -> Section:
    """Average SSE by rates on 11 records."""
    rows: list[tuple[str, object, object, str]] = []
    for name, published in OPTIMA.items():
        share = percent_at(with_both_operators(run_test(name, budget).runs), _optimum(name, budget))
        rows += [
            (
                f"{name}: optimum by exhaustive search",
                published,
                sse_of(name, "exhaustive", budget),
                _draws(name, "exhaustive", budget),
            ),
            (f"{name}: runs that find it, both rates above 0", "always", f"{share:.2f} %", _often(share)),
        ]
    return Section(
        "Figure 1: SSE and rates, 11 records",
        [
            Text("Average SSE of all runs with a mutation and a crossover rate; a ring marks the least, if it is one."),
            _maps(("11x2", "11x3"), "sse", "2006-figure-1", "Average SSE", budget),
            compare_figures(rows),
        ],
    )


def figure_2(budget: Budget) -> Section:
    """Average convergence epoch by rates on 11 records, 2 attributes."""
    return _epochs("11x2", 2, budget)


def figure_3(budget: Budget) -> Section:
    """Average convergence epoch by rates on 11 records, 3 attributes."""
    return _epochs("11x3", 3, budget)


def _epochs(name: str, number: int, budget: Budget) -> Section:
    means = (
        with_both_operators(run_test(name, budget).runs)
        .group_by("mutation")
        .agg(pl.col("converged").mean())
        .sort("mutation")
        .rows()
    )
    order = "grows" if means[-1][1] > means[0][1] else "does not grow"
    text = f"{order}: {means[0][1]:,.0f} at rate {means[0][0]:g}, {means[-1][1]:,.0f} at rate {means[-1][0]:g}"
    return Section(
        f"Figure {number}: convergence epoch and rates, {name}",
        [
            Text("Average generation that found the best chromosome of a run; colours follow the logarithm."),
            _maps((name,), "converged", f"2006-figure-{number}", "Average convergence epoch", budget),
            compare_figures(
                [("convergence epoch with the mutation rate", "grows", text, "its size is that of " + DRAW)]
            ),
        ],
    )


def figure_4(budget: Budget) -> Section:
    """Average SSE by rates on larger data."""
    rows: list[tuple[str, object, object, str]] = []
    for name, rates in FIGURE_4.items():
        means = run_test(name, budget).runs.group_by("mutation").agg(pl.col("sse").mean()).sort("sse", "mutation")
        best = means["mutation"][0]
        rows.append(
            (f"{name}: best mutation rate", spans(rates, rates), f"{best:g}", "none" if best in rates else DRAW)
        )
    return Section(
        "Figure 4: SSE and rates, 20 to 100 records",
        [
            Text("As in Figure 1; colours follow the logarithm."),
            _maps(tuple(FIGURE_4), "sse", "2006-figure-4", "Average SSE", budget),
            compare_figures(rows),
        ],
    )


def table_2(budget: Budget) -> Section:
    """Least and average SSE on larger data."""
    rows: list[tuple[str, object, object, str]] = []
    repaired: list[tuple[object, ...]] = []
    for name, (mdav, least, at, average, rates) in TABLE_2.items():
        runs = run_longer_test(name, budget)
        best, mean = best_run(runs), best_pair(runs)
        rival = sse_of(name, "mdav", budget)
        # No run is below the optimum; at 100 records none comes near it either.
        fewer = f"{FEWER}; how many generations the paper has here is not known" if name == "100x2" else FEWER
        why = fewer if name == "100x2" else f"{DRAW}; the optimum {_range(name, 'exact', budget)}"
        rows += [
            (f"{name}: MDAV", mdav, rival, _draws(name, "mdav", budget)),
            (f"{name}: least SSE (rates, population)", _told(least, at), _told(best[0], best[1:]), why),
            (f"{name}: least average SSE (rates)", _told(average, rates), _told(mean[0], mean[1:]), fewer),
        ]
        theirs, found = _below(mdav, least, average), _below(rival, best[0], mean[0])
        same = "none" if theirs == found else FEWER
        rows.append((f"{name}: genetic below MDAV, least and average", theirs, found, same))
        memetic = sse_of(name, "memetic", budget)
        good = memetic <= min(rival, best[0]) * (1 + FOUND_WITHIN)
        repaired.append((name, rival, best[0], mean[0], memetic, _optimum(name, budget), good))
    return Section(
        "Table II: least and average SSE, 20 to 100 records",
        [
            compare_figures(rows),
            Text(
                "In the paper the genetic algorithm is below MDAV up to 50 records, and above it at 100: one gene per "
                "record, crossed and mutated blindly, does not scale. [`memetic`](../methods.md) repairs that on the "
                "same data:"
            ),
            Table(
                (
                    "data set",
                    "MDAV",
                    "genetic, least",
                    "genetic, average",
                    "memetic",
                    "proven optimum",
                    "memetic as good as any",
                ),
                repaired,
            ),
        ],
    )


def table_3(budget: Budget) -> Section:
    """Convergence epochs of the best runs."""
    rows: list[tuple[str, object, object, str]] = []
    for name, published in TABLE_3.items():
        runs = run_longer_test(name, budget)
        rows.append((f"n = {TESTS[name].n}", published, *_epoch(name, runs, budget)))
    return Section(
        "Table III: convergence epoch of the best runs",
        [Text("Average over the runs that found the least SSE of all runs on the data set."), compare_figures(rows)],
    )


def table_4(budget: Budget) -> Section:
    """The optimum for more attributes."""
    rows: list[tuple[str, object, object, str]] = []
    for name, (optimum, mdav, genetic, epoch) in TABLE_4.items():
        runs = with_both_operators(run_test(name, budget).runs)
        share = percent_at(runs, _optimum(name, budget))
        rows += [
            (f"{name}: optimum", optimum, sse_of(name, "exhaustive", budget), _draws(name, "exhaustive", budget)),
            (f"{name}: MDAV", mdav, sse_of(name, "mdav", budget), _draws(name, "mdav", budget)),
            (f"{name}: genetic, least", genetic, float(runs["sse"].min()), DRAW),  # type: ignore[arg-type]
            (f"{name}: average convergence epoch", epoch, *_epoch(name, runs, budget)),
            (f"{name}: runs that find the optimum", "around 90 %", f"{share:.2f} %", _often(share)),
        ]
    return Section("Table IV: 11 records, more attributes", [compare_figures(rows)])


def table_5(budget: Budget) -> Section:
    """The best values by the sensitivity analysis."""
    rows: list[tuple[object, ...]] = []
    for name, published in TABLE_5.items():
        found = run_test(name, budget)
        ours = [spans(found.best[factor], found.runs[factor].unique().to_list()) for factor in found.factors]
        matters = ", ".join(found.quality.anova.significant) or "nothing"
        rows += [(name, "published", *published, None), (name, "ours", *ours, matters)]
    return Section(
        "Table V: best values by the sensitivity analysis",
        [
            Text(
                "Analysis of variance of the SSE, Tukey's and Scheffé's groups of the significant factors, the same "
                "for the convergence epoch within the best group ([how](../studies.md)). A factor that matters for "
                "neither keeps all its values. What explains the differences: other data, fewer values and runs, and "
                "that the paper does not say which of its two tests decides where they differ; here it is Tukey's, "
                "which tells more values apart."
            ),
            Table(("data set", "", "mutation", "crossover", "population", "significant for the SSE"), rows),
        ],
    )


def own_methods(budget: Budget) -> Section:
    """What our methods reach on the same data."""
    methods = ("mdav", "vmdav", "tour", "memetic")
    rows = []
    for name in TESTS:
        optimum = _optimum(name, budget)
        least = float(run_longer_test(name, budget)["sse"].min())  # type: ignore[arg-type]
        sse = [sse_of(name, method, budget) for method in methods]
        rows.append((name, *sse[:3], least, sse[3], optimum, f"{100 * (sse[3] / optimum - 1):.2f} %"))
    return Section(
        "What our own methods reach",
        [
            Text("SSE on the same data, *k* = 3; the optimum is proven by `exact`."),
            Table(("data set", *methods[:3], "genetic, least", "memetic", "proven optimum", "memetic above it"), rows),
        ],
    )


def _epoch(name: str, runs: pl.DataFrame, budget: Budget) -> tuple[object, str]:
    """The convergence epoch of the best runs and what explains that it is another one."""
    found = epoch_of_best(runs)
    if name not in PLAIN_TESTS:
        return round(found), FEWER
    plain = epoch_of_best(with_both_operators(run_test_without_elite(name, budget)))
    return round(found), f"{FEWER}; our best chromosome passes on unaltered, if it does not the epoch is {plain:,.0f}"


def _maps(names: Sequence[str], value: str, file: str, title: str, budget: Budget) -> Picture:
    charts: list[Any] = [
        heat_map(
            run_test(name, budget).runs.with_columns(converged=_positive()),
            "crossover",
            "mutation",
            value,
            title=name,
            unit="SSE" if value == "sse" else "epoch",
            bent=True,
        )
        for name in names
    ]
    chart = side_by_side(charts, title=f"{title} by mutation and crossover rate")
    return Picture(file, chart, f"{title} by mutation and crossover rate on {', '.join(names)}, as heat maps")


def _positive() -> pl.Expr:
    return pl.col("converged").clip(lower_bound=1)  # a logarithm needs it


def _optimum(name: str, budget: Budget) -> float:
    optimum = run_test(name, budget).optimum
    return sse_of(name, "exact", budget) if optimum is None else optimum


def _often(share: float) -> str:
    return "none" if share == 100 else f"{100 - share:.2f} % of the runs had not found it at their last generation"


def _draws(name: str, method: str, budget: Budget) -> str:
    return f"{DRAW}: it {_range(name, method, budget)}"


def _range(name: str, method: str, budget: Budget) -> str:
    count, low, high = range_over_draws(name, method, budget)
    return f"is {low:.2f} – {high:.2f} in 90 % of {count} draws"


def _told(sse: float, at: Sequence[float]) -> str:
    return f"{sse:.2f} ({', '.join(f'{value:g}' for value in at)})"


def _below(mdav: float, least: float, average: float) -> str:
    return " and ".join("yes" if value < mdav else "no" for value in (least, average))


PAPER = Paper(
    year="2006",
    citation=(
        "A. Solanas, A. Martínez-Ballesté, J. M. Mateo-Sanz, J. Domingo-Ferrer, Multivariate microaggregation based "
        "genetic algorithms, 3rd International IEEE Conference on Intelligent Systems (2006) 65-70."
    ),
    about=(
        "The paper introduces the method [`genetic`](../methods.md) and studies its mutation rate, crossover rate and "
        "population on random data: a data set named 20x2 has 20 records and 2 attributes, whose values are drawn "
        "evenly from −10,000 to 10,000 and standardised; *k* is taken to be 3, which the paper does not say. Its draws "
        "are not known, so ours are others, and SSE differ by that much. A run that has reached the proven optimum is "
        "ended, as neither its SSE nor its convergence epoch can change any more."
    ),
    parts={
        "table 1": table_1,
        "example 1": example_1,
        "figure 1": figure_1,
        "figure 2": figure_2,
        "figure 3": figure_3,
        "figure 4": figure_4,
        "table 2": table_2,
        "table 3": table_3,
        "table 4": table_4,
        "table 5": table_5,
        "own methods": own_methods,
    },
    cut=(
        "Cut, against the paper's 12,100 runs on each data set (mutation and crossover rates 0 to 1 in tenths, "
        "populations 10 to 100 in tens, 10 runs of each): 2 runs of each on 11x2 and 11x3; 1 run with populations 10, "
        "40, 70, 100 and rates above 0 on 11x5, 11x7 and 11x10; crossover rates 0, 0.2, 0.5, 1 and 2 runs with "
        "populations 10, 40, 70, 100 on 20x2 and 35x2; the same rates and runs with populations 10, 50, 100 on 50x2 "
        "and 100x2. These have 10,000 generations; on 50x2 and 100x2 Tables II and III are of further runs of 100,000 "
        "generations, as the paper's for 50 records, at mutation rate 0.1. How many generations the paper has for 100 "
        "records it does not say. The epochs of a best chromosome that is not passed on are of 2 runs with mutation "
        "rates 0.1, 0.4, 0.7, 1, crossover rates 0.2, 0.6, 1 and populations 10, 40, 70, 100."
    ),
)
