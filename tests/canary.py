"""A value to be planted in data, and a command's result in which it is looked for."""

from collections.abc import Callable
from dataclasses import dataclass

# It may stand in a release where it must, and nowhere in a message, log or account.
CANARY = "7316094825"


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    status: int
    out: str
    err: str


Command = Callable[..., Result]
