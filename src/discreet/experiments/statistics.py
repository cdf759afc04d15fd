"""Which factors matter, and which of their values cannot be told apart: analysis of variance, Tukey, Scheffé.

D. C. Montgomery, Design and Analysis of Experiments, 5th ed., Wiley (2000), chapters 3 and 5. Numbers come from
statsmodels and scipy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from discreet.errors import InputError

if TYPE_CHECKING:
    import polars as pl

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
        import polars as pl

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
    import polars as pl

    need("statsmodels")
    varied = [factor for factor in factors if frame[factor].n_unique() > 1]
    values = frame[response].to_numpy().astype(float)
    df = len(values) - 1 - sum(frame[factor].n_unique() - 1 for factor in varied)
    constant = float(values.std()) <= ROUNDING * max(1.0, float(abs(values).max()))
    effects, error = ({}, 0.0) if constant or not varied or df < 1 else _fitted(frame, values, varied)
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


def _fitted(
    frame: pl.DataFrame, values: Any, factors: Sequence[str]
) -> tuple[dict[str, tuple[float, float, float, float]], float]:
    """Sum of squares, degrees of freedom, F and p of each factor, and the mean square of the rest."""
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    # Names of parameters can be words of the formula language; numbers are not.
    codes = {f"x{i}": frame[factor].cast(str).to_list() for i, factor in enumerate(factors)}
    model = ols("y ~ " + " + ".join(f"C({code})" for code in codes), pd.DataFrame({"y": values, **codes})).fit()
    error = float(model.mse_resid)
    if error <= (ROUNDING * max(1.0, float(abs(values).max()))) ** 2:  # no chance at all: what differs, differs
        table = anova_lm(model, typ=1)
        return {
            factor: (squares, freedom, math.inf, 0.0) if squares > ROUNDING else (squares, freedom, math.nan, 1.0)
            for factor, squares, freedom in zip(factors, table["sum_sq"], table["df"], strict=False)
        }, error
    table = anova_lm(model, typ=2)
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
    import polars as pl

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
    from scipy import stats

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
