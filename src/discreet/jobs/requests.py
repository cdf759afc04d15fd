"""What somebody chose, as the configuration and the command that do it: the same that a user would write."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.data.toml import write_key, write_value
from discreet.jobs.job import HERE

# What a configuration says of a column, in this order.
DETAILS = (
    *("role", "type", "form", "order", "weight", "aggregate", "digits", "missing"),
    *("coarsen", "hierarchy", "topcode", "bottomcode", "round", "na"),
)
# What a column may be that is no role: the option that names it, and the role that it has beside.
FURTHER = {
    "household": ("household", "identifier"),
    "person": ("person", "identifier"),
    "sampling weight": ("sampling_weight", "ignore"),
    "sampling weight, released": ("sampling_weight", "confidential"),
    "sampling weight, averaged": ("sampling_weight", "quasi"),
}
SETTINGS, RELEASE, GROUPING = "settings.toml", "candidate.csv", "grouping.toml"


def write_settings(choices: Mapping[str, Any]) -> str:
    """The configuration of a protection.

    Parameters
    ----------
    choices : mapping
        `columns` (name to role, type, order, weight, aggregate and so on), `k`, and `l`, `t`, `split_households`,
        `method`, `bound`, `reading` (how the file is read) where chosen.
    """
    columns: Mapping[str, Mapping[str, Any]] = choices.get("columns", {})
    keys = ("k", "l", "t", "split_households", "method", "bound")
    said = {key: choices[key] for key in keys if choices.get(key)} | (choices.get("reading") or {})
    said |= {FURTHER[one["role"]][0]: name for name, one in columns.items() if one.get("role") in FURTHER}
    if "household" not in said:
        said.pop("split_households", None)
    lines = [f"{key} = {write_value(value)}" for key, value in said.items()]
    for name, one in columns.items():
        own = {**one, "role": FURTHER.get(one.get("role", ""), ("", one.get("role")))[1]}
        lines += ["", f"[columns.{write_key(name)}]"]
        lines += [f"{key} = {write_value(own[key])}" for key in DETAILS if own.get(key) not in (None, "", [])]
    return "\n".join(lines) + "\n"


def find_problems(columns: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What stands between the choices for columns and a protection, in words."""
    roles = [said.get("role") for said in columns.values()]
    lost = [name for name, said in columns.items() if not said.get("role")]
    found = []
    if lost:
        names = ", ".join(lost[:6]) + (" …" if len(lost) > 6 else "")
        found.append(f"{len(lost)} of {len(roles)} columns are undecided: {names}")
    elif not {"quasi", "sampling weight, averaged"} & set(roles):
        found.append("No column is a quasi-identifier: there is nothing to protect.")
    named = [FURTHER[role][0] for role in roles if role in FURTHER]
    found += [
        f"Only one column can be the {option.replace('_', ' ')}; choose another role for the others."
        for option in dict.fromkeys(named)
        if named.count(option) > 1
    ]
    if {"household", "person"} <= set(named):
        found.append("Household and person cannot both be promised: a household counts once. Keep one of the two.")
    return found


def write_sign_off(words: Mapping[str, Any]) -> str:
    """What those who decide say of a release; what they leave empty is left out."""
    lines = [f"{key} = {write_value(value)}" for key, value in words.items() if isinstance(value, str) and value]
    safes = {key: value for key, value in words.get("five_safes", {}).items() if value}
    if safes:
        lines += ["", "[five_safes]", *(f"{key} = {write_value(value)}" for key, value in safes.items())]
    return "\n".join(lines) + "\n"


def try_out(file: str, *, time: float, seed: int, suffix: str = ".csv", grouping: bool = False) -> list[str]:
    """The command that makes a candidate, within the folder of its job."""
    release = str(Path(RELEASE).with_suffix(suffix))
    words = ["protect", file, "--config", f"{HERE}/{SETTINGS}", "--time", f"{time:g}", "--seed", str(seed)]
    words += ["--grouping", f"{HERE}/{GROUPING}"] if grouping else []
    return [*words, "-o", f"{HERE}/{release}", "--row-map", f"{HERE}/map.csv"]


def repeat(
    file: str, output: str, search: Mapping[str, Any], *, report: bool = True, grouping: bool = False
) -> list[str]:
    """The command that makes the release of a finished search again, to the last byte.

    Parameters
    ----------
    file, output : str
        The microdata and the release.
    search : mapping
        The part `search` of the evidence: its steps and its seed.
    report : bool
        Whether the reports are written too, with what is signed off.
    grouping : bool
        Whether the groups of columns stand in a file beside the release.
    """
    words = ["protect", file, "--config", f"{output}.toml", "--seed", str(search["seed"])]
    if search.get("steps"):
        words += ["--steps", str(search["steps"])]
    words += ["--grouping", f"{output}.{GROUPING}"] if grouping else []
    words += ["-o", output]
    return [*words, "--report", "--sign-off", f"{output}.sign-off.toml"] if report else words


