"""Compiled kernels are kept, and read, only where nobody else can have put them; settings beside data are not read."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import CacheImpl, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target

from discreet.kernels import caching
from discreet.kernels.random import seeded

# A kernel that is called, where it is kept, how often it was compiled, and what was said of that.
CALLED = """
import sys
from discreet.kernels.compiling import WATCHERS
said = []
WATCHERS.append(said.append)
from discreet.kernels.random import seeded
seeded(0, 0)
print(getattr(seeded._cache, "cache_path", None), sum(seeded.stats.cache_misses.values()), *said, sep="|")
"""


def call(folder: Path, **environment: str) -> list[str]:
    path = os.pathsep.join(place for place in sys.path if place)
    env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")} | {"PYTHONPATH": path}
    line = [sys.executable, "-P", "-c", CALLED]
    done = subprocess.run(line, cwd=folder, env=env | environment, check=True, capture_output=True, text=True)
    return done.stdout.strip().split("|")


def spoil(folder: Path) -> None:
    """What would end the process if it were read as a pickle."""
    for path in folder.rglob("*.nb?"):
        path.write_bytes(b"cos\n_exit\n(I3\ntR.")


def test_a_folder_that_is_named_is_made_for_nobody_else(tmp_path: Path) -> None:
    place, misses, *said = call(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert Path(place).parent == tmp_path / "cache"
    assert (misses, said) == ("1", [""])
    assert {stat.S_IMODE(path.stat().st_mode) for path in (Path(place), Path(place).parent)} == {0o700}
    assert call(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == [place, "0"]


@pytest.mark.parametrize("where", ["the folder", "the folder in it", "a file"])
def test_nothing_is_read_that_others_can_have_written(tmp_path: Path, where: str) -> None:
    named = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    place = Path(call(tmp_path, **named)[0])
    spoil(place)
    index = next(place.glob("*.nbi"))
    if where == "a file":
        place.chmod(0o755)  # others can reach it
    {"the folder": place.parent, "the folder in it": place, "a file": index}[where].chmod(0o777)
    kept, misses, said = call(tmp_path, **named)
    assert misses == "1"
    assert (kept == "None") == (where != "a file")
    assert ("others can write to it" in said) == (where != "a file")


def test_a_folder_from_the_current_one_is_none(tmp_path: Path) -> None:
    assert call(tmp_path, NUMBA_CACHE_DIR="cache") == ["None", "1", "NUMBA_CACHE_DIR is no absolute path"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("opened", ["__pycache__", "."])
def test_what_was_compiled_ahead_is_not_read_where_others_can_write(tmp_path: Path, opened: str) -> None:
    package = tmp_path / "package" / "discreet"
    shutil.copytree(caching.PACKAGE.parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    homes = {"PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    place, misses, *_ = call(tmp_path, **homes)
    assert (Path(place), misses) == (package / "kernels" / "__pycache__", "1")
    assert call(tmp_path, **homes) == [place, "0"]
    spoil(Path(place))
    (package / "kernels" / opened).chmod(0o777)
    elsewhere, misses, *_ = call(tmp_path, **homes)
    assert Path(elsewhere).parent == tmp_path / "cache" / "discreet" / "kernels"
    assert misses == "1"
    assert call(tmp_path, **homes) == [elsewhere, "0"]
    # Nor is one's own that others can look into.
    (tmp_path / "cache" / "discreet" / "kernels").chmod(0o755)
    assert call(tmp_path, **homes)[:2] == ["None", "1"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_another_user_is_none(tmp_path: Path) -> None:
    named = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    place = Path(call(tmp_path, **named)[0])
    spoil(place)
    os.chown(place, 65534, 65534)
    assert call(tmp_path, **named)[:2] == ["None", "1"]


def test_settings_of_numba_beside_the_data_are_not_read(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    says = "disable_jit: 1\ncache_dir: ./cache\ncache_locator_classes: evil.Place\n"
    (tmp_path / ".numba_config.yaml").write_text(says)
    place, *_ = call(tmp_path)
    assert place == seeded._cache.cache_path  # type: ignore[attr-defined]  # and not a plain function
    assert [path.name for path in tmp_path.iterdir()] == [".numba_config.yaml"]


def test_kernels_can_be_stepped_through(tmp_path: Path) -> None:
    """With NUMBA_DISABLE_JIT they are plain functions, and give the same."""
    data = tmp_path / "plain.csv"
    data.write_text("age,size\n" + "".join(f"{20 + at % 9},{at % 7}\n" for at in range(60)))
    words = ["protect", str(data), "--quasi", "all", "--k", "3", "--steps", "1", "--seed", "1", "-o"]
    for off in ("0", "1"):
        line = [sys.executable, "-m", "discreet", *words, str(tmp_path / f"{off}.csv")]
        subprocess.run(line, env=os.environ | {"NUMBA_DISABLE_JIT": off}, check=True, capture_output=True)
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()


def test_this_numba_is_one_that_we_know() -> None:
    """Where it is not, kernels are not cached or compile slowly, and nobody is told: this test is."""
    assert all(hasattr(IndexDataCacheFile, name) for name in caching.KNOWN)
    assert type(seeded._cache) is caching._Cache  # type: ignore[attr-defined]
    codegen = cpu_target.target_context.codegen()
    assert codegen._library_class is JITCodeLibrary


def test_numba_s_own_ways_are_left_as_they_are() -> None:
    assert all(one.__module__.startswith("numba.") for one in CacheImpl._locator_classes)
