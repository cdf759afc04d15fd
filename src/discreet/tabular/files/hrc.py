"""τ-ARGUS hierarchy files: one code a line, its depth by a repeated lead string."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.errors import CodesError, InputError
from discreet.tabular.files.text import BLANKS, check_code, content, lines_of


def read(path: str | Path, *, lead: str, total: str) -> tuple[list[str], list[int]]:
    """Read the codes of a hierarchy in the order of the file, the total first, and the place of each code's parent.

    Blanks before a code belong to it, those behind it do not. Blank lines are passed over.

    Parameters
    ----------
    path : str or Path
        The file.
    lead : str
        What is repeated before a code, once for each level.
    total : str
        The code of the total, which the file does not list.
    """
    path = Path(path)
    _check_lead(lead)
    codes, parents = [total], [-1]
    found: dict[str, int] = {}
    above = [0]
    for number, raw in enumerate(lines_of(content(path)), 1):
        line = raw.rstrip(BLANKS)
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        depth, code = _split_lead(line, lead)
        if not code.strip():
            raise InputError(f"{where}: there is a lead string but no code behind it; complete or delete the line")
        if depth >= len(above):
            raise InputError(
                f"{where}: the code is {depth - len(above) + 2} levels below what stands before it; a level is "
                "missing, or there is a lead string too many"
            )
        if code == total:
            raise InputError(f"{where}: this is the code of the total, which is not listed; delete the line")
        if code in found:
            raise InputError(f"{where}: the code is in line {found[code]} already; a code has one place in a hierarchy")
        found[code] = number
        parents.append(above[depth])
        above[depth + 1 :] = [len(codes)]
        codes.append(code)
    if not found:
        raise InputError(f"{path.name}: there is no code in it; is it the right file?")
    return codes, parents


def text(codes: Sequence[str], parents: Sequence[int], source: str, lead: str) -> str:
    """The content of the file for a hierarchy, depth first."""
    _check_lead(lead)
    below: list[list[int]] = [[] for _ in codes]
    depths = [0] * len(codes)
    for at, parent in enumerate(parents):
        if at:
            below[parent].append(at)
            depths[at] = depths[parent] + 1
    lines = []
    stack = below[0][::-1]
    while stack:
        at = stack.pop()
        code = codes[at]
        check_code(code, source)
        if code.startswith(lead):
            raise CodesError(f"{source}: a code begins with the lead string; choose another", [code])
        lines.append(lead * (depths[at] - 1) + code)
        stack.extend(reversed(below[at]))
    return "".join(f"{line}\n" for line in lines)


def _split_lead(line: str, lead: str) -> tuple[int, str]:
    depth = 0
    while line.startswith(lead, depth * len(lead)):
        depth += 1
    return depth, line[depth * len(lead) :]


def _check_lead(lead: str) -> None:
    if not lead.strip():
        raise InputError("the lead string of a hierarchy file must be a sign such as @, not blank")
