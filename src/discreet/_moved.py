"""Names of modules that users may have written, from before the modules moved: they go on working.

Importing an old name gives the module that holds its content now; `tests/test_moved.py` asks for each of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "discreet.coarsening": "discreet.recoding.coarsening",
    "discreet.attack.unpicking": "discreet.attack.system",
    "discreet.data.reading": "discreet.data.attributes",
    "discreet.data.tabular": "discreet.tabular",
    "discreet.data.tabular.linking": "discreet.tabular.linking",
    "discreet.evolution.generational": "discreet.evolution.genetic",
    "discreet.evolution.operators": "discreet.evolution.statistics",
    "discreet.evolution.parallel": "discreet.evolution.process",
    "discreet.evolution.steady": "discreet.evolution.genetic",
    "discreet.evolution.together": "discreet.evolution.process",
    "discreet.release.internal": "discreet.release.atomic",
    "discreet.verification.unpicking": "discreet.attack.system",
}


class _Moved(MetaPathFinder, Loader):
    """Finds what has moved by its old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of today in the place of the one that was asked for."""
        sys.modules[module.__name__] = import_module(MOVED[module.__name__])


def install() -> None:
    """Let old names be found, whatever an older version may have left in the package's folder."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Moved())
