import ast
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from discreet import kernels
from discreet.kernels import caching, jit
from discreet.kernels.arrays import stable_order
from discreet.kernels.compiling import is_compiled, second_process
from discreet.kernels.jit import helper, kernel

FOLDER = Path(kernels.__path__[0])


@helper
def _scaled(x: float, by: int) -> float:
    return x * by


@kernel
def _twice_and_thrice(x: float) -> float:
    return _scaled(x, 2) + _scaled(x, 3)


def test_constants_are_no_types_of_their_own() -> None:
    assert _twice_and_thrice(2.0) == 10.0
    _twice_and_thrice.recompile()  # type: ignore[attr-defined]  # a kernel from the cache asks for no helper
    assert len(_scaled.signatures) == 1  # type: ignore[attr-defined]


def test_a_helper_that_python_calls_runs_as_python() -> None:
    assert _scaled("ab", 2) == "abab"  # type: ignore[arg-type, comparison-overlap]


def test_the_cache_is_stale_as_soon_as_any_kernel_changes(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    stamped = kernel(_scaled.py_func)  # type: ignore[attr-defined]
    assert stamped._cache._cache_file._source_stamp == jit._SOURCES
    monkeypatch.setattr(jit, "_SOURCES", "other")
    assert kernel(_scaled.py_func)._cache._cache_file._source_stamp == "other"  # type: ignore[attr-defined]


def test_a_stale_cache_is_not_unpickled(tmp_path: Path) -> None:
    file = kernel(_scaled.py_func)._cache._cache_file  # type: ignore[attr-defined]
    file._index_path = str(tmp_path / "index")
    gone = b"cdiscreet.kernels.jit\nClassThatIsGone\n."
    Path(file._index_path).write_bytes(pickle.dumps(numba.__version__) + gone)
    assert file._load_index() == {}
    Path(file._index_path).write_bytes(pickle.dumps(file._version) + gone)
    with pytest.raises(AttributeError):
        file._load_index()


def test_a_cache_that_is_kept_in_another_way_is_not_used(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """It could not be told that what a kernel calls has changed."""
    monkeypatch.setattr(caching, "KNOWN", ("no_such_method",))
    made = kernel(_twice_and_thrice.py_func)  # type: ignore[attr-defined]
    assert not is_compiled(made)
    with second_process({"no.such.module": [made]}):
        assert made(2.0) == 10.0
    assert is_compiled(made)


def test_an_order_is_stable() -> None:
    keys = np.random.default_rng(0).integers(0, 5, 100).astype(float)
    assert stable_order(keys).tolist() == np.argsort(keys, kind="stable").tolist()


def test_nothing_is_started_for_what_is_compiled(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    def refuse(*_args: object, **_kws: object) -> None:
        raise AssertionError("a process was started")

    _twice_and_thrice(1.0)
    assert is_compiled(_twice_and_thrice)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with second_process({"no.such.module": [_twice_and_thrice]}):
        pass


def test_where_no_process_can_be_started_the_work_goes_on(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    done = False
    with second_process({"no.such.module": [kernel(lambda x: x)]}):
        done = True
    assert done


SEEDED = """
from discreet.kernels.random import seeded
seeded(0, 0)
print(getattr(seeded._cache, "cache_path", None), sum(seeded.stats.cache_misses.values()))
"""


@pytest.mark.parametrize("home", ["a folder", "no folder"])
def test_where_the_package_cannot_be_written_the_cache_is_in_the_home_of_the_user(tmp_path: Path, home: str) -> None:
    package = tmp_path / "package" / "discreet"
    shutil.copytree(FOLDER.parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    # A file in its place: root may write to any folder.
    (package / "kernels" / "__pycache__").write_text("")
    (tmp_path / "no folder").write_text("")
    found = subprocess.run(
        [sys.executable, "-B", "-c", SEEDED],
        env={"PYTHONPATH": str(package.parent), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / home)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.rsplit(maxsplit=1)
    if home == "a folder":
        assert Path(found[0]).is_relative_to(tmp_path / home)
        assert list(Path(found[0]).glob("*.nbi"))
    else:
        # It is looked for beside the sources, where there is nothing.
        assert Path(found[0]) == package / "kernels" / "__pycache__"
        assert found[1] == "1"


@pytest.mark.parametrize("home", ["a folder", "no folder"])
def test_what_was_compiled_ahead_is_found_by_users_who_cannot_write_there(tmp_path: Path, home: str) -> None:
    package = tmp_path / "package" / "discreet"
    shutil.copytree(FOLDER.parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "no folder").write_text("")
    # To root every folder can be written to: here none can once it has kernels.
    refuse = """
import os, tempfile
usual = tempfile.TemporaryFile
def refuse(*args, dir=None, **kws):
    if "package" in str(dir):
        raise PermissionError(13, "no")
    return usual(*args, dir=dir, **kws)
tempfile.TemporaryFile = refuse
"""
    env = {"PYTHONPATH": str(package.parent), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / home)}
    misses = []
    for begin in ("", refuse):
        line = [sys.executable, "-B", "-c", begin + SEEDED]
        told = subprocess.run(line, env=env, check=True, capture_output=True, text=True).stdout.rsplit(maxsplit=1)
        misses.append(int(told[1]))
    assert misses == [1, 0]
    assert list((package / "kernels" / "__pycache__").glob("random.seeded*.nbi"))


def _helpers(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and any(getattr(m, "id", "") == "helper" for m in node.decorator_list)
    }


def test_no_plain_function_of_a_kernel_module_calls_its_helpers() -> None:
    """It would run them as Python, slowly."""
    assert any(map(_helpers, FOLDER.rglob("*.py")))
    for path in FOLDER.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                called = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
                assert not called & _helpers(path), (path.name, node.name)
