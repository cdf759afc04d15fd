"""τ-ARGUS's a-priori files (.hst): what is known of cells beforehand, their status, cost and protection levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files.codevalue import finder_of
from discreet.tabular.files.text import content, records
from discreet.tabular.table import FIXED, PRIMARY, SAFE

STATUSES = {"u": PRIMARY, "p": FIXED, "s": SAFE}
_NUMBERS = {"c": 1, "pl": 2}


@dataclass(frozen=True)
class Prior:
    """What one line says of a cell: its status, its cost, or its lower and upper protection level."""

    line: int
    codes: tuple[str, ...]
    status: int | None = None
    cost: float | None = None
    levels: tuple[float, float] | None = None


def read(path: Path, dimensions: Sequence[Dimension]) -> list[Prior]:
    """Read what each line says; a cell may have several.

    Parameters
    ----------
    path : Path
        The file: on a line a code of each dimension, and u (unsafe), p (protected: may not be suppressed) or s (safe);
        c and a cost; or pl and two protection levels. Between them commas or semicolons. A blank code is the total.
    dimensions : sequence of Dimension
        Those of the table, in their order.
    """
    text = content(path)
    finders = [finder_of(one) for one in dimensions]
    found = []
    for line, fields in records(path, text, ";" if ";" in text.partition("\n")[0] else ","):
        where = f"{path.name}, line {line}"
        if len(fields) <= len(dimensions):
            raise InputError(
                f"{where}: a code of each of {len(dimensions)} dimensions and what is known must stand here"
            )
        codes = tuple(
            one.total if not word.strip() else one.codes[at] if (at := find(word)) >= 0 else word
            for one, find, word in zip(dimensions, finders, fields, strict=False)
        )
        what, *rest = (word.strip() for word in fields[len(dimensions) :])
        while rest and not rest[-1]:
            rest.pop()
        found.append(_take(where, line, codes, what.lower(), rest))
    if not found:
        raise InputError(f"{path.name}: there is no cell in it; is it the right file?")
    return found


def _take(where: str, line: int, codes: tuple[str, ...], what: str, rest: list[str]) -> Prior:
    if what in STATUSES and not rest:
        return Prior(line, codes, status=STATUSES[what])
    numbers = [_number(where, word) for word in rest]
    if what not in _NUMBERS or len(numbers) != _NUMBERS[what]:
        raise InputError(
            f"{where}: behind the codes must stand u (unsafe), p (protected), s (safe), c and a cost, or pl and two "
            "protection levels"
        )
    return Prior(line, codes, cost=numbers[0]) if what == "c" else Prior(line, codes, levels=(numbers[0], numbers[1]))


def _number(where: str, word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise InputError(f"{where}: a cost or protection level must be a number of 0 or more, with a decimal point")
    return number
