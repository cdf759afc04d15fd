"""Microdata as τ-ARGUS takes them: fields of fixed width or with a separator, described by a .rda file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from discreet.data.checks import check_readable
from discreet.data.files.source import Source
from discreet.errors import CodesError, InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files.rda import Metadata, Variable
from discreet.tabular.files.text import BLANKS, content, lines_of, records
from discreet.tabular.hierarchy import TOTAL, Hierarchy


def read(path: str | Path, meta: Metadata) -> Source:
    """Read microdata: codes as text with the blanks before them, numbers as numbers.

    A code for a missing value becomes null in a number and stays in other variables. A blank number is null too.

    Parameters
    ----------
    path : str or Path
        The file.
    meta : Metadata
        What its variables are.
    """
    path = Path(path)
    check_readable(path)
    columns, lines, notes = _split_by_width(path, meta) if meta.separator is None else _split_by_separator(path, meta)
    if not len(columns[0]):
        raise InputError(f"{path.name} has no records; is it the right file?")
    made = {
        variable.name: _numbers(path, variable, column, lines, notes) if variable.is_number else _codes(column)
        for variable, column in zip(meta.variables, columns, strict=True)
    }
    where = None if lines is None else np.array(lines, dtype=np.int64)
    form = "asc" if meta.separator is None else "csv"
    return Source(pl.DataFrame(made), path, form, notes=(*meta.notes, *notes), lines=where)


def fields_of(path: Path, meta: Metadata) -> tuple[list[list[str]], list[int], list[str]]:
    """The columns of a file with a separator, the line of each record, and what was assumed in reading it."""
    rows: list[list[str]] = []
    lines: list[int] = []
    notes: list[str] = []
    names = [variable.name for variable in meta.variables]
    for number, fields in records(path, content(path), meta.separator or ";"):
        if len(fields) == len(names) + 1 and not fields[-1].strip():
            fields.pop()  # a separator at the end of the line
        if len(fields) != len(names):
            raise InputError(
                f"{path.name}, line {number}: {len(fields)} fields, but {meta.path.name} describes {len(names)} "
                f"variables with '{meta.separator}' between them"
            )
        if not rows and not notes and [field.strip() for field in fields] == names:
            notes.append(f"{path.name}: line {number} holds the names of the variables")
            continue
        rows.append(fields)
        lines.append(number)
    if not rows:
        raise InputError(f"{path.name} has no records; is it the right file?")
    return [list(column) for column in zip(*rows, strict=True)], lines, notes


def dimension_of(variable: Variable, codes: Iterable[str | None], *, sums: bool = False) -> Dimension:
    """The dimension that a variable makes of a table.

    Its codes for a missing value are part of it, right under the total. Whether a hierarchy from a file has all the
    codes of the data is left to whoever knows their lines.

    Parameters
    ----------
    variable : Variable
        What is known of the variable.
    codes : iterable of str
        The codes that are in the data.
    sums : bool
        Whether the codes may be sums of others and the total itself, as in a table.
    """
    total = TOTAL if variable.total is None else variable.total
    found = list(dict.fromkeys(codes))
    if any(code is None or not code.strip() for code in found):
        raise InputError(f"variable '{variable.name}' has no code in some records; give them one, such as 99")
    present = [code for code in found if code is not None and not (sums and code == total)]
    if total in present:
        raise CodesError(
            f"variable '{variable.name}': the code of the total is a code of the data too; give the total another code "
            "by <TOTCODE>",
            [total],
        )
    stripped = {code.strip(): code for code in present}
    missing = [stripped.get(code.strip(), code) for code in variable.missing if code.strip()]
    return Dimension(variable.name, _hierarchy(variable, present, missing, total, sums), missing)


def _hierarchy(variable: Variable, present: list[str], missing: list[str], total: str, sums: bool) -> Hierarchy:
    source = f"the codes of '{variable.name}'"
    if variable.hierarchy is not None:
        in_file = Hierarchy.from_hrc(variable.hierarchy, lead=variable.lead, total=total)
        more = [code for code in missing if code not in in_file.codes]
        return Hierarchy([*in_file.codes, *more], [*in_file.parents.tolist(), *([0] * len(more))], in_file.source)
    if any(variable.levels):
        full = [code for code in present if not sums or len(code) == sum(variable.levels)]
        return Hierarchy.from_digits([*full, *missing], variable.levels, total=total, apart=missing, source=source)
    # A table keeps the order it has; data have none.
    order = present if sums else sorted(present)
    plain = [code for code in order if code not in missing]
    return Hierarchy.flat([*plain, *missing], total=total, source=source)


def _split_by_width(path: Path, meta: Metadata) -> tuple[list[pl.Series], list[int] | None, list[str]]:
    text = pl.Series(lines_of(content(path).rstrip("\r\n")), dtype=pl.String)
    end = max(variable.start + variable.width - 1 for variable in meta.variables)
    short = (text.str.len_chars() < end).arg_true()
    if len(short):
        raise InputError(
            f"{path.name}, line {short[0] + 1}: the line is shorter than the {end} characters that {meta.path.name} "
            f"describes ({len(short)} such lines); complete it, with blanks if need be"
        )
    return [text.str.slice(one.start - 1, one.width) for one in meta.variables], None, []


def _split_by_separator(path: Path, meta: Metadata) -> tuple[list[pl.Series], list[int] | None, list[str]]:
    columns, lines, notes = fields_of(path, meta)
    return [pl.Series(column, dtype=pl.String) for column in columns], lines, notes


def _codes(column: pl.Series) -> pl.Series:
    cut = column.str.strip_chars_end(BLANKS)
    # A code of nothing but blanks stays as it is; a field with nothing in it has no code.
    return (
        pl.DataFrame({"cut": cut, "whole": column})
        .select(
            pl.when(pl.col("cut") != "")
            .then(pl.col("cut"))
            .when(pl.col("whole") != "")
            .then(pl.col("whole"))
            .otherwise(None)
        )
        .to_series()
    )


def _numbers(path: Path, variable: Variable, column: pl.Series, lines: list[int] | None, notes: list[str]) -> pl.Series:
    words = column.str.strip_chars()
    blank = words == ""
    missing = words.is_in(list(variable.is_missing))
    numbers = words.cast(pl.Float64, strict=False)
    wrong = (~blank & ~missing & ~numbers.is_finite().fill_null(False)).arg_true()
    if len(wrong):
        row = int(wrong[0])
        comma = pl.Series([words[row]]).str.contains(r"^[-+]?\d*,\d+$")[0]
        what = "has a decimal comma; write a decimal point" if comma else "is not a number"
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        place = lines[row] if lines is not None else row + 1
        raise InputError(f"{path.name}, line {place}: '{variable.name}' {what}{more}")
    count = int((blank & ~missing).sum())
    if count:
        notes.append(f"{path.name}: {count} blank fields of '{variable.name}' are taken to be missing")
    return (
        pl.DataFrame({"number": numbers, "gone": blank | missing})
        .select(pl.when(pl.col("gone")).then(None).otherwise(pl.col("number")))
        .to_series()
    )
