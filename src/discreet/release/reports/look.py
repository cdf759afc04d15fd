"""One look at the data of a release, column by column: all that both reports draw or count of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.release.reports.subject import Subject


@dataclass(frozen=True, eq=False)
class Look:
    """What was found."""


def look(subject: Subject, tell: Callable[[str, float], None]) -> Look:
    """Look at every released column once."""
    for place, _name in enumerate(subject.names("quasi", "by", "confidential")):
        tell("reporting", place / len(subject.declared.columns))
    return Look()
