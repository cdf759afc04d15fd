"""The one registry of methods, by family and name: partition, grouping, suppression.

A new method is a frozen dataclass in a module of its own and one line in the table below. Its fields are its
parameters; its docstring documents it once, for `discreet methods` too; values of parameters may be given as texts.
Other packages add methods that put records into groups by entry points, as classes of this kind or as functions.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from docstring_parser import DocstringStyle, parse

from discreet.errors import InputError, suggest
from discreet.plugins import list_plugins, load_plugin, name_of

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


_ORDERS = "discreet.tables.suppression.orders.orders:OrderSearch"
# By family and name: where the class is, as a text, so that naming the methods imports none of them.
FAMILIES: dict[str, dict[str, str]] = {
    "partition": {
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
        "t-merging": "discreet.microdata.methods.closeness:TMerging",
        "k-first": "discreet.microdata.methods.closeness:KFirst",
        "t-first": "discreet.microdata.methods.closeness:TFirst",
    },
    "grouping": {
        "gomm": "discreet.grouping.gomm:Gomm",
        "d-gomm": "discreet.grouping.gomm:DGomm",
        "pareto": "discreet.grouping.pareto:Pareto",
    },
    "suppression": {
        "search": "discreet.tables.suppression.search.search:Search",
        "exact": "discreet.tables.suppression.exact.branch_and_cut:Proof",
        "ga-group-k": _ORDERS,
        "ga-one-k": _ORDERS,
        "ga-one-p": _ORDERS,
        "ga-swap": _ORDERS,
        "ga-insert": _ORDERS,
        "ga-invert": _ORDERS,
        "ls-swap": _ORDERS,
        "ls-insert": _ORDERS,
        "ls-invert": _ORDERS,
        "hypercube": "discreet.tables.suppression.baselines:Hypercube",
        "marginal": "discreet.tables.suppression.baselines:Marginal",
    },
}
# The group of entry points by which other packages add methods of the first family, and what makes a method of a
# function.
PLUGINS, PLUGGED = "discreet.methods", "partition"
_FUNCTION = "discreet.microdata.given:Function"
# A class of several methods has a field of this name, which says which of them it is; it is no parameter.
VARIANT = "variant"
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method: its name, its type in words, its default, what it does."""

    name: str
    type: str
    default: object
    description: str


@dataclass(frozen=True)
class Description:
    """A method: its name, what it is in one line, its parameters, the papers it comes from, its family."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    reference: str
    family: str


def names(family: str = "partition") -> tuple[str, ...]:
    """List the names of all methods of a family, those of other packages last."""
    return tuple(dict.fromkeys((*FAMILIES[family], *(list_plugins(PLUGINS) if family == PLUGGED else ()))))


def make(name: str | Callable[..., Any], params: Mapping[str, object], family: str = "partition") -> Any:
    """Make a method.

    Parameters
    ----------
    name : str or callable
        One of `names(family)`, or a function that is a method itself.
    params : mapping
        Values of its parameters; the others keep their defaults. Texts are converted to the parameter's type.
    family : {"partition", "grouping", "suppression"}
        What the method does: put records into groups, group attributes, or suppress cells.
    """
    found = _load(name, family) if isinstance(name, str) else name
    types = get_type_hints(found)
    known = _defaults(found)
    for key in params:
        if key not in known:
            takes = ", ".join(known) if known else "none"
            raise InputError(
                f"the method {name_of(name)} has no parameter {key!r}{suggest(key, known)}; its parameters: {takes}"
            )
    given = {key: convert(key, value, types.get(key, object)) for key, value in params.items()}
    if not isinstance(found, type):
        return _import(_FUNCTION)(found, given)
    return found(**({VARIANT: name} if len(known) < len(fields(found)) else {}), **given)


def list_methods(family: str | None = None) -> tuple[Description, ...]:
    """List the methods, those of other packages among them, as their docstrings describe them.

    Parameters
    ----------
    family : {"partition", "grouping", "suppression"}
        What the methods do: put records into groups, group attributes, or suppress cells; by default all.

    Returns
    -------
    tuple of Description
        Each with `name`, `summary`, `parameters` (`name`, `type`, `default`, `description`), `reference` and `family`.

    Examples
    --------
    >>> import discreet
    >>> print(*(method.name for method in discreet.list_methods("grouping")))
    gomm d-gomm pareto
    """
    if family is not None and family not in FAMILIES:
        raise InputError(f"family must be one of {', '.join(FAMILIES)}, not {family!r}")
    return tuple(_describe(name, each) for each in FAMILIES if family in (None, each) for name in names(each))


def _describe(name: str, family: str) -> Description:
    try:
        found = _load(name, family)
    except InputError as error:  # a package that is broken hides no method of others
        return Description(name, str(error), (), "", family)
    doc = parse(found.__doc__ or "", DocstringStyle.NUMPYDOC)
    # What a variant of a method does not say of its parameters, the method does.
    bases = reversed(found.__mro__) if isinstance(found, type) else [found]
    described = [parse(base.__doc__ or "", DocstringStyle.NUMPYDOC) for base in bases]
    documented = {one.arg_name: one for base in described for one in base.params if one.type_name}
    parameters = []
    for key, default in _defaults(found).items():
        said = documented.get(key)
        words = (said.type_name or "", _one_line(said.description)) if said else ("", "")
        parameters.append(Parameter(key, words[0], default, words[1]))
    reference = next((meta.description for meta in doc.meta if meta.args == ["references"]), "")
    return Description(name, doc.short_description or "", tuple(parameters), _one_line(reference), family)


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _defaults(found: Any) -> dict[str, object]:
    """The parameters of a method, with their defaults; of a function what it takes besides the points and k."""
    if isinstance(found, type):
        own = [field for field in fields(found) if field.name != VARIANT]
        return {
            field.name: field.default_factory() if field.default_factory is not MISSING else field.default
            for field in own
        }
    taken = list(inspect.signature(found).parameters.values())[2:]
    return {one.name: None if one.default is one.empty else one.default for one in taken if one.kind in _BY_NAME}


def _load(name: str, family: str) -> Any:
    """Import a method: its class, or a function of another package."""
    if name in FAMILIES[family]:
        return _import(FAMILIES[family][name])
    known = names(family)
    if name not in known:
        raise InputError(f"there is no method {name!r}{suggest(name, known)}; the methods: {', '.join(known)}")
    return load_plugin(PLUGINS, name)


def _import(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
