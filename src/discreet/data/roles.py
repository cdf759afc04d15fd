"""The role of every column and what is declared of it: said by the user, never guessed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

from discreet.errors import InputError

ROLES = ("quasi", "confidential", "identifier", "by", "ignore")
REST = ("all", "rest")
# How numbers are recoded on the way in.
RECODINGS = ("topcode", "bottomcode", "round")
KINDS = ("numeric", "ordinal", "nominal", "date")
# Beyond this, nothing of an attribute of weight 1 is left in a sum of distances.
LARGEST_WEIGHT = 1e15
# The parts of a date, as strptime has them.
DATE_PARTS = "YymdbBHIpMSfz"
MISSING = ("separate", "impute", "error")
# What each kind of attribute can be aggregated by; the first is the default.
AGGREGATES = {
    "numeric": ("mean", "median", "mode"),
    "date": ("mean", "median", "mode"),
    "ordinal": ("median", "mode"),
    "nominal": ("mode",),
}


@dataclass(frozen=True)
class Declaration:
    """What is declared of one column; None where nothing is."""

    name: str
    role: str = ""
    kind: str | None = None
    order: tuple[str, ...] | None = None
    weight: float | None = None
    aggregate: str | None = None
    missing: str | None = None
    digits: int | None = None
    coarsen: str | None = None
    # Limits beyond which values are coded, and what all are rounded to multiples of.
    topcode: str | float | None = None
    bottomcode: str | float | None = None
    round: float | None = None
    hierarchy: str | None = None
    # What is said of all columns at once: digits of those that are numbers, words for missing values, two-digit years.
    default_digits: int | None = None
    form: str | None = None
    pivot: int | None = None
    na: tuple[str, ...] = ()
    # Whether the column was named for its role, and not covered by `rest`.
    named: bool = True


@dataclass(frozen=True)
class Declarations:
    """The declarations of all columns, in the order of the data."""

    columns: tuple[Declaration, ...]
    # What a reader of the summary should know of them.
    notes: tuple[str, ...] = ()
    _by_name: dict[str, Declaration] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {column.name: column for column in self.columns})

    def names(self, *roles: str) -> list[str]:
        """Names of the columns that play one of the roles."""
        return [column.name for column in self.columns if column.role in roles]

    def __getitem__(self, name: str) -> Declaration:
        return self._by_name[name]


def declare(
    names: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    details: Mapping[str, Mapping[str, Any]],
    default: str,
    hint: str = "",
    common: Mapping[str, Any] | None = None,
) -> Declarations:
    """Settle the role of every column.

    Parameters
    ----------
    names : sequence of str
        The columns of the data.
    roles : mapping
        For each role the columns that were named for it, or ``all`` or ``rest`` for those not named.
    details : mapping
        For a column what else was said: kind, order, weight, aggregate, missing, digits.
    default : str
        What to do with missing values where a column says nothing.
    hint : str
        What else to say if a column is not there.
    common : mapping, optional
        What is said of all columns, where a column says nothing else.
    """
    repeated = sorted({name for name in names if list(names).count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise InputError(f"column names must be unique; more than once: {quote(repeated)}. Rename them.")
    settled: dict[str, str] = {}
    rest = ""
    for role, wanted in roles.items():
        for name in wanted:
            if name in REST and name not in names:
                if rest and rest != role:
                    raise InputError(f"the rest of the columns cannot be both {rest} and {role}; keep one of the two")
                rest = role
                continue
            _check_known(name, names, role, hint)
            if settled.get(name, role) != role:
                raise InputError(f"column '{name}' has two roles, {settled[name]} and {role}; keep one")
            settled[name] = role
    for name in details:
        _check_known(name, names, "the declarations", hint)
    lost = [name for name in names if name not in settled]
    if lost and not rest:
        raise InputError(
            f"no role was given for: {quote(lost)}. Name each as quasi, confidential, identifier, by or ignore, "
            "or cover the rest with 'quasi all', 'confidential rest' or 'ignore rest'."
        )
    columns = tuple(
        _add_details(
            Declaration(name, settled.get(name, rest), missing=default, named=name in settled),
            {**(common or {}), **details.get(name, {})},
        )
        for name in names
    )
    if not any(column.role == "quasi" for column in columns):
        raise InputError("no quasi-identifier was named, so there is nothing to protect; name at least one as quasi")
    return Declarations(columns)


def _add_details(column: Declaration, said: Mapping[str, Any]) -> Declaration:
    column = replace(column, **said)
    where = f"column '{column.name}'"
    _check_choice(where, "type", column.kind, KINDS)
    _check_choice(where, "missing", column.missing, MISSING)
    if column.kind is not None:
        _check_choice(f"{where}, which is {column.kind}", "aggregate", column.aggregate, AGGREGATES[column.kind])
    if column.weight is not None and not (_is(column.weight, Real) and 0 <= column.weight <= LARGEST_WEIGHT):
        raise InputError(f"{where}: weight must be a number from 0 to {LARGEST_WEIGHT:g}")
    for digits in (column.digits, column.default_digits):
        if digits is not None and not (_is(digits, Integral) and -18 <= digits <= 18):
            raise InputError(f"{where}: digits must be a whole number between -18 and 18, not {digits!r}")
    if column.pivot is not None and not (_is(column.pivot, Integral) and 0 <= column.pivot <= 99):
        raise InputError(f"pivot must be a year of two digits, 0 to 99, not {column.pivot!r}")
    if column.form is not None:
        check_pattern(column.name, column.form)
    for key in RECODINGS:
        said_so = getattr(column, key)
        if said_so is None:
            continue
        if column.role not in ("quasi", "confidential"):
            raise InputError(f"{where}: {key} is for quasi-identifiers and confidential columns; it is {column.role}")
        if column.coarsen is not None:
            raise InputError(f"{where}: it is coarsened, so that {key} has nothing to work on; keep one of the two")
        if key == "round" and not (_is(said_so, Real) and 0 < said_so < float("inf")):
            raise InputError(f"{where}: round must be a number above 0, such as 100, not {said_so!r}")
        if key != "round" and not (isinstance(said_so, str) or _is(said_so, Real)):
            raise InputError(f"{where}: {key} must be a share such as '99%', or a number, not {said_so!r}")
    if column.coarsen is not None and not isinstance(column.coarsen, str):
        raise InputError(f"{where}: coarsen must be a text, such as 'prefix:2'")
    if column.coarsen is not None and column.role != "quasi":
        raise InputError(f"{where}: only quasi-identifiers can be coarsened; it is {column.role}")
    if column.hierarchy is not None:
        if not isinstance(column.hierarchy, str):
            raise InputError(f"{where}: hierarchy must be a text: prefix, or the name of a hierarchy file")
        if column.role != "quasi" or column.kind not in (None, "nominal"):
            what = column.kind if column.role == "quasi" else column.role
            raise InputError(f"{where}: only nominal quasi-identifiers are compared by a hierarchy; it is {what}")
        column = replace(column, kind="nominal", order=None)
    if column.order is not None and len(set(column.order)) < len(column.order):
        raise InputError(f"{where}: a category stands twice in its order")
    return column


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _check_choice(where: str, key: str, value: str | None, allowed: Iterable[str]) -> None:
    if value is not None and value not in allowed:
        raise InputError(f"{where}: {key} must be one of {', '.join(allowed)}, not '{value}'")


def _check_known(name: str, names: Sequence[str], where: str, more: str) -> None:
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else f" The columns are: {quote(names)}."
    raise InputError(f"unknown column '{name}' in {where}.{hint}{more}")


def check_pattern(name: str, pattern: str) -> None:
    """Refuse a form of dates of which none can be read, naming the column."""
    parts = re.findall("%(.)", pattern)
    if any(part not in DATE_PARTS for part in parts) or len(set(parts)) < len(parts):
        allowed = " ".join(f"%{part}" for part in DATE_PARTS)
        raise InputError(
            f"column '{name}': the form of a date is written with {allowed}, each at most once, as %d.%m.%Y"
        )
    if not {"Y", "y"} & set(parts) or not {"m", "b", "B"} & set(parts):
        raise InputError(f"column '{name}': the form of a date must have a year (%Y or %y) and a month (%m, %b or %B)")


def as_words(value: Any) -> tuple[str, ...]:
    """Words for missing values as texts, one or several; a number that is whole as one."""
    listed = [value] if isinstance(value, str | int | float) else value
    if not isinstance(listed, Sequence) or not all(isinstance(word, str | int | float) for word in listed):
        raise InputError("na: expected words or numbers that stand for missing values")
    return tuple(f"{word:g}" if isinstance(word, float) else str(word) for word in listed)


def quote(names: Sequence[str], most: int = 30) -> str:
    """Names in quotation marks; of many the first."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(f"'{name}'" for name in names[:most]) + more
