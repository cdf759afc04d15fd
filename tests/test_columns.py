"""The keywords that verbs share: taken by all of them, documented once, refused where they are not known."""

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet.columns import ColumnKeywords, SearchKeywords
from discreet.configuration import load_options
from discreet.errors import InputError
from discreet.measures.choices import LinkageKeywords

SOURCE = Path(discreet.__file__).parent
VERBS = [getattr(discreet, name) for name in discreet.__all__ if inspect.isfunction(getattr(discreet, name))]
MOST_PARAMETERS = 20


@pytest.mark.parametrize(
    ("verb", "groups"),
    [
        (discreet.protect, (ColumnKeywords, SearchKeywords)),
        (discreet.refine, (ColumnKeywords, SearchKeywords)),
        (discreet.group, (ColumnKeywords, LinkageKeywords, SearchKeywords)),
        (discreet.measure, (LinkageKeywords,)),
        (discreet.suppress, (SearchKeywords,)),
    ],
)
def test_help_lists_the_keywords_of_every_group(verb: Callable[..., Any], groups: tuple[Any, ...]) -> None:
    known = inspect.signature(verb).parameters
    for group in groups:
        assert set(group.__annotations__) <= set(known)
    assert not any(one.kind is one.VAR_KEYWORD for one in known.values())


COLUMNS = "quasi confidential identifier by ignore numeric nominal ordinal date weights aggregate digits missing"
SEARCH = "method params config time steps seed threads"
WRITTEN = {
    "protect": f"data k {COLUMNS} grouping {SEARCH} bound checkpoint measures progress",
    "refine": f"data release key row_map k {COLUMNS} {SEARCH} bound checkpoint measures progress",
    "group": f"data k {COLUMNS} {SEARCH} inner inner_params inner_steps start loss_weight risk_weight direction "
    "nearest known choose interval width records sample memory progress",
    "measure": "original released quasi confidential key row_map measures numeric nominal ordinal date config "
    "direction nearest known choose interval width records sample seed progress",
    "suppress": "table method cost time steps seed previous frozen prefer avoid protect_secondaries singletons strict "
    "partial certificate params meta progress",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_every_keyword_that_users_may_have_written_goes_on_working(name: str) -> None:
    assert set(WRITTEN[name].split()) <= set(inspect.signature(getattr(discreet, name)).parameters)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: str(verb.__name__))
def test_every_parameter_of_a_verb_is_described_once(verb: Callable[..., Any]) -> None:
    described = re.findall(r"^(\w+(?:, \w+)*) : ", inspect.getdoc(verb) or "", re.MULTILINE)
    names = [name for entry in described for name in entry.split(", ")]
    assert sorted(names) == sorted(inspect.signature(verb).parameters)
    assert "**keywords" not in (verb.__doc__ or "")


@pytest.mark.parametrize(
    ("verb", "given"),
    [
        (discreet.protect, 1),
        (discreet.refine, 2),
        (discreet.group, 1),
        (discreet.measure, 2),
        (discreet.suppress, 1),
    ],
)
def test_an_unknown_keyword_is_refused_with_the_nearest_one(verb: Callable[..., Any], given: int) -> None:
    nearest = {"measure": "direction"}.get(verb.__name__, "threads")
    with pytest.raises(TypeError, match=rf"{verb.__name__}\(\) got an .* '{nearest}s' \(did you mean '{nearest}'\?\)"):
        verb(*["nothing.csv"] * given, **{f"{nearest}s": 1})


def test_what_is_given_as_none_is_not_given() -> None:
    nothing: dict[str, Any] = dict.fromkeys((*ColumnKeywords.__annotations__, *SearchKeywords.__annotations__))
    frame = {"age": [23, 24, 25, 61, 62, 66]}
    one = discreet.protect(pl.DataFrame(frame), k=3, **{**nothing, "quasi": "age", "steps": 1})
    other = discreet.protect(pl.DataFrame(frame), k=3, quasi="age", steps=1)
    assert one.data["age"].to_list() == other.data["age"].to_list()


def test_options_of_a_verb_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "options.toml"
    path.write_text('method = "search"\nsteps = 3\nstrict = true\n[params]\nmost = 2\n')
    names = ("method", "steps", "strict", "params")
    assert load_options(path, names) == {"method": "search", "steps": 3, "strict": True, "params": {"most": 2}}
    assert load_options(None, names) == {}
    with pytest.raises(InputError, match=r"line 3: unknown key '[^']+'; allowed are method, steps"):
        load_options(path, ("method", "steps"))
    path.write_text("steps = true\n")
    with pytest.raises(InputError, match="'steps' must be a whole number"):
        load_options(path, names)


def test_no_function_takes_more_parameters_than_can_be_kept_in_mind() -> None:
    """A group of keywords that is one object counts once."""
    many = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                told = node.args
                count = len(told.posonlyargs) + len(told.args) + len(told.kwonlyargs)
                if count + (told.kwarg is not None) + (told.vararg is not None) > MOST_PARAMETERS:
                    many.append(f"{path.relative_to(SOURCE)}: {node.name}")
    assert many == []
