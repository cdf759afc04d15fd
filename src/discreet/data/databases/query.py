"""The one SELECT in a file: that it is one and stays within its brackets is seen before a database gets it."""

from __future__ import annotations

import re
from pathlib import Path

from discreet.errors import InputError

# What holds signs that mean nothing: comments, texts and quoted names; those of one system first.
_COMMENT = r"--[^\n]*|/\*.*?\*/"
_QUOTED = {
    "postgresql": r"(?<!\w)[eE]'(?:[^'\\]|\\.|'')*'|\$(\w*)\$.*?\$\1\$",
    "sqlite": r"\[[^\]]*\]|`(?:[^`]|``)*`",
}
_EITHER = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\""


def read_query(path: Path, system: str) -> str:
    """The one statement in a file, without the semicolon at its end."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the name and the folder") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path} cannot be read; a query is a file of text in UTF-8") from None
    # Of the same length, so that places stay the same.
    hidden = re.compile(f"{_COMMENT}|{_QUOTED[system]}|{_EITHER}", re.DOTALL)
    bare = hidden.sub(lambda found: (" " if found[0][:2] in ("--", "/*") else "_") * len(found[0]), text)
    ends = [place for place, sign in enumerate(bare) if sign == ";"]
    if ends and not bare[ends[0] :].strip("; \t\r\n"):
        text, bare, ends = text[: ends[0]], bare[: ends[0]], []
    if not bare.strip() or "\0" in text:
        raise InputError(f"{path.name}: there is no query in it; write one SELECT")
    if ends:
        raise InputError(f"{path.name}: there is more than one statement in it; write one SELECT, and nothing after it")
    depth = 0
    for sign in bare:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
    if depth:
        raise InputError(f"{path.name}: its brackets do not match; write one SELECT")
    return text.strip()
