"""What other packages add by entry points: methods (`discreet.methods`) and measures (`discreet.measures`)."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from discreet.errors import InputError


def list_plugins(group: str) -> tuple[str, ...]:
    """The names that other packages have in a group of entry points."""
    return tuple(dict.fromkeys(point.name for point in entry_points(group=group)))


def load_plugin(group: str, name: str) -> Any:
    """The function or class behind a name; an error says whose it is."""
    point = next(point for point in entry_points(group=group) if point.name == name)
    package = point.dist.name if point.dist is not None else point.value
    try:
        found = point.load()
    except Exception as error:
        raise InputError(
            f"'{name}' of the package {package} cannot be loaded ({type(error).__name__}); reinstall or remove it"
        ) from error
    if not callable(found):
        raise InputError(f"'{name}' of the package {package} is no function and no class")
    return found


def name_of(thing: str | Callable[..., Any]) -> str:
    """What a method or measure is called: its name, or that of the function."""
    return thing if isinstance(thing, str) else str(getattr(thing, "__name__", type(thing).__name__))
