"""Compiling is done before a search of a table, or where it is the search's, it is no part of its time."""

import subprocess
import sys

REHEARSED = """
import importlib, pkgutil
from discreet import kernels
from discreet.methods import make
from discreet.tables.suppression import warm_up
from discreet.tables.suppression.components import Components
from discreet.tables.suppression.problem import SizeClasses, problem_of, settle_ranges
from discreet.tables.suppression.program_pattern import LinearProgramPattern
from discreet.tables.suppression.search.programs import LinearProgramSearch

modules = [importlib.import_module(found.name)
           for found in pkgutil.walk_packages(kernels.__path__, "discreet.kernels.")]
compiled = lambda: {f"{m.__name__}.{n}": len(f.signatures) for m in modules for n, f in vars(m).items()
                    if isinstance(getattr(f, "signatures", None), list)}
warm_up.compile_all()
before = compiled()
for axes in (2, 3):
    problem, _ = settle_ranges(problem_of(warm_up._small(axes), settle=False))
    process = Components(make("search", {}, "suppression"), problem, 0)
    for _ in range(30):
        next(process.epochs(), None)
    process.pattern()
# As if it were vast: in parts, and by slices.
vast = LinearProgramSearch(LinearProgramPattern(problem, SizeClasses(vast=10)), 0, most=4, heat=0.01)
for _ in range(30):
    next(vast.epochs(), None)
print({name: count for name, count in compiled().items() if count != before[name]})
"""


def test_nothing_is_left_to_compile_once_everything_is() -> None:
    """As `discreet compile` does."""
    done = subprocess.run([sys.executable, "-c", REHEARSED], capture_output=True, text=True)
    assert done.stdout.strip() == "{}", done.stderr
