"""What a search is to the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

Answer_co = TypeVar("Answer_co", covariant=True)

# What a checkpoint holds: flat, and nothing that would need a pickle. Keys are plain names: letters, digits, "_", ".".
State = dict[str, "NDArray[Any] | int | float | str"]


class Process(Protocol[Answer_co]):
    """A search that goes on in epochs: fixed pieces of work, the same whatever the clock and the number of threads."""

    @property
    def cost(self) -> float:
        """Cost of the best found so far; infinite before there is any. It never rises."""
        ...

    @property
    def finished(self) -> bool:
        """Whether nothing more can be found: the best is proven, or all generations are done."""
        ...

    def advance(self) -> None:
        """Do one epoch. It never looks at a clock; 5 to 50 ms on small data keep a run easy to stop."""
        ...

    def answer(self) -> Answer_co:
        """The best found so far. It may be polished, deterministically, and does not change the process."""
        ...

    def save(self) -> State:
        """All that the next epochs depend on, the random state included; arrays are copies."""
        ...

    def load(self, state: State) -> None:
        """Go on from a saved state; the process was made with the same arguments as the one that saved it."""
        ...
