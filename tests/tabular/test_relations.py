"""The relations of a table are all sums that its hierarchies make, each once; it is known which follow from others."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tabular import relations
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.relations import Places, build_relations, relations_of, whole
from discreet.tabular.table import Table
from random_tables import (
    cell_of,
    generators,
    names_of,
    random_dimension,
    random_dimensions,
    random_outline,
    random_table,
    tables,
)

Equation = tuple[frozenset[tuple[str, ...]], tuple[str, ...]]


def equations(table: Table) -> list[Equation]:
    """Every relation as the names of its parts and of its total."""
    names = names_of(table)
    found = []
    for relation in range(len(table.relations)):
        start, end = table.relations.starts[relation : relation + 2]
        cells, signs = table.relations.cells[start:end].tolist(), table.relations.coefficients[start:end].tolist()
        assert len(set(cells)) == len(cells)
        totals = [names[cell] for cell, sign in zip(cells, signs, strict=True) if sign == -1]
        parts = [names[cell] for cell, sign in zip(cells, signs, strict=True) if sign == 1]
        assert len(totals) == 1
        assert len(totals) + len(parts) == len(cells)
        found.append((frozenset(parts), totals[0]))
    return found


def plain_equations(table: Table) -> Counter[Equation]:
    """The same from a dictionary of cells, part by part, one for each axis, hierarchy and total."""
    cells = set(names_of(table))
    seen: dict[tuple[int, int, tuple[str, ...]], Equation] = {}
    for part in table.parts:
        held = dict(part)
        for axis, ways in part:
            for way in ways:
                hierarchy = table.dimensions[axis].hierarchies[way]
                below: dict[str, list[str]] = {}
                for child, parent in hierarchy.pairs():
                    below.setdefault(parent, []).append(child)
                for cell in cells:
                    inside = all(
                        any(code in one.hierarchies[w].codes for w in held[at]) if at in held else code == one.total
                        for at, (one, code) in enumerate(zip(table.dimensions, cell, strict=True))
                    )
                    if not inside or cell[axis] not in below:
                        continue
                    parts = [(*cell[:axis], child, *cell[axis + 1 :]) for child in below[cell[axis]]]
                    there = frozenset(part for part in parts if part in cells)
                    if there:
                        seen[axis, way, cell] = (there, cell)
    return Counter(seen.values())


def rank(matrix: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(matrix)) if matrix.size else 0


@settings(max_examples=30)
@given(tables())
def test_relations_are_all_sums_of_a_brute_force_construction(table: Table) -> None:
    assert Counter(equations(table)) == plain_equations(table)


@settings(max_examples=25)
@given(tables(weights=True))
def test_every_relation_is_satisfied(table: Table) -> None:
    table.check()
    missed = np.abs(table.relations.residuals(table.value))
    assert (missed <= 1e-9 * max(1.0, float(np.abs(table.value).max()))).all()


@settings(max_examples=30)
@given(tables(most=3))
def test_implied_relations_follow_from_the_others(table: Table) -> None:
    matrix = table.relations.matrix.toarray()
    assert table.relations.implied is not None
    assert rank(matrix[~table.relations.implied]) == rank(matrix)


@settings(max_examples=30)
@given(generators, st.booleans(), st.booleans())
def test_implied_relations_follow_also_where_the_table_does_not_go_down_to_the_base_codes(
    rng: np.random.Generator, hierarchical: bool, second: bool
) -> None:
    dimensions = random_dimensions(rng, int(rng.integers(2, 4)), hierarchical=hierarchical, second=second)
    table = random_outline(rng, dimensions, int(rng.integers(1, 12)))
    assert Counter(equations(table)) == plain_equations(table)
    matrix = table.relations.matrix.toarray()
    assert table.relations.implied is not None
    assert rank(matrix[~table.relations.implied]) == rank(matrix)


@settings(max_examples=25)
@given(generators, st.booleans(), st.integers(2, 4))
def test_without_implied_relations_a_full_table_has_no_relation_too_many(
    rng: np.random.Generator, hierarchical: bool, dims: int
) -> None:
    table = random_table(rng, [3] * dims, hierarchical=hierarchical, complete=True)
    assert table.relations.implied is not None
    own = table.relations.matrix.toarray()[~table.relations.implied]
    assert rank(own) == len(own)
    # What is free in a table is what its base cells are.
    assert len(table) - len(own) == np.prod([one.base.sum() for one in table.dimensions])


@given(generators)
def test_a_table_of_a_hierarchical_and_a_flat_dimension_is_a_network(rng: np.random.Generator) -> None:
    dimensions = [random_dimension(rng, "A", 4), random_dimension(rng, "B", 6, hierarchical=True)]
    table = random_table(rng, dimensions, zeros=0.3)
    assert table.relations.implied is not None
    own = abs(table.relations.matrix.toarray()[~table.relations.implied])
    assert own.sum(axis=0).max() <= 2


@given(tables(most=3))
def test_every_view_of_the_relations_is_the_same_matrix(table: Table) -> None:
    held = table.relations
    dense = np.zeros((len(held), held.n))
    dense[held.rows, held.cells] = held.coefficients
    np.testing.assert_array_equal(held.matrix.toarray(), dense)
    starts, rows, coefficients = held.by_cell
    for cell in range(held.n):
        column = np.zeros(len(held))
        column[rows[starts[cell] : starts[cell + 1]]] = coefficients[starts[cell] : starts[cell + 1]]
        np.testing.assert_array_equal(column, dense[:, cell])
    for relation in range(len(held)):
        assert set(held.of(relation).tolist()) == set(np.flatnonzero(dense[relation]).tolist())


def test_entries_may_come_in_any_order_and_sum_to_a_number() -> None:
    made = build_relations([2, 0, 2, 0], [3, 0, 1, 2], [1, -1, -1, 1], [0, 5, 7], 4)
    assert made.starts.tolist() == [0, 2, 2, 4]
    assert made.of(0).tolist() == [0, 2]
    assert made.of(1).tolist() == []
    np.testing.assert_array_equal(made.residuals(np.array([1.0, 2.0, 3.0, 10.0])), [2.0, -5.0, 1.0])


def test_a_cell_without_the_total_it_belongs_to_is_refused() -> None:
    size, region = Dimension("size", Hierarchy.flat("ab")), Dimension("region", Hierarchy.flat("xy"))
    every = [cell for cell in product(range(3), range(3)) if cell != (1, 0)]
    with pytest.raises(
        InputError,
        match=r"has 2 cells but not the totals .* in 'region': size=a × region=x, size=a",
    ):
        Table.of(np.zeros(len(every)), dimensions=[size, region], codes=every)


def test_linked_tables_say_the_sums_of_a_shared_margin_once() -> None:
    rng = np.random.default_rng(4)
    table = random_table(rng, [3, 3, 3], hierarchical=True, linked=True, complete=True)
    made = equations(table)
    assert len(table.parts) > 1
    assert len(set(made)) == len(made)


@given(generators, st.booleans())
def test_a_large_sparse_table_has_the_same_relations(rng: np.random.Generator, dense: bool) -> None:
    # So few cells in so many places that they are searched for instead of looked up.
    leaves = 12
    dimensions = [Dimension(name, Hierarchy.flat([f"{name}{at}" for at in range(leaves)])) for name in "ABCD"]
    base = rng.integers(1, leaves + 1, (3, 4))
    codes = sorted({cell for row in base for cell in product(*((0, int(code)) for code in row))})
    places = np.array(codes, dtype=np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "MOST_DENSE_KEYS", 1 << 25 if dense else 0)
        found = Places([leaves + 1] * 4, places)
        assert (found.lookup is not None) == dense
        made = relations_of(dimensions, whole(dimensions), places, found)
    table = Table.of(np.zeros(len(codes)), dimensions=dimensions, codes=places, relations=made)
    assert Counter(equations(table)) == plain_equations(table)


@given(generators, st.booleans())
def test_places_find_every_cell_and_no_other(rng: np.random.Generator, dense: bool) -> None:
    sizes = [int(size) for size in rng.integers(20, 30, 3)]
    codes = np.stack([rng.integers(0, size, 40) for size in sizes], axis=1).astype(np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "MOST_DENSE_KEYS", 1 << 25 if dense else 0)
        places = Places(sizes, codes)
    every = {tuple(row) for row in codes.tolist()}
    first = {code: next(at for at, row in enumerate(codes.tolist()) if tuple(row) == code) for code in every}
    assert places.repeated.tolist() == sorted(set(range(len(codes))) - set(first.values()))
    asked = np.concatenate([codes, np.stack([rng.integers(0, size, 40) for size in sizes], axis=1)])
    for code, cell in zip(asked.tolist(), places.find(asked @ places.strides).tolist(), strict=True):
        assert (cell >= 0) == (tuple(code) in every)
        assert cell < 0 or codes[cell].tolist() == code


def test_more_combinations_than_can_be_numbered_are_refused() -> None:
    with pytest.raises(InputError, match="too many combinations of codes"):
        Places([10] * 20, np.zeros((1, 20), dtype=np.int32))


def test_a_sum_without_cells_below_it_is_no_relation() -> None:
    region = Dimension("region", Hierarchy.from_pairs([("n", "Total"), ("a", "n"), ("b", "n"), ("s", "Total")]))
    table = Table.of([5.0, 3.0, 2.0], dimensions=[region], codes=[[region.position[c]] for c in ("Total", "n", "s")])
    assert equations(table) == [(frozenset({("n",), ("s",)}), ("Total",))]
    assert cell_of(table, "s") == 2
