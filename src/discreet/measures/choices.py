"""Every choice that changes a figure, named, with its default (DESIGN decision 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

from discreet.errors import InputError, whole

FAST = ("il", "gil", "dld", "id", "dr", "score", "k", "risk", "change")
ALL = ("il", "gil", "pil", "dld", "pld", "id", "dr", "score", "gdr", "si", "k", "l", "t", "risk", "change")
DIRECTIONS = ("original", "released")
INTERVALS = ("relative", "rank", "sd")


@dataclass(frozen=True)
class Choices:
    """How the measures are taken.

    Parameters
    ----------
    direction : {"original", "released"}
        Who searches in `dld`: each original record among the released ones, or the reverse.
    nearest : {1, 2}
        Whether a record counts as found if it is the nearest, or the nearest or second nearest.
    known : tuple of str
        The attributes an intruder may know; all quasi-identifiers if empty.
    choose : int, optional
        How many of them: `dld` is the mean over all subsets of so many; all of them by default.
    interval : {"relative", "rank", "sd"}
        The interval of `id`: a share of the original value, of the ranks, or of the standard deviation.
    width : float, optional
        Its half-width: percent of the value (10), percent of the records (1 to 10, averaged), or standard
        deviations (0.1).
    records : bool, optional
        Whether `id` counts records all of whose values are within, or single values; by default values for
        "relative", records for "rank" and "sd".
    sample : int, optional
        Records that search in linkage; by default all up to 1,000,000 records and 100,000 above.
    seed : int
        Seed of the sample.
    """

    direction: str = "original"
    nearest: int = 1
    known: tuple[str, ...] = ()
    choose: int | None = None
    interval: str = "relative"
    width: float | None = None
    records: bool | None = None
    sample: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _one_of("direction", self.direction, DIRECTIONS)
        _one_of("nearest", self.nearest, (1, 2))
        _one_of("interval", self.interval, INTERVALS)
        for name, least in (("choose", 1), ("sample", 2), ("seed", 0)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole(name, getattr(self, name), least))
        if self.width is not None:
            if isinstance(self.width, bool) or not isinstance(self.width, Real) or not 0 <= self.width < float("inf"):
                raise InputError(f"width must be a number of at least 0, not {self.width!r}")
            object.__setattr__(self, "width", float(self.width))
        if self.records not in (None, True, False):
            raise InputError(f"records must be true or false, not {self.records!r}")
        if len(set(self.known)) < len(self.known):
            raise InputError("known: a column stands twice; name it once")


def wanted(measures: str | Sequence[str]) -> tuple[str, ...]:
    """The measures asked for: "fast", "all", or names."""
    if not isinstance(measures, str | Sequence):
        raise InputError(f"measures must be fast, all or a list of names, not {measures!r}")
    names = [measures] if isinstance(measures, str) else list(measures)
    found: list[str] = []
    for name in names:
        if name in ("fast", "all"):
            found += FAST if name == "fast" else ALL
        elif name in ALL:
            found.append(name)
        else:
            raise InputError(f"unknown measure {name!r}; there are {', '.join(ALL)}, and fast or all for several")
    if not found:
        raise InputError("no measure was asked for")
    return tuple(name for name in ALL if name in found)


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}")
