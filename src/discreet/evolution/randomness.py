"""The state of a random generator as a text, so that a run can be kept without pickles."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def to_text(rng: np.random.Generator) -> str:
    """The state of a generator.

    Parameters
    ----------
    rng : numpy.random.Generator
        With any of numpy's bit generators.
    """
    return json.dumps(rng.bit_generator.state, default=_plain)


def from_text(rng: np.random.Generator, text: str) -> None:
    """Put a generator into a state that one of its kind was in.

    Parameters
    ----------
    rng : numpy.random.Generator
        The generator to change.
    text : str
        What `to_text` gave.
    """
    rng.bit_generator.state = json.loads(text)


def _plain(value: Any) -> Any:
    """Arrays and numpy's own numbers, which some bit generators have in their state."""
    return value.tolist()
