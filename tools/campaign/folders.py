"""Folders of data with traps: whatever lies in one is data, and nothing of it is run, followed or carried out."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from campaign.found import Found
from discreet import kernels
from discreet.errors import InputError
from discreet.executors import make_processes
from discreet.jobs.queue import Jobs
from discreet.web.folder import Folder

RUN = "nothing that lies in a folder of data is run"
OUTSIDE = "nothing that lies in a folder of data leads to a file outside of it"
UNSIGNED = "jobs that came with a folder are listed as such"
WORKS = "work of one's own goes on in a hostile folder"

SECRET = "what is outside of the folder"
MODULES = (
    "secrets", "multiprocessing", "json", "logging", "numpy", "polars", "discreet", "random", "tomllib", "yaml",
    "sitecustomize", "usercustomize", "encodings", "site", "os", "re", "pickle", "signal", "tempfile", "threading",
    "hashlib", "conftest", "setup", "__main__", "nicegui", "rich", "cyclopts", "llvmlite", "evil", "struct", "numba",
    "typing",
)  # fmt: skip
# The command as it is installed: the folder of its script, and not the current one, is where Python looks first.
START = "from discreet.cli import main\n\nif __name__ == '__main__':\n    main()\n"


class Snare:
    """A folder of data, and beside it what a trap that springs would leave or change.

    Parameters
    ----------
    place : Path
        An empty folder for both.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self.data, self.outside = place / "data", place / "outside"
        for folder in (self.data, self.outside, place / "bin"):
            folder.mkdir()
        self.precious = self.outside / "precious.csv"
        self.precious.write_text(SECRET)
        self._known = self._look_outside()
        (place / "bin" / "start.py").write_text(START)
        rows = "".join(f"{20 + at % 9},{at % 7}\n" for at in range(60))
        (self.data / "plain.csv").write_text("age,size\n" + rows)

    @property
    def code(self) -> str:
        """Python that springs."""
        return f"open({str(self.place / 'sprung')!r}, 'a').write('sprung ')"

    @property
    def pickled(self) -> bytes:
        """A pickle that springs."""
        return pickle.dumps(_Sprung(self.code))

    @property
    def has_sprung(self) -> bool:
        """Whether a trap has run."""
        return (self.place / "sprung").exists()

    @property
    def is_left_alone(self) -> bool:
        """Whether all outside of the folder is as it was."""
        return self._look_outside() == self._known and self.precious.read_text() == SECRET

    def _look_outside(self) -> list[str]:
        return sorted(str(path.relative_to(self.outside)) for path in self.outside.rglob("*"))

    @property
    def environment(self) -> dict[str, str]:
        """The environment of processes in the folder; nothing of it makes them safe."""
        path = os.pathsep.join(place for place in sys.path if Path(place).is_absolute())
        env = os.environ | {"PYTHONPATH": path, "XDG_STATE_HOME": str(self.place / "state")}
        return {name: value for name, value in env.items() if name != "PYTHONSAFEPATH"}

    def line(self, *words: object) -> list[str]:
        """A command as one types it."""
        return [sys.executable, str(self.place / "bin" / "start.py"), *map(str, words)]

    def run(self, *words: object) -> int:
        """Run a command in the folder; its status."""
        done = subprocess.run(
            self.line(*words), cwd=self.data, env=self.environment, capture_output=True, check=False, timeout=300
        )
        return done.returncode


class _Sprung:
    def __init__(self, code: str) -> None:
        self._code = code

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return exec, (self._code,)


def plant_modules(snare: Snare, rng: np.random.Generator) -> None:
    """Modules named like those that everybody imports, and files that Python runs at its start."""
    for name in rng.choice(MODULES, size=len(MODULES) // 2, replace=False):
        if rng.random() < 0.3:
            (snare.data / name).mkdir(exist_ok=True)
            (snare.data / name / "__init__.py").write_text(snare.code)
        else:
            (snare.data / f"{name}.py").write_text(snare.code)
    (snare.data / "a.pth").write_text(f"import os; {snare.code}\n")
    (snare.data / "pyvenv.cfg").write_text("home = .\n")
    (snare.data / "pyproject.toml").write_text('[build-system]\nrequires = []\nbuild-backend = "evil"\n')
    (snare.data / "matplotlibrc").write_text("backend: module://evil\n")
    (snare.data / ".env").write_text("PYTHONPATH=.\nNUMBA_CACHE_DIR=cache\n")


def plant_cache(snare: Snare, rng: np.random.Generator) -> None:
    """Settings of numba, and a cache of pickles that they name."""
    folder = Path("__pycache__") if rng.random() < 0.2 else Path("cache")
    says = [f"cache_dir: ./{folder}", "disable_jit: 1", "debug: 1", "opt: 0"]
    says += ["cache_locator_classes: evil.Place"] if rng.random() < 0.3 else []
    (snare.data / ".numba_config.yaml").write_text("\n".join(says) + "\n")
    (snare.data / "evil.py").write_text(snare.code)
    for place, name in _kernels():
        within = snare.data / folder / place
        within.mkdir(parents=True, exist_ok=True)
        for number in ("nbi", "1.nbc"):
            (within / f"{name}.py{sys.version_info[0]}{sys.version_info[1]}.{number}").write_bytes(snare.pickled)


@cache
def _kernels() -> list[tuple[str, str]]:
    """For each kernel the folder that numba would name for it, and how its files begin."""
    from numba.core.caching import InTreeCacheLocator

    found = []
    for path in sorted(Path(kernels.__path__[0]).rglob("*.py")):
        place = InTreeCacheLocator.get_suitable_cache_subpath(str(path))  # type: ignore[no-untyped-call]
        found += [
            (str(place), f"{path.stem}.{node.name}-{node.decorator_list[0].lineno}")
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef) and node.decorator_list
        ]
    return found


