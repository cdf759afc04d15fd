"""What somebody chose, as the configuration and the command that do it: the same that a user would write."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.data.toml import write_key, write_value
from discreet.jobs.job import HERE

# What a configuration says of a column, in this order.
DETAILS = ("role", "type", "order", "weight", "aggregate")
SETTINGS, RELEASE = "settings.toml", "candidate.csv"


def write_settings(choices: Mapping[str, Any]) -> str:
    """The configuration of a protection.

    Parameters
    ----------
    choices : mapping
        `columns` (name to role, type, order, weight, aggregate), `k`, and `grouping`, `l`, `t`, `method` where chosen.
    """
    lines = [f"{key} = {write_value(choices[key])}" for key in ("k", "method", "grouping") if choices.get(key)]
    lines += [f"{key} = {write_value(choices[key])}" for key in ("l", "t") if choices.get(key)]
    for name, said in choices.get("columns", {}).items():
        lines += ["", f"[columns.{write_key(name)}]"]
        lines += [f"{key} = {write_value(said[key])}" for key in DETAILS if said.get(key) not in (None, "", [])]
    return "\n".join(lines) + "\n"


def write_sign_off(words: Mapping[str, Any]) -> str:
    """What those who decide say of a release; what they leave empty is left out."""
    lines = [f"{key} = {write_value(value)}" for key, value in words.items() if isinstance(value, str) and value]
    safes = {key: value for key, value in words.get("five_safes", {}).items() if value}
    if safes:
        lines += ["", "[five_safes]", *(f"{key} = {write_value(value)}" for key, value in safes.items())]
    return "\n".join(lines) + "\n"


def try_out(file: str, *, time: float, seed: int, suffix: str = ".csv") -> list[str]:
    """The command that makes a candidate, within the folder of its job."""
    release = str(Path(RELEASE).with_suffix(suffix))
    words = ["protect", file, "--config", f"{HERE}/{SETTINGS}", "--time", f"{time:g}", "--seed", str(seed)]
    return [*words, "-o", f"{HERE}/{release}", "--row-map", f"{HERE}/map.csv"]


def repeat(file: str, output: str, search: Mapping[str, Any], *, report: bool = True) -> list[str]:
    """The command that makes the release of a finished search again, to the last byte.

    Parameters
    ----------
    file, output : str
        The microdata and the release.
    search : mapping
        The part `search` of the evidence: its steps and its seed.
    report : bool
        Whether the reports are written too, with what is signed off.
    """
    words = ["protect", file, "--config", f"{output}.toml", "--seed", str(search["seed"])]
    if search.get("steps"):
        words += ["--steps", str(search["steps"])]
    words += ["-o", output]
    return [*words, "--report", "--sign-off", f"{output}.sign-off.toml"] if report else words


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


def tabulate(file: str, config: str, output: str) -> list[str]:
    """The command that builds a table."""
    return ["tabulate", file, "--config", config, "-o", output]


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
