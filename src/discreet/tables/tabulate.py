"""`discreet.tabulate`: a statistical table from microdata; `discreet.link`: tables that share cells as one system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.configuration import FLAG, LIST, TEXT, WHOLE, configured
from discreet.errors import InputError, whole
from discreet.text import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.data.dataset import Dataset
    from discreet.tables.tabulation import Contributions
    from discreet.tabular.files.rda import Metadata
    from discreet.tabular.table import Table


@configured(
    by=(str, list), value=TEXT, weight=TEXT, sampling_weight=TEXT, holding=TEXT, request=TEXT, total=TEXT, top=WHOLE,
    decimals=WHOLE, complete=FLAG, existing_only=FLAG, parts=LIST,
)  # fmt: skip
def tabulate(
    data: Any,
    *,
    by: Any = None,
    value: str | None = None,
    sampling_weight: str | None = None,
    holding: str | None = None,
    request: str | None = None,
    meta: str | Path | None = None,
    total: str = "Total",
    top: int = 3,
    decimals: int | None = None,
    complete: bool = False,
    existing_only: bool = False,
    structural: Any = None,
    parts: Sequence[Sequence[str]] | None = None,
    config: str | Path | None = None,
    weight: str | None = None,
) -> Table:
    """Make a statistical table from microdata, with all its margins and sub-totals.

    Parameters
    ----------
    data : frame or path
        The microdata: one record for each contribution.
    by : list of str, or mapping
        What to break down by. A column; or a column and its hierarchies, as region@region.hrc, with a second file for a
        second way of adding up (region@a.hrc@b.hrc); or the lengths of the digits that make the levels
        (industry@3+1+1); or nested columns, the coarsest first (country>district>town). In Python also a mapping of
        columns to a Hierarchy or a list of them.
    value : str, optional
        The column to sum up. Without it the table counts records.
    sampling_weight : str, optional
        A column of sampling weights: a contribution counts that many times in sums and counts.
    holding : str, optional
        A column that says which records belong to one contributor, such as the enterprises of a holding.
    request : str, optional
        A column that says who asked for protection: true, or a text or number other than 0.
    meta : path, optional
        A τ-ARGUS metadata file (.rda) that describes the microdata: its columns, hierarchies, missing codes, weight,
        holding and request variables.
    total : str
        The code of the total.
    top : int
        How many of the largest contributions to keep for each cell; the rules look at them.
    decimals : int, optional
        Round the contributions to so many digits behind the decimal point, so that sums are exact. By default they are
        taken as they are.
    complete : bool
        Also make the cells to which nobody contributes. In a table of counts they are made unless existing_only is
        said, or there would be more than a million cells and ten times as many as have somebody in them.
    existing_only : bool
        Make no cells to which nobody contributes. In a table of counts everybody then knows that each cell which has a
        row has somebody in it, and that all others are empty.
    structural : path, frame or list of mappings, optional
        Combinations of codes that nobody can have, as everybody knows: a column for each dimension that matters, a row
        for each combination, sums of codes too. They get no cell.
    parts : list of lists of str, optional
        Linked tables: the dimensions that each of them spans. They become one system of cells, in which the margins
        that they share are the same cells. Without it there is one table of all dimensions.
    config : path, optional
        A TOML file with any of these keywords but paths; what the call gives wins. One file can hold the steps
        tabulate, primary, suppress and audit, each in a table of its name.
    weight : str, optional
        Another name of sampling_weight.

    Returns
    -------
    Table
        The cells with their relations; internal.

    Examples
    --------
    >>> import discreet
    >>> import polars as pl
    >>> frame = pl.DataFrame({"region": ["n", "n", "s"], "size": ["1", "2", "1"], "sales": [10, 20, 30]})
    >>> discreet.tabulate(frame, by=["region", "size"], value="sales")
    Table of 8 cells and 6 relations over region × size, 0 primary and 0 secondary
    """
    import numpy as np

    from discreet.data.dataset import frames_of
    from discreet.tables import tabulation
    from discreet.tables.tabulation import dimension, leave_out_soles, tally
    from discreet.tabular.breakdown import parse_by
    from discreet.tabular.counts import know_completed, know_existing
    from discreet.tabular.linking import link
    from discreet.tabular.table import WEIGHTED, WHOLE, Table

    if by is None:
        raise InputError("say what to break down by: the columns, one for each dimension")
    if weight is not None and sampling_weight is not None:
        raise InputError("weight is another name of sampling_weight; give one of the two")
    weight = sampling_weight if weight is None else weight
    if complete and existing_only:
        raise InputError("complete makes the empty cells and existing_only leaves them out; say one of the two")
    top = whole("top", top, 1)
    wanted = parse_by(by)
    dataset, described = _read(data, meta)
    dimensions, codes, listed = [], [], []
    for columns, hierarchies in wanted:
        made, places = dimension(dataset, columns, hierarchies, described, total)
        dimensions.append(made)
        codes.append(places)
        listed.append(is_listed(columns, hierarchies, described))
    given, notes = _contribute(dataset, described, codes, value, decimals, weight, holding, request)
    impossible = None
    if structural is not None:
        impossible = _read_structural(structural)
        impossible.refuse(dataset, dimensions, np.stack(codes, axis=1))
    spans = _spans(parts, [one.name for one in dimensions])
    # The largest contributions do not show whether any is negative, and some rules must know.
    negatives = int((given.amount < 0).sum())
    insides = [[dimensions[axis] for axis in span] for span in spans]
    views = [replace(given, codes=given.codes[:, span]) for span in spans]
    tallied = [tally(inside, view, top) for inside, view in zip(insides, views, strict=True)]
    is_count = value is None
    if is_count and not (complete or existing_only):
        complete, said = _is_to_complete(insides, [len(cells.value) for cells in tallied])
        notes += said
    elif impossible is not None and not complete:
        raise InputError("structural says which empty cells are none, and no empty cell is made; say complete too")
    if complete:
        pairs = zip(insides, tallied, strict=True)
        tallied = [tabulation.complete(inside, cells, impossible) for inside, cells in pairs]
    kind, least = (WHOLE, 1.0) if given.weight is None else (WEIGHTED, float(given.weight.min()))
    is_told = holding is None and len(spans) == 1
    soles = np.concatenate([cells.sole[cells.sole >= 0] for cells in tallied])
    tables = []
    for span, inside, view, cells in zip(spans, insides, views, tallied, strict=True):
        tables.append(
            Table.of(
                cells.value,
                dimensions=inside,
                codes=cells.codes,
                count=cells.count,
                tops=cells.tops,
                asked=cells.asked,
                sole=cells.sole,
                others=None if is_told else leave_out_soles(inside, view, cells, soles),
                decimals=cells.decimals,
                response=value,
                rules={"negatives": negatives} if negatives else {},
                notes=tuple(notes),
                source=f"the table of {dataset.name}",
                frames=frames_of(data),
            )
        )
        if is_count:
            counts, are_listed = tables[-1], [listed[axis] for axis in span]
            tables[-1] = (
                know_completed(counts, are_listed, kind, least) if complete else know_existing(counts, kind, least)
            )
    table = tables[0] if len(tables) == 1 else link(tables)
    table.check_sums()
    return table


def _contribute(
    dataset: Dataset,
    described: Metadata | None,
    codes: Sequence[NDArray[Any]],
    value: str | None,
    decimals: int | None,
    weight: str | None,
    holding: str | None,
    request: str | None,
) -> tuple[Contributions, list[str]]:
    """What each record that has a value brings, and what to say of it."""
    import numpy as np

    from discreet.tables.tabulation import Contributions

    notes, records = list(dataset.notes), dataset.frame.height
    amount = np.ones(records) if value is None else _numbers(dataset, value)
    if decimals is not None:
        rounded = np.round(amount, whole("decimals", decimals, 0))
        changed = int((np.abs(rounded - amount) > 0).sum())
        if changed:
            notes.append(f"{count(changed, 'contribution')} rounded to {count(decimals, 'decimal')}")
        amount = rounded
    kept = ~np.isnan(amount)
    if not kept.all():
        notes.append(f"{records - int(kept.sum()):,} records without a value of '{value}' are left out")
    weights = None if weight is None else _numbers(dataset, weight)
    if weights is not None and not (weights[kept] >= 0).all():
        raise InputError(f"{dataset.name}: column '{weight}' has weights that are negative or missing")
    given = Contributions(
        np.stack(codes, axis=1)[kept],
        amount[kept],
        None if weights is None else weights[kept],
        None if holding is None else _number_holdings(dataset, holding)[kept],
        None if request is None else _read_requests(dataset, request, described)[kept],
    )
    if not kept.any():
        raise InputError(f"{dataset.name}: no record has a value of '{value}'")
    return given, notes


# Up to so many cells the empty ones of a table of counts are made in any case; above, if the table grows no further.
ALWAYS_COMPLETED, GROWTH = 1_000_000, 10


def _is_to_complete(insides: Sequence[Sequence[Any]], existing: Sequence[int]) -> tuple[bool, list[str]]:
    """Whether a table of counts gets its empty cells, and what to say of it."""
    from math import prod

    there, every = sum(existing), sum(prod(len(one.codes) for one in inside) for inside in insides)
    if every > ALWAYS_COMPLETED and every > GROWTH * there:
        return False, [
            f"with its empty cells the table would have {every:,} cells and not {there:,}, so these are left out: "
            "everybody knows that nobody is in them, and that somebody is in each of the others (--complete makes them)"
        ]
    return True, [
        f"made with its {count(every - there, 'empty cell')}, which may be suppressed like others, so that nobody "
        "knows beforehand where somebody is (--existing-only leaves them out)"
    ] if every > there else []


def is_listed(columns: Sequence[str], hierarchies: Sequence[Any], meta: Metadata | None) -> bool:
    """Whether the codes of a dimension come from a list; else they are those that records have."""
    from discreet.tabular.breakdown import are_digits

    if hierarchies:
        return any(not are_digits(one) for one in hierarchies)
    described = meta.variables if meta is not None and len(columns) == 1 else ()
    return any(one.name == columns[-1] and one.hierarchy is not None for one in described)


def _read_structural(given: Any) -> Any:
    """The combinations of codes that are impossible."""
    from discreet.data.dataset import accept
    from discreet.tables.tabulation import Impossible
    from discreet.tabular.breakdown import text_of

    if isinstance(given, list | tuple):
        if not all(isinstance(one, Mapping) and one for one in given):
            raise InputError("structural must be a file, a frame, or a list of mappings of dimensions to codes")
        return Impossible("structural", [{str(name): str(code) for name, code in one.items()} for one in given])
    dataset = accept(given, titled=True)
    columns = {name: text_of(dataset, name).str.strip_chars().to_list() for name in dataset.frame.columns}
    rows = [dict(zip(columns, codes, strict=True)) for codes in zip(*columns.values(), strict=True)]
    return Impossible(dataset.name, rows)


def _spans(parts: Sequence[Sequence[str]] | None, names: list[str]) -> list[list[int]]:
    """The dimensions of each linked table, by their places."""
    if parts is None:
        return [list(range(len(names)))]
    spans = []
    for part in parts:
        lost = [name for name in part if name not in names]
        if lost or not part or isinstance(part, str):
            raise InputError(f"a part must list dimensions out of {', '.join(names)}; it says {part!r}")
        spans.append(sorted({names.index(name) for name in part}))
    idle = [name for at, name in enumerate(names) if not any(at in span for span in spans)]
    if idle:
        raise InputError(f"no part spans {', '.join(idle)}; name it in a part, or leave it out of by")
    return spans


def _read(data: Any, meta: str | Path | None) -> tuple[Dataset, Metadata | None]:
    from discreet.data.dataset import accept

    if meta is None:
        return accept(data), None
    from discreet.tabular.files import asc, rda

    described = rda.read(Path(meta))
    if isinstance(data, str | Path):
        return accept(asc.read(Path(data), described)), described
    return accept(data), described


def _numbers(dataset: Dataset, name: str) -> NDArray[Any]:
    from discreet.data.attributes import read_attribute
    from discreet.data.checks import itemize
    from discreet.data.roles import Declaration

    if name not in dataset.frame.columns:
        raise InputError(
            f"{dataset.name} has no column '{name}'; it has {itemize(dataset.frame.columns)}.{dataset.hint}"
        )
    return read_attribute(dataset, Declaration(name, kind="numeric"))[0].values


def _number_holdings(dataset: Dataset, name: str) -> NDArray[Any]:
    """The holdings as numbers; a record that names none is its own."""
    import numpy as np

    from discreet.data.checks import itemize

    if name not in dataset.frame.columns:
        raise InputError(
            f"{dataset.name} has no column '{name}'; it has {itemize(dataset.frame.columns)}.{dataset.hint}"
        )
    column = dataset.frame[name]
    number = column.rank("dense").to_numpy().astype(np.float64)
    free = np.isnan(number)
    number[free] = np.nanmax(number, initial=0.0) + 1 + np.arange(int(free.sum()))
    return number.astype(np.int64)


def _read_requests(dataset: Dataset, name: str, meta: Metadata | None) -> NDArray[Any]:
    import polars as pl

    from discreet.tabular.breakdown import text_of

    if name in dataset.frame.columns:
        # Whoever says nothing has not asked.
        filled = dataset.frame.with_columns(pl.col(name).cast(pl.String).fill_null("0"))
        dataset = replace(dataset, frame=filled)
    codes = text_of(dataset, name).str.strip_chars()
    variable = next((one for one in meta.variables if one.name == name), None) if meta is not None else None
    if variable is not None and variable.request:
        return codes.is_in(list(variable.request)).to_numpy()
    # However a zero is written: a column of numbers with gaps has 0.0.
    zero = (codes.cast(pl.Float64, strict=False) == 0.0).fill_null(value=False)
    return (~(zero | codes.str.to_lowercase().is_in(["", "false", "no", "n"]))).to_numpy()


def link(tables: Sequence[Any], *, meta: str | Path | None = None) -> Table:
    """Link tables of the same response that share cells, so that they are protected together.

    A cell is the same where its codes are, the total standing for every dimension that a table does not have. The
    values of shared cells must agree; of two opinions on whether such a cell is unsafe, the stricter holds.

    Parameters
    ----------
    tables : list of Table or path
        Two at least: of discreet.tabulate or discreet.primary, or files (.parquet, .csv, .tab). A dimension of the same
        name is the same variable.
    meta : path, optional
        The .rda file of .tab files, if it is not the one of the same name.

    Returns
    -------
    Table
        All cells with their relations, each once; internal.
    """
    from discreet.tabular.files.formats import table_from
    from discreet.tabular.linking import link as merge

    if isinstance(tables, str | Path) or not isinstance(tables, Sequence):
        raise InputError("tables must be a list of tables, two at least")
    held = [table_from(table, meta) for table in tables]
    made = merge(held)
    made.check_sums()
    if len({str(table.rules.get("parameters")) for table in held}) > 1:
        note = "the linked tables were judged by different rules; a cell is unsafe if it is in any of them"
        made = made.but(notes=(*made.notes, note))
    return made
