"""The primary rules: which cells are unsafe, and how far from its value an attacker must be kept.

x1 ≥ x2 ≥ … are the largest contributions to a cell (of holdings, where there are any) and T its total. Each rule gives
the cells it finds unsafe and the upper protection level of every cell. The formulas are in the SDC handbook of the
τ-ARGUS project (Hundepool and others), chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.checks import itemize
from discreet.errors import InputError
from discreet.tabular.table import Table

Floats = NDArray[np.float64]
Verdict = tuple[NDArray[np.bool_], Floats]


@dataclass(frozen=True)
class Rule:
    """A rule with its parameters: its name, and what it says of every cell."""

    name: str
    words: str
    judge: Callable[[Table], Verdict]


def rules_of(parameters: Mapping[str, Any]) -> list[Rule]:
    """The rules that a table was judged by, from the parameters it keeps of them."""
    found = []
    if "threshold" in parameters:
        found.append(threshold(parameters["threshold"], parameters["range"]))
    if "dominance" in parameters:
        found.append(dominance(*parameters["dominance"]))
    if "p" in parameters:
        p, coalition = parameters["p"], parameters.get("coalition", 1)
        rest = parameters.get("q")
        found.append(p_percent(p, coalition) if rest is None else prior_posterior(p, rest, coalition))
    if "request" in parameters:
        found.append(request(parameters["request"]))
    if "zeros" in parameters:
        found.append(zeros(parameters["zeros"]))
    return found


def threshold(least: float, width: float) -> Rule:
    """Fewer than `least` contributors are unsafe; the level is `width` percent of the value."""

    def judge(table: Table) -> Verdict:
        count = _require(table, "count", "threshold")
        return (count > 0) & (count < least), in_units(table, width / 100.0 * np.abs(table.value))

    return Rule("threshold", f"fewer than {least:g} contributors (levels {width:g} % of the value)", judge)


def dominance(n: int, k: float) -> Rule:
    """The n largest together are more than k percent of the total."""

    def judge(table: Table) -> Verdict:
        tops = _tops(table, n, f"({n},{k:g})-dominance")
        return is_dominated(table.value, tops, n, k), 100.0 / k * tops.sum(axis=1) - table.value

    return Rule("dominance", f"the {n} largest above {k:g} % of the total", judge)


def p_percent(p: float, coalition: int) -> Rule:
    """A coalition of the next largest could estimate the largest to within p percent."""
    return _estimate("p", p / 100.0, coalition, f"the largest known to within {p:g} %{_company(coalition)}")


def prior_posterior(p: float, q: float, coalition: int) -> Rule:
    """Who knows contributions to within q percent beforehand could know the largest to within p percent."""
    words = f"the largest known to within {p:g} % by who knew it to within {q:g} %{_company(coalition)}"
    return _estimate("pq", p / q, coalition, words)


def request(k: float) -> Rule:
    """A contributor who asked for protection brings more than k percent of the total."""

    def judge(table: Table) -> Verdict:
        asked = _require(table, "asked", "request")
        _refuse_negatives(table, "request")
        return (asked > 0) & (asked > k / 100.0 * table.value + _slack(table.value)), 100.0 / k * asked - table.value

    return Rule("request", f"above {k:g} % from one who asked for protection", judge)


def zeros(width: float) -> Rule:
    """A total of zero says of everybody in it that they contribute nothing."""

    def judge(table: Table) -> Verdict:
        return table.value == 0, np.full(len(table), width)

    return Rule("zero", f"a value of zero (level {width:g})", judge)


def _estimate(name: str, share: float, coalition: int, words: str) -> Rule:
    def judge(table: Table) -> Verdict:
        tops = _tops(table, coalition + 1, f"the {name}% rule" if name == "p" else "the prior-posterior rule")
        rest = table.value - tops.sum(axis=1)
        wanted = share * tops[:, 0]
        return is_estimated(table.value, tops, share, coalition), wanted - rest

    return Rule(name, words, judge)


def is_dominated(value: Floats, tops: Floats, n: int, k: float) -> NDArray[np.bool_]:
    """Whether the n largest of the contributions to each value, in falling order, are above k percent of it."""
    found: NDArray[np.bool_] = tops[:, :n].sum(axis=1) > k / 100.0 * value + _slack(value)
    return found


def is_estimated(value: Floats, tops: Floats, share: float, coalition: int) -> NDArray[np.bool_]:
    """Whether the next largest, so many together, could estimate the largest contribution to within a share of it."""
    found: NDArray[np.bool_] = value - tops[:, : coalition + 1].sum(axis=1) < share * tops[:, 0] - _slack(value)
    return found


def in_units(table: Table, level: Floats) -> Floats:
    """Levels as a table of whole numbers has them: rounded up."""
    return np.ceil(level - _slack(level)) if table.integral else level


def _slack(value: Floats) -> Floats:
    """By how much sums of decimal numbers may miss each other: their last bits."""
    slack: Floats = 1e-12 * np.abs(value)
    return slack


def _company(coalition: int) -> str:
    return "" if coalition == 1 else f" by {coalition} others together"


def _require(table: Table, name: str, rule: str) -> Floats:
    held: Floats | None = getattr(table, name)
    if held is None:
        what = {"count": "numbers of contributors", "asked": "who asked for protection (tabulate with --request)"}[name]
        raise InputError(f"{table.source} does not say {what}, which the {rule} rule looks at")
    return held


def _tops(table: Table, places: int, rule: str) -> Floats:
    """The largest contributions, as many as a rule looks at."""
    if table.tops is None:
        raise InputError(f"{table.source} does not hold the largest contributions, which {rule} looks at")
    kept = table.tops.shape[1]
    # A weighted count does not tell how many contributors there are.
    counted = table.count is not None and not (table.count % 1).any()
    if kept < places and not (counted and table.count is not None and (table.count <= kept).all()):
        raise InputError(
            f"{table.source} holds the {kept} largest contributions to each cell, but {rule} looks at {places}; make "
            f"the table with --top {places}"
        )
    _refuse_negatives(table, rule)
    return table.tops[:, :places]


def _refuse_negatives(table: Table, rule: str) -> None:
    below = table.value < 0
    if table.tops is not None:
        below |= (table.tops < 0).any(axis=1)
    if table.rules.get("negatives") and not below.any():
        raise InputError(
            f"{table.source} was made from {table.rules['negatives']:,} negative contributions; {rule} has no meaning "
            "for them. Use absolute values, or the threshold rule"
        )
    if below.any():
        names = itemize([table.name(int(cell)) for cell in np.flatnonzero(below)])
        raise InputError(
            f"{table.source}: negative values in {int(below.sum())} cells ({names}); {rule} has no meaning for them. "
            "Use absolute values, or the threshold rule"
        )
