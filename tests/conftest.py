"""Fixtures shared by all tests."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from postgres import Server

# No test asserts a time, and the first example of a test may have to compile a kernel. Every run draws other examples:
# few at a time are many in the end, and the campaign tries at length.
settings.register_profile("discreet", settings(), deadline=None, max_examples=40)
settings.load_profile("discreet")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a search for which a test says neither time nor steps end soon."""
    monkeypatch.setattr("discreet.running.DEFAULT_SECONDS", 0.1)


@pytest.fixture(scope="session", autouse=True)
def _state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let no test write into the folder of state of whoever runs them."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


def leave_out(package: str, what: str) -> None:
    """Skip a test whose Debian package is missing; fail it where all are to be there (continuous integration)."""
    reason = f"{what} is not here; Debian has it as {package}"
    if os.environ.get("DISCREET_SYSTEM_PACKAGES") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The browser in which tests open what we draw."""
    found = shutil.which("chromium")
    if found is None:
        leave_out("chromium", "the browser Chromium")
    return Path(str(found))


@pytest.fixture(scope="session")
def postgresql() -> Path:
    """The folder of PostgreSQL's own programs (initdb, pg_ctl)."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        leave_out("postgresql", "the database server PostgreSQL")
    return found[-1].parent


@pytest.fixture(scope="session")
def running(postgresql: Path) -> Iterator[Server]:
    """A PostgreSQL server, one for all tests."""
    server = Server(postgresql)
    yield server
    server.remove()


@pytest.fixture
def server(running: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server with an empty schema `public`, which the environment leads to."""
    running.sql("DROP SCHEMA IF EXISTS public CASCADE", "CREATE SCHEMA public")
    for name, value in (("PGHOST", str(running.folder)), ("PGUSER", "postgres"), ("PGDATABASE", "postgres")):
        monkeypatch.setenv(name, value)
    return running


@pytest.fixture
def reference() -> Callable[[str], Path]:
    """Path of a file of the reference microdata, or a skip that says why."""
    folder = Path(os.environ.get("DISCREET_REFERENCE_DATA", ROOT.parent / "shared" / "data"))

    def find(name: str) -> Path:
        path = folder / "microdata" / name
        if not path.exists():
            pytest.skip(f"the reference data is not here: no microdata/{name} in $DISCREET_REFERENCE_DATA")
        return path

    return find


@pytest.fixture
def table_reference() -> Callable[[str], Path]:
    """Path of a file of the reference tables, or a skip that says why."""
    folder = Path(os.environ.get("DISCREET_REFERENCE_DATA", ROOT.parent / "shared" / "data"))

    def find(name: str) -> Path:
        path = folder / "tables" / name
        if not path.exists():
            pytest.skip(f"the reference data is not here: no tables/{name} in $DISCREET_REFERENCE_DATA")
        return path

    return find
