"""What a trial tried, and what it broke: counts by promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Found:
    """Counts of one trial, or of many."""

    tried: Counter[str] = field(default_factory=Counter)
    broken: list[tuple[str, str]] = field(default_factory=list)
    # What is not promised, and how often it was seen.
    measured: Counter[str] = field(default_factory=Counter)

    def hold(self, promise: str, is_kept: bool, what: str = "") -> None:
        """Note that a promise was put to the test; `what` says how it was broken, without a value of the data."""
        self.tried[promise] += 1
        if not is_kept:
            self.broken.append((promise, what))

    def add(self, other: Found) -> None:
        """Add the counts of another trial."""
        self.tried.update(other.tried)
        self.broken.extend(other.broken)
        self.measured.update(other.measured)


# A trial: a seed says all about it, and a folder of its own is where it works.
Trial = Callable[[int, Path], Found]
