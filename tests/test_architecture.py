"""The rooms of the house and the arrows between them; importing costs nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import networkx
import pytest

import discreet
from architecture import EVERYBODY, FLOORS, PACKAGE, SAME_FLOOR, imported, importers, modules, room_of


def floor(room: str) -> int:
    return next(level for level, rooms in enumerate(FLOORS.values()) if room in rooms)


def imports(path: Path) -> set[str]:
    """Rooms that a module imports from."""
    return {name.split(".")[1] for name in imported(path)}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_arrows_point_one_way(path: Path) -> None:
    room = room_of(path)
    for other in imports(path) - EVERYBODY - {room}:
        allowed = floor(other) > floor(room) or other in SAME_FLOOR.get(room, set())
        assert allowed, f"{room} must not import from {other}"


def test_no_module_imports_itself_by_way_of_others() -> None:
    arrows = networkx.DiGraph((name, target) for target, names in importers().items() for name in names)
    cycles = [sorted(part) for part in networkx.strongly_connected_components(arrows) if len(part) > 1]
    assert cycles == []


SEARCHES = [
    *(PACKAGE / "tables" / "suppression").rglob("*.py"),
    *(PACKAGE / "microdata" / "memetic").rglob("*.py"),
    *(PACKAGE / "grouping" / f"{name}.py" for name in ("search", "gomm", "pareto")),
]
PLAIN = {"bool", "int", "float", "str", "Path"}


@pytest.mark.parametrize("path", SEARCHES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_search_asks_what_it_holds(path: Path) -> None:
    """Patterns, provers and searches are used by what they promise; only values that users give are looked at."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            assert call.func.id != "hasattr"
            assert call.func.id != "getattr" or len(call.args) == 2
            if call.func.id == "isinstance":
                asked = {node.id for node in ast.walk(call.args[1]) if isinstance(node, ast.Name)}
                assert asked <= PLAIN, ast.unparse(call)


def test_only_the_solvers_know_highs() -> None:
    users = {path.relative_to(PACKAGE) for path in modules() if "highspy" in path.read_text(encoding="utf-8")}
    assert {path.parts[0] for path in users} == {"solvers"}


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
        "from discreet.cli.app import run; run(['--version'])",
    ],
)
def test_help_imports_nothing_heavy(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint('loaded:', *sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = output.rsplit("loaded:", 1)[1].split()
    assert not HEAVY & {name.split(".")[0] for name in loaded}
