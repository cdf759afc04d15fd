"""`discreet.primary`: which cells of a table are unsafe, and how well they must be protected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from discreet.columns import sort_keywords, takes
from discreet.configuration import FLAG, LIST, NUMBER, TEXT, WHOLE, configured
from discreet.errors import InputError, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.tabular.rules import Rule
    from discreet.tabular.table import Table


COSTS = ("value", "count", "unit", "log")


class CellKeywords(TypedDict, total=False):
    """How cells that are summed up already stand in a frame or file.

    Parameters
    ----------
    by : list of str, or mapping, optional
        For cells that are summed up already: the columns of codes, each with its hierarchies, as for
        discreet.tabulate (ACTIVITY@act.hrc).
    value : str, optional
        With by, the column of the values; "value" by default.
    count : str, optional
        With by, the column of the numbers of contributors.
    max : str or list of str, optional
        With by, the column of the largest contribution; or several, the largest first.
    total : str or mapping, optional
        With by, the code of the total, or of each dimension's. By default "Total", or the one code that the hierarchy
        of a dimension does not list.
    decimals : int, optional
        Digits behind the decimal point of the values, where floating-point numbers show more. Values that have more
        are refused.
    """

    by: Any
    value: str | None
    count: str | None
    max: Any
    total: Any
    decimals: int | None


@configured(
    by=(str, list), value=TEXT, count=TEXT, max=(str, list), total=(str, dict), decimals=WHOLE, p=NUMBER, q=NUMBER,
    coalition=WHOLE, dominance=LIST, threshold=NUMBER, range=NUMBER, request=NUMBER, zeros=NUMBER, missing=FLAG,
    bounds=TEXT, cost=TEXT,
)  # fmt: skip
@takes(CellKeywords)
def primary(
    table: Any,
    *,
    p: float | None = None,
    q: float | None = None,
    coalition: int = 1,
    dominance: tuple[int, float] | None = None,
    threshold: float | None = None,
    range: float = 30.0,  # noqa: A002 - the field's word, and the option's name
    request: float | None = None,
    zeros: float | None = None,
    manual: Any = None,
    missing: bool = False,
    bounds: Any = None,
    cost: str = "value",
    meta: str | Path | None = None,
    config: str | Path | None = None,
    **keywords: Unpack[CellKeywords],
) -> Table:
    """Find the unsafe cells of a table by the usual rules, and the levels to which they must be protected.

    Several rules may be given: a cell that any of them finds unsafe is unsafe, and the widest level is kept. Whatever
    an earlier run found is found anew; cells that may not be suppressed stay so. What is written is internal.

    Parameters
    ----------
    table : Table, path or frame
        The table: of discreet.tabulate, or a file (.parquet, .csv, .tab, .jj). With by, a frame or any file with a row
        for each cell, summed up by whomever.
    p : float, optional
        The p% rule: unsafe if another contributor could estimate the largest contribution to within p percent.
    q : float, optional
        With p, the prior-posterior rule: everybody knows the contributions to within q percent beforehand. 100 is the
        p% rule itself.
    coalition : int
        How many contributors put together what they know; for p.
    dominance : (int, float), optional
        The (n,k) rule: unsafe if the n largest contributions are more than k percent of the total. On the command line
        as 1,75.
    threshold : float, optional
        Unsafe if fewer contributors than this.
    range : float
        Protection of cells that the threshold or a list makes unsafe, in percent of the value.
    request : float, optional
        Unsafe if one who asked for protection contributes more than this percentage of the total.
    zeros : float, optional
        Unsafe if the value is zero, protected up to this value.
    manual : path, frame or list, optional
        Cells named one by one, with a column for each dimension and, if wanted, status (u unsafe, s safe, z not to be
        suppressed), lpl and upl; or τ-ARGUS's a-priori file (.hst).
    missing : bool
        Judge cells of a missing code too; they are safe otherwise.
    bounds : optional
        What an attacker knows of every cell beforehand: LOWER,UPPER, each a number or a percentage of the cell's own
        value, such as 0,200% or 50%,150%. By default 0 (where no value is negative) and 1.5 times the largest total.
    cost : {"value", "count", "unit", "log"}
        What the suppression of a cell costs, for the methods that choose further cells to suppress.
    meta : path, optional
        The .rda file of a .tab file, if it is not the one of the same name.
    config : path, optional
        A TOML file with any of these keywords but paths; what the call gives wins. One file can hold the steps
        tabulate, primary, suppress and audit, each in a table of its name.
    **keywords
        How cells that are summed up already stand in a frame or file: see CellKeywords.

    Returns
    -------
    Table
        The table with status, rule, protection levels, bounds and costs; internal.
    """
    import numpy as np

    from discreet.tabular.counts import is_count, know_cells
    from discreet.tabular.table import FIXED, PRIMARY, RULES, SAFE

    rules = _collect_rules(p, q, coalition, dominance, threshold, range, request, zeros)
    cells = sort_keywords(primary, keywords, CellKeywords)[0]
    held = _take_in(table, meta, **cells)
    held.check_sums()
    if not rules and manual is None:
        raise InputError("no rule is given; say p, dominance, threshold, request, zeros or manual")
    n = len(held)
    fixed = held.status == FIXED
    if held.counts is not None or is_count(held):
        # Of respondents everybody knows more than of sums, and a zero tells no more than other counts.
        held = know_cells(held, fixed)
    elif held.count is not None:
        fixed = fixed | ((held.count == 0) & (zeros is None))
    judged = np.ones(n, dtype=np.bool_) if missing else ~_has_missing_code(held)
    rule, upl = np.zeros(n, np.int32), np.zeros(n)
    for one in rules:
        unsafe, level = one.judge(held)
        unsafe = unsafe & judged & ~fixed
        rule[unsafe] |= 1 << RULES.index(one.name)
        upl[unsafe] = np.maximum(upl[unsafe], level[unsafe])
    status = np.where(rule > 0, PRIMARY, np.where(fixed, FIXED, SAFE)).astype(np.uint8)
    # Where decimals are not known: what doubles of the table's size still tell apart by far.
    unit = 10.0**-held.decimals if held.decimals is not None else max(1e-6, 1e-12 * float(np.abs(held.value).max()))
    upl[rule > 0] = np.maximum(upl[rule > 0], unit)
    lpl = upl.copy()
    cost_of = costs(held, cost)
    given = np.zeros(n, dtype=np.bool_)
    if manual is not None:
        status, rule, lpl, upl, given = _apply_manual(held, manual, status, rule, lpl, upl, range, unit, cost_of)
    lower, upper = _bounds(held, bounds)
    unsafe = status == PRIMARY
    lpl, upl, upper, said_of_levels = _fit(held, unsafe, (lpl, upl), (lower, upper), given, is_usual=bounds is None)
    notes = [*held.notes, *([] if zeros is None else _tell_zeros(held)), *said_of_levels]
    words = {one.name: one.words for one in rules} | ({"manual": "cells named by hand"} if manual is not None else {})
    said = {
        name: value
        for name, value in (
            ("p", p),
            ("q", q),
            ("coalition", coalition),
            ("dominance", list(dominance) if dominance else None),
            ("threshold", threshold),
            ("range", range),
            ("request", request),
            ("zeros", zeros),
        )
        if value is not None
    }
    flagged = held.but(
        status=status,
        rule=rule,
        lpl=np.where(status == PRIMARY, lpl, 0.0),
        upl=np.where(status == PRIMARY, upl, 0.0),
        spl=np.zeros(n),
        lower=lower,
        upper=upper,
        cost=cost_of,
        rules={"words": words, "parameters": said},
        notes=tuple(notes),
    )
    flagged.check()
    return flagged


def _take_in(
    table: Any,
    meta: Any,
    *,
    by: Any = None,
    value: str | None = None,
    count: str | None = None,
    max: Any = None,  # noqa: A002 - the option's name
    total: Any = None,
    decimals: int | None = None,
) -> Table:
    """The table: as it is, of a file of tables, or of cells whose columns are named."""
    from discreet.tabular.aggregates import round_values
    from discreet.tabular.files.formats import table_from
    from discreet.tabular.table import Table

    if by is not None:
        if meta is not None or isinstance(table, Table):
            raise InputError(
                "by names the columns of a frame or file of cells; leave it out for a table or a .tab file"
            )
        return Table.from_frame(
            table, by=by, value=value or "value", count=count, max=max, total=total, decimals=decimals
        )
    given = {"value": value, "count": count, "max": max, "total": total}
    lonely = [name for name, said in given.items() if said is not None]
    if lonely:
        raise InputError(f"{', '.join(lonely)}: name the columns of the codes too, by --by (by=)")
    held = table_from(table, meta)
    if decimals is None:
        return held
    return held.but(value=round_values(held.value, decimals, held.source, held.name), decimals=decimals)


def _collect_rules(
    p: float | None,
    q: float | None,
    coalition: int,
    dominance: tuple[int, float] | None,
    threshold: float | None,
    width: float,
    request: float | None,
    zeros: float | None,
) -> list[Rule]:
    """The rules that are asked for, their parameters checked."""
    from discreet.tabular import rules

    coalition = whole("coalition", coalition, 1)
    width = _number("range", width, above=0.0)
    found = []
    if threshold is not None:
        found.append(rules.threshold(_number("threshold", threshold, above=0.0), width))
    if dominance is not None:
        if isinstance(dominance, str | int | float) or len(dominance) != 2:
            raise InputError("dominance must be two numbers: how many contributors, and the percentage; such as 1,75")
        n, k = dominance
        found.append(
            rules.dominance(whole("the number of dominance", n, 1), _percent("the percentage of dominance", k))
        )
    if q is not None and p is None:
        raise InputError("q belongs to the prior-posterior rule, which needs p too")
    if p is not None and q is None:
        found.append(rules.p_percent(_number("p", p, above=0.0), coalition))
    elif p is not None and q is not None:
        if not 0 < p < q:
            raise InputError(f"p must be above 0 and below q, not p = {p} and q = {q}")
        found.append(rules.prior_posterior(p, _number("q", q, above=0.0), coalition))
    if request is not None:
        found.append(rules.request(_percent("request", request)))
    if zeros is not None:
        found.append(rules.zeros(_number("zeros", zeros, above=0.0)))
    return found


def _number(name: str, value: Any, *, above: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number above {above:g}, not {value!r}") from None
    if not above < number < float("inf"):
        raise InputError(f"{name} must be a number above {above:g}, not {value!r}")
    return number


def _percent(name: str, value: Any) -> float:
    number = _number(name, value, above=0.0)
    if number > 100:
        raise InputError(f"{name} must be at most 100, not {value!r}")
    return number


def _has_missing_code(table: Table) -> NDArray[np.bool_]:
    import numpy as np

    found = np.zeros(len(table), dtype=np.bool_)
    for axis, one in enumerate(table.dimensions):
        codes = np.array([code in one.missing for code in one.codes])
        found |= codes[table.codes[:, axis]]
    return found


def _apply_manual(
    table: Table, manual: Any, status: Any, rule: Any, lpl: Any, upl: Any, width: float, unit: float, cost: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """Let the cells that are named by hand have the last word; costs are changed in place. Whose levels are given."""
    import numpy as np

    from discreet.tables.manual import KEPT, read_cells
    from discreet.tabular.rules import in_units
    from discreet.tabular.table import FIXED, PRIMARY, RULES

    said = read_cells(table, manual)
    unsafe = said.cells[said.status == PRIMARY]
    both = unsafe[(table.status[unsafe] == FIXED) | (status[unsafe] == FIXED)]
    frozen = said.cells[(said.status == FIXED) & (rule[said.cells] > 0)]
    if len(both) or len(frozen):
        cell = int((both if len(both) else frozen)[0])
        raise InputError(
            f"{table.source}: {table.name(cell)} is unsafe and may not be suppressed either; take one of the two back"
        )
    told = said.status != KEPT
    status[said.cells[told]] = said.status[told]
    rule[unsafe] |= 1 << RULES.index("manual")
    rule[said.cells[told & (said.status != PRIMARY)]] = 0
    usual = np.maximum(in_units(table, width / 100.0 * np.abs(table.value)), unit)
    upl[unsafe] = np.maximum(upl[unsafe], usual[unsafe])
    lpl[unsafe] = upl[unsafe]
    given = ~np.isnan(said.upl)
    upl[said.cells[given]] = lpl[said.cells[given]] = said.upl[given]
    given = ~np.isnan(said.lpl)
    lpl[said.cells[given]] = said.lpl[given]
    given = ~np.isnan(said.cost)
    cost[said.cells[given]] = said.cost[given]
    levelled = np.zeros(len(table), dtype=np.bool_)
    levelled[said.cells[~np.isnan(said.upl) | ~np.isnan(said.lpl)]] = True
    return status, rule, lpl, upl, levelled


def _fit(
    table: Table, unsafe: Any, levels: tuple[Any, Any], bounds: tuple[Any, Any], given: Any, *, is_usual: bool
) -> tuple[Any, Any, Any, list[str]]:
    """Levels down and up, and upper bounds, that fit each other, and what to say of it; bounds that were named stay.

    Of counts whose levels were not given cell by cell each keeps its whole range: what it cannot be below its value, as
    everybody knows, is asked for above; but a zero has a level above alone.
    """
    import numpy as np

    lpl, upl = levels
    lower, upper = bounds
    room, notes = table.value - lower, []
    fits = np.full(len(table), is_usual) | ((table.counts is not None) & ~given)
    short = unsafe & (lpl > room) & (lower >= 0) & fits
    moved = short & ~given & (table.value > 0) & (table.counts is not None)
    upl = np.where(moved, upl + lpl - room, upl)
    lpl = np.where(short, room, lpl)
    if moved.any():
        notes.append(
            f"everybody knows that {int(moved.sum()):,} unsafe counts cannot be lower by their level; what is missing "
            "is added to the level above"
        )
    elif short.any():
        # Nothing is below zero, and everybody knows it.
        notes.append(f"the lower protection level of {int(short.sum())} cells ends at their lower bound")
    high = unsafe & (table.value + upl > upper) & fits
    if high.any():
        # A level above what anybody expects widens what is taken to be expected, for every cell alike.
        upper = np.maximum(upper, float((table.value + upl)[high].max()))
    return lpl, upl, upper, notes


def _tell_zeros(table: Table) -> list[str]:
    """What the rule on zeros cannot judge: combinations of codes without a cell, which everybody takes for empty."""
    is_completed = table.counts is not None and not (table.lower[table.value > 0] > 0).all()
    if not table.dimensions or is_completed or len(table.parts) > 1 or len(table) == table.places.span:
        return []
    return [
        f"zeros: {table.places.span - len(table):,} combinations of codes have no cell, so that everybody knows they "
        "are zero and nothing can protect them; discreet tabulate --complete makes them"
    ]


def _bounds(table: Table, bounds: Any) -> tuple[Any, Any]:
    import numpy as np

    if bounds is None:
        return table.lower, table.upper
    known = table.lower if table.counts is not None else np.full(len(table), -np.inf)
    parts = [part.strip() for part in bounds.split(",")] if isinstance(bounds, str) else list(bounds)
    if len(parts) != 2:
        raise InputError("bounds must be two, LOWER,UPPER, such as 0,200% or 50%,150%")
    found = []
    for part in parts:
        text = str(part)
        try:
            number = float(text.rstrip("%"))
        except ValueError:
            number = float("nan")
        if number != number:
            raise InputError(f"bounds: '{text}' is neither a number nor a percentage")
        # A percentage of a negative value turns round: 150 % of it is the lower end.
        found.append(number / 100.0 * table.value if text.endswith("%") else np.full(len(table), number))
    return np.maximum(np.minimum(*found), known), np.maximum(*found)


def costs(table: Table, cost: str) -> Any:
    """What the suppression of each cell costs; a zero among counts as much as a count of one."""
    import numpy as np

    value = np.abs(table.value) if table.counts is None else np.where(table.value == 0, 1.0, table.value)
    if cost == "value":
        return value
    if cost == "unit":
        return np.ones(len(table))
    if cost == "log":
        return np.log1p(value)
    if cost == "count":
        if table.count is None:
            raise InputError(f"{table.source} does not say numbers of contributors, so they cannot be the cost")
        return table.count.copy() if table.counts is None else value
    raise InputError(f"cost must be value, count, unit or log, not {cost!r}")
