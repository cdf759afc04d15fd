"""What the manual says is true: its examples run, its links lead somewhere, and every page can be found."""

import doctest
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wrap
from links import broken, navigation
from pages import ExampleError, run, session

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SOURCES = ROOT / "src"
DEVELOPING = DOCS / "developing.md"
PAGES = [page for page in (ROOT / "README.md", *sorted(DOCS.rglob("*.md"))) if page.exists()]
# Only these are imported: a module may need an extra that is not installed.
MODULES = [path for path in sorted(SOURCES.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if page != DEVELOPING], ids=_name)
def test_examples_do_what_the_page_says(page: Path, tmp_path: Path) -> None:
    try:
        # The first page that anybody tries is run as everybody runs it.
        run(page, tmp_path, here=page.name != "README.md")
    except ExampleError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def test_examples_for_developers_do_what_the_page_says(tmp_path: Path) -> None:
    """In a process of their own: they add to registries that other tests list."""
    code = f"from pathlib import Path; import pages; pages.run(Path({str(DEVELOPING)!r}), Path())"
    paths = os.pathsep.join([str(SOURCES), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_examples_in_docstrings(module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = ".".join(module.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for test in doctest.DocTestFinder().find(importlib.import_module(name)):
        try:
            session(test)
        except ExampleError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    # The manual is built from docs/ alone; the README can point at anything in the project.
    assert broken(page, DOCS if page.is_relative_to(DOCS) else ROOT) == []


@pytest.mark.parametrize("page", wrap.pages(), ids=_name)
def test_prose_is_wrapped(page: Path) -> None:
    assert wrap.too_long(page.read_text(encoding="utf-8")) == [], "run: python tools/wrap.py"


def test_navigation_has_every_page_once() -> None:
    pages = [str(page.relative_to(DOCS)) for page in PAGES if page.is_relative_to(DOCS)]
    assert sorted(navigation(ROOT / "zensical.toml")) == sorted(pages)


def test_manual_builds(tmp_path: Path) -> None:
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    build = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "index.html").exists()
