"""Draw the rooms of the package and the imports between them, and list its tree: `python tools/architecture.py`.

Both are read from the sources: the arrows from the import statements, the lines of the tree from the docstrings. The
picture is docs/pictures/architecture.svg, the tree stands in docs/architecture.md. What it prints are counts by which
one sees the house grow: files, lines, crumbs that one other module imports, imports within functions.
"""

import ast
import re
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from html import escape
from math import sqrt
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "discreet"
PICTURE = ROOT / "docs" / "pictures" / "architecture.svg"
PAGE = ROOT / "docs" / "architecture.md"

# From the top of the house to its foundation: a room may import from rooms on lower floors only. Of the rooms on one
# floor, those named in SAME_FLOOR may be used by the one before them.
FLOORS = {
    "shells": ["cli", "web"],
    "studies": ["jobs", "experiments"],
    "protection": ["grouping", "microdata", "tables"],
    "judgement, release": ["release", "measures", "verification"],
    "attack, declarations, runs": ["attack", "columns", "configuration", "methods", "recoding", "running"],
    "foundations": ["executors", "evolution", "solvers", "kernels", "examples", "tabular", "data"],
}
SAME_FLOOR = {
    "cli": {"web"},
    "columns": {"configuration"},
    "release": {"verification", "measures"},
    "measures": {"verification"},
    "grouping": {"microdata"},
    "examples": {"tabular", "data"},
    "tabular": {"data"},
}
# Modules at the top of the package that any room may import, and that are no rooms themselves.
EVERYBODY = {"errors", "extras", "text", "listening", "own", "plugins", "_version", "_moved"}

# Of the picture, in pixels.
ROW, COLUMN, BOX, GUTTER, MARGIN = 40, 46, 116, 150, 14
TEAL, GREY = "#00897b", "#808080"
LEGEND = (
    "A number tells how many modules of the room on its left",
    "import from the room below it. All arrows point down.",
)


def imported(path: Path) -> set[str]:
    """Dotted names that a module imports of ours, at any depth of indentation."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative imports hide the arrows"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {module for module in modules if module.startswith("discreet.")}
    return found


def room_of(path: Path) -> str:
    """The room that a module belongs to: a package, or a module beside the packages."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def modules() -> list[Path]:
    """The modules of all rooms."""
    outside = {"__init__", "__main__"} | EVERYBODY
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or path.stem not in outside]


def arrows() -> Counter[tuple[str, str]]:
    """How many modules of one room import from another, for each pair of rooms."""
    found: Counter[tuple[str, str]] = Counter()
    for path in modules():
        room = room_of(path)
        found.update((room, other) for other in {name.split(".")[1] for name in imported(path)} - EVERYBODY - {room})
    return found


def rooms() -> dict[str, list[str]]:
    """The floors with the rooms that exist, from top to bottom."""
    there = {room_of(path) for path in modules()}
    found = {floor: [room for room in names if room in there] for floor, names in FLOORS.items()}
    missing = there - {room for names in found.values() for room in names}
    assert not missing, f"on no floor: {', '.join(sorted(missing))}"
    return {floor: names for floor, names in found.items() if names}


