"""A table as τ-ARGUS takes it: a .tab file, its .rda, and a .hrc file for each hierarchical dimension."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.data.tabular import hrc
from discreet.data.tabular.dimension import Dimension
from discreet.data.tabular.files_text import check_code, word
from discreet.data.tabular.rda import Metadata, Variable
from discreet.data.tabular.relations import whole
from discreet.data.tabular.table import FIXED, Table
from discreet.errors import InputError

_LETTERS = "SUMP"
_LEADS = "@#%&~$^*"


def files(table: Table, name: str) -> dict[str, str]:
    """The files of a table by their name; all of them are internal.

    Parameters
    ----------
    table : Table
        The table. Its bounds, rules and sliding protection levels have no place in these files.
    name : str
        The name of the .tab file, with or without .tab.
    """
    stem = name.removesuffix(".tab")
    if not table.dimensions:
        raise InputError(f"{table.source} has no named dimensions, which a .tab file needs; choose .jj")
    if table.parts != whole(table.dimensions):
        raise InputError(f"{table.source} is made of linked tables, which a .tab file cannot hold; choose .parquet")
    if not np.isfinite(table.value).all():
        raise InputError(f"{table.source}: a .tab file has no place for a value that is not known")
    found: dict[str, str] = {}
    variables: list[Variable] = []
    columns: list[list[str]] = []
    for axis in range(len(table.dimensions)):
        variables.append(_variable(table, axis, stem, found))
        columns.append([_quoted(code) for code in table.codes_of(axis)])
    for variable, column in _attributes(table):
        variables.append(variable)
        columns.append(column)
    names: set[str] = set()
    meta = Metadata(Path(f"{stem}.rda"), ";", tuple(_renamed(variable, names) for variable in variables))
    lines = "".join(f"{';'.join(fields)}\n" for fields in zip(*columns, strict=True))
    return {f"{stem}.tab": lines, f"{stem}.rda": meta.text(), **found}


def _variable(table: Table, axis: int, stem: str, found: dict[str, str]) -> Variable:
    dimension = table.dimensions[axis]
    if len(dimension.hierarchies) > 1:
        raise InputError(
            f"dimension '{dimension.name}' has several hierarchies, which a .tab file cannot hold; choose .parquet"
        )
    for code in dimension.codes:
        check_code(code, f"dimension '{dimension.name}'")
    missing = tuple(sorted(dimension.missing))
    there = len(np.unique(table.codes[:, axis])) == len(dimension.codes)
    if dimension.is_flat and there:
        return Variable(dimension.name, missing=missing, recodeable=True, total=dimension.total)
    file = f"{stem}_{_plain(dimension.name)}.hrc"
    while file in found:
        file = f"{file.removesuffix('.hrc')}_.hrc"
    lead = _lead(dimension)
    found[file] = hrc.text(dimension.hierarchies[0], lead)
    return Variable(
        dimension.name,
        missing=missing,
        recodeable=True,
        hierarchical=True,
        hierarchy=Path(file),
        lead=lead,
        total=dimension.total,
    )


def _attributes(table: Table) -> list[tuple[Variable, list[str]]]:
    made: list[tuple[Variable, list[str]]] = []
    if table.response is not None or table.count is None or not np.array_equal(table.value, table.count):
        response = Variable(table.response or "Value", numeric=True, decimals=table.decimals)
        made.append((response, _words(table.value)))
    if table.count is not None:
        made.append((Variable("Freq", frequency=True), _words(table.count)))
    made.append((Variable("Cost", numeric=True, cost=True), _words(table.cost)))
    if table.tops is not None:
        made += [(Variable(f"Top{at + 1}", maxscore=True), _words(top)) for at, top in enumerate(table.tops.T)]
    empty = (table.status == FIXED) & (table.value == 0)
    letters = ["E" if nothing else _LETTERS[status] for nothing, status in zip(empty, table.status, strict=True)]
    made.append((Variable("Status", status=True), letters))
    made.append((Variable("LowerPL", numeric=True, lowerpl=True), _words(table.lpl)))
    made.append((Variable("UpperPL", numeric=True, upperpl=True), _words(table.upl)))
    return made


def _renamed(variable: Variable, names: set[str]) -> Variable:
    """The variable under a name that no other has."""
    name = variable.name
    while name in names:
        name += "_"
    names.add(name)
    return replace(variable, name=name)


def _words(numbers: NDArray[np.float64]) -> list[str]:
    return [word(number) for number in numbers.tolist()]


def _lead(dimension: Dimension) -> str:
    for lead in _LEADS:
        if not any(code.startswith(lead) for code in dimension.codes):
            return lead
    return _LEADS[0] * (1 + max(len(code) for code in dimension.codes))


def _plain(name: str) -> str:
    return "".join(sign if sign.isalnum() else "_" for sign in name)


def _quoted(code: str) -> str:
    return '"' + code.replace('"', '""') + '"'
