"""Fixtures shared by all tests."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


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