def picture() -> str:
    """Rooms as boxes down a staircase; an arrow goes right from a room and down to one that it imports from."""
    floors, counts = rooms(), arrows()
    place = {room: number for number, room in enumerate(room for names in floors.values() for room in names)}
    width = GUTTER + BOX + (len(place) - 1) * COLUMN + 2 * MARGIN
    height = len(place) * ROW + 2 * MARGIN
    # A box reaches to the left of its column, where nothing else is, so that columns can be narrower than boxes.
    across = {room: MARGIN + GUTTER + BOX - COLUMN / 2 + number * COLUMN for room, number in place.items()}
    down = {room: MARGIN + ROW / 2 + number * ROW for room, number in place.items()}
    bands, lines, boxes, dots = [], [], [], []
    for number, (floor, names) in enumerate(floors.items()):
        top, tall = down[names[0]] - ROW / 2, len(names) * ROW
        if number % 2 == 0:
            bands.append(
                f'<rect x="0" y="{top:g}" width="{width:g}" height="{tall}" fill="{GREY}" fill-opacity="0.1"/>'
            )
        words = floor.split(", ")
        for line, word in enumerate(words):
            y = top + tall / 2 + 5 + 17 * (line - (len(words) - 1) / 2)
            bands.append(f'<text x="{MARGIN}" y="{y:g}" font-size="14" fill="{GREY}">{escape(word)}</text>')
    for room in place:
        x, y = across[room], down[room]
        left, tall = x + COLUMN / 2 - BOX, ROW - 10
        boxes.append(
            f'<rect x="{left:g}" y="{y - tall / 2:g}" width="{BOX - 4}" height="{tall}" rx="6" fill="{TEAL}" '
            f'fill-opacity="0.12" stroke="{TEAL}" stroke-width="1.5"/>'
            f'<text x="{left + BOX / 2 - 2:g}" y="{y + 5:g}" font-size="15" font-weight="600" fill="{TEAL}" '
            f'text-anchor="middle">{escape(room)}</text>'
        )
        if uses := [other for one, other in counts if one == room]:
            end = max(across[other] for other in uses)
            lines.append(f'<path d="M{x + COLUMN / 2 - 4:g} {y:g}H{end:g}"/>')
        if users := [one for one, other in counts if other == room]:
            start, end = min(down[one] for one in users), y - tall / 2 - 2
            lines.append(f'<path d="M{x:g} {start:g}V{end:g}m-4-6l4 6 4-6"/>')
    for (one, other), count in sorted(counts.items(), key=lambda item: (place[item[0][0]], place[item[0][1]])):
        x, y, radius = across[other], down[one], 8.5 + sqrt(count)
        module = "module" if count == 1 else "modules"
        verb = "imports" if count == 1 else "import"
        dots.append(
            f'<g id="{one}-{other}"><title>{count} {module} of {one} {verb} from {other}</title>'
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:.1f}" fill="{TEAL}"/>'
            f'<text x="{x:g}" y="{y + 4.5:g}" font-size="13" fill="#fff" text-anchor="middle">{count}</text></g>'
        )
    for line, told in enumerate(LEGEND):
        y = height - MARGIN - 6 - 20 * (len(LEGEND) - 1 - line)
        bands.append(f'<text x="{MARGIN + GUTTER}" y="{y:g}" font-size="14" fill="{GREY}">{escape(told)}</text>')
    label = "Rooms from the top floor to the foundations, and how many modules of each import from others"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
            f'aria-label="{label}" font-family="system-ui, sans-serif">',
            *bands,
            f'<g fill="none" stroke="{GREY}" stroke-width="1.2" stroke-opacity="0.75">',
            *lines,
            "</g>",
            *boxes,
            *dots,
            "</svg>\n",
        ]
    )


def name_of(path: Path) -> str:
    """The dotted name of a module; that of a package for its `__init__`."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def importers() -> dict[str, set[str]]:
    """The modules that import each module of ours."""
    paths = sorted(PACKAGE.rglob("*.py"))
    found: dict[str, set[str]] = {name_of(path): set() for path in paths}
    for path in paths:
        for target in imported(path):
            found.setdefault(target if target in found else target.rsplit(".", 1)[0], set()).add(name_of(path))
    return found


def inner_imports(node: ast.AST, inside: bool = False) -> Iterator[ast.AST]:
    """The import statements that stand within functions."""
    for child in ast.iter_child_nodes(node):
        if inside and isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        yield from inner_imports(child, inside or isinstance(child, ast.FunctionDef))


def counts() -> dict[str, int]:
    """How large the house is, and how much of it is in crumbs or imported out of sight."""
    paths = sorted(PACKAGE.rglob("*.py"))
    code = "from discreet.cli.app import run; run(['protect', '--help']); import sys; print(); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    helping = set(shown.splitlines()[-1].split())
    inner = {name_of(path): len(list(inner_imports(ast.parse(path.read_text(encoding="utf-8"))))) for path in paths}
    packages = {name_of(path) for path in paths if path.stem == "__init__"}
    return {
        "files": len(paths),
        "lines": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths),
        "files in the largest folder": max(Counter(path.parent for path in paths).values()),
        "modules with one importer": sum(len(by) == 1 for name, by in importers().items() if name not in packages),
        "imports within functions": sum(inner.values()),
        "of these in modules that help does not load": sum(n for name, n in inner.items() if name not in helping),
    }


def first_line(path: Path) -> str:
    """What the docstring of a module says first."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n")[0]


def tree() -> str:
    """Rooms and folders in the order of the floors, each with the first line of its docstring."""
    told: list[tuple[str, str]] = []
    for names in rooms().values():
        for room in names:
            folder = PACKAGE / room
            if not folder.is_dir():
                told.append((f"{room}.py", first_line(folder.with_suffix(".py"))))
                continue
            for inner in sorted(path.parent for path in folder.rglob("__init__.py")):
                depth = len(inner.relative_to(PACKAGE).parts) - 1
                told.append(("  " * depth + f"{inner.name}/", first_line(inner / "__init__.py")))
    told += [(f"{name}.py", first_line(PACKAGE / f"{name}.py")) for name in sorted(EVERYBODY)]
    margin = max(len(name) for name, _ in told) + 2
    lines = ["src/discreet/"]
    for name, line in told:
        lines += textwrap.wrap(line, 104, initial_indent=f"  {name:<{margin}}", subsequent_indent=" " * (margin + 2))
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its tree as it is now."""
    return re.sub(r"```text\nsrc/discreet/\n.*?```", lambda _: f"```text\n{tree()}\n```", text, flags=re.DOTALL)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for what, number in counts().items():
        print(f"{number:>7,} {what}")
