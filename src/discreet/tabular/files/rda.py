"""τ-ARGUS metadata (.rda): the variables of a microdata file or of a table, and below each its options in brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from typing import Any

from discreet.errors import InputError
from discreet.tabular.files.text import BLANKS, content, lines_of, list_lines

FLAGS = {
    "RECODEABLE": "recodeable",
    "HIERARCHICAL": "hierarchical",
    "NUMERIC": "numeric",
    "WEIGHT": "weight",
    "HOLDING": "holding",
    "FREQUENCY": "frequency",
    "MAXSCORE": "maxscore",
    "STATUS": "status",
    "SHADOW": "shadow",
    "COSTVAR": "cost",
    "LOWERPL": "lowerpl",
    "UPPERPL": "upperpl",
}
# Options of τ-ARGUS that have no meaning here.
PASSED = ("DISTANCE", "TRUNCABLE", "SAFE", "GROUPING", "PRIORITY", "SUGGESTED", "INFORMATION")
MOST_DIGITS = 9
_TEXTS = {"HIERLEADSTRING": "lead", "TOTCODE": "total"}
_FILES = {"CODELIST": "codelist", "HIERCODELIST": "hierarchy"}
_WORD = re.compile(r'\s*(?:"(?P<quoted>[^"]*)"|<(?P<option>[^<>"]*)>|(?P<bare>[^\s"<]+)|(?P<wrong>["<]))')


@dataclass(frozen=True)
class Variable:
    """What a .rda file says of one variable.

    Attributes
    ----------
    name
        Its name.
    start, width
        The first character, counted from 1, and the number of characters; 0 in a file with a separator.
    missing
        Codes that stand for a missing value.
    recodeable
        Whether it is a variable to break a table down by.
    codelist
        The file with the labels of its codes.
    hierarchical, hierarchy, lead, levels
        Whether its codes make a hierarchy, in what file with what lead string, or how many characters each level adds.
    numeric, decimals
        Whether it is a number, and how many digits it has behind the point.
    weight, request, holding
        Whether it is the sampling weight; the codes of those who asked for protection; whether it names the holding.
    total
        The code of the total, None if not given.
    frequency, maxscore, status, shadow, cost, lowerpl, upperpl
        In a table: contributors, largest contributions, status, shadow variable, cost and protection levels.
    """

    name: str
    start: int = 0
    width: int = 0
    missing: tuple[str, ...] = ()
    recodeable: bool = False
    codelist: Path | None = None
    hierarchical: bool = False
    hierarchy: Path | None = None
    lead: str = "@"
    levels: tuple[int, ...] = ()
    numeric: bool = False
    decimals: int | None = None
    weight: bool = False
    request: tuple[str, ...] = ()
    holding: bool = False
    total: str | None = None
    frequency: bool = False
    maxscore: bool = False
    status: bool = False
    shadow: bool = False
    cost: bool = False
    lowerpl: bool = False
    upperpl: bool = False

    @property
    def is_number(self) -> bool:
        """Whether its fields are numbers."""
        figures = (self.frequency, self.maxscore, self.shadow, self.cost, self.lowerpl, self.upperpl)
        return self.numeric or self.weight or any(figures)

    @property
    def is_missing(self) -> frozenset[str]:
        """The codes for a missing value without blanks around them, to compare with."""
        return frozenset(code.strip() for code in self.missing)


@dataclass(frozen=True)
class Metadata:
    """What a .rda file says.

    Attributes
    ----------
    path
        The file.
    separator
        What stands between the fields of a line; None where fields have a fixed place.
    variables
        The variables in the order of the file.
    notes
        What was passed over, in words.
    """

    path: Path
    separator: str | None
    variables: tuple[Variable, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __getitem__(self, name: str) -> Variable:
        """The variable of this name."""
        for variable in self.variables:
            if variable.name == name:
                return variable
        known = ", ".join(variable.name for variable in self.variables)
        raise InputError(f"{self.path.name}: there is no variable '{name}'; there are {known}")

    def text(self) -> str:
        """The content of a .rda file that says the same; other files are named without their folder."""
        lines = [] if self.separator is None else [f'<SEPARATOR> "{self.separator}"']
        for variable in self.variables:
            lines += _lines(variable, self.separator is None)
        return "".join(f"{line}\n" for line in lines)


def read(path: str | Path) -> Metadata:
    """Read a .rda file; the files it names are looked for beside it.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    path = Path(path)
    parser = Parser(path)
    for number, line in enumerate(lines_of(content(path)), 1):
        if line.strip(BLANKS):
            parser.take(number, line)
    if not parser.found:
        raise InputError(f"{path.name}: there is no variable in it; is it the right file?")
    variables = tuple(Variable(**said) for said in parser.finish())
    notes = tuple(
        f"{path.name}: {option} is passed over ({list_lines(numbers)})" for option, numbers in parser.passed.items()
    )
    return Metadata(path, parser.separator, variables, notes)


