"""Statistical tables: hierarchies of codes, cells and the relations between them, and the files they come in."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.tabular.dimension import Dimension
    from discreet.tabular.hierarchy import Hierarchy
    from discreet.tabular.table import Table

_CLASSES = {
    "Dimension": "discreet.tabular.dimension",
    "Hierarchy": "discreet.tabular.hierarchy",
    "Table": "discreet.tabular.table",
}

__all__ = ["Dimension", "Hierarchy", "Table"]


def __getattr__(name: str) -> Any:
    # Loaded when first used: importing the package costs nothing.
    if name in _CLASSES:
        return getattr(import_module(_CLASSES[name]), name)
    raise AttributeError(f"module 'discreet.tabular' has no attribute {name!r}")
