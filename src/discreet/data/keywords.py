"""The column keywords of a call joined with those of a configuration; what the call says wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.data.config import Config
from discreet.data.roles import ROLES, Declarations, declare
from discreet.errors import InputError

Names = str | Sequence[str] | None
Orders = Mapping[str, Sequence[str] | None] | Sequence[str] | None


def settle(
    names: Sequence[str],
    config: Config,
    *,
    roles: Mapping[str, Names],
    numeric: Names = None,
    nominal: Names = None,
    ordinal: Orders = None,
    date: Names = None,
    weights: Mapping[str, float] | None = None,
    aggregate: Mapping[str, str] | None = None,
    digits: Mapping[str, int] | None = None,
    missing: str | None = None,
    named: bool = True,
    hint: str = "",
) -> Declarations:
    """Declarations of all columns from keywords and configuration."""
    said = {role: as_names(role, roles.get(role)) for role in ROLES}
    spoken_of = {name for wanted in said.values() for name in wanted}
    # A role given in the call replaces the configuration's for that column, and its word on the rest.
    merged = {
        role: said[role] + [name for name in config.roles.get(role, []) if not spoken_of & {name, *_same_rest(name)}]
        for role in ROLES
    }
    details: dict[str, dict[str, Any]] = {name: dict(detail) for name, detail in config.details.items()}
    for name, kind, order in _kinds(numeric, nominal, ordinal, date):
        details.setdefault(name, {}).update(kind=kind, order=order)
    for key, values in (("weight", weights), ("aggregate", aggregate), ("digits", digits)):
        for name, value in _mapping(key, values).items():
            details.setdefault(name, {})[key] = value
    if missing is not None:
        for detail in details.values():
            detail.pop("missing", None)
    if not named and not any(name in names for name in (*details, *(n for w in merged.values() for n in w))):
        # The first record of a file without a header would be published as its column names.
        raise InputError(
            "nothing in the file tells whether its first line names the columns or is a record; say so with --header "
            "yes or no, or name the columns you mean"
        )
    return declare(names, merged, details, missing or config.options.get("missing", "separate"), hint)


def as_names(keyword: str, value: Names) -> list[str]:
    """One name or several, as a list."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{keyword}: expected a column name or a list of column names")
    return list(value)


def _same_rest(name: str) -> tuple[str, ...]:
    return ("all", "rest") if name in ("all", "rest") else ()


def _kinds(
    numeric: Names, nominal: Names, ordinal: Orders, date: Names
) -> list[tuple[str, str, tuple[str, ...] | None]]:
    found: list[tuple[str, str, tuple[str, ...] | None]] = [(n, "numeric", None) for n in as_names("numeric", numeric)]
    found += [(name, "nominal", None) for name in as_names("nominal", nominal)]
    if isinstance(ordinal, Mapping):
        for name, order in ordinal.items():
            if isinstance(order, str) or not (order is None or isinstance(order, Sequence)):
                raise InputError(
                    f"ordinal: the order of column '{name}' must be a list of its categories, lowest first"
                )
            found.append((name, "ordinal", None if order is None else tuple(str(category) for category in order)))
    else:
        found += [(name, "ordinal", None) for name in as_names("ordinal", ordinal)]
    found += [(name, "date", None) for name in as_names("date", date)]
    seen: dict[str, str] = {}
    for name, kind, _ in found:
        if seen.setdefault(name, kind) != kind:
            raise InputError(f"column '{name}' is declared both {seen[name]} and {kind}; keep one")
    return found


def _mapping(keyword: str, value: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{keyword}: expected a mapping from column name to value")
    return value
