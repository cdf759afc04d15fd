"""Reading what numpydoc docstrings say, so that a method is documented once."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field


@dataclass
class Docstring:
    """The parts of a docstring that a list of methods shows."""

    summary: str = ""
    parameters: dict[str, tuple[str, str]] = field(default_factory=dict)  # name: its type in words, its text
    reference: str = ""


def parse(text: str) -> Docstring:
    """Take the first line, the parameters and the references out of a numpydoc docstring."""
    lines = inspect.cleandoc(text).splitlines()
    doc = Docstring(summary=lines[0] if lines else "")
    sections: dict[str, list[str]] = {}
    body: list[str] = []
    for line, under in zip(lines, lines[1:] + [""], strict=True):
        if line and re.fullmatch("-{3,}", under):
            body = sections.setdefault(line, [])
        elif not re.fullmatch("-{3,}", line):
            body.append(line)
    name = ""
    for line in sections.get("Parameters", []):
        heading = re.match(r"(\w+) : (.+)", line)
        if heading:
            name = heading[1]
            doc.parameters[name] = (heading[2], "")
        elif name:
            type_in_words, so_far = doc.parameters[name]
            doc.parameters[name] = (type_in_words, f"{so_far} {line.strip()}".strip())
    doc.reference = " ".join(line.strip() for line in sections.get("References", [])).strip()
    return doc
