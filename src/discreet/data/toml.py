"""TOML files: reading one, in our words if it cannot be read, and writing keys and values."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from discreet.errors import InputError, suggest

# The parser takes time that grows with the square of the parts of a key; nobody writes so many.
MOST_PARTS = 50
_TEXTS = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)
_LONG_KEY = re.compile(rf"(?:\.[ \t]*[\w-]+[ \t]*){{{MOST_PARTS}}}")


def read(path: Path) -> dict[str, Any]:
    """The content of a file."""
    try:
        return parse(path.read_bytes(), path)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError:
        raise InputError(f"{path}: cannot be read as a UTF-8 text file") from None


def parse(content: bytes, path: Path) -> dict[str, Any]:
    """What the bytes of a file say."""
    try:
        text = content.decode("utf-8")
        bare = _TEXTS.sub("_", text)
        if found := _LONG_KEY.search(bare):
            near = bare.count("\n", 0, found.start()) + 1
            raise InputError(f"{path}: a key near line {near} has more than {MOST_PARTS} parts; write tables instead")
        return tomllib.loads(text)
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(f"{path}: cannot be read as a UTF-8 text file") from None
    except (ValueError, RecursionError) as error:
        # The parser's own words can quote the file.
        line = re.search(r"line \d+", str(error))
        raise InputError(f"{path}: not valid TOML{f' in {line[0]}' if line else ''}") from None


def place_of_key(path: str | Path, key: str) -> str:
    """Where a key of a file stands, as ", line 3"; nothing where that cannot be told."""
    begins = re.compile(rf"""[\s\["']*{re.escape(key)}["']?\s*[=.\]]""")
    lines = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
    return next((f", line {number}" for number, line in enumerate(lines, 1) if begins.match(line)), "")


def unknown_key(where: str, key: str, known: Iterable[str]) -> InputError:
    """The error of a key that means nothing."""
    shown = key if len(key) <= 40 else f"{key[:40]}…"
    return InputError(f"{where}: unknown key '{shown}'{suggest(key, known)}; allowed are {', '.join(known)}")


def write_key(name: str) -> str:
    """A key, in quotation marks where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else write_text(name)


def write_text(text: str) -> str:
    """A text in quotation marks."""
    # The escapes of JSON are TOML's too; only the sign that deletes must be escaped here and not there.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def write_value(value: object) -> str:
    """A value, whatever its type; what is None in a mapping is left out."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return write_text(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, Mapping):
        pairs = (f"{write_key(str(name))} = {write_value(item)}" for name, item in value.items() if item is not None)
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(write_value(item) for item in value) + "]"
    raise TypeError(f"a TOML file cannot hold a {type(value).__name__}")