def plant_jobs(snare: Snare, rng: np.random.Generator) -> None:
    """Jobs that wait, run or were killed, whose command would replace a file outside; and links to there."""
    hidden = snare.data / ".discreet"
    if rng.random() < 0.25:  # all of it behind a link
        hidden.symlink_to(snare.outside / "hidden", target_is_directory=True)
        hidden = snare.outside / "hidden"
    jobs = hidden / "jobs"
    jobs.mkdir(mode=0o700, parents=True)
    hidden.chmod(rng.choice([0o700, 0o755, 0o777]))
    words = ["protect", "plain.csv", "--quasi", "all", "--k", "2", "--steps", "1", "--force", "-o", str(snare.precious)]
    for number in range(1, int(rng.integers(2, 5))):
        job = jobs / f"{number:04d}"
        job.mkdir(mode=0o700)
        command = ", ".join(map(json.dumps, [*words, "--evidence", str(snare.outside / "leak.json")]))
        (job / "request.toml").write_text(f'schema = "discreet/job/1"\ntitle = ""\nasked = ""\ncommand = [{command}]\n')
        state = rng.choice(["running", "queued", "failed", "stopped"])
        (job / "state.json").write_text(json.dumps({"state": state, "code": "killed", "sittings": 0}))
        (job / "signature").write_text("0" * 64)
        for name in rng.choice(
            ["messages.txt", "lock", "stop", "checkpoint.npz", "progress.json"], size=2, replace=False
        ):
            if rng.random() < 0.5:
                (job / name).symlink_to(snare.precious if rng.random() < 0.5 else snare.outside / f"made-{name}")
        if rng.random() < 0.3:
            (job / "result.json").unlink(missing_ok=True)
            os.mkfifo(job / "result.json")
    (jobs / "²").mkdir()
    (jobs / "0009").symlink_to(snare.outside, target_is_directory=True)
    (hidden / "history").mkdir()
    choice = {"kind": "table", "file": "plain.csv", "built": True, "by": [f"age@{snare.precious}"]}
    (hidden / "history" / "0001.json").write_text(json.dumps({"schema": "discreet/history/1", "past": [choice]}))
    (hidden / "history" / "0001.work").symlink_to(snare.outside, target_is_directory=True)
    snare._known = snare._look_outside()


def plant_work(snare: Snare, _rng: np.random.Generator) -> None:
    """Work on a release in parts that somebody else has begun, and the pickles of somebody else's searches."""
    for name in ("release.work", ".seeds-0"):
        (snare.data / name).mkdir(mode=0o700)
        for file in ("views.pickle", "0.pickle", "request.json", "begun", "block-00000.json"):
            (snare.data / name / file).write_bytes(snare.pickled)
    (snare.data / "release.work" / "release").symlink_to(snare.outside, target_is_directory=True)


PLANTS = (plant_modules, plant_cache, plant_jobs, plant_work)


def work_in(snare: Snare, found: Found, what: str) -> None:
    """What this process does for somebody in a folder: lists and tends jobs, adds one, asks as the app does."""
    here, before = Path.cwd(), dict(os.environ)
    os.chdir(snare.data)
    os.environ.update(snare.environment)
    os.environ.pop("PYTHONSAFEPATH", None)
    try:
        jobs = Jobs(snare.data)
        theirs = jobs.list()
        jobs.tend()
        found.hold(UNSIGNED, all(job.state().state == "unsigned" for job in theirs), what)
        try:
            job = jobs.add(["inspect", "plain.csv"])
            jobs.wait(job)
            found.hold(WORKS, job.state().state == "done", f"{what}: a job")
        except InputError:
            found.hold(WORKS, not jobs.is_ours, f"{what}: a job is refused")
        try:
            asked = asyncio.run(Folder(snare.data).ask(["inspect", "plain.csv"], about=None))
        except InputError:
            asked = {}
        found.hold(WORKS, bool(asked), f"{what}: the app")
        with make_processes(1) as pool:
            found.hold(WORKS, pool.submit(pow, 2, 3).exception() is None, f"{what}: processes")
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)


def run(seed: int, folder: Path) -> Found:
    """Draw a folder with some traps, and work in it."""
    rng = np.random.default_rng([seed, 7])
    found, snare = Found(), Snare(folder)
    drawn = rng.random(len(PLANTS)) < 0.6
    drawn[seed % len(PLANTS)] = True
    for plant in np.flatnonzero(drawn):
        PLANTS[plant](snare, rng)
    what = ", ".join(PLANTS[plant].__name__.removeprefix("plant_") for plant in np.flatnonzero(drawn))
    roles = ["--quasi", "all", "--k", 3, "--steps", 1]
    commands: list[tuple[tuple[object, ...], int]] = [
        (("protect", "plain.csv", *roles, "-o", "out.csv"), 0),
        (("protect", "plain.csv", *roles, "-o", "out.csv", "--seeds", 2, "--workers", 2), 0),
        (("protect", "plai?.csv", *roles, "-o", "release", "--block-records", 100), 2 if drawn[3] else 0),
        (("jobs", "resume", "."), 0),
    ]
    words, status = commands[int(rng.integers(len(commands)))]
    ended = snare.run(*words)
    found.hold(WORKS, ended == status, f"{what}: {words[0]} ended with {ended}")
    work_in(snare, found, what)
    found.hold(RUN, not snare.has_sprung, what)
    found.hold(OUTSIDE, snare.is_left_alone, what)
    return found
