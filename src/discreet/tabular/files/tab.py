"""τ-ARGUS's tables (.tab): a cell on a line, its codes, value and what is known of it, described by a .rda file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.data.checks import itemize
from discreet.errors import CodesError, InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files.asc import dimension_of, fields_of
from discreet.tabular.files.rda import Metadata, Variable
from discreet.tabular.files.text import BLANKS, check_code, list_lines, naming, word
from discreet.tabular.hierarchy import TOTAL
from discreet.tabular.relations import CellsError, whole
from discreet.tabular.table import FIXED, PRIMARY, RULES, SAFE, SECONDARY, Table
from discreet.text import count

_STATUSES = {"S": SAFE, "U": PRIMARY, "M": SECONDARY, "P": FIXED, "E": FIXED, "": FIXED}
_GIVEN = 1 << RULES.index("given")
_LETTERS = "SUMP"
_LEADS = "@#%&~$^*"


def read(path: str | Path, meta: Metadata) -> Table:
    """Read a table; the decimal sign is found out for the file as a whole.

    Parameters
    ----------
    path : str or Path
        The file.
    meta : Metadata
        What its columns are.
    """
    path = Path(path)
    with naming(path):
        return _table(path, meta)


def _table(path: Path, meta: Metadata) -> Table:
    cells = cells_of(path, meta)
    dimensions, codes = [], []
    for variable in meta.variables:
        if not (variable.is_number or variable.status):
            found = [code.rstrip(BLANKS) for code in cells.words(variable)]
            dimension = _dimension(path, variable, found, cells.lines)
            dimensions.append(dimension)
            codes.append([dimension.position[code] for code in found])
    if not dimensions:
        raise InputError(f"{meta.path.name}: no variable is a dimension of the table; all of them are numbers")
    response, notes = _response(meta)
    contributors = _numbers(cells, meta, "frequency")
    if response is None and contributors is None:
        raise InputError(f"{meta.path.name}: no variable is <NUMERIC> or <FREQUENCY>, so the table has no values")
    value = contributors if response is None else cells.numbers(response)
    status = _status(cells, meta)
    try:
        return Table.of(
            value,
            dimensions=dimensions,
            codes=np.array(codes, dtype=np.int32).T,
            source=path.name,
            count=contributors,
            tops=_tops(cells, meta),
            status=status,
            rule=None if status is None else np.where(status == PRIMARY, _GIVEN, 0).astype(np.int32),
            response=None if response is None else response.name,
            notes=(*meta.notes, *cells.notes, *notes),
            cost=_numbers(cells, meta, "cost"),
            lpl=_numbers(cells, meta, "lowerpl"),
            upl=_numbers(cells, meta, "upperpl"),
        )
    except CellsError as error:
        raise InputError(error.at(lambda cell: f"line {cells.lines[cell]}")) from None


def _first(meta: Metadata, role: str) -> Variable | None:
    return next((variable for variable in meta.variables if getattr(variable, role)), None)


def _numbers(cells: Cells, meta: Metadata, role: str) -> NDArray[np.float64] | None:
    variable = _first(meta, role)
    return None if variable is None else cells.numbers(variable)


def _response(meta: Metadata) -> tuple[Variable | None, list[str]]:
    """What is summed in the table, and what is passed over."""
    roles = ("frequency", "maxscore", "shadow", "cost", "lowerpl", "upperpl", "weight")
    plain = [one for one in meta.variables if one.numeric and not any(getattr(one, role) for role in roles)]
    shadows = [one.name for one in meta.variables if one.shadow]
    notes = [f"{meta.path.name}: the shadow variable {name} is passed over" for name in shadows]
    if len(plain) > 1:
        rest = itemize([one.name for one in plain[1:]])
        notes.append(f"{meta.path.name}: the response is {plain[0].name}; {rest} passed over")
    return (plain[0] if plain else None), notes


def _dimension(path: Path, variable: Variable, found: list[str], lines: list[int]) -> Dimension:
    """The dimension that a variable makes, with the lines of codes that make none."""
    total = TOTAL if variable.total is None else variable.total
    if total not in found:
        raise InputError(
            f"{path.name}: variable '{variable.name}' never has the code of the total; say what it is by <TOTCODE>, "
            "and give the table all its totals"
        )
    try:
        dimension = dimension_of(variable, found, sums=True)
    except CodesError as error:
        raise InputError(f"{error} ({_list_lines(found, lines, error.codes)})") from None
    lost = {code for code in found if code not in dimension.position}
    if lost:
        lack = f"{dimension.hierarchies[0].source} lacks {count(len(lost), 'code')} of variable '{variable.name}'"
        raise InputError(
            f"{path.name}: {lack} ({_list_lines(found, lines, lost)}); add them to it, with the blanks they have"
        )
    return dimension


def _list_lines(found: list[str], lines: list[int], wrong: Collection[str]) -> str:
    """The first lines that hold one of the wrong codes."""
    return list_lines([line for code, line in zip(found, lines, strict=True) if code in wrong])


def _status(cells: Cells, meta: Metadata) -> NDArray[np.uint8] | None:
    variable = _first(meta, "status")
    if variable is None:
        return None
    letters = [word.strip().upper() for word in cells.words(variable)]
    for number, letter in zip(cells.lines, letters, strict=True):
        if letter not in _STATUSES:
            raise InputError(
                f"{cells.path.name}, line {number}: the status must be S (safe), U (unsafe), P (protected), "
                "M (secondary) or E (empty)"
            )
    return np.array([_STATUSES[letter] for letter in letters], dtype=np.uint8)


def _tops(cells: Cells, meta: Metadata) -> NDArray[np.float64] | None:
    columns = [cells.numbers(variable) for variable in meta.variables if variable.maxscore]
    return np.stack(columns, axis=1) if columns else None


@dataclass(frozen=True)
class Cells:
    """The lines of a .tab file.

    Attributes
    ----------
    path
        The file.
    columns
        The fields of each variable.
    lines
        The number of each cell's line.
    decimal
        The decimal sign.
    notes
        What was assumed.
    """

    path: Path
    columns: dict[str, list[str]]
    lines: list[int]
    decimal: str
    notes: tuple[str, ...]

    def words(self, variable: Variable) -> list[str]:
        """The fields of a variable as text."""
        return self.columns[variable.name]

    def numbers(self, variable: Variable) -> NDArray[np.float64]:
        """The fields of a variable as numbers."""
        words = self.columns[variable.name]
        if self.decimal == ",":
            words = [word.replace(",", ".") for word in words]
        try:
            numbers = np.array(words, dtype=np.float64)
        except ValueError:
            numbers = np.array([_number(word) for word in words])
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            raise InputError(
                f"{self.path.name}, line {self.lines[wrong[0]]}: '{variable.name}' is not a number with a decimal "
                f"'{self.decimal}'{more}"
            )
        return numbers


def cells_of(path: Path, meta: Metadata) -> Cells:
    """Read the lines of a .tab file and find out its decimal sign."""
    if meta.separator is None:
        raise InputError(f'{meta.path.name}: a table needs a separator; say what it is first: <SEPARATOR> ";"')
    found, lines, notes = fields_of(path, meta)
    columns = {variable.name: column for variable, column in zip(meta.variables, found, strict=True)}
    return Cells(path, columns, lines, _decimal(path, meta, columns, lines), tuple(notes))


def _decimal(path: Path, meta: Metadata, columns: dict[str, list[str]], lines: list[int]) -> str:
    """The decimal sign: the one of comma and point that occurs in numbers."""
    at: dict[str, int] = {}
    for variable in meta.variables:
        if variable.is_number:
            for sign in ",.":
                place = next(
                    (line for line, word in zip(lines, columns[variable.name], strict=True) if sign in word), 0
                )
                if place:
                    at[sign] = min(place, at.get(sign, place))
    if len(at) == 2:
        raise InputError(
            f"{path.name}: numbers have a decimal comma in line {at[',']} and a point in line {at['.']}; write all of "
            "them in one way, without marks for thousands"
        )
    return next(iter(at), ".")


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return np.nan


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
        columns.append([_quote(code) for code in table.codes_of(axis)])
    for variable, column in _attributes(table):
        variables.append(variable)
        columns.append(column)
    names: set[str] = set()
    meta = Metadata(Path(f"{stem}.rda"), ";", tuple(_rename(variable, names) for variable in variables))
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
    found[file] = dimension.hierarchies[0].to_hrc(lead)
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


def _rename(variable: Variable, names: set[str]) -> Variable:
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


def _quote(code: str) -> str:
    return '"' + code.replace('"', '""') + '"'
