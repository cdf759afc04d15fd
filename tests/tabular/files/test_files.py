"""Table files by their suffix: every format gives back what it has a place for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files import codevalue
from discreet.tabular.files.formats import check_table_format, read_table, render
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import PRIMARY, RULES, Table

LEVELS = ("cost", "lpl", "upl")
BOUNDS = ("lower", "upper", "spl")
NAMES = ("region", "Größe", "a b", "Cost", "top", "x;y")
CODES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\ufeff'), min_size=1, max_size=4
).filter(lambda code: code.strip() and code == code.rstrip() and code not in ("Total", "All"))
NUMBERS = st.one_of(
    st.integers(0, 10**6).map(float), st.integers(0, 10**6).map(lambda cents: cents / 100), st.floats(0, 1e9)
)


@st.composite
def dimensions(draw: st.DrawFn, name: str) -> Dimension:
    """A variable with a tree of awkward codes."""
    codes = draw(st.lists(CODES, min_size=1, max_size=5, unique=True))
    parents = [-1, *(draw(st.integers(0, at)) for at in range(len(codes)))]
    missing = draw(st.sets(st.sampled_from(codes), max_size=1))
    return Dimension(name, Hierarchy([draw(st.sampled_from(["Total", "All"])), *codes], parents), missing)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A table that adds up, with some base cells left out and any status, cost and level."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
    dims = [draw(dimensions(name)) for name in names]
    sizes = [len(one.codes) for one in dims]
    sums, there = np.zeros(sizes), np.zeros(sizes, dtype=np.bool_)
    there.flat[0] = True
    for place in np.ndindex(*sizes):
        if all(one.base[code] for one, code in zip(dims, place, strict=True)) and draw(st.booleans()):
            above = np.ix_(*(one.ancestors[code] for one, code in zip(dims, place, strict=True)))
            sums[above] += draw(st.integers(0, 999)) / 4
            there[above] = True
    codes = np.argwhere(there)
    n = len(codes)

    def column(numbers: st.SearchStrategy[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array(draw(st.lists(numbers, min_size=n, max_size=n)), dtype=np.float64)

    status = column(st.integers(0, 3).map(float)).astype(np.uint8)
    tops = draw(st.integers(0, 2))
    levels: dict[str, Any] = {name: column(NUMBERS) for name in (*LEVELS, *BOUNDS)}
    return Table.of(
        sums[there],
        dimensions=dims,
        codes=codes,
        status=status,
        rule=np.where(status == PRIMARY, 1 << RULES.index("given"), 0).astype(np.int32),
        count=column(st.integers(0, 50).map(float)) if draw(st.booleans()) else None,
        tops=np.stack([column(NUMBERS) for _ in range(tops)], axis=1) if tops else None,
        response="Turnover (€)",
        **levels,
    )


def written(table: Table, path: Path) -> Path:
    for file, data in render(table, path).items():
        file.write_bytes(data)
    return path


def same(one: Table, other: Table, names: tuple[str, ...]) -> None:
    for name in names:
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine is None) == (theirs is None), name
        assert mine is None or np.array_equal(mine, theirs), name


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(table=tables(), suffix=st.sampled_from([".parquet", ".csv"]))
def test_our_own_files_keep_everything(tmp_path: Path, table: Table, suffix: str) -> None:
    back = read_table(written(table, tmp_path / f"a{suffix}"))
    same(back, table, ("value", "status", "rule", "codes", "count", "tops", *LEVELS, *BOUNDS))
    assert back.dimensions == table.dimensions
    assert [one.codes for one in back.dimensions] == [one.codes for one in table.dimensions]
    assert (back.response, back.decimals, back.parts) == (table.response, table.decimals, table.parts)
    assert (back.relations.matrix != table.relations.matrix).nnz == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(table=tables())
def test_tab_files_keep_all_but_bounds(tmp_path: Path, table: Table) -> None:
    back = read_table(written(table, tmp_path / "a.tab"))
    same(back, table, ("value", "status", "rule", "count", "tops", *LEVELS))
    assert back.dimensions == table.dimensions
    assert [back.codes_of(axis) for axis in range(len(back.dimensions))] == [
        table.codes_of(axis) for axis in range(len(table.dimensions))
    ]
    assert back.response == table.response
    assert len(back.relations) == len(table.relations)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(table=tables(), suffix=st.sampled_from([".jj", ".jj.gz", ".JJ"]))
def test_jj_files_keep_cells_and_relations(tmp_path: Path, table: Table, suffix: str) -> None:
    back = read_table(written(table, tmp_path / f"a{suffix}"))
    same(back, table, ("value", "status", "rule", *LEVELS, *BOUNDS))
    assert (back.relations.matrix != table.relations.matrix).nnz == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(table=tables())
def test_code_value_files_keep_statuses(tmp_path: Path, table: Table) -> None:
    assert codevalue.read(written(table, tmp_path / "a.txt"), table).tolist() == table.status.tolist()


def small() -> Table:
    dimension = Dimension("size", Hierarchy.flat(["s", "l"]))
    return Table.of([3, 1, 2], dimensions=(dimension,), codes=[[0], [1], [2]])


@pytest.mark.parametrize("suffix", [".jj", ".jj.gz", ".parquet", ".csv", ".tab", ".txt"])
def test_the_same_table_makes_the_same_files(tmp_path: Path, suffix: str) -> None:
    assert render(small(), tmp_path / f"a{suffix}") == render(small(), tmp_path / f"a{suffix}")


@pytest.mark.parametrize("suffix", [".jj", ".jj.gz", ".parquet", ".csv", ".tab"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(data=st.data())
def test_whatever_is_changed_is_read_or_refused_in_our_words(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    files = render(small(), tmp_path / f"a{suffix}")
    victim = data.draw(st.sampled_from(sorted(files)))
    content = files[victim]
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 9)))
    new = data.draw(st.binary(max_size=4) | st.text('0123456789.,;:"<>@ -\n[]{}enaif', max_size=4).map(str.encode))
    files[victim] = content[:start] + new + content[end:]
    for path, changed in files.items():
        path.write_bytes(changed)
    try:
        table = read_table(tmp_path / f"a{suffix}")
    except InputError:
        return
    assert len(table) == len(table.frame())


def test_the_files_of_each_format(tmp_path: Path) -> None:
    files = {
        suffix: {path.name for path in render(small(), tmp_path / f"a{suffix}")}
        for suffix in (".jj", ".csv", ".parquet", ".tab", ".txt")
    }
    assert files == {
        ".jj": {"a.jj"},
        ".csv": {"a.csv", "a.table.json"},
        ".parquet": {"a.parquet"},
        ".tab": {"a.tab", "a.rda"},
        ".txt": {"a.txt"},
    }


@pytest.mark.parametrize("name", ["a.xlsx", "a", ".csv", "a.gz", "a.tab.bak"])
def test_an_unknown_format_is_refused_with_those_there_are(tmp_path: Path, name: str) -> None:
    for refuse in (check_table_format, read_table, lambda path: render(small(), path)):
        with pytest.raises(InputError) as caught:
            refuse(tmp_path / name)
        assert all(suffix in str(caught.value) for suffix in (".jj", ".jj.gz", ".parquet", ".csv", ".tab"))


def test_code_value_output_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="hierarchies"):
        read_table(tmp_path / "a.txt")


@pytest.mark.parametrize("suffix", [".jj", ".jj.gz", ".parquet", ".csv"])
def test_a_file_that_is_not_there(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_table(tmp_path / f"a{suffix}")


def test_metadata_of_a_tab_file_are_found_beside_it_or_named(tmp_path: Path) -> None:
    written(small(), tmp_path / "a.tab")
    (tmp_path / "a.rda").rename(tmp_path / "A.RDA")
    assert len(read_table(tmp_path / "a.tab")) == 3
    (tmp_path / "A.RDA").rename(tmp_path / "other.rda")
    with pytest.raises(InputError, match=r"a\.rda.*--meta"):
        read_table(tmp_path / "a.tab")
    assert len(read_table(tmp_path / "a.tab", meta=tmp_path / "other.rda")) == 3
    with pytest.raises(InputError, match=r"leave other\.rda out"):
        read_table(tmp_path / "a.jj", meta=tmp_path / "other.rda")


def test_the_reference_table_in_every_format(tmp_path: Path, table_reference: Callable[[str], Path]) -> None:
    table = read_table(table_reference("tab/pp.tab"))
    assert (len(table), len(table.primary), table.response, table.decimals) == (162, 9, "Var2", 2)
    for suffix in (".tab", ".parquet", ".csv", ".jj", ".jj.gz"):
        back = read_table(written(table, tmp_path / f"a{suffix}"))
        same(back, table, ("value", "status", *LEVELS, *BOUNDS))
