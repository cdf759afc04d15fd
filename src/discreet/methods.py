"""The partition methods by name. A new method is a module and one line in the table.

Reading what numpydoc docstrings say, so that a method is documented once.

Values of parameters as a command line or a settings file gives them.
"""

from __future__ import annotations

import difflib
import inspect
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from importlib import import_module
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from discreet.errors import InputError


@dataclass
class Docstring:
    """The parts of a docstring that a list of methods shows."""

    summary: str = ""
    parameters: dict[str, tuple[str, str]] = field(default_factory=dict)  # name: its type in words, its text
    reference: str = ""


def parse(text: str) -> Docstring:
    """Take the first line, the parameters and the references out of a numpydoc docstring."""
    lines = inspect.cleandoc(text).splitlines()
    doc = Docstring(summary=lines[0] if lines else "")
    sections: dict[str, list[str]] = {}
    body: list[str] = []
    for line, under in zip(lines, lines[1:] + [""], strict=True):
        if line and re.fullmatch("-{3,}", under):
            body = sections.setdefault(line, [])
        elif not re.fullmatch("-{3,}", line):
            body.append(line)
    name = ""
    for line in sections.get("Parameters", []):
        heading = re.match(r"(\w+) : (.+)", line)
        if heading:
            name = heading[1]
            doc.parameters[name] = (heading[2], "")
        elif name:
            type_in_words, so_far = doc.parameters[name]
            doc.parameters[name] = (type_in_words, f"{so_far} {line.strip()}".strip())
    doc.reference = " ".join(line.strip() for line in sections.get("References", [])).strip()
    return doc


_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def convert(name: str, value: object, target: Any) -> object:
    """Convert a text to a parameter's type; what is not a text is the parameter's own business."""
    if not isinstance(value, str):
        return value
    choices = get_args(target) if get_origin(target) in (Union, types.UnionType) else (target,)
    # Names before numbers before free text, so that "auto" is never tried as a number first nor kept as any text.
    for choice in sorted(choices, key=_looseness):
        try:
            return _read(value, choice)
        except ValueError:
            continue
    raise InputError(f"{name} is {value!r}; it must be {' or '.join(map(_in_words, choices))}")


def _read(text: str, target: Any) -> object:
    """Read a text as one plain type; a ValueError says that it is not one."""
    if get_origin(target) is Literal:
        for allowed in get_args(target):
            if text == str(allowed):
                return allowed
        raise ValueError
    if target is types.NoneType:
        if text.lower() == "none":
            return None
        raise ValueError
    if target is bool:
        if text.lower() in _TRUTH:
            return _TRUTH[text.lower()]
        raise ValueError
    if target in (int, float):
        return target(text)
    return text


def _looseness(target: Any) -> int:
    if get_origin(target) is Literal or target is types.NoneType:
        return 0
    order = (bool, int, float)
    return 1 + order.index(target) if target in order else 9


def _in_words(target: Any) -> str:
    if get_origin(target) is Literal:
        return " or ".join(repr(allowed) for allowed in get_args(target))
    return {bool: "true or false", int: "a whole number", float: "a number", types.NoneType: "'none'"}.get(
        target, "a text"
    )


# Strings, so that listing the methods imports none of them.
METHODS = {
    "memetic": "discreet.microdata.memetic.memetic:Memetic",
    "mdav": "discreet.microdata.methods.mdav:Mdav",
    "vmdav": "discreet.microdata.methods.vmdav:Vmdav",
    "md": "discreet.microdata.methods.md:Md",
    "mst": "discreet.microdata.methods.mst:Mst",
    "univariate": "discreet.microdata.methods.univariate:Univariate",
    "tour": "discreet.microdata.methods.tour:Tour",
    "exact": "discreet.microdata.set_partitioning.exact:Exact",
    "exhaustive": "discreet.microdata.methods.exhaustive:Exhaustive",
    "genetic": "discreet.microdata.methods.genetic:Genetic",
    "two-step": "discreet.microdata.methods.two_step:TwoStep",
    "recursive": "discreet.microdata.methods.recursive:Recursive",
    "domes": "discreet.microdata.methods.domes:Domes",
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
    for one in fields(cls):
        type_in_words, text = doc.parameters.get(one.name, ("", ""))
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        parameters.append(Parameter(one.name, type_in_words, default, text))
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
