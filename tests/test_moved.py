"""Names that users may have written go on working after what they name has moved."""

from importlib import import_module

import pytest

import discreet
from discreet._moved import MOVED

WRITTEN = [
    ("discreet.data", "Dimension"),
    ("discreet.data", "Hierarchy"),
    ("discreet.data", "Table"),
    ("discreet.data.dataset", "accept"),
    ("discreet.data.embedding", "embed"),
    ("discreet.data.files", "read"),
    ("discreet.data.reading", "read_attribute"),
    ("discreet.data.roles", "Declaration"),
    ("discreet.data.tabular.linking", "link"),
    ("discreet.evolution.checkpoint", "Checkpoint"),
    ("discreet.evolution.generational", "Generational"),
    ("discreet.evolution.loop", "evolve"),
    ("discreet.evolution.operators", "Statistics"),
    ("discreet.evolution.parallel", "mapped"),
    ("discreet.evolution.stops", "MaxSteps"),
    ("discreet.evolution.together", "Together"),
    ("discreet.evolution.variation", "Operator"),
    ("discreet.experiments.sensitivity", "sensitivity"),
    ("discreet.release.evidence", "schema"),
    ("discreet.release.internal", "write_table"),
    ("discreet.verification.unpicking", "exposed_primaries"),
    ("discreet.verification.unpicking", "unpick"),
]


@pytest.mark.parametrize(("module", "name"), WRITTEN)
def test_an_old_name_gives_what_it_gave(module: str, name: str) -> None:
    assert getattr(import_module(module), name) is not None


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_an_old_module_is_the_new_one(old: str, new: str) -> None:
    assert import_module(old) is import_module(new)


def test_what_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module("discreet.data.nothing")


def test_classes_of_tables_are_found_from_the_top() -> None:
    assert discreet.data.Table is discreet.tabular.Table
