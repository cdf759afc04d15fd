"""The options of a protection, checked at the door: from the call, else from the configuration, else the default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.configuration import Config
from discreet.data.roles import MISSING
from discreet.errors import InputError, one_of, whole
from discreet.measures.choices import Asked, Own, parse_measures
from discreet.release.release import ORDERS
from discreet.running import SearchOptions
from discreet.verification.confidential import parse_l, parse_t

TARGETS = ("il", "score")


@dataclass(frozen=True)
class Settings(SearchOptions):
    """Options of a protection, those of its search among them; a wrong one names itself, its value and what is allowed.

    Parameters
    ----------
    k : int
        Least size of a group.
    missing : str
        What becomes of missing values.
    method : str or callable
        Name of the method, or a function that is one.
    params : mapping
        Parameters of the method.
    bound : bool
        Whether to prove a lower bound of the loss.
    measures : str or sequence of str or callable
        What to measure besides the loss: fast, all, none, names, or functions; afterwards ours alone.
    own : tuple of Own
        Measures that are not ours; they are taken from `measures`.
    l : mapping
        Confidential columns with the least number of different values in a group, or as "entropy:3" by entropy.
    t : mapping
        Confidential columns with the largest distance of their distribution in a group from that in all records.
    person : str, optional
        The column that says whose a record is.
    sampling_weight : str, optional
        The column that says how many of the population a record stands for.
    household : str, optional
        The column that says which records are one household.
    split_households : int, optional
        Most members of a household; larger ones become parts.
    seeds : int
        How many searches there are, with seeds from the first on; the best is kept.
    order : str
        How rows are written.
    target : str
        What is minimised: il or score.
    """

    k: int
    missing: str = "separate"
    method: str | Callable[..., Any] = "auto"
    params: Mapping[str, Any] = field(default_factory=dict)
    bound: bool = False
    measures: Asked = "fast"
    order: str = "sorted"
    target: str = "il"
    own: tuple[Own, ...] = ()
    l: Mapping[str, str | float] = field(default_factory=dict)  # noqa: E741 - the name it has in the field
    t: Mapping[str, float] = field(default_factory=dict)
    person: str | None = None
    sampling_weight: str | None = None
    household: str | None = None
    split_households: int | None = None
    seeds: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("k", self.k, 2))
        object.__setattr__(self, "seeds", whole("seeds", self.seeds, 1))
        super().__post_init__()
        if self.missing not in MISSING:
            raise InputError(f"missing must be one of {', '.join(MISSING)}, not {self.missing!r}")
        if not isinstance(self.method, str) and not callable(self.method):
            raise InputError(f"method must be a name or a function, not {self.method!r}")
        if not isinstance(self.params, Mapping) or not all(isinstance(name, str) for name in self.params):
            raise InputError("params must be a mapping from parameter to value")
        if self.measures in ("none", ["none"], ()):
            object.__setattr__(self, "measures", ())
        else:
            ours, own = parse_measures(self.measures)
            object.__setattr__(self, "measures", ours)
            # Settings that are made from others keep those of before.
            object.__setattr__(self, "own", own or self.own)
        object.__setattr__(self, "l", {one.column: one.written for one in parse_l(self.l)})
        object.__setattr__(self, "t", {one.column: one.most for one in parse_t(self.t)})
        for name in ("person", "household", "sampling_weight"):
            if not isinstance(getattr(self, name), str | None):
                raise InputError(f"{name} must be the name of a column, not {getattr(self, name)!r}")
        if self.split_households is not None:
            object.__setattr__(self, "split_households", whole("split_households", self.split_households, 1))
            if self.household is None:
                raise InputError("split_households needs household, the column that says which records are one")
        one_of("order", self.order, ORDERS)
        one_of("target", self.target, TARGETS)

    def shorten(self, share: float) -> Settings:
        """The same for a trial, which takes a share of the time or of the steps and measures nothing but the loss."""
        trial = replace(self, measures="none", own=(), bound=False, seeds=1)
        if self.steps is not None:
            return replace(trial, steps=max(1, int(self.steps * share)))
        return replace(trial, time=self.time * share)

    @classmethod
    def settle(cls, config: Config, **given: Any) -> Settings:
        """What the call gives wins over the configuration; None stands for not given."""
        said = dict(config.options)
        if given.get("method") not in (None, said.get("method")):
            said.pop("params", None)  # they are of another method
        options = said | {key: value for key, value in given.items() if value is not None}
        if "k" not in options:
            raise InputError("k is missing: say how many records at least must share each combination of values")
        return cls(**options)
