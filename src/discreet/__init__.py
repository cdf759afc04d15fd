"""Statistical disclosure control: releases that are safe, as useful as possible, and proven.

The public verbs are imported when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet._moved import install
from discreet._version import __version__
from discreet.errors import DiscreetError, InputError, PromiseNotKept

if TYPE_CHECKING:
    from discreet.examples import list_examples
    from discreet.grouping.group import group
    from discreet.measures.inspect import inspect
    from discreet.measures.measure import measure
    from discreet.methods import list_methods
    from discreet.microdata.partition import partition
    from discreet.microdata.protect import plan, protect
    from discreet.microdata.protect_large import protect_large
    from discreet.microdata.refine import refine
    from discreet.release.reports.report import report
    from discreet.release.review import review
    from discreet.tables.primary import primary
    from discreet.tables.suppress import suppress
    from discreet.tables.suppress_folder import suppress_folder
    from discreet.tables.tabulate import link, tabulate
    from discreet.verification.audit import audit
    from discreet.verification.verify import verify

_VERBS = {
    "audit": "discreet.verification.audit",
    "group": "discreet.grouping.group",
    "inspect": "discreet.measures.inspect",
    "link": "discreet.tables.tabulate",
    "list_examples": "discreet.examples",
    "list_methods": "discreet.methods",
    "measure": "discreet.measures.measure",
    "partition": "discreet.microdata.partition",
    "plan": "discreet.microdata.protect",
    "primary": "discreet.tables.primary",
    "protect": "discreet.microdata.protect",
    "protect_large": "discreet.microdata.protect_large",
    "refine": "discreet.microdata.refine",
    "report": "discreet.release.reports.report",
    "review": "discreet.release.review",
    "suppress": "discreet.tables.suppress",
    "suppress_folder": "discreet.tables.suppress_folder",
    "tabulate": "discreet.tables.tabulate",
    "verify": "discreet.verification.verify",
}

__all__ = [
    "DiscreetError",
    "InputError",
    "PromiseNotKept",
    "__version__",
    "audit",
    "group",
    "inspect",
    "link",
    "list_examples",
    "list_methods",
    "measure",
    "partition",
    "plan",
    "primary",
    "protect",
    "protect_large",
    "refine",
    "report",
    "review",
    "suppress",
    "suppress_folder",
    "tabulate",
    "verify",
]


install()


def __getattr__(name: str) -> Any:
    if name in _VERBS:
        return getattr(import_module(_VERBS[name]), name)
    if name in ("data", "tabular"):
        # Their classes, such as discreet.tabular.Table, are part of what users write.
        return import_module(f"discreet.{name}")
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
