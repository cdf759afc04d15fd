"""Finds the links of a page of the manual that lead nowhere."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

# [text](target "title"), [name]: target, and the same in HTML.
_LINKS = (
    re.compile(r"\]\(\s*<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+[\"'][^\n]*?[\"'])?\s*\)"),
    re.compile(r"^ {0,3}\[[^\]^][^\]]*\]:\s*<?([^\s>]+)", re.MULTILINE),
    re.compile(r"\b(?:href|src)\s*=\s*[\"']([^\"']+)[\"']"),
)
_FENCED = re.compile(r"^ *(`{3,}|~{3,})[^\n]*\n.*?(?:^ *\1[`~]* *$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_OUTSIDE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")


def links(text: str) -> Iterator[str]:
    """The targets of all links and pictures of a page, code left out."""
    text = _INLINE.sub("", _FENCED.sub("", text))
    for pattern in _LINKS:
        yield from pattern.findall(text)


def broken(page: Path, root: Path) -> list[str]:
    """The links of a page inside the project that point at no file below a root folder."""
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        target = unquote(re.split("[?#]", link)[0])
        if _OUTSIDE.match(link) or not target:
            continue
        path = (page.parent / target).resolve()
        if not path.is_file() or not path.is_relative_to(root.resolve()):
            found.append(link)
    return found


def navigation(config: Path) -> list[str]:
    """The pages in the navigation of the manual."""
    return list(_pages(tomllib.loads(config.read_text(encoding="utf-8"))["project"]["nav"]))


def _pages(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        if not _OUTSIDE.match(entry):
            yield entry
    else:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from _pages(part)
