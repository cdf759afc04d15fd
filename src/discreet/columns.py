"""The column keywords of a call joined with those of a configuration; what the call says wins.

A release's settings from a TOML file: the same keywords as in Python and on the command line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.data.groupings import as_groups
from discreet.data.roles import ROLES, Declarations, declare
from discreet.errors import InputError

OPTIONS = ("k", "missing", "method", "params", "time", "steps", "seed", "threads")
# The TOML word and the name it has inside.
DETAILS = {
    "role": "role", "type": "kind", "order": "order", "weight": "weight",
    "aggregate": "aggregate", "missing": "missing", "digits": "digits",
}  # fmt: skip
_TYPES: dict[str, tuple[type, ...]] = {
    "k": (int,), "missing": (str,), "method": (str,), "params": (dict,), "time": (int, float), "steps": (int,),
    "seed": (int,), "threads": (int,), "role": (str,), "type": (str,), "order": (list,), "weight": (int, float),
    "aggregate": (str,), "digits": (int,),
}  # fmt: skip


@dataclass(frozen=True)
class Config:
    """What a configuration says: options of the verb, roles, details of columns, and groups of quasi-identifiers."""

    options: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, list[str]] = field(default_factory=dict)
    details: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    grouping: list[list[str]] | None = None


def load(path: str | Path) -> Config:
    """Read a TOML file; every key is checked, so that a typing error cannot pass for a setting."""
    if not isinstance(path, str | Path):
        raise InputError("config must be the path of a TOML file")
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8")
        content = tomllib.loads(text)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read as a UTF-8 text file") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
    return _config(str(path), content)


def _config(where: str, content: Mapping[str, Any]) -> Config:
    options: dict[str, Any] = {}
    roles: dict[str, list[str]] = {}
    details: dict[str, dict[str, Any]] = {}
    grouping: list[list[str]] | None = None
    for key, value in content.items():
        if key in OPTIONS:
            options[key] = _typed(where, key, value)
        elif key in ROLES:
            roles[key] = [value] if isinstance(value, str) else _strings(where, key, value)
        elif key == "columns":
            for name, said in _typed_table(where, key, value).items():
                details[name] = _column(f"{where}: [columns.{name}]", name, said, roles)
        elif key == "grouping":
            grouping = as_groups(value, f"{where}: grouping")
        else:
            allowed = ", ".join((*OPTIONS, *ROLES, "columns", "grouping"))
            raise InputError(f"{where}: unknown key '{key}'; allowed are {allowed}")
    return Config(options, roles, details, grouping)


def _column(where: str, name: str, said: Any, roles: dict[str, list[str]]) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    for key, value in _typed_table(where, "", said).items():
        if key not in DETAILS:
            raise InputError(f"{where}: unknown key '{key}'; allowed are {', '.join(DETAILS)}")
        detail[DETAILS[key]] = _typed(where, key, value)
    role = detail.pop("role", None)
    if role is not None:
        if role not in ROLES:
            raise InputError(f"{where}: role must be one of {', '.join(ROLES)}, not '{role}'")
        roles.setdefault(role, []).append(name)
    if "order" in detail:
        detail["order"] = tuple(str(category) for category in detail["order"])
        detail.setdefault("kind", "ordinal")
    return detail


def _typed(where: str, key: str, value: Any) -> Any:
    wanted = _TYPES[key]
    if not isinstance(value, wanted) or isinstance(value, bool):
        words = {int: "a whole number", float: "a number", str: "a text", list: "a list", dict: "a table"}
        raise InputError(f"{where}: '{key}' must be {words[wanted[-1]]}")
    return value


def _typed_table(where: str, key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: {key or 'this'} must be a table")
    return value


def _strings(where: str, key: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f"{where}: '{key}' must be a list of column names")
    return list(value)


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
