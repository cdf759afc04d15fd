"""Coarsening on the way in: fewer characters of a code, a higher level of its hierarchy, or bands of numbers.

A coarse value stands for all records that have it. What it tells of a record is their mean, and so the loss of a
release of coarse values can be measured against the values as they came in. The same levels tell how far two codes are
from each other, where a column is compared by its hierarchy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from discreet.data.ancestry import rank_levels
from discreet.data.attributes import Attribute, Values, read_attribute, read_pair
from discreet.data.dataset import Dataset
from discreet.data.roles import Declaration, Declarations
from discreet.errors import InputError
from discreet.tabular.hierarchy import Hierarchy
from discreet.text import count

FORMS = "prefix:2 (characters kept), codes.hrc:2 (levels below the total), width:5 (bands from 0) or auto"
AUTO = "auto"
# Levels of a column that are searched with the rest, after all have been ranked.
FINALISTS = 4


def is_open(how: str | None) -> bool:
    """Whether the level is still to be chosen: `auto`, or a hierarchy with `auto`."""
    return how is not None and how.rpartition(":")[2] == AUTO


def read_coarsened(dataset: Dataset, said: Declaration) -> tuple[Attribute, str]:
    """Read a quasi-identifier by its declaration, coarsened if that says so, and say what was assumed or done."""
    if said.coarsen is None:
        attribute, assumed = read_attribute(dataset, said)
        return _add_ancestry(attribute, said, dataset), assumed
    coarse, declared, fine = coarsen(dataset, said)
    attribute, _ = read_attribute(coarse, declared)
    attribute = _add_ancestry(attribute, said, dataset)
    before = len(np.unique(fine.values[~np.isnan(fine.values)]))
    return replace(attribute, fine=fine), f"{describe(said.coarsen)}, {count(before, 'level')} to {_levels(attribute)}"


def read_coarsened_pair(original: Dataset, release: Dataset, said: Declaration) -> tuple[Attribute, Values, str, str]:
    """An attribute of the original and its values in the release, as `read_pair`, coarsened as the release is."""
    if said.coarsen is None:
        attribute, values, assumed, note = read_pair(original, release, said)
        return _add_ancestry(attribute, said), values, assumed, note
    coarse, declared, fine = coarsen(original, said)
    attribute, values, _, note = read_pair(coarse, release, declared)
    attribute = _add_ancestry(attribute, said)
    return replace(attribute, fine=fine), values, describe(said.coarsen), note


def describe(how: str) -> str:
    """A coarsening in words."""
    kind, _, size = how.rpartition(":")
    if kind == "prefix":
        return f"coarsened to the first {size} characters" if size != "1" else "coarsened to the first character"
    if kind == "width":
        return f"coarsened to bands of {size}"
    return f"coarsened to level {size} of {Path(kind).name}"


def coarsen(dataset: Dataset, said: Declaration) -> tuple[Dataset, Declaration, Attribute]:
    """The data with one column coarsened, the declaration that fits it, and the attribute as it was."""
    how = said.coarsen or ""
    where = f"column '{said.name}', coarsen '{how}'"
    if is_open(how):
        raise InputError(f"{where}: only protect can choose the level; name it here, as in {FORMS}")
    kind, _, size = how.rpartition(":")
    if kind == "width":
        fine, labels, order = _cut_bands(dataset, said, _parse_width(size, where))
        kept = replace(said, kind="ordinal", order=order, digits=None)
    else:
        fine, texts = _read_codes(dataset, said)
        coarse = _shorten(texts, kind, _parse_level(size, where), where, dataset, fine)
        labels = pl.Series(coarse, dtype=pl.String).gather(_codes(fine))
        kept = replace(said, kind="nominal", order=None, digits=None)
    frame = dataset.frame.with_columns(labels.alias(said.name))
    return replace(dataset, frame=frame), kept, fine


def choose_levels(
    dataset: Dataset,
    declarations: Declarations,
    rank: Callable[[Declarations], float],
    race: Callable[[Declarations, float], float] | None = None,
) -> tuple[Declarations, list[str]]:
    """Choose the level of every column that leaves it open: the one of least loss against the data as it came in.

    All levels are ranked by quick releases, one column after the other. Then the best of each column are searched with
    the rest: in every round the better half stays and each of them is given twice as long (successive halving; Jamieson
    and Talwalkar, 2016).

    Parameters
    ----------
    dataset : Dataset
        The data.
    declarations : Declarations
        What is declared of its columns.
    rank : callable
        The loss of a quick release with the levels of given declarations.
    race : callable, optional
        The same by the method asked for, which is given a share of the time that all of this may take.

    Returns
    -------
    declarations
        With levels in place of `auto`.
    notes : list of str
        What was chosen among what.
    """
    # Until its turn comes, a column stands as it came in; what has levels is a code, even if it is written in digits.
    waiting = {said.name: said.coarsen or "" for said in declarations.columns if is_open(said.coarsen)}
    chosen = _declare(declarations, dict.fromkeys(waiting))
    ranked: dict[str, list[str | None]] = {}
    for name, how in waiting.items():
        candidates = [None, *_list_levels(dataset, chosen[name], how)]
        losses = [rank(_declare(chosen, {name: candidate})) for candidate in candidates]
        ranked[name] = [candidates[at] for at in np.argsort(losses, kind="stable")]
        chosen = _declare(chosen, {name: ranked[name][0]})
    notes = []
    for name, candidates in ranked.items():
        best = candidates[0] if race is None else _halve(candidates[:FINALISTS], name, chosen, race, 1 / len(waiting))
        chosen = _declare(chosen, {name: best})
        words = "left as it is" if best is None else describe(best)
        searched = "" if race is None else f", the best {min(FINALISTS, len(candidates))} of them by searching"
        notes.append(f"'{name}' {words}, which lost least of {count(len(candidates), 'level')} tried{searched}")
    return chosen, notes


def _halve(
    candidates: list[str | None],
    name: str,
    chosen: Declarations,
    race: Callable[[Declarations, float], float],
    share: float,
) -> str | None:
    """The winner among the levels of a column: rounds take equally long, and the better half stays."""
    rounds = (len(candidates) - 1).bit_length()
    while len(candidates) > 1:
        each = share / (rounds * len(candidates))
        losses = [race(_declare(chosen, {name: candidate}), each) for candidate in candidates]
        order = np.argsort(losses, kind="stable")[: (len(candidates) + 1) // 2]
        candidates = [candidates[at] for at in order]
    return candidates[0]


def _declare(declarations: Declarations, levels: dict[str, str | None]) -> Declarations:
    columns = tuple(
        replace(said, coarsen=levels[said.name], kind="nominal", order=None) if said.name in levels else said
        for said in declarations.columns
    )
    return replace(declarations, columns=columns)


def _list_levels(dataset: Dataset, said: Declaration, how: str) -> list[str]:
    """The levels to try, from the coarsest."""
    if how == AUTO:
        longest = max(map(len, _read_codes(dataset, said)[1]))
        return [f"prefix:{length}" for length in range(1, longest)]
    path = how.rpartition(":")[0]
    depth = int(_read_hierarchy(path).depths.max())
    return [f"{path}:{level}" for level in range(1, depth)]


def _add_ancestry(attribute: Attribute, said: Declaration, dataset: Dataset | None = None) -> Attribute:
    """The attribute with the levels by which its codes are compared, if that was asked for.

    Codes that are not in the hierarchy are refused if it is known where they came from; else each is like no other.
    """
    how = said.hierarchy
    if how is None:
        return attribute
    where = f"column '{said.name}', hierarchy '{how}'"
    texts = _texts(attribute)
    if how == "prefix":
        names = [[text[:length] for text in texts] for length in range(1, max(map(len, texts)) + 1)]
    elif how.lower().endswith(".hrc"):
        tree = _read_hierarchy(how)
        names = [
            _shorten(texts, how, level, where, dataset, attribute) for level in range(1, int(tree.depths.max()) + 1)
        ]
    else:
        raise InputError(f"{where}: say prefix, or the name of a hierarchy file, as codes.hrc")
    return replace(attribute, ancestry=rank_levels(names))


def _read_codes(dataset: Dataset, said: Declaration) -> tuple[Attribute, list[str]]:
    """A column as categories, and their texts."""
    plain = replace(said, kind="nominal", order=None, aggregate=None, digits=None)
    fine, _ = read_attribute(dataset, plain)
    return fine, _texts(fine)


def _texts(attribute: Attribute) -> list[str]:
    """The categories as texts."""
    categories = attribute.categories if attribute.categories is not None else pl.Series([], dtype=pl.String)
    if categories.dtype.is_float() and (categories == categories.round()).all():
        categories = categories.cast(pl.Int64)  # 12 and not 12.0, as in the column itself
    return [text.strip() for text in categories.cast(pl.String)]


def _shorten(
    texts: Sequence[str], kind: str, level: int, where: str, dataset: Dataset | None, fine: Attribute
) -> list[str]:
    """The coarse code of each code; one that is not in the hierarchy is refused, if the data is given to say where."""
    if kind == "prefix":
        return [text[:level] for text in texts]
    if not kind.lower().endswith(".hrc"):
        raise InputError(f"{where}: say how, as in {FORMS}")
    tree = _read_hierarchy(kind)
    if not 1 <= level <= int(tree.depths.max()):
        raise InputError(f"{where}: {tree.source} has levels 1 to {int(tree.depths.max())} below the total")
    place = {code.strip(): at for at, code in enumerate(tree.codes)}
    strange = [at for at, text in enumerate(texts) if text not in place or place[text] == 0]
    if strange and dataset is not None:
        rows = np.flatnonzero(np.isin(fine.values, strange))
        raise InputError(
            f"{where}: {count(len(strange), 'code')} of {count(len(rows), 'record')} in {dataset.name} "
            f"{'is' if len(strange) == 1 else 'are'} not in {tree.source} ({dataset.places(rows)}); add them to the "
            "hierarchy or correct them"
        )
    found = []
    for text in texts:
        at = place.get(text, 0)
        if at == 0:
            found.append(f"\0{text}")  # like no code of the hierarchy
            continue
        while tree.depths[at] > level:
            at = int(tree.parents[at])
        found.append(tree.codes[at].strip())
    return found


def _cut_bands(dataset: Dataset, said: Declaration, width: float) -> tuple[Attribute, pl.Series, tuple[str, ...]]:
    """A numeric column, the band of each record, and the bands in their order."""
    fine, _ = read_attribute(dataset, replace(said, kind="numeric", order=None, aggregate=None, digits=None))
    known = ~np.isnan(fine.values)
    bands = np.floor(fine.values[known] / width)
    starts, codes = np.unique(bands, return_inverse=True)
    whole = fine.integral and width == int(width)
    # With negative numbers a hyphen could be read as a sign.
    link = "-" if starts[0] >= 0 else " to "
    labels = []
    for start in starts.tolist():
        end = _write((start + 1) * width - 1) if whole else f"<{_write((start + 1) * width)}"
        labels.append(f"{_write(start * width)}{link}{end}")
    places = np.full(len(known), -1, np.int64)
    places[known] = codes.ravel()
    column = pl.Series(labels, dtype=pl.String).gather(pl.Series(places).set(pl.Series(~known), None))
    return fine, column, tuple(labels)


def _read_hierarchy(path: str) -> Hierarchy:
    return Hierarchy.from_hrc(path)


def _parse_level(text: str, where: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{where}: say how, as in {FORMS}")
    return int(text)


def _parse_width(text: str, where: str) -> float:
    try:
        width = float(text)
    except ValueError:
        width = 0.0
    if not 0 < width < float("inf"):
        raise InputError(f"{where}: the width of a band must be a number above 0")
    return width


def _write(number: float) -> str:
    return f"{number:.0f}" if number == round(number) else f"{number:.12g}"


def _codes(attribute: Attribute) -> pl.Series:
    missing = np.isnan(attribute.values)
    codes = pl.Series(np.where(missing, 0, attribute.values).astype(np.int64))
    return codes.set(pl.Series(missing), None)


def _levels(attribute: Attribute) -> str:
    return f"{len(attribute.categories if attribute.categories is not None else ()):,}"
