"""Every choice that changes a figure, named, with its default."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypedDict

from discreet.columns import Names, as_names
from discreet.errors import InputError, whole
from discreet.plugins import list_plugins, load_plugin, name_of

FAST = ("il", "gil", "dld", "id", "dr", "score", "k", "ad", "risk", "change")
ALL = ("il", "gil", "pil", "dld", "pld", "id", "dr", "score", "gdr", "si", "k", "ad", "l", "t", "risk", "change")
DIRECTIONS = ("original", "released")
INTERVALS = ("relative", "rank", "sd", "scale")
# The group of entry points by which other packages add measures.
PLUGINS = "discreet.measures"
Asked = str | Callable[[Any, Any], Any] | Sequence[str | Callable[[Any, Any], Any]]


class LinkageKeywords(TypedDict, total=False):
    """How linkage (dld) and interval disclosure (id) are taken.

    Parameters
    ----------
    direction : {"original", "released"}
        Who searches in linkage (dld): each original record among the released ones (the default), or the reverse.
    nearest : {1, 2}
        Whether only the nearest record counts as found in linkage (dld), or the second nearest too.
    known : list of str
        Quasi-identifiers that an intruder may know; all by default.
    choose : int
        How many of them: linkage (dld) is the mean over all subsets of so many.
    interval : {"scale", "relative", "rank", "sd"}
        Interval of interval disclosure (id): a share of the original value (relative), of the ranks, or of the released
        standard deviation (sd); or, the default of a judgement and for nothing else, by the scale of each column:
        relative where it has a true zero, in standard deviations elsewhere. A grouping is made with relative by
        default.
    width : float
        Half-width of the interval: 10 percent of the value (and of the standard deviation, by scale), 1 to 10 percent
        of the records averaged, or 0.1 standard deviations by default.
    records : bool
        Whether interval disclosure (id) counts records all of whose values are within, or single values; by default
        values for scale and relative, records for rank and sd.
    sample : int
        How many records search in linkage (dld).
    """

    direction: str
    nearest: int
    known: Names
    choose: int | None
    interval: str
    width: float | None
    records: bool | None
    sample: int | None


@dataclass(frozen=True)
class Choices:
    """How the measures are taken: the linkage keywords of a call, checked, with the seed of the sample.

    By default all records search up to 1,000,000 of them, and 100,000 above.
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

    @classmethod
    def of(cls, linkage: Mapping[str, Any], seed: int, default: Choices | None = None) -> Choices:
        """The choices that linkage keywords make, with a default where they say nothing."""
        said = {name: value for name, value in linkage.items() if value is not None}
        said["known"] = tuple(as_names("known", said.get("known")))
        return replace(default or cls(), **said, seed=seed)

    def check_known(self, names: Sequence[str]) -> None:
        """Refuse attributes known that are not among the quasi-identifiers, and subsets of more than there are."""
        unknown = [name for name in self.known if name not in names]
        if unknown:
            raise InputError(f"known: '{unknown[0]}' is not among the quasi-identifiers {', '.join(names)}")
        if self.choose is not None and self.choose > len(self.known or names):
            raise InputError(f"choose must be at most the number of attributes known, {len(self.known or names)}")

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


@dataclass(frozen=True)
class Own:
    """A measure that is not ours: its name, and the function of original and release."""

    name: str
    function: Callable[[Any, Any], Any]


def parse_measures(measures: Asked | Sequence[str | Own]) -> tuple[tuple[str, ...], tuple[Own, ...]]:
    """The measures asked for: ours ("fast", "all", or names), and those of other packages or functions."""
    if not isinstance(measures, str | Sequence) and not callable(measures):
        raise InputError(f"measures must be fast, all or a list of names or functions, not {measures!r}")
    listed = list(measures) if isinstance(measures, Sequence) and not isinstance(measures, str) else [measures]
    found: list[str] = []
    own: dict[str, Own] = {}
    for one in listed:
        if isinstance(one, str) and one in ("fast", "all"):
            found += FAST if one == "fast" else ALL
        elif isinstance(one, str) and one in ALL:
            found.append(one)
        else:
            added = one if isinstance(one, Own) else _find_own(one)
            if added.name in ALL or added.name in own:
                raise InputError(f"there is another measure of the name {added.name}; rename the function")
            own[added.name] = added
    if not found and not own:
        raise InputError("no measure was asked for")
    return tuple(name for name in ALL if name in found), tuple(own.values())


def _find_own(measure: object) -> Own:
    """A measure that is a function, or that another package has under a name."""
    if callable(measure):
        return Own(name_of(measure), measure)
    added = list_plugins(PLUGINS)
    if measure in added:
        return Own(str(measure), load_plugin(PLUGINS, str(measure)))
    there = ", ".join((*ALL, *added))
    raise InputError(f"unknown measure {measure!r}; there are {there}, and fast or all for several")


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}")


# As a release is judged where nothing else is asked for.
JUDGED = Choices(interval="scale")
