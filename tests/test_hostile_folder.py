"""A folder with every trap that we know of: modules, caches, jobs, work and links that wait for somebody to work there.

Folders drawn at random are a trial of the campaign.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from campaign.folders import MODULES, PLANTS, Snare, work_in
from campaign.found import Found

PROTECT = ["protect", "plain.csv", "--quasi", "all", "--k", 3, "--steps", 1]
# A kernel that another process compiles.
COMPILED = """
import sys
import discreet.kernels.compiling as compiling
compiling._processors = lambda: 2
sys.path.append(sys.argv[1])
from late import doubled
with compiling.second_process({"late": [doubled]}):
    pass
assert doubled(1.0) == 2.0
print(sum(doubled.stats.cache_hits.values()))
"""
MODULE = """
from discreet.kernels.jit import kernel

@kernel
def doubled(x):
    return 2.0 * x

def rehearse():
    doubled(1.0)
"""


@pytest.fixture
def snare(tmp_path: Path) -> Snare:
    made = Snare(tmp_path)
    rng = np.random.default_rng(3)  # a hidden folder of its own, and not a link to one
    for plant in PLANTS:
        plant(made, rng)
    for name in MODULES:
        if not (made.data / name).exists():
            (made.data / f"{name}.py").write_text(made.code)
    assert (made.data / ".discreet" / "jobs").is_dir()
    return made


def spring(snare: Snare) -> str:
    """What came of it: nothing, or what sprang."""
    sprung = snare.place / "sprung"
    said = sprung.read_text() if sprung.exists() else ""
    return said + ("" if snare.is_left_alone else "a file outside was made or changed")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ([*PROTECT, "-o", "out.csv"], 0),
        ([*PROTECT, "--seeds", 2, "--workers", 2, "-o", "out.csv"], 0),
        ([*PROTECT, "--block-records", 100, "-o", "release"], 2),
        (["jobs", "list"], 0),
        (["jobs", "resume"], 0),
        (["inspect", "plain.csv"], 0),
    ],
    ids=["protect", "seeds", "parts", "list", "resume", "inspect"],
)
def test_a_command_springs_no_trap(snare: Snare, words: list[object], status: int) -> None:
    (snare.data / ".discreet").chmod(0o700)
    assert snare.run(*words) == status
    assert spring(snare) == ""


def test_jobs_the_app_s_commands_and_pools_spring_no_trap(snare: Snare) -> None:
    for mode in (0o700, 0o777):
        (snare.data / ".discreet").chmod(mode)
        found = Found()
        work_in(snare, found, "all")
        assert found.broken == []
        assert spring(snare) == ""


def test_the_app_springs_no_trap(snare: Snare) -> None:
    (snare.data / ".nicegui").mkdir()
    (snare.data / ".nicegui" / "storage-general.json").write_text('{"a": 1}')
    line = snare.line("app", ".", "--no-browser")
    with subprocess.Popen(line, cwd=snare.data, env=snare.environment, stdout=subprocess.PIPE, text=True) as app:
        try:
            assert app.stdout is not None
            assert re.search(r"http://\S+", app.stdout.readline())
            time.sleep(3)  # it tends the jobs once a second
        finally:
            app.send_signal(signal.SIGINT)
            app.wait(60)
    assert spring(snare) == ""


def test_compiling_springs_no_trap(snare: Snare) -> None:
    home = snare.place / "home"
    home.mkdir()
    (home / "late.py").write_text(MODULE)
    env = snare.environment
    env = env | {"PYTHONPATH": os.pathsep.join([str(home), env["PYTHONPATH"]]), "XDG_CACHE_HOME": str(home / "cache")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMPILED, str(home)], cwd=snare.data, env=env, capture_output=True, text=True
    )
    assert done.stdout.strip() == "1", done.stderr
    assert spring(snare) == ""


def test_the_traps_are_live(snare: Snare) -> None:
    """What would spring does when somebody imports or reads it."""
    subprocess.run([sys.executable, "-c", "import evil"], cwd=snare.data, check=True)
    assert spring(snare) == "sprung "
