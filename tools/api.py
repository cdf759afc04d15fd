"""Write the manual's page on the Python interface from the docstrings: `python tools/api.py`."""

import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from docstring_parser import Docstring, DocstringStyle, parse

import discreet
import discreet.tabular
from discreet import methods
from wrap import WIDTH, wrap

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
INTRODUCTION = """# The API

What Python code may import, from the docstrings. `import discreet` costs nothing: what stands behind a verb is loaded
when it is first used. The commands of the same names are on [their own page](commands.md).

"""
METHODS = """By name, with `method=` and `params=`. [Methods](methods.md), [Grouping attributes](grouping.md) and
[Suppressing cells](suppression.md) tell how each works.
"""
# In the order of the walk.
VERBS = [
    "inspect", "plan", "protect", "protect_large", "refine", "group", "partition", "measure", "verify", "report",
    "review", "tabulate", "primary", "link", "suppress", "suppress_folder", "audit", "list_methods", "list_examples",
]  # fmt: skip
RESULTS = [
    "discreet.measures.inspection.Inspection",
    "discreet.microdata.planning.Plan",
    "discreet.release.release.Release",
    "discreet.grouping.result.Grouping",
    "discreet.microdata.large.driver.LargeRelease",
    "discreet.microdata.partition.Partition",
    "discreet.measures.measure.Measures",
    "discreet.verification.promise.Promise",
    "discreet.verification.promise.Verification",
    "discreet.release.suppressed.SuppressedTable",
    "discreet.verification.verdict.Audit",
    "discreet.verification.certificate.Certificate",
]


def page() -> str:
    """The whole page."""
    errors = sorted(name for name in discreet.__all__ if inspect.isclass(getattr(discreet, name)))
    assert set(VERBS) | set(errors) | {"__version__"} == set(discreet.__all__), "a verb is missing on the page"
    parts = [INTRODUCTION, "## Verbs\n"]
    for name in VERBS:
        parts += function(f"discreet.{name}", getattr(discreet, name))
    parts.append("## Results\n")
    for path in RESULTS:
        module, _, name = path.rpartition(".")
        parts += class_(name, getattr(import_module(module), name))
    parts.append("## Tables\n")
    for name in discreet.tabular.__all__:
        parts += class_(f"discreet.tabular.{name}", getattr(discreet.tabular, name))
    parts.append("## Errors\n")
    for name in errors:
        parts += [f"### discreet.{name}\n", prose(documentation(getattr(discreet, name)))]
    parts.append("## Methods\n")
    parts.append(METHODS)
    for family in methods.FAMILIES:
        parts.append(f"### {family.capitalize()} methods\n")
        entries = [entry for entry in methods.list_methods() if entry.family == family]
        for (summary, told), alike in groupby(entries, lambda entry: (entry.summary, entry.parameters)):
            parts.append(f"#### {', '.join(f'`{entry.name}`' for entry in alike)}\n\n{summary}\n")
            parts += (f"`{one.name}` (default {one.default!r})\n:   {one.description}\n" for one in told)
    return wrap(re.sub(r"\n{3,}", "\n\n", "\n".join(parts)))


def documentation(thing: Any) -> Docstring:
    """What a docstring says, in its parts."""
    return parse(inspect.getdoc(thing) or "", DocstringStyle.NUMPYDOC)


def function(title: str, thing: Any) -> Iterator[str]:
    """A verb: its signature, what it does, its parameters and what it returns."""
    doc = documentation(thing)
    yield f"### {title}\n\n```text\n{signature(title, thing)}\n```\n"
    yield prose(doc)
    yield from parameters(doc)
    if doc.returns:
        yield f"**Returns** `{doc.returns.type_name}`. {flat(doc.returns.description)}\n"
    # The parser takes the lines before the first output for a snippet of their own.
    examples = [text for one in doc.examples for text in (one.snippet, one.description) if text]
    if examples:
        yield "```python-console\n" + "\n".join(inspect.cleandoc(text) for text in examples) + "\n```\n"


def class_(title: str, thing: type[Any]) -> Iterator[str]:
    """A class: what it is, its fields, and its public properties and methods."""
    yield f"### {title}\n"
    yield prose(documentation(thing))
    described = set()
    for base in [one for one in reversed(thing.__mro__) if one.__module__.startswith("discreet.")]:
        yield from parameters(documentation(base))
        described |= {parameter.arg_name for parameter in documentation(base).params}
    for name, member in vars(thing).items():
        if name.startswith("_") or name in described or not inspect.getdoc(member):
            continue
        bare = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(member, property | cached_property):
            heading = name
        elif inspect.isfunction(bare):
            heading = signature(name, bare, skip_first=not isinstance(member, staticmethod), width=10_000)
            if len(heading) > WIDTH - 2:  # a span of code is not broken: without its defaults it fits a line
                heading = re.sub(r"=[^,)]+", "", heading)
        else:
            continue
        inner = documentation(bare if inspect.isfunction(bare) else member)
        yield f"`{heading}`\n:   {flat(inner.short_description)} {flat(inner.long_description)}".rstrip() + "\n"
        for one in inner.params:
            yield f"    - `{one.arg_name}`: {flat(one.description)}"
        yield ""


def signature(name: str, thing: Any, *, skip_first: bool = False, width: int = 100) -> str:
    """The call with its defaults, without types, which the parameters tell in words."""
    told = list(inspect.signature(thing).parameters.values())[1 if skip_first else 0 :]
    pieces, starred = [], False
    for one in told:
        if one.kind is one.KEYWORD_ONLY and not starred:
            pieces.append("*")
        starred = starred or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        pieces.append(str(one.replace(annotation=one.empty)))
    line = f"{name}({', '.join(pieces)})"
    if len(line) <= width:
        return line
    inside = textwrap.fill(", ".join(pieces), width, initial_indent="    ", subsequent_indent="    ")
    return f"{name}(\n{inside}\n)"


def prose(doc: Docstring) -> str:
    """What a docstring says before its sections."""
    return f"{doc.short_description or ''}\n\n{doc.long_description or ''}\n".rstrip() + "\n"


def parameters(doc: Docstring) -> Iterator[str]:
    """A definition for each parameter."""
    for one in doc.params:
        kind = f" ({one.type_name}{', optional' if one.is_optional else ''})" if one.type_name else ""
        yield f"`{one.arg_name}`{kind}\n:   {flat(one.description)}\n"


def flat(text: str | None) -> str:
    """A text in one line."""
    return " ".join((text or "").split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
