"""The methods that enter a comparison: a name, and parameters if they are not the defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import InputError


@dataclass(frozen=True)
class Entrant:
    """A method with its parameters, under the name that the user gave it.

    Parameters
    ----------
    label : str
        As the user wrote it: `mdav`, or `two-step:K=18,inner=memetic`.
    method : str
        The method.
    params : mapping
        Parameters that are not at their defaults.
    """

    label: str
    method: str
    params: Mapping[str, str] = field(default_factory=dict)


def entrants(texts: Sequence[str], make: Callable[[str, Mapping[str, Any]], Any]) -> dict[str, Entrant]:
    """Read the methods of a comparison, each by its label.

    Parameters
    ----------
    texts : sequence of str
        `NAME`, or `NAME:PARAMETER=VALUE,…`; the same method may enter with different parameters.
    make : callable
        Makes a method of its name and parameters, and refuses one that there is not.
    """
    found: dict[str, Entrant] = {}
    for text in texts:
        name, _, rest = text.strip().partition(":")
        pairs = [part.partition("=") for part in rest.split(",")] if rest else []
        if any(not key.strip() or not equals for key, equals, _value in pairs):
            raise InputError(
                f"method '{text}': write it as two-step, or with parameters as two-step:K=18,inner=memetic"
            )
        entrant = Entrant(text.strip(), name.strip(), {key.strip(): value.strip() for key, _, value in pairs})
        make(entrant.method, entrant.params)
        if entrant.label in found:
            raise InputError(f"the method {entrant.label} is named twice; name it once")
        found[entrant.label] = entrant
    if len(found) < 2:
        raise InputError(
            f"there is nothing to compare with {len(found)} method{'' if len(found) == 1 else 's'}; name at least two"
        )
    return found
