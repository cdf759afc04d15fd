"""The partition methods by name. A new method is a module and one line in the table."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from typing import Any, cast, get_type_hints

from discreet.errors import InputError
from discreet.microdata.docstrings import parse
from discreet.microdata.values import convert

# Strings, so that listing the methods imports none of them.
METHODS = {
    "memetic": "discreet.microdata.memetic:Memetic",
    "mdav": "discreet.microdata.mdav:Mdav",
    "vmdav": "discreet.microdata.vmdav:Vmdav",
    "md": "discreet.microdata.md:Md",
    "mst": "discreet.microdata.mst:Mst",
    "univariate": "discreet.microdata.univariate:Univariate",
    "tour": "discreet.microdata.tour:Tour",
    "exact": "discreet.microdata.exact:Exact",
    "exhaustive": "discreet.microdata.exhaustive:Exhaustive",
    "genetic": "discreet.microdata.genetic:Genetic",
    "two-step": "discreet.microdata.two_step:TwoStep",
    "recursive": "discreet.microdata.recursive:Recursive",
    "domes": "discreet.microdata.domes:Domes",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method: its name, its type in words, its default, what it does."""

    name: str
    type: str
    default: object
    description: str


@dataclass(frozen=True)
class Description:
    """A method: its name, what it is in one line, its parameters, the papers it comes from."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    reference: str


def names() -> tuple[str, ...]:
    """List the names of all methods."""
    return tuple(METHODS)


def make(name: str, params: Mapping[str, object]) -> Any:
    """Make a method: a Construction or a Search.

    Parameters
    ----------
    name : str
        One of `names()`.
    params : mapping
        Values of its parameters; the others keep their defaults. Texts are converted to the parameter's type.
    """
    cls = _load(name)
    types = get_type_hints(cls)
    known = [field.name for field in fields(cls)]
    for key in params:
        if key not in known:
            takes = ", ".join(known) if known else "none"
            raise InputError(
                f"the method {name} has no parameter {key!r}{_suggest(key, known)}; its parameters: {takes}"
            )
    return cls(**{key: convert(key, value, types[key]) for key, value in params.items()})


def describe() -> tuple[Description, ...]:
    """Describe all methods, as their docstrings do."""
    return tuple(_describe(name) for name in METHODS)


def _describe(name: str) -> Description:
    cls = _load(name)
    doc = parse(cls.__doc__ or "")
    parameters = []
    for field in fields(cls):
        type_in_words, text = doc.parameters.get(field.name, ("", ""))
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        parameters.append(Parameter(field.name, type_in_words, default, text))
    return Description(name, doc.summary, tuple(parameters), doc.reference)


def _load(name: str) -> type[Any]:
    """Import a method's class."""
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}{_suggest(name, METHODS)}; the methods: {', '.join(METHODS)}")
    module, _, cls = METHODS[name].partition(":")
    return cast("type[Any]", getattr(import_module(module), cls))


def _suggest(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word.lower(), list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
