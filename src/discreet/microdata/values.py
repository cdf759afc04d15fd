"""Values of parameters as a command line or a settings file gives them."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin

from discreet.errors import InputError

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
