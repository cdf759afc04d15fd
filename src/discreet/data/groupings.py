"""Groups of quasi-identifiers that are protected each on its own: as a call and as a TOML file give them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.data import toml
from discreet.data.roles import quote
from discreet.data.toml import write_key, write_value
from discreet.errors import InputError

FORM = 'groups = [["a", "b"], ["c"]]'


def parse_groups(grouping: Any, quasi: Sequence[str], where: str = "grouping") -> tuple[tuple[str, ...], ...]:
    """The groups that a call gives, checked; all quasi-identifiers together if it gives none.

    Parameters
    ----------
    grouping : list of lists of str, object with `groups`, path, or None
        Groups of columns, what `group` found, or the TOML file it was written to.
    quasi : sequence of str
        The quasi-identifiers, in the order of the data.
    where : str
        Where the grouping comes from, for the error.
    """
    if grouping is None:
        return (tuple(quasi),)
    if _is_path(grouping):
        return check_groups(read_groups(grouping), quasi, str(grouping), quoting=False)
    return check_groups(list_groups(grouping, where), quasi, where)


def list_groups(grouping: Any, where: str = "grouping") -> list[list[str]]:
    """The groups that a call gives, whatever the quasi-identifiers are: as they are, in an object, or in a file."""
    return read_groups(grouping) if _is_path(grouping) else as_groups(getattr(grouping, "groups", grouping), where)


def read_groups(path: str | Path) -> list[list[str]]:
    """The groups in a TOML file; whatever else it says is about them, and passed over."""
    path = Path(path)
    content = toml.read(path)
    if "groups" not in content:
        raise InputError(f"{path}: not a grouping; it must hold {FORM}")
    return as_groups(content["groups"], f"{path}: groups")


def check_groups(groups: Any, quasi: Sequence[str], where: str, *, quoting: bool = True) -> tuple[tuple[str, ...], ...]:
    """Groups in which each quasi-identifier stands exactly once.

    Parameters
    ----------
    groups : sequence of sequences of str
        The groups.
    quasi : sequence of str
        The quasi-identifiers.
    where : str
        Where the groups come from, for the error.
    quoting : bool
        Whether the error may repeat a name that is no quasi-identifier. Of a file it may not: it gives its place.

    Returns
    -------
    tuple of tuples of str
        The groups in the order given, the columns of each in the order of `quasi`.
    """
    settled: dict[str, int] = {}
    listed = as_groups(groups, where)
    for number, group in enumerate(listed):
        for place, name in enumerate(group, 1):
            if name not in quasi:
                what = f"column '{name}'" if quoting else f"column {place} of group {number + 1}"
                raise InputError(f"{where}: {what} is no quasi-identifier; {_suggest(name, quasi)}")
            if name in settled:
                raise InputError(f"{where}: column '{name}' stands twice; name it in one group only")
            settled[name] = number
    lost = [name for name in quasi if name not in settled]
    if lost:
        raise InputError(
            f"{where}: no group has {quote(lost)}; put every quasi-identifier into a group, one of its own if need be"
        )
    return tuple(tuple(name for name in quasi if settled[name] == number) for number in range(len(listed)))


def groups_text(groups: Sequence[Sequence[str]], about: Mapping[str, object]) -> str:
    """Groups as the text of a TOML file, with what else is to be said about them; None stands for nothing to say."""
    lines = [
        "# Groups of quasi-identifiers: the columns of a group are protected together, each group on its own.",
        "# Use it with: discreet protect INPUT --grouping THIS_FILE",
        "groups = [",
        *(f"    {write_value(list(group))}," for group in groups),
        "]",
    ]
    lines += [f"{write_key(name)} = {write_value(value)}" for name, value in about.items() if value is not None]
    return "\n".join(lines) + "\n"


def as_groups(groups: Any, where: str) -> list[list[str]]:
    """Groups as lists of names, none of them empty."""
    if not _is_list(groups) or not all(_is_list(group) and all(isinstance(n, str) for n in group) for group in groups):
        raise InputError(f"{where}: expected a list of lists of column names, as in {FORM}")
    if not groups or not all(groups):
        raise InputError(f"{where}: {'a group' if groups else 'the list of groups'} is empty; leave it out")
    return [list(group) for group in groups]


def _is_path(value: Any) -> bool:
    return isinstance(value, str | Path)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _suggest(name: str, quasi: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, quasi, n=1)
    return f"did you mean '{near[0]}'?" if near else f"there are {quote(quasi)}"
