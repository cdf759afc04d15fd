"""τ-ARGUS metadata (.rda): the variables of a microdata file or of a table, and what each of them is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from discreet.data.tabular.files_text import BLANKS, content, lines_of
from discreet.data.tabular.rda_lines import FLAGS, Parser
from discreet.errors import InputError


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
    variables = tuple(Variable(**said) for said in parser.finished())
    notes = tuple(
        f"{path.name}: <{option}> is passed over (line {', '.join(map(str, numbers))})"
        for option, numbers in parser.passed.items()
    )
    return Metadata(path, parser.separator, variables, notes)


def _lines(variable: Variable, fixed: bool) -> list[str]:
    head = [_quoted(variable.name)]
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


def _quoted(name: str) -> str:
    return f'"{name}"' if "<" in name or name != "".join(name.split()) or not name else name
