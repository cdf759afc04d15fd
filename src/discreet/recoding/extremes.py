"""Top and bottom coding, and rounding, of numbers on the way in: extremes identify by themselves.

What stands in place of the values beyond a limit is their mean, or a bound that no record has; at least k records share
it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.attributes import Attribute, Values, read_attribute
from discreet.data.dataset import Dataset
from discreet.data.roles import RECODINGS, Declaration, Declarations
from discreet.errors import InputError
from discreet.recoding.coarsening import read_coarsened
from discreet.text import count


def is_recoded(said: Declaration) -> bool:
    """Whether extremes of a column are coded, or its values rounded."""
    return any(getattr(said, how) is not None for how in RECODINGS)


def read_recoded(dataset: Dataset, said: Declaration, k: int) -> tuple[Attribute, str]:
    """Read a quasi-identifier by its declaration, recoded if that says so, and say what was assumed or done.

    Parameters
    ----------
    dataset : Dataset
        The data.
    said : Declaration
        What is declared of the column.
    k : int
        Least number of records beyond a limit.
    """
    if not is_recoded(said):
        return read_coarsened(dataset, said)
    fine, assumed = _read_numbers(dataset, said)
    values, done = _recode(fine, said, k, dataset)
    integral = fine.integral and bool((values == np.round(values))[~np.isnan(values)].all())
    attribute = replace(fine, values=values, integral=integral, fine=fine)
    return attribute, "; ".join(filter(None, (assumed, *done)))


def as_it_came(attribute: Attribute) -> Attribute:
    """The attribute as it came in, where it has been recoded to other numbers: what a release is measured against."""
    is_number = attribute.fine is not None and attribute.categories is None
    return attribute.fine if is_number and attribute.fine is not None else attribute


def recode_confidential(dataset: Dataset, declarations: Declarations, k: int) -> tuple[Dataset, list[str]]:
    """The data with its confidential columns recoded as declared, and what was done.

    Parameters
    ----------
    dataset : Dataset
        The data.
    declarations : Declarations
        What is declared of its columns.
    k : int
        Least number of records beyond a limit.
    """
    notes = []
    for name in declarations.names("confidential"):
        if is_recoded(declarations[name]):
            fine, _ = _read_numbers(dataset, declarations[name])
            values, done = _recode(fine, declarations[name], k, dataset)
            changed = ~((values == fine.values) | np.isnan(fine.values))
            column = _write(dataset.frame[name], values, changed, dataset)
            dataset = replace(dataset, frame=dataset.frame.with_columns(column))
            notes += [f"'{name}': {what}" for what in done]
    return dataset, notes


def _read_numbers(dataset: Dataset, said: Declaration) -> tuple[Attribute, str]:
    attribute, assumed = read_attribute(dataset, said)
    if attribute.kind != "numeric":
        raise InputError(
            f"column '{said.name}' is {attribute.kind}; topcode, bottomcode and round are for columns of numbers"
        )
    return attribute, assumed


def _recode(fine: Attribute, said: Declaration, k: int, dataset: Dataset) -> tuple[Values, list[str]]:
    """The values with extremes coded and then all rounded, and what was done."""
    values, done = fine.values.copy(), []
    coded = np.zeros(len(values), bool)
    for name, sign in (("topcode", 1.0), ("bottomcode", -1.0)):
        how = getattr(said, name)
        if how is None:
            continue
        where = f"{dataset.name}: column '{said.name}', {name} '{how}'"
        beyond, stand_in, words = _cut(sign * fine.values, how, sign, k, where)
        values[beyond] = sign * stand_in
        coded |= beyond
        done.append(f"{name} {how}: {count(int(beyond.sum()), 'record')} {words}")
    if said.round is not None:
        # Adding zero turns -0.0 into 0.0.
        rounded = np.round(values / said.round) * said.round + 0.0
        # What stands for those beyond a limit is nobody's value, and stays that.
        taken = [one for one in np.unique(values[coded]) if _is_observed(rounded[values == one][0], fine.values)]
        values = np.where(coded & np.isin(values, taken), values, rounded)
        but = f", but for {count(len(taken), 'stand-in')}, which would become somebody's value" if taken else ""
        done.append(f"rounded to multiples of {said.round:g}{but}")
    return values, done


def _cut(values: Values, how: str | float, sign: float, k: int, where: str) -> tuple[NDArray[np.bool_], float, str]:
    """The values beyond a limit at the top, what stands in their place, and what that is."""
    known = np.sort(values[~np.isnan(values)])
    limit, is_share = _parse(how, where)
    # The share of the smallest values is that beyond the limit, and of the largest that within it.
    limit = 1.0 - limit if is_share and sign < 0 else limit
    with np.errstate(invalid="ignore"):
        if not is_share:
            bound = sign * limit
            beyond = values > bound
            if 0 < beyond.sum() < k:
                raise InputError(
                    f"{where}: fewer than k = {k} records are beyond it; choose one nearer to the middle, or a share "
                    "such as 99%, which takes at least k"
                )
            if _is_observed(bound, known):
                raise InputError(
                    f"{where}: some records have this very value; choose a bound between the values there are, or a "
                    "share such as 99%, for the mean of those beyond"
                )
            return beyond, bound, "at the bound"
        beyond = values > known[max(int(np.ceil(limit * len(known))), 1) - 1]
        if beyond.sum() < k and len(known) >= k:
            # Equal values stay together.
            beyond = values >= known[-k]
    if beyond.sum() < k or beyond.sum() == len(known):
        raise InputError(f"{where}: there are not k = {k} records that could be told from the rest; leave it out")
    return beyond, _find_unobserved(float(values[beyond].mean()), known), "at their mean"


def _find_unobserved(value: float, known: Values) -> float:
    """The value, or if somebody has it the middle between it and the next lower one."""
    if not _is_observed(value, known):
        return value
    lower, upper = known[known < value], known[known > value]
    near = lower[-1] if len(lower) else upper[0]
    return (value + float(near)) / 2


def _is_observed(value: float, known: Values) -> bool:
    """Whether somebody has this value, as numbers are written."""
    return bool(np.isclose(known, value, rtol=1e-11, atol=0.0).any())


def _parse(how: str | float, where: str) -> tuple[float, bool]:
    """A limit, and whether it is a share of the records."""
    text = str(how).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = np.nan
    is_share = text.endswith("%")
    if not np.isfinite(number) or (is_share and not 0 < number < 100):
        raise InputError(f"{where}: expected a share such as 99%, or a bound such as 100000")
    return (number / 100 if is_share else number), is_share


def _write(column: pl.Series, values: Values, changed: NDArray[np.bool_], dataset: Dataset) -> pl.Series:
    """The column with other numbers in some places; what is not changed stays as it was written."""
    if not changed.any():
        return column
    if column.dtype == pl.String:
        texts = [f"{number:.12g}".replace(".", dataset.decimal) for number in values[changed].tolist()]
        return column.scatter(np.flatnonzero(changed), texts)
    numbers = pl.Series(column.name, values[changed])
    whole = column.dtype.is_integer() and bool((values[changed] == np.round(values[changed])).all())
    wide = column if whole or column.dtype.is_float() else column.cast(pl.Float64)
    return wide.scatter(np.flatnonzero(changed), numbers.cast(wide.dtype))
