"""One documentation for verb and command: a command's help takes over what the verb's docstring says."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from docstring_parser import parse

F = TypeVar("F", bound=Callable[..., Any])


def documented_by(verb: Callable[..., Any]) -> Callable[[F], F]:
    """Complete a command's docstring by the verb's: its description, and each parameter it does not describe itself."""

    def complete(command: F) -> F:
        theirs, ours = parse(verb.__doc__ or ""), parse(command.__doc__ or "")
        described = {entry.arg_name: entry.description for entry in (*theirs.params, *ours.params)}
        lines = [theirs.short_description or "", "", theirs.long_description or "", "", "Parameters", "----------"]
        for name in inspect.signature(command).parameters:
            if name == "reading":
                continue  # documents itself
            if name not in described:
                raise ValueError(f"parameter {name} of {command.__name__} is documented nowhere")
            lines += [name, *(f"    {line}" for line in (described[name] or "").splitlines())]
        command.__doc__ = "\n".join(lines)
        return command

    return complete
