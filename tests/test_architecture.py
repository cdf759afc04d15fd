"""The rooms of the house and the arrows between them; importing costs nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

PACKAGE = Path(discreet.__file__).parent
# From the top of the house to its foundation: a room may import from rooms further down only. Of the rooms on one
# floor, those named in SAME_FLOOR may be used by the one before them.
FLOORS = [
    ["cli", "web"],
    ["jobs", "cluster", "experiments"],
    ["microdata", "grouping", "tables"],
    ["measures", "verification", "release"],
    ["evolution", "kernels", "data"],
]
SAME_FLOOR = {"release": {"verification", "measures"}, "grouping": {"microdata"}}
EVERYBODY = {"errors", "text", "_version"}


def floor(room: str) -> int:
    return next(level for level, rooms in enumerate(FLOORS) if room in rooms)


def imports(path: Path) -> set[str]:
    """Rooms that a module imports from, at any depth of indentation."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative imports hide the arrows"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {module.split(".")[1] for module in modules if module.startswith("discreet.")}
    return found


def modules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_arrows_point_one_way(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0]
    for other in imports(path) - EVERYBODY - {room}:
        allowed = floor(other) > floor(room) or other in SAME_FLOOR.get(room, set())
        assert allowed, f"{room} must not import from {other}"


@pytest.mark.parametrize("room", ["kernels", "evolution"])
def test_foundations_know_nothing_of_ours(room: str) -> None:
    for path in (PACKAGE / room).rglob("*.py"):
        assert imports(path) <= {room}


def test_no_verb_has_the_name_of_a_package() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert not packages & set(discreet.__all__)


HEAVY = {"numpy", "scipy", "numba", "polars", "pyarrow", "pandas", "narwhals", "highspy", "openpyxl", "pyreadstat"}


@pytest.mark.parametrize(
    "statement",
    [
        "import discreet",
        "from discreet.cli.app import run; run(['--help'])",
        "from discreet.cli.app import run; run(['protect', '--help'])",
        "from discreet.cli.app import run; run(['group', '--help'])",
        "from discreet.cli.app import run; run(['verify', '--help'])",
        "from discreet.cli.app import run; run(['methods'])",
        "from discreet.cli.app import run; run(['--version'])",
    ],
)
def test_help_imports_nothing_heavy(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint('loaded:', *sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = output.rsplit("loaded:", 1)[1].split()
    assert not HEAVY & {name.split(".")[0] for name in loaded}
