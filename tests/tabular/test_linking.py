"""Linked tables become one system: a shared cell is one cell, its sums are said once, the stricter opinion holds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tables.tabulation import Contributions
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.linking import link
from discreet.tabular.table import FIXED, PRIMARY, RULES, SAFE, SECONDARY, Table
from random_tables import (
    cell_of,
    generators,
    names_of,
    random_contributions,
    random_dimensions,
    random_spans,
    random_table,
    table_of,
)

CANARY = 731609
Name = frozenset[tuple[str, str]]


def named(table: Table) -> list[Name]:
    """Cells by what their codes are, the total left out: the same in every table that has them."""
    return [
        frozenset((one.name, code) for one, code in zip(table.dimensions, codes, strict=True) if code != one.total)
        for codes in names_of(table)
    ]


def equations(table: Table) -> list[tuple[Name, frozenset[Name]]]:
    names, held = named(table), table.relations
    found = []
    for relation in range(len(held)):
        start, end = held.starts[relation : relation + 2]
        signed = list(zip(held.cells[start:end].tolist(), held.coefficients[start:end].tolist(), strict=True))
        (total,) = [names[cell] for cell, sign in signed if sign < 0]
        found.append((total, frozenset(names[cell] for cell, sign in signed if sign > 0)))
    return found


def parts_of(rng: np.random.Generator, **wanted: bool) -> list[Table]:
    """Tables over some dimensions each, of the same contributions."""
    dimensions = random_dimensions(rng, int(rng.integers(2, 5)), **wanted)
    given = random_contributions(rng, dimensions, zeros=0.4)
    return [
        table_of([dimensions[axis] for axis in span], Contributions(given.codes[:, span], given.amount))
        for span in random_spans(rng, len(dimensions))
    ]


@settings(max_examples=30)
@given(generators, st.booleans(), st.booleans())
def test_cells_and_relations_are_those_of_the_tables_each_once(
    rng: np.random.Generator, hierarchical: bool, second: bool
) -> None:
    parts = parts_of(rng, hierarchical=hierarchical, second=second)
    linked = link(parts)
    cells = named(linked)
    assert len(set(cells)) == len(cells)
    assert set(cells) == {cell for table in parts for cell in named(table)}
    value = dict(zip(cells, linked.value.tolist(), strict=True))
    for table in parts:
        assert [value[cell] for cell in named(table)] == table.value.tolist()
    assert set(equations(linked)) == {one for table in parts for one in equations(table)}
    if not second:
        assert len(set(equations(linked))) == len(linked.relations)
    linked.check()


@settings(max_examples=25)
@given(generators, st.booleans(), st.booleans())
def test_implied_relations_follow_from_the_others(rng: np.random.Generator, hierarchical: bool, second: bool) -> None:
    linked = random_table(rng, 3, linked=True, hierarchical=hierarchical, second=second, zeros=0.5)
    matrix = linked.relations.matrix.toarray()
    assert linked.relations.implied is not None
    assert np.linalg.matrix_rank(matrix[~linked.relations.implied]) == np.linalg.matrix_rank(matrix)


@given(generators)
def test_implied_relations_follow_also_where_one_table_has_its_empty_cells_and_the_other_not(
    rng: np.random.Generator,
) -> None:
    dimensions = random_dimensions(rng, [4, 2, 2])
    given = random_contributions(rng, dimensions, zeros=1.8)
    linked = link(
        [
            table_of(
                [dimensions[axis] for axis in span],
                Contributions(given.codes[:, span], given.amount),
                complete=complete,
            )
            for span, complete in (([0, 1], False), ([0, 2], True))
        ]
    )
    matrix = linked.relations.matrix.toarray()
    assert linked.relations.implied is not None
    assert np.linalg.matrix_rank(matrix[~linked.relations.implied]) == np.linalg.matrix_rank(matrix)


@given(generators)
def test_what_is_known_of_contributors_is_kept(rng: np.random.Generator) -> None:
    parts = parts_of(rng, hierarchical=True)
    linked = link(parts)
    place = {cell: at for at, cell in enumerate(named(linked))}
    for table in parts:
        at = [place[cell] for cell in named(table)]
        for name in ("count", "tops", "sole"):
            np.testing.assert_array_equal(getattr(linked, name)[at], getattr(table, name))


def two(left: dict[str, Any] | None = None, right: dict[str, Any] | None = None, off: float = 0.0) -> list[Table]:
    """Size × region and size × kind, over the same sizes; the right one may be off by something."""
    size = Dimension("size", Hierarchy.flat(["small", "large"]))
    codes = [[a, b] for a in range(3) for b in range(3)]
    value = np.array([10.0, 6, 4, 7, 4, 3, 3, 2, 1]) * CANARY
    other = np.array([10.0, 5, 5, 7, 3, 4, 3, 2, 1]) * CANARY + off
    region, kind = Dimension("region", Hierarchy.flat("ns")), Dimension("kind", Hierarchy.flat("xy"))
    return [
        Table.of(value, dimensions=[size, region], codes=codes, source="left", **(left or {})),
        Table.of(other, dimensions=[size, kind], codes=codes, source="right", **(right or {})),
    ]


def test_shared_margins_are_the_same_cells() -> None:
    linked = link(two())
    # The total and two sizes are in both.
    assert len(linked) == 9 + 9 - 3
    assert len(linked.relations) == 6 + 6 - 1
    assert [one.name for one in linked.dimensions] == ["size", "region", "kind"]
    assert linked.value[cell_of(linked, "small", "Total", "Total")] == 7 * CANARY
    assert linked.value[cell_of(linked, "small", "s", "Total")] == 3 * CANARY
    assert linked.source == "the linked tables"


def test_the_stricter_status_the_wider_level_and_the_tighter_bound_hold() -> None:
    shared = [0, 3, 6]

    def column(values: list[float], rest: float = 0.0) -> np.ndarray:
        filled = np.full(9, rest)
        filled[shared] = values
        return filled

    large = 20.0 * CANARY
    given = two(
        {
            "status": column([SAFE, FIXED, SECONDARY]).astype(np.uint8),
            "rule": column([0, 0, 1 << RULES.index("p")]).astype(np.int32),
            "upl": column([1, 2, 3]),
            "lpl": column([3, 2, 1]),
            "lower": column([1, 2, 3]),
            "upper": column([large + 1, large + 2, large + 3], large),
            "cost": column([5, 5, 5]),
            "notes": ("one", "both"),
        },
        {
            "status": column([FIXED, SECONDARY, PRIMARY]).astype(np.uint8),
            "rule": column([0, 0, 1 << RULES.index("threshold")]).astype(np.int32),
            "upl": column([3, 2, 1]),
            "lpl": column([1, 2, 4]),
            "lower": column([3, 2, 1]),
            "upper": column([large + 2, large + 1, large + 5], large),
            "cost": column([6, 6, 6]),
            "notes": ("both", "other"),
        },
    )
    linked = link(given)
    at = [cell_of(linked, code, "Total", "Total") for code in ("Total", "small", "large")]
    assert linked.status[at].tolist() == [FIXED, SECONDARY, PRIMARY]
    assert linked.rule[at].tolist() == [0, 0, 1 << RULES.index("p") | 1 << RULES.index("threshold")]
    assert linked.upl[at].tolist() == [3, 2, 3]
    assert linked.lpl[at].tolist() == [3, 2, 4]
    assert linked.lower[at].tolist() == [3, 2, 3]
    assert linked.upper[at].tolist() == [large + 1, large + 1, large + 3]
    assert linked.cost[at].tolist() == [5, 5, 5]
    assert linked.notes == ("one", "both", "other")


def test_values_that_disagree_are_refused_by_the_names_of_the_cells() -> None:
    with pytest.raises(
        InputError, match="disagree on the value of 3 cells they share: size=Total × kind=Total, size=small × kind="
    ) as error:
        link(two(off=1000.0))
    assert str(CANARY) not in str(error.value)


def test_values_that_differ_by_their_last_bits_agree() -> None:
    assert len(link(two(off=1e-6))) == 15


def test_a_hierarchy_more_in_one_table_holds_in_its_part_only() -> None:
    deep = Dimension("region", Hierarchy.from_pairs([("n", "Total"), ("a", "n"), ("b", "n"), ("s", "Total")]))
    leaves = Dimension("region", Hierarchy.flat(["a", "b", "s"]))
    kind = Dimension("kind", Hierarchy.flat(["x", "y"]))
    alone = Table.of([6.0, 3, 1, 2, 3], dimensions=[deep], codes=[[at] for at in range(5)])
    value = [6.0, 4, 2, 1, 1, 0, 2, 1, 1, 3, 2, 1]
    crossed = Table.of(value, dimensions=[leaves, kind], codes=[[a, b] for a in range(4) for b in range(3)])
    linked = link([alone, crossed])
    assert len(linked) == 5 + 12 - 4
    assert set(equations(linked)) == {*equations(alone), *equations(crossed)}
    # n is no code of the crossed table, and gets no crossing.
    assert {codes for codes in names_of(linked) if codes[0] == "n"} == {("n", "Total")}


def test_missing_codes_of_all_tables_are_kept() -> None:
    size = Hierarchy.flat(["a", "b", "9"])
    tables = [
        Table.of(np.zeros(4), dimensions=[Dimension("size", size, missing)], codes=[[at] for at in range(4)])
        for missing in ([], ["9"])
    ]
    assert link(tables).dimensions[0].missing == {"9"}


def test_what_one_table_does_not_know_is_not_known() -> None:
    count, tops = np.ones(9), np.ones((9, 2))
    given = {"count": count, "tops": tops, "sole": np.zeros(9, np.int64), "asked": count, "decimals": 2}
    linked = link(two(given, {**given, "tops": np.ones((9, 3)), "decimals": 0}))
    assert linked.count is not None
    assert linked.tops is not None
    assert linked.tops.shape == (15, 3)
    assert linked.decimals == 2
    none = link(two(given, {"decimals": None}))
    assert none.count is None
    assert none.tops is None
    assert none.sole is None
    assert none.asked is None
    assert none.decimals is None


def test_contributors_that_are_numbered_otherwise_are_told_by_counts() -> None:
    count = np.ones(9)
    one = {"count": count, "sole": np.zeros(9, np.int64)}
    assert link(two(one, one)).sole is not None
    other = link(two(one, {"count": count, "sole": np.full(9, 4)}))
    assert other.sole is None
    assert other.count is not None


def test_what_cannot_be_linked_is_refused() -> None:
    left, right = two()
    with pytest.raises(InputError, match="two tables at least"):
        link([left])
    with pytest.raises(InputError, match="right has no dimensions"):
        link([left, right.but(dimensions=())])
    with pytest.raises(InputError, match="the same response"):
        link([left, right.but(response="other")])
    size = Dimension("size", Hierarchy.flat(["small", "large"], total="All"))
    with pytest.raises(InputError, match="'size': its hierarchies name the total differently"):
        link([left, Table.of(np.zeros(3), dimensions=[size], codes=[[0], [1], [2]])])
    size = Dimension("size", Hierarchy.flat(["small", "medium"]))
    with pytest.raises(InputError, match=r"dimension 'size'.*do not make up"):
        link([left, Table.of(np.zeros(3), dimensions=[size], codes=[[0], [1], [2]])])
