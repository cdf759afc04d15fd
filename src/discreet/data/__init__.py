"""What comes in: files, roles and types of columns, records as vectors."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    # The classes of tables were part of this package before they had one of their own.
    if name in ("Dimension", "Hierarchy", "Table"):
        return getattr(import_module("discreet.tabular"), name)
    raise AttributeError(f"module 'discreet.data' has no attribute {name!r}")