def find_grouping(file: str, *, time: float) -> list[str]:
    """The command that finds which columns to protect together, within the folder of its job."""
    return ["group", file, "--config", f"{HERE}/{SETTINGS}", "--time", f"{time:g}", "-o", f"{HERE}/{GROUPING}"]


def count_broken(file: str, choices: Mapping[str, Any], groups: str) -> list[str]:
    """The command that counts how many records of a file break a promise as they are.

    Parameters
    ----------
    file, groups : str
        The microdata, and the file of the groups of quasi-identifiers.
    choices : mapping
        As in `write_settings`.
    """
    words = ["verify", file, "--grouping", groups, "--k", str(choices["k"])]
    for name, one in choices["columns"].items():
        role = one.get("role")
        words += ["--by", _quote(name)] if role == "by" else []
        words += [f"--{role}", name] if role in ("household", "person") else []
        if any(name in choices.get(key, {}) for key in ("l", "t")):
            order = "=" + "<".join(one["order"]) if one.get("type") == "ordinal" and one.get("order") else ""
            words += [f"--{one['type']}", _quote(f"{name}{order}")] if one.get("type") else []
    for key in ("l", "t"):
        for name, value in choices.get(key, {}).items():
            words += [f"--{key}", _quote(f"{name}={value}")]
    return [*words, *as_options(choices.get("reading") or {})]


def as_options(reading: Mapping[str, Any]) -> list[str]:
    """How a file is read, as options of a command."""
    words = []
    for key in ("delimiter", "encoding", "decimal", "sheet", "max_size"):
        words += [f"--{key.replace('_', '-')}", str(reading[key])] if key in reading else []
    return [*words, "--header", "yes" if reading["header"] else "no"] if "header" in reading else words


def _quote(text: str) -> str:
    """A name among several on a command line."""
    return '"' + text.replace('"', '""') + '"'


def as_typed(words: Sequence[str]) -> str:
    """A command as somebody types it."""
    return shlex.join(["discreet", *words])


MARKS = {"unsafe": "manual", "frozen": "frozen", "preferred": "prefer", "to avoid": "avoid"}
"""What a steward may say of a cell, and the option whose file says it to the commands."""


def write_table_settings(choices: Mapping[str, Any], search: Mapping[str, Any]) -> str:
    """The configuration of the way of a table: how it is built, the rules, and the search, each as far as chosen."""
    parts = {
        "tabulate": {key: choices.get(key) for key in ("by", "value", "holding", "sampling_weight")},
        "primary": choices.get("rules", {}),
        "suppress": search,
    }
    lines = []
    for name, said in parts.items():
        chosen = [f"{key} = {write_value(value)}" for key, value in said.items() if value not in (None, "", [])]
        lines += [f"[{name}]", *chosen, ""] if chosen else []
    return "\n".join(lines)


def tabulate(file: str, config: str, output: str, reading: Mapping[str, Any]) -> list[str]:
    """The command that builds a table of a file that is read so."""
    return ["tabulate", file, "--config", config, *as_options(reading), "-o", output]


def judge(table: str, config: str, output: str, files: Mapping[str, str]) -> list[str]:
    """The command that finds the unsafe cells, by rules and by a file of cells that were marked."""
    words = ["primary", table, "--config", config]
    words += ["--manual", files["manual"]] if "manual" in files else []
    return [*words, "-o", output]


def suppress(flagged: str, config: str, output: str, files: Mapping[str, str], search: Mapping[str, Any]) -> list[str]:
    """The command that suppresses cells: `time`, or `steps` to repeat a search that has ended, and its `seed`."""
    words = ["suppress", flagged, "--config", config, "-o", output]
    for key in ("frozen", "prefer", "avoid"):
        words += [f"--{key}", files[key]] if key in files else []
    for key in ("time", "steps", "seed"):
        words += [f"--{key}", f"{search[key]:.17g}"] if search.get(key) is not None else []
    return words


def write_marks(marks: Mapping[str, str], mark: str, given: Mapping[int, tuple[float, float]] | None = None) -> str:
    """A file of the cells that were marked so, by their numbers.

    Parameters
    ----------
    marks : mapping
        What was said of each cell, by number.
    mark : str
        The mark.
    given : mapping, optional
        Further cells that are unsafe, each with its levels below and above.
    """
    cells = {int(cell) for cell, said in marks.items() if said == mark}
    if mark != "unsafe":
        return "\n".join(["cell", *map(str, sorted(cells))]) + "\n"
    levels = dict.fromkeys(cells, ",") | {cell: f"{one[0]!r},{one[1]!r}" for cell, one in (given or {}).items()}
    return "\n".join(["cell,status,lpl,upl", *(f"{cell},u,{levels[cell]}" for cell in sorted(levels))]) + "\n"
