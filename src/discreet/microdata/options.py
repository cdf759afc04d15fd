"""The options of a protection, checked at the door: from the call, else from the configuration, else the default."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.columns import Config
from discreet.data.roles import MISSING
from discreet.errors import InputError, whole

DEFAULT_SECONDS = 10.0


def _processors() -> int:
    """How many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """Options of a protection; a wrong one names itself, its value and what is allowed."""

    k: int
    missing: str = "separate"
    method: str = "auto"
    params: Mapping[str, Any] = field(default_factory=dict)
    time: float = field(default_factory=lambda: DEFAULT_SECONDS)
    steps: int | None = None
    seed: int = 0
    threads: int = field(default_factory=_processors)

    def __post_init__(self) -> None:
        for name, least in (("k", 2), ("seed", 0), ("threads", 1), ("steps", 1)):
            if name != "steps" or self.steps is not None:
                object.__setattr__(self, name, whole(name, getattr(self, name), least))
        if isinstance(self.time, bool) or not isinstance(self.time, int | float) or not 0 < self.time < math.inf:
            raise InputError(f"time must be a positive number of seconds, not {self.time!r}")
        if self.missing not in MISSING:
            raise InputError(f"missing must be one of {', '.join(MISSING)}, not {self.missing!r}")
        if not isinstance(self.method, str):
            raise InputError(f"method must be a name, not {self.method!r}")
        if not isinstance(self.params, Mapping) or not all(isinstance(name, str) for name in self.params):
            raise InputError("params must be a mapping from parameter to value")

    @classmethod
    def settle(cls, config: Config, **given: Any) -> Settings:
        """What the call gives wins over the configuration; None stands for not given."""
        options = dict(config.options) | {key: value for key, value in given.items() if value is not None}
        if "k" not in options:
            raise InputError("k is missing: say how many records at least must share each combination of values")
        return cls(**options)
