"""The methods that group attributes, by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any, get_type_hints

from discreet.errors import InputError
from discreet.grouping.gomm import Gomm
from discreet.methods import convert

METHODS = {
    "gomm": "discreet.grouping.gomm:Gomm",
    "d-gomm": "discreet.grouping.gomm:DGomm",
    "pareto": "discreet.grouping.pareto:Pareto",
}


def make(name: str, params: Mapping[str, Any]) -> Gomm:
    """Make a method.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    params : mapping
        Values of its parameters; the others keep their defaults. Texts are converted to the parameter's type.
    """
    if name not in METHODS:
        raise InputError(f"there is no method {name!r} to group attributes; the methods: {', '.join(METHODS)}")
    module, _, cls = METHODS[name].partition(":")
    found = getattr(import_module(module), cls)
    known = [field.name for field in fields(found)]
    for key in params:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise InputError(f"the method {name} has no parameter {key!r}{hint}; its parameters: {', '.join(known)}")
    types = get_type_hints(found)
    made: Gomm = found(**{key: convert(key, value, types[key]) for key, value in params.items()})
    return made
