"""A configuration: the settings of a run in a TOML file, every key checked, so that no slip passes for a setting."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from discreet.data.roles import ROLES, as_words
from discreet.errors import InputError

# Settings of a protection, and how its file is read, by the names that they have in a call.
OPTIONS = (
    "k",
    "missing",
    "method",
    "params",
    "time",
    "steps",
    "seed",
    "seeds",
    "threads",
    "bound",
    "measures",
    "order",
    "target",
    "l",
    "t",
    "person",
    "sampling_weight",
    "household",
    "split_households",
)
# What is said of the values of all columns.
VALUES = ("pivot", "na")
# The columns that the file was made for.
EXPECTED = "expected"
READING = ("delimiter", "encoding", "decimal", "header", "sheet", "max_size", "query", "query_time")
# An earlier release of the same respondents.
PREVIOUS = ("previous_release", "previous_row_map")
# The TOML word and the name it has inside.
DETAILS = {
    "role": "role", "type": "kind", "order": "order", "weight": "weight",
    "aggregate": "aggregate", "missing": "missing", "digits": "digits", "coarsen": "coarsen",
    "topcode": "topcode", "bottomcode": "bottomcode", "round": "round",
    "hierarchy": "hierarchy",
    "form": "form", "na": "na",
}  # fmt: skip
_TYPES: dict[str, tuple[type, ...]] = {
    "k": (int,), "missing": (str,), "method": (str,), "params": (dict,), "time": (int, float), "steps": (int,),
    "seed": (int,), "threads": (int,), "bound": (bool,), "measures": (str, list), "order": (str,), "target": (str,),
    "seeds": (int,),
    "delimiter": (str,), "encoding": (str,), "decimal": (str,), "header": (bool,), "sheet": (str,),
    "max_size": (str, int), "query": (str,), "query_time": (int, float),
    "cost": (str,), "protect_secondaries": (bool,), "singletons": (bool,), "sums": (bool,), "strict": (bool,),
    "partial": (bool,), "l": (dict,), "t": (dict,), "person": (str,), "household": (str,),
    "no_rules": (bool,), "growth": (int, float), "previous_release": (str,), "previous_row_map": (str,),
    "split_households": (int,), "sampling_weight": (str,), "pivot": (int,), "na": (str, int, float, list),
}  # fmt: skip
_DETAIL_TYPES: dict[str, tuple[type, ...]] = {
    "role": (str,), "type": (str,), "order": (list,), "weight": (int, float), "aggregate": (str,), "missing": (str,),
    "digits": (int,), "coarsen": (str,), "topcode": (int, float, str), "bottomcode": (int, float, str),
    "round": (int, float), "hierarchy": (str,), "form": (str,), "na": (str, int, float, list),
}  # fmt: skip
Types = Mapping[str, tuple[type, ...]]
Verb = TypeVar("Verb", bound=Callable[..., Any])
# The steps from microdata to an audited table, in their order.
TABLE_VERBS = ("tabulate", "primary", "suppress", "audit")
# The types that a keyword with any text, number or truth value has.
TEXT, WHOLE, NUMBER, FLAG, LIST = (str,), (int,), (int, float), (bool,), (list,)


@dataclass(frozen=True)
class Config:
    """What a configuration says: options of the verb, roles and details of columns, their groups, and how to read."""

    options: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, list[str]] = field(default_factory=dict)
    details: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    grouping: list[list[str]] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    # All columns that the data is to have, if they are listed: then `rest` takes in no other.
    expected: tuple[str, ...] = ()
    previous: Mapping[str, str] = field(default_factory=dict)


def load(path: str | Path | None) -> Config:
    """Read the TOML file of a protection; nothing is said in no file."""
    return Config() if path is None else _read_config(*_read_toml(path))


def load_options(path: str | Path | None, names: Sequence[str] | Types, verb: str = "") -> dict[str, Any]:
    """Read a TOML file that holds keywords of a verb of tables; none are in no file.

    The keywords stand at the top, where the file is for one verb, or in a table of the verb's name, where it is for all
    steps from microdata to an audited table.

    Parameters
    ----------
    path : path, optional
        The file.
    names : sequence of str, or mapping
        The keywords it may hold; with their types, where these are the verb's own.
    verb : str
        The verb.
    """
    if path is None:
        return {}
    where, content = _read_toml(path)
    if content and all(key in TABLE_VERBS and isinstance(value, dict) for key, value in content.items()):
        where, content = f"{where}: [{verb}]", content.get(verb, {})
    for key in content:
        if key not in names:
            raise _unknown_key(where, key, list(names))
    types = names if isinstance(names, Mapping) else _TYPES
    return {key: _check_type(where, key, value, types) for key, value in content.items()}


def configured(**types: tuple[type, ...]) -> Callable[[Verb], Verb]:
    """Let a verb's keywords stand in the file that its keyword `config` names; what the call gives wins.

    Parameters
    ----------
    **types
        The keywords that may stand there, each with the types of its values.
    """

    def complete(verb: Verb) -> Verb:
        @functools.wraps(verb)
        def call(*arguments: Any, **given: Any) -> Any:
            said = load_options(given.pop("config", None), types, verb.__name__)
            return verb(*arguments, **{**said, **given})

        return cast("Verb", call)

    return complete


def _read_toml(path: str | Path) -> tuple[str, dict[str, Any]]:
    """A file's name and content."""
    from discreet.data import toml

    if not isinstance(path, str | Path):
        raise InputError("config must be the path of a TOML file")
    return str(path), toml.read(Path(path))