class Parser:
    """Takes the lines of a .rda file one by one.

    Parameters
    ----------
    path : Path
        The file, for messages and to look for other files beside it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.separator: str | None = None
        self.found: list[dict[str, Any]] = []
        self.passed: dict[str, list[int]] = {}
        self._lines: dict[str, int] = {}

    def take(self, number: int, line: str) -> None:
        """Take one line that is not blank."""
        where = f"{self.path.name}, line {number}"
        words = _words(where, line)
        if not words[0][1]:
            self._variable(where, number, [word for word, is_option in words if not is_option])
            words = [*words[next((at for at, word in enumerate(words) if word[1]), len(words)) :]]
        options: list[tuple[str, list[str]]] = []
        for word, is_option in words:
            if is_option:
                options.append((word.strip().upper(), []))
            else:
                options[-1][1].append(word)
        for option, arguments in options:
            self._option(where, number, option, arguments)

    def finish(self) -> list[dict[str, Any]]:
        """What is said of each variable, once all lines are taken."""
        for said in self.found:
            # τ-ARGUS fills the levels that are not there with zeros.
            levels = [length for length in said.get("levels", ()) if length]
            if said.get("hierarchical") and not levels and "hierarchy" not in said:
                raise InputError(
                    f"{self.path.name}, line {self._lines[said['name']]}: the variable is <HIERARCHICAL>, but neither "
                    "<HIERCODELIST> nor <HIERLEVELS> says how; add one of them"
                )
        return self.found

    def _variable(self, where: str, number: int, words: list[str]) -> None:
        name, *rest = words
        if not name.strip():
            raise InputError(f"{where}: the variable has no name; give it one")
        if name in self._lines:
            raise InputError(f"{where}: this variable is in line {self._lines[name]} already; rename one of them")
        said: dict[str, Any] = {"name": name}
        if self.separator is None:
            if len(rest) < 2 or not all(_is_whole(word) and int(word) for word in rest[:2]):
                raise InputError(
                    f"{where}: after the variable should come its first character, counted from 1, and its width; in a "
                    'file with a separator, say so first: <SEPARATOR> ";"'
                )
            said |= {"start": int(rest[0]), "width": int(rest[1])}
            rest = rest[2:]
        said["missing"] = tuple(dict.fromkeys(rest))
        self._lines[name] = number
        self.found.append(said)

    def _option(self, where: str, number: int, option: str, arguments: list[str]) -> None:
        if option == "SEPARATOR":
            self._separator(where, arguments)
            return
        if not self.found:
            raise InputError(f"{where}: an option stands before the first variable; put it below its variable")
        said = self.found[-1]
        if option in FLAGS:
            said[FLAGS[option]] = True
        elif option in _TEXTS:
            said[_TEXTS[option]] = self._one(where, option, arguments)
        elif option in _FILES:
            said[_FILES[option]] = self._beside(where, self._one(where, option, arguments))
        elif option == "HIERLEVELS":
            said["levels"] = tuple(_whole(where, option, word) for word in arguments)
        elif option == "DECIMALS":
            said["decimals"] = _whole(where, option, self._one(where, option, arguments))
        elif option == "REQUEST":
            if not arguments:
                raise InputError(f'{where}: <REQUEST> needs the codes of those who asked, such as <REQUEST> "1"')
            said["request"] = tuple(arguments)
        else:
            known = f"<{option}>" if option in PASSED else "an option that is not known"
            self.passed.setdefault(known, []).append(number)

    def _separator(self, where: str, arguments: list[str]) -> None:
        separator = self._one(where, "SEPARATOR", arguments)
        separator = "\t" if separator in ("\\t", "TAB") else separator
        if len(separator) != 1 or separator in '"\r\n':
            raise InputError(f'{where}: the separator must be one character, such as <SEPARATOR> ";"')
        if self.found:
            raise InputError(f"{where}: <SEPARATOR> must stand before the first variable")
        self.separator = separator

    def _one(self, where: str, option: str, arguments: list[str]) -> str:
        if len(arguments) != 1 or not arguments[0]:
            raise InputError(f"{where}: <{option}> needs one entry behind it, in quotation marks if it has blanks")
        return arguments[0]

    def _beside(self, where: str, name: str) -> Path:
        """The file of that name in the folder of the .rda file or below; else by its base name beside it, in any case.

        No other is opened, whatever path is named: a .rda file may come from anybody.
        """
        folder = self.path.parent
        inside = folder.resolve()
        direct = folder / name.replace("\\", "/")
        if _is_inside(direct, inside):
            return direct
        base = PureWindowsPath(name).name  # takes both kinds of slash
        alike = sorted(file for file in folder.iterdir() if file.name.lower() == base.lower()) if base else []
        alike = [file for file in alike if _is_inside(file, inside)]
        exact = [file for file in alike if file.name == base]
        if len(alike) == 1 or exact:
            return (exact or alike)[0]
        if alike:
            raise InputError(
                f"{where}: {len(alike)} files in {folder} have this name, in capital or small letters; leave one of "
                "them"
            )
        raise InputError(
            f"{where}: the file named here is not in {folder}, in capital or small letters; put it beside "
            f"{self.path.name} (no other folder is looked into but those below), or delete the line"
        )


def _is_inside(file: Path, folder: Path) -> bool:
    """Whether there is such a file in a folder or below it, wherever links lead."""
    try:
        return file.is_file() and file.resolve().is_relative_to(folder)
    except (OSError, ValueError):  # a name too long, or with a sign that no name has
        return False


def _words(where: str, line: str) -> list[tuple[str, bool]]:
    """The words of a line, each with whether it is an option."""
    words: list[tuple[str, bool]] = []
    for match in _WORD.finditer(line):
        if match["wrong"]:
            raise InputError(f"{where}: a quotation mark or an angle bracket is not closed")
        option = match["option"]
        plain = match["quoted"] if match["quoted"] is not None else match["bare"]
        words.append((plain, False) if option is None else (option, True))
    return words


def _whole(where: str, option: str, word: str) -> int:
    if not _is_whole(word):
        raise InputError(f"{where}: <{option}> takes whole numbers, such as <{option}> 2")
    return int(word)


def _is_whole(word: str) -> bool:
    # No line is so long; and Python refuses numbers of thousands of digits with words of its own.
    return word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS


def _lines(variable: Variable, fixed: bool) -> list[str]:
    head = [_quote(variable.name)]
    head += [str(variable.start), str(variable.width)] if fixed else []
    lines = [" ".join([*head, *(f'"{code}"' for code in variable.missing)])]
    lines += [f"<{option}>" for option, name in FLAGS.items() if getattr(variable, name)]
    for option, file in (("CODELIST", variable.codelist), ("HIERCODELIST", variable.hierarchy)):
        if file is not None:
            lines.append(f'<{option}> "{file.name}"')
    if variable.hierarchy is not None:
        lines.append(f'<HIERLEADSTRING> "{variable.lead}"')
    if variable.levels:
        lines.append(f"<HIERLEVELS> {' '.join(map(str, variable.levels))}")
    if variable.decimals is not None:
        lines.append(f"<DECIMALS> {variable.decimals}")
    if variable.request:
        lines.append(" ".join(["<REQUEST>", *(f'"{code}"' for code in variable.request)]))
    if variable.total is not None:
        lines.append(f'<TOTCODE> "{variable.total}"')
    texts = [variable.name, *variable.missing, *variable.request, variable.lead, variable.total or ""]
    if any(sign in words for words in texts for sign in '"\n\r'):
        raise InputError(
            f"variable '{variable.name}': a name or code with a quotation mark or a line break in it cannot be written "
            "to a .rda file; rename it"
        )
    return [lines[0], *(f"  {line}" for line in lines[1:])]


def _quote(name: str) -> str:
    return f'"{name}"' if "<" in name or name != "".join(name.split()) or not name else name
