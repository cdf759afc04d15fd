"""How to repeat a release: the command and the configuration that give it again, without lists of categories."""

from __future__ import annotations

import shlex
from typing import Any

from discreet.data.roles import AGGREGATES, RECODINGS
from discreet.data.toml import write_key, write_value
from discreet.release.reports.subject import Subject

# What a configuration says of a run, as far as evidence knows it.
SETTINGS = ("k", "missing", "l", "t", "person", "household", "split_households", "sampling_weight")


def repeat_facts(subject: Subject) -> dict[str, Any]:
    """Digests, seed and steps, the command, and the configuration that it reads."""
    account = subject.account
    given, output = account["input"], account.get("output") or {}
    columns = account["parameters"]["columns"]
    return {
        "command": write_command(subject),
        "toml": write_configuration(subject),
        "left_out": [name for name, how in columns.items() if "order" in how or _say(subject, name, "na")],
        "version": account["version"],
        "input": given.get("file"),
        "input_sha256": given.get("sha256"),
        "output": output.get("file"),
        "output_sha256": output.get("sha256"),
    }


def write_command(subject: Subject) -> str:
    """The command; steps take the place of the time, so that it ends where the run ended."""
    account = subject.account
    given, output = account["input"], account.get("output") or {}
    words = ["discreet", "protect", given.get("file") or "INPUT", "--config", "repeat.toml"]
    words += ["-o", output.get("file") or "OUTPUT.csv"]
    words += ["--order", "kept"] if output.get("order") == "kept" else []
    return " ".join(shlex.quote(word) for word in words)


def write_configuration(subject: Subject) -> str:
    """The TOML file: settings, groups of columns, and each column with its role and type."""
    said, search = subject.account["parameters"], subject.account["search"]
    lines = [f"{name} = {write_value(said[name])}" for name in SETTINGS if said.get(name) is not None]
    if search and search.get("method"):
        lines.append(f"method = {write_value(search['method'])}")
        if said.get("params"):
            lines.append(f"params = {write_value(said['params'])}")
        lines.append(f"seed = {search['seed']}")
        lines += [f"steps = {search['steps']}"] if search["steps"] else []
    if len(said.get("grouping", ())) > 1:
        lines.append(f"grouping = {write_value(said['grouping'])}")
    lines += ["", "[columns]"]
    for name, how in said["columns"].items():
        kept = {key: how.get(key) for key in ("role", "type", *RECODINGS, "coarsen", "hierarchy", "digits")}
        kept["form"] = _say(subject, name, "form")
        usual = AGGREGATES.get(how.get("type", ""), ("",))[0]
        kept["aggregate"] = how.get("aggregate") if how.get("aggregate") != usual else None
        kept["missing"] = how.get("missing") if how.get("missing") != said.get("missing") else None
        kept["weight"] = how.get("weight") if how.get("weight") != 1.0 else None
        lines.append(f"{write_key(name)} = {write_value(kept)}")
    return "\n".join(lines) + "\n"


def _say(subject: Subject, name: str, what: str) -> Any:
    """What is declared of a column of the original."""
    known = {said.name: said for said in subject.declared.columns}
    return getattr(known[name], what) or None if name in known else None
