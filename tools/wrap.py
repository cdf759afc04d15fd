"""Wrap the prose of the manual at 120 characters, all pages alike: `python tools/wrap.py`.

Code blocks, tables, headings and lines of HTML stay as they are. A span of code is not broken.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

WIDTH = 120
ROOT = Path(__file__).resolve().parents[1]
_FENCE = re.compile(r" *(`{3,}|~{3,})")
# What opens a paragraph of its own: the marker of a list's item or of a definition.
_ITEM = re.compile(r"(?P<indent> *)(?P<marker>(?:[-*+]|\d+[.)]|:) +)(?P<rest>\S.*)")
_KEPT = re.compile(r" *(?:#{1,6} |\||<|!!!|>|\[[^\]]+\]: |---$|\*\*\*$)")
# A word is what no space breaks: a span of code, with what stands close to it, counts as one.
_WORD = re.compile(r"(?:(`+)(?!`)[^`]*(?:(?!\1(?!`))`+[^`]*)*\1(?!`)|\S)+")
# At the beginning of a line these would mean something else.
_MEANING = re.compile(r"(?:[-*+>|:]|\d+[.)]|#{1,6}|=+|-+)$")


def pages() -> list[Path]:
    """The pages whose prose is wrapped."""
    tops = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*tops, *sorted((ROOT / "docs").rglob("*.md"))]


def lines_of(text: str) -> Iterator[tuple[str, bool]]:
    """Each line of a page, and whether it belongs to a block of code."""
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        is_code = bool(fence or opened)
        yield (line if is_code else line.rstrip()), is_code
        if not fence and opened:
            fence = opened[1]
        elif fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""


def wrap(text: str) -> str:
    """The page with each paragraph of prose filled to the width."""
    done: list[str] = []
    words: list[str] = []
    first = rest = ""
    for line, is_code in [*lines_of(text), ("", False)]:
        item = _ITEM.fullmatch(line)
        is_kept = is_code or not line or _KEPT.match(line)
        if words and (is_kept or item):
            done += fill(words, first, rest)
            words = []
        if is_kept:
            done.append(line)
        elif item:
            first = item["indent"] + item["marker"]
            rest = item["indent"] + " " * (4 if item["marker"].startswith((":", "*")) else len(item["marker"]))
            words = split(item["rest"])
        else:
            if not words:
                first = rest = line[: len(line) - len(line.lstrip())]
            words += split(line)
    return "\n".join(done).rstrip("\n") + "\n"


def split(line: str) -> list[str]:
    """The words of a line."""
    return [match[0] for match in _WORD.finditer(line)]


def fill(words: list[str], first: str, rest: str) -> list[str]:
    """Lines of the words, none longer than the width unless a single word is."""
    pieces: list[str] = []
    # A span of code may have been broken by whoever wrote it.
    for word in split(" ".join(words)):
        if pieces and _MEANING.match(word):
            pieces[-1] += f" {word}"
        else:
            pieces.append(word)
    lines, line = [], first + pieces[0]
    for word in pieces[1:]:
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = rest + word
        else:
            line += f" {word}"
    return [*lines, line]


def too_long(text: str) -> list[int]:
    """Numbers of the lines of prose that are longer than they may be; tables cannot be wrapped."""
    return [
        number
        for number, (line, is_code) in enumerate(lines_of(text), start=1)
        if len(line) > WIDTH and not is_code and not line.lstrip().startswith("|")
    ]


if __name__ == "__main__":
    for name in sys.argv[1:] or pages():
        page = Path(name)
        page.write_text(wrap(page.read_text(encoding="utf-8")), encoding="utf-8")
