"""The methods of secondary suppression by name. A new method is a module and one line in the table."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any, cast, get_type_hints

from discreet.errors import InputError

ORDERS = (
    "ga-group-k",
    "ga-one-k",
    "ga-one-p",
    "ga-swap",
    "ga-insert",
    "ga-invert",
    "ls-swap",
    "ls-insert",
    "ls-invert",
)
# Strings, so that naming the methods imports none of them; with what makes each of several from one class.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "search": ("discreet.tables.suppression.search.search:Search", {}),
    "exact": ("discreet.tables.suppression.exact.branch_and_cut:Proof", {}),
    **{name: ("discreet.tables.suppression.orders.orders:OrderSearch", {"variant": name}) for name in ORDERS},
    "hypercube": ("discreet.tables.suppression.baselines:Hypercube", {}),
    "marginal": ("discreet.tables.suppression.baselines:Marginal", {}),
}


def make(name: str, params: Mapping[str, Any]) -> Any:
    """Make a method: something with `begin(problem, protector, seed, previous)`, which gives a process.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    params : mapping
        Values of its parameters; the others keep their defaults. Texts are converted to the parameter's type.
    """
    if name not in METHODS:
        near = difflib.get_close_matches(name.lower(), list(METHODS), n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InputError(f"there is no method {name!r}{hint}; the methods: {', '.join(METHODS)}")
    where, fixed = METHODS[name]
    module, _, cls_name = where.partition(":")
    cls = cast("type[Any]", getattr(import_module(module), cls_name))
    types = get_type_hints(cls)
    known = [field.name for field in fields(cls) if field.name not in fixed]
    for key in params:
        if key not in known:
            takes = ", ".join(known) if known else "none"
            raise InputError(f"the method {name} has no parameter {key!r}; its parameters: {takes}")
    return cls(**fixed, **{key: _converted(key, value, types[key]) for key, value in params.items()})


def _converted(name: str, value: Any, kind: Any) -> Any:
    """A text as the type of its parameter."""
    if not isinstance(value, str) or kind is str:
        return value
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[value.lower()]
        return (int if kind is int else float)(value)
    except (ValueError, KeyError):
        raise InputError(f"{name} must be a value of type {kind.__name__}, not {value!r}") from None
