"""Finding out how a delimited file is written, from its first records: delimiter, header, decimal sign."""

from __future__ import annotations

import csv
import io
import re

import polars as pl

from discreet.data.values import MISSING_WORDS

CANDIDATES = ",;\t|"
_SAMPLE_CHARACTERS = 1 << 18
_SAMPLE_RECORDS = 1000

_NUMBER = re.compile(r"\s*[+-]?(\d+([.,' ]\d+)*[.,]?|[.,]\d+)([eE][+-]?\d+)?\s*%?\s*")
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d*,\d+\s*")
_DATE = re.compile(r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?\s*|\s*\d{1,2}:\d{2}(:\d{2})?.*")
_MISSING = frozenset(
    {"", ".", "-", "--", "?", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "missing", "#n/a", "<na>", "k.a."}
)


def sample_of(data: bytes) -> tuple[str, bool]:
    """Return the beginning of a UTF-8 text, and whether that is all of it."""
    piece = data[:_SAMPLE_CHARACTERS]
    return piece.decode("utf-8", "ignore"), len(piece) == len(data)


def records(sample: str, delimiter: str, *, whole: bool = True) -> list[list[str]]:
    """Split a sample into its first records; a last record that may be cut off is left out, as are blank lines."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            rows.append(row)
            if len(rows) > _SAMPLE_RECORDS:
                break
    except csv.Error:  # a field beyond the reader's limit; what came before it is sample enough
        whole = True
    if (not whole or len(rows) > _SAMPLE_RECORDS) and len(rows) > 1:
        rows.pop()
    return [row for row in rows if row]


def delimiter_of(sample: str, *, whole: bool = True) -> str:
    """Find the delimiter.

    It must stand in the first record. Of several candidates the best is the one by which most records have as many
    fields as the first; then the one that leaves the fewest fields with another candidate in them (a decimal comma
    and a comma before a space excepted); then the one that gives the most numbers; then the one with most fields.
    Without any, the file has one column: then a comma, or a semicolon if the values are numbers with a decimal comma.
    """
    scores: dict[str, tuple[float, float, float, int]] = {}
    for candidate in CANDIDATES:
        rows = records(sample, candidate, whole=whole)
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        fields = [value for row in rows for value in row]
        others = re.compile("[" + re.escape(CANDIDATES.replace(candidate, "")) + r"](?! )")
        mixed = sum(1 for value in fields if others.search(value) and not _is_value(value))
        scores[candidate] = (
            sum(len(row) == width for row in rows) / len(rows),
            -mixed / len(fields),
            sum(map(_is_value, fields)) / len(fields),
            width,
        )
    if scores:
        return max(scores, key=lambda candidate: scores[candidate])
    values = [row[0] for row in records(sample, "\t", whole=whole)[1:]]
    return ";" if any("," in v for v in values) and all(_is_value(v) for v in values) else ","


def header_of(rows: list[list[str]]) -> tuple[bool, bool]:
    """Find out whether the first record is a header, and whether anything speaks for the answer.

    Each column has one vote. Text above a column of nothing but numbers or dates speaks for a header. A number or a
    date in the first record, or a text that occurs again further down in its column, speaks for a record. Missing
    codes do not vote. A tie with votes is a record: to take a record for a header would publish a person's values as
    column names, while to take a header for a record is seen at once. Without any vote it is a header, as usual.
    """
    first, rest = rows[0], rows[1:]
    for_header = for_record = 0
    for column, cell in enumerate(first):
        if _is_missing(cell):
            continue
        body = [row[column] for row in rest if column < len(row) and not _is_missing(row[column])]
        if _is_value(cell) or cell in body:
            for_record += 1
        elif body and all(map(_is_value, body)):
            for_header += 1
    return for_record == 0 or for_header > for_record, for_header > 0 or for_record > 0


def decimal_of(frame: pl.DataFrame, delimiter: str) -> tuple[str, bool]:
    """Find the decimal sign from whole columns of numbers, and whether the columns disagree.

    A comma, if a column holds nothing but numbers and some with a decimal comma. Where all of these could as well be
    thousands (1,250), it is a comma only if the delimiter is another sign and no column has decimal points.
    """
    comma, thousands = False, False
    for series in frame.iter_columns():
        if not series.str.contains(",", literal=True).any():
            continue
        values = series.drop_nulls()
        values = values.filter(~values.str.strip_chars().str.to_lowercase().is_in(list(MISSING_WORDS)))
        if values.str.contains(r"^\s*[+-]?(\d+|\d*,\d+)([eE][+-]?\d+)?\s*$").all():
            with_comma = values.filter(values.str.contains(",", literal=True))
            if with_comma.str.contains(r"^\s*[+-]?\d{1,3},\d{3}\s*$").all():
                thousands = True
            else:
                comma = True
    if not comma and not thousands:
        return ".", False
    point = any(_has_points(series) for series in frame.iter_columns())
    if comma:
        return ",", point
    return (",", False) if delimiter != "," and not point else (".", True)


def _has_points(series: pl.Series) -> bool:
    if not series.str.contains(".", literal=True).any():
        return False
    return bool(series.drop_nulls().str.contains(r"^\s*[+-]?(\d+|\d*\.\d+)([eE][+-]?\d+)?\s*$").all())


def _is_value(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell))


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in _MISSING