def _unknown_key(where: str, key: str, known: Sequence[str]) -> InputError:
    """The error of a key that means nothing, told with its line."""
    from discreet.data import toml

    return toml.unknown_key(f"{where}{toml.place_of_key(where, key)}", key, known)


def _read_config(where: str, content: Mapping[str, Any]) -> Config:
    from discreet.data.groupings import as_groups

    options: dict[str, Any] = {}
    roles: dict[str, list[str]] = {}
    details: dict[str, dict[str, Any]] = {}
    grouping: list[list[str]] | None = None
    reading: dict[str, Any] = {}
    values: dict[str, Any] = {}
    expected: tuple[str, ...] = ()
    previous: dict[str, str] = {}
    for key, value in content.items():
        if key in OPTIONS:
            options[key] = _check_type(where, key, value, _TYPES)
        elif key in VALUES:
            said = _check_type(where, key, value, _TYPES)
            values[key] = as_words(said) if key == "na" else said
        elif key in PREVIOUS:
            previous[key] = _check_type(where, key, value, _TYPES)
        elif key in READING:
            reading[key] = _check_type(where, key, value, _TYPES)
        elif key in ROLES:
            roles[key] = [value] if isinstance(value, str) else _check_strings(where, key, value)
        elif key == "columns":
            for name, said in _check_table(where, key, value).items():
                details[name] = _read_column(f"{where}: [columns.{name}]", name, said, roles)
        elif key == EXPECTED:
            expected = tuple(_check_strings(where, key, value))
        elif key == "grouping":
            grouping = as_groups(value, f"{where}: grouping")
        else:
            raise _unknown_key(
                where, key, (*OPTIONS, *VALUES, *PREVIOUS, *READING, *ROLES, EXPECTED, "columns", "grouping")
            )
    return Config(options, roles, details, grouping, reading, where, values, expected, previous)


def _read_column(where: str, name: str, said: Any, roles: dict[str, list[str]]) -> dict[str, Any]:
    from discreet.data import toml

    detail: dict[str, Any] = {}
    for key, value in _check_table(where, "", said).items():
        if key not in DETAILS:
            raise toml.unknown_key(where, key, DETAILS)
        detail[DETAILS[key]] = _check_type(where, key, value, _DETAIL_TYPES)
    role = detail.pop("role", None)
    if role is not None:
        if role not in ROLES:
            raise InputError(f"{where}: role must be one of {', '.join(ROLES)}")
        roles.setdefault(role, []).append(name)
    if "order" in detail:
        detail["order"] = tuple(str(category) for category in detail["order"])
        detail.setdefault("kind", "ordinal")
    if "form" in detail:
        detail.setdefault("kind", "date")
    if "na" in detail:
        detail["na"] = as_words(detail["na"])
    return detail


def _check_type(where: str, key: str, value: Any, types: Types) -> Any:
    wanted = types[key]
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        words = {
            int: "a whole number",
            float: "a number",
            str: "a text",
            list: "a list",
            dict: "a table",
            bool: "true or false",
        }
        raise InputError(f"{where}: '{key}' must be {words[wanted[-1]]}")
    return value


def _check_table(where: str, key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: {key or 'this'} must be a table")
    return value


def _check_strings(where: str, key: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f"{where}: '{key}' must be a list of column names")
    return list(value)
