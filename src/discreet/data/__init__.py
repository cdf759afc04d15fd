"""What comes in: files, roles and types of columns, records as vectors, and statistical tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.data.tabular.dimension import Dimension
    from discreet.data.tabular.hierarchy import Hierarchy
    from discreet.data.tabular.table import Table

_CLASSES = {
    "Dimension": "discreet.data.tabular.dimension",
    "Hierarchy": "discreet.data.tabular.hierarchy",
    "Table": "discreet.data.tabular.table",
}

__all__ = ["Dimension", "Hierarchy", "Table"]


def __getattr__(name: str) -> Any:
    # Loaded when first used: the parts of this package are imported by commands that need none of it.
    if name in _CLASSES:
        return getattr(import_module(_CLASSES[name]), name)
    raise AttributeError(f"module 'discreet.data' has no attribute {name!r}")
