"""The options of a protection, checked at the door: from the call, else from the configuration, else the default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.configuration import Config
from discreet.data.roles import MISSING
from discreet.errors import InputError, one_of, whole
from discreet.measures.choices import parse_measures
from discreet.release.release import ORDERS
from discreet.running import SearchOptions

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
    method : str
        Name of the method.
    params : mapping
        Parameters of the method.
    bound : bool
        Whether to prove a lower bound of the loss.
    measures : str or sequence of str
        What to measure besides the loss: fast, all, none, or names.
    order : str
        How rows are written.
    target : str
        What is minimised: il or score.
    """

    k: int
    missing: str = "separate"
    method: str = "auto"
    params: Mapping[str, Any] = field(default_factory=dict)
    bound: bool = False
    measures: str | Sequence[str] = "fast"
    order: str = "sorted"
    target: str = "il"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("k", self.k, 2))
        super().__post_init__()
        if self.missing not in MISSING:
            raise InputError(f"missing must be one of {', '.join(MISSING)}, not {self.missing!r}")
        if not isinstance(self.method, str):
            raise InputError(f"method must be a name, not {self.method!r}")
        if not isinstance(self.params, Mapping) or not all(isinstance(name, str) for name in self.params):
            raise InputError("params must be a mapping from parameter to value")
        object.__setattr__(
            self, "measures", () if self.measures in ("none", ["none"], ()) else parse_measures(self.measures)
        )
        one_of("order", self.order, ORDERS)
        one_of("target", self.target, TARGETS)

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
