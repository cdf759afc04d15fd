"""Statistical tests of studies: of factors (analysis of variance, Tukey, Scheffé) and of methods (Friedman and others).

Factors: which matter, and which of their values cannot be told apart. Methods: which is better over many cases, by
ranks, Friedman's test, Wilcoxon's with Holm's correction, and Nemenyi's. Numbers come from statsmodels and scipy.

References
----------
D. C. Montgomery, Design and Analysis of Experiments, 5th ed., Wiley (2000), chapters 3 and 5; J. Demšar, Statistical
comparisons of classifiers over multiple data sets, Journal of Machine Learning Research 7 (2006) 1-30.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import polars as pl
from scipy import stats

from discreet.errors import InputError
from discreet.extras import anovas, formula, multitest, pd, posthocs

ALPHA = 0.05
# A response that varies less than this, relative to its size, varies by rounding alone.
ROUNDING = 1e-9


def need(*modules: str) -> None:
    """Refuse to begin without the libraries of the extra `stats`."""
    if any(find_spec(module) is None for module in modules or ("statsmodels", "scikit_posthocs")):
        raise InputError("statistical tests need the extra 'stats'; install it with: pip install 'discreet[stats]'")


@dataclass(frozen=True, eq=False)
class Anova:
    """An analysis of variance.

    Parameters
    ----------
    table : polars.DataFrame
        A row per factor: `factor`, `df`, `sum_of_squares`, `F`, `p`, `significant`.
    error : float
        Mean square of what the factors do not explain.
    df : int
        Its degrees of freedom.
    """

    table: pl.DataFrame
    error: float
    df: int

    @property
    def significant(self) -> list[str]:
        """The factors that matter."""
        return self.table.filter(pl.col("significant"))["factor"].to_list()


def anova(frame: pl.DataFrame, response: str, factors: Sequence[str], alpha: float = ALPHA) -> Anova:
    """Analyse the variance of a response by the main effects of some factors (type II sums of squares).

    Parameters
    ----------
    frame : polars.DataFrame
        A row per run.
    response : str
        The column to explain.
    factors : sequence of str
        The columns that may explain it, as categories. One that has a single value explains nothing.
    alpha : float
        Below this p-value a factor is significant. None is where runs are too few to tell what is chance.
    """
    need("statsmodels")
    varied = [factor for factor in factors if frame[factor].n_unique() > 1]
    values = frame[response].to_numpy().astype(float)
    df = len(values) - 1 - sum(frame[factor].n_unique() - 1 for factor in varied)
    constant = float(values.std()) <= ROUNDING * max(1.0, float(abs(values).max()))
    effects, error = ({}, 0.0) if constant or not varied or df < 1 else _fit(frame, values, varied)
    rows = []
    for factor in factors:
        squares, freedom, ratio, p = effects.get(factor, (0.0, frame[factor].n_unique() - 1, math.nan, 1.0))
        rows.append(
            {
                "factor": factor,
                "df": int(freedom),
                "sum_of_squares": float(squares),
                "F": float(ratio),
                "p": float(p),
                "significant": bool(p < alpha),
            }
        )
    return Anova(pl.DataFrame(rows), error, max(df, 0))


def _fit(
    frame: pl.DataFrame, values: Any, factors: Sequence[str]
) -> tuple[dict[str, tuple[float, float, float, float]], float]:
    """Sum of squares, degrees of freedom, F and p of each factor, and the mean square of the rest."""
    # Names of parameters can be words of the formula language; numbers are not.
    codes = {f"x{i}": frame[factor].cast(str).to_list() for i, factor in enumerate(factors)}
    model = formula.ols("y ~ " + " + ".join(f"C({code})" for code in codes), pd.DataFrame({"y": values, **codes})).fit()
    error = float(model.mse_resid)
    if error <= (ROUNDING * max(1.0, float(abs(values).max()))) ** 2:  # no chance at all: what differs, differs
        table = anovas.anova_lm(model, typ=1)
        return {
            factor: (squares, freedom, math.inf, 0.0) if squares > ROUNDING else (squares, freedom, math.nan, 1.0)
            for factor, squares, freedom in zip(factors, table["sum_sq"], table["df"], strict=False)
        }, error
    table = anovas.anova_lm(model, typ=2)
    columns = (table[name].tolist() for name in ("sum_sq", "df", "F", "PR(>F)"))
    return dict(zip(factors, zip(*columns, strict=True), strict=False)), error


def groups(
    frame: pl.DataFrame,
    response: str,
    factor: str,
    found: Anova,
    test: Literal["tukey", "scheffe"] = "tukey",
    alpha: float = ALPHA,
) -> pl.DataFrame:
    """Group the values of a factor whose mean responses cannot be told apart.

    Parameters
    ----------
    frame : polars.DataFrame
        A row per run.
    response : str
        The response; less is better.
    factor : str
        The factor.
    found : Anova
        The analysis whose unexplained variance tells what is chance.
    test : str
        "tukey" (Tukey and Kramer's test of all pairs) or "scheffe" (which holds for any contrast, and is wider).
    alpha : float
        Values whose difference has a p-value below this are told apart.

    Returns
    -------
    polars.DataFrame
        `value`, `runs`, `mean`, `groups` (letters; values that share one are not told apart) and `best` (whether the
        value shares a group with the best), from the best to the worst.
    """
    table = frame.group_by(factor).agg(pl.len().alias("runs"), pl.col(response).mean().alias("mean"))
    table = table.sort("mean", factor).rename({factor: "value"})
    means, runs = table["mean"].to_list(), table["runs"].to_list()
    count = len(means)
    apart = {
        (i, j): _p(means[j] - means[i], found.error * (1 / runs[i] + 1 / runs[j]), count, found.df, test) < alpha
        for i in range(count)
        for j in range(i + 1, count)
    }
    letters = _letters(count, apart)
    return table.with_columns(
        pl.Series("groups", ["".join(_letter(letter) for letter in each) for each in letters]),
        pl.Series("best", [0 in each for each in letters]),
    )


def _p(difference: float, variance: float, count: int, df: int, test: str) -> float:
    """How likely a difference of two means is by chance, among all pairs of so many."""
    if variance <= 0:
        return 1.0 if abs(difference) <= ROUNDING else 0.0
    if test == "scheffe":
        return float(stats.f.sf(difference**2 / variance / (count - 1), count - 1, df))
    return float(stats.studentized_range.sf(abs(difference) / math.sqrt(variance / 2), count, df))


def _letters(count: int, apart: dict[tuple[int, int], bool]) -> list[list[int]]:
    """The groups each of the ordered values is in: the longest stretches without two that are told apart."""
    stretches: list[tuple[int, int]] = []
    for low in range(count):
        high = low
        while high + 1 < count and not any(apart[i, high + 1] for i in range(low, high + 1)):
            high += 1
        if not stretches or high > stretches[-1][1]:
            stretches.append((low, high))
    return [[g for g, (low, high) in enumerate(stretches) if low <= place <= high] for place in range(count)]


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"({number + 1})"


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
    need()
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
    nemenyi = posthocs.posthoc_nemenyi_friedman(matrix).to_numpy()
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
    return [float(value) for value in multitest.multipletests(p, method="holm")[1]]
