"""States within states: the keys of a part stand behind its name and a dot."""

from __future__ import annotations

from discreet.evolution.process import State


def inside(name: str, state: State) -> State:
    """A state as a part of a larger one.

    Parameters
    ----------
    name : str
        Name of the part.
    state : State
        Its own state.
    """
    return {f"{name}.{key}": value for key, value in state.items()}


def part(name: str, state: State) -> State:
    """The state of a part of a larger state.

    Parameters
    ----------
    name : str
        Name of the part.
    state : State
        What `inside` went into.
    """
    return {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}
