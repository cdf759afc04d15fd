"""What a command was told of the columns, as it was written: for the line that says how a study was made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def said(options: Mapping[str, Any]) -> list[str]:
    """The options that were given, each as it stands on the command line; files by their names alone."""
    words = []
    for name, value in options.items():
        if isinstance(value, Mapping):  # orders of categories, or weights
            pairs = ((key, "<".join(each) if isinstance(each, list) else each) for key, each in value.items())
            words.append(f"--{'weight' if name == 'weights' else name} '{','.join(f'{k}={v}' for k, v in pairs)}'")
        elif value is not None:
            words.append(f"--{name} {value.name if isinstance(value, Path) else ','.join(value)}")
    return words
