"""Which of several methods is better over many cases: ranks, Friedman, Wilcoxon with Holm, Nemenyi.

J. Demšar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning Research 7
(2006) 1-30.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.experiments.statistics import ALPHA, need

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods compared over cases.

    Parameters
    ----------
    ranks : polars.DataFrame
        `method`, `rank` (its mean over the cases, 1 is best) and `median`, from the best to the worst.
    pairs : polars.DataFrame
        For each pair: `one`, `other`, `wins`, `ties`, `losses` of the one, `p` of Wilcoxon's signed-rank test, `holm`
        (p corrected for all pairs), `nemenyi` (p of Nemenyi's test on the ranks).
    statistic, p : float
        Friedman's test: whether any method differs from the others.
    critical_difference : float
        Mean ranks that are farther apart than this differ significantly (Nemenyi).
    cases : int
        How many cases all methods were compared on.
    """

    ranks: pl.DataFrame
    pairs: pl.DataFrame
    statistic: float
    p: float
    critical_difference: float
    cases: int


def compare(frame: pl.DataFrame, *, method: str, case: str, value: str, alpha: float = ALPHA) -> Comparison:
    """Compare methods by a value on the same cases; less is better.

    Parameters
    ----------
    frame : polars.DataFrame
        A row per method and case; several rows (runs) of one count with their median.
    method, case, value : str
        The columns.
    alpha : float
        Level of the critical difference.
    """
    import polars as pl
    from scipy import stats

    need()
    import scikit_posthocs

    wide = frame.pivot(method, index=case, values=value, aggregate_function="median").sort(case)
    names = [name for name in wide.columns if name != case]
    if wide.select(pl.sum_horizontal(pl.all().null_count())).item():
        raise InputError("some methods lack some cases; they can be compared only on cases that all of them have")
    if len(names) < 3 or wide.height < 2:
        raise InputError(
            f"Friedman's test needs at least 3 methods and 2 cases, not {len(names)} and {wide.height}; add some"
        )
    matrix = wide.select(names).to_numpy()
    ranks = stats.rankdata(matrix, axis=1).mean(axis=0)
    same = bool((matrix == matrix[:, :1]).all())
    statistic, p = (0.0, 1.0) if same else stats.friedmanchisquare(*matrix.T)
    nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(matrix).to_numpy()
    count = len(names)
    rows = []
    for i in range(count):
        for j in range(i + 1, count):
            gain = matrix[:, j] - matrix[:, i]
            rows.append(
                {
                    "one": names[i],
                    "other": names[j],
                    "wins": int((gain > 0).sum()),
                    "ties": int((gain == 0).sum()),
                    "losses": int((gain < 0).sum()),
                    "p": float(stats.wilcoxon(gain).pvalue) if gain.any() else 1.0,
                    "nemenyi": float(nemenyi[i, j]),
                }
            )
    pairs = pl.DataFrame(rows)
    pairs = pairs.with_columns(pl.Series("holm", holm(pairs["p"].to_list())))
    width = float(stats.studentized_range.ppf(1 - alpha, count, math.inf)) / math.sqrt(2)
    table = pl.DataFrame({"method": names, "rank": ranks, "median": [float(wide[name].median()) for name in names]})  # type: ignore[arg-type]
    return Comparison(
        table.sort("rank", "method"),
        pairs,
        float(statistic),
        float(p),
        width * math.sqrt(count * (count + 1) / (6 * wide.height)),
        wide.height,
    )


def holm(p: list[float]) -> list[float]:
    """Correct p-values for their number, by Holm's step-down procedure."""
    from statsmodels.stats.multitest import multipletests

    return [float(value) for value in multipletests(p, method="holm")[1]]
