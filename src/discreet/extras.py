"""Libraries that not every installation has, or that take long to load: each is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class Extra:
    """A library that is imported when it is first used.

    Parameters
    ----------
    name : str
        The library.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import vl_convert
else:
    alt, pd, vl_convert = map(Extra, ("altair", "pandas", "vl_convert"))
# They have no types.
formula, anovas, multitest, posthocs = map(
    Extra, ("statsmodels.formula.api", "statsmodels.stats.anova", "statsmodels.stats.multitest", "scikit_posthocs")
)

__all__ = ["alt", "anovas", "formula", "multitest", "pd", "posthocs", "vl_convert"]
