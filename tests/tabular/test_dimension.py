"""A dimension adds up its codes in one or several ways, none of which leaves a code out or counts it twice."""

import numpy as np
import pytest
from hypothesis import assume, given

from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from random_tables import ancestors_of, generators, random_dimension

ADMINISTRATIVE = Hierarchy.from_pairs(
    [("east", "Total"), ("a", "east"), ("b", "east"), ("west", "Total"), ("c", "west"), ("d", "west")]
)
COAST = Hierarchy.from_pairs(
    [("coast", "Total"), ("a", "coast"), ("c", "coast"), ("inland", "Total"), ("b", "inland"), ("d", "inland")],
    source="coast.hrc",
)


def drawn(rng: np.random.Generator) -> Dimension:
    leaves = int(rng.integers(3, 9))
    return random_dimension(rng, "A", leaves, hierarchical=rng.random() < 0.7, second=rng.random() < 0.7)


def test_hierarchies_need_not_be_nested_in_each_other() -> None:
    region = Dimension("region", [ADMINISTRATIVE, COAST])
    assert region.codes == ("Total", "east", "a", "b", "west", "c", "d", "coast", "inland")
    assert [region.codes[at] for at in np.flatnonzero(region.base)] == ["a", "b", "c", "d"]
    assert {region.codes[at] for at in region.ancestors[region.position["a"]]} == {"a", "east", "coast", "Total"}
    assert region.total == "Total"
    assert not region.is_flat


def test_a_leaf_of_one_hierarchy_may_be_a_sum_in_another() -> None:
    region = Dimension("region", [ADMINISTRATIVE, Hierarchy.flat(["east", "c", "d"])])
    assert [region.codes[at] for at in np.flatnonzero(region.base)] == ["a", "b", "c", "d"]


@given(generators)
def test_ancestors_are_what_is_met_on_every_way_up(rng: np.random.Generator) -> None:
    made = drawn(rng)
    for code, above in zip(made.codes, made.ancestors, strict=True):
        assert {made.codes[at] for at in above} == ancestors_of(made, code)
        assert len(set(above.tolist())) == len(above)


@given(generators)
def test_base_codes_are_those_that_no_hierarchy_adds_up(rng: np.random.Generator) -> None:
    made = drawn(rng)
    sums = {parent for way in made.hierarchies for _, parent in way.pairs()}
    assert {made.codes[at] for at in np.flatnonzero(made.base)} == set(made.codes) - sums


@given(generators)
def test_every_sum_is_made_of_the_same_base_codes_in_all_hierarchies(rng: np.random.Generator) -> None:
    made = drawn(rng)
    base = {made.codes[at] for at in np.flatnonzero(made.base)}
    bases = {code: sorted(one for one in base if code in ancestors_of(made, one)) for code in made.codes}
    for way in made.hierarchies:
        for parent in {parent for _, parent in way.pairs()}:
            assert sorted(one for child, up in way.pairs() if up == parent for one in bases[child]) == bases[parent]


@given(generators)
def test_parents_are_those_of_each_hierarchy(rng: np.random.Generator) -> None:
    made = drawn(rng)
    for way, row in zip(made.hierarchies, made.parents, strict=True):
        above = dict(way.pairs())
        for code, parent in zip(made.codes, row.tolist(), strict=True):
            assert (made.codes[parent] if parent >= 0 else None) == above.get(code)


@given(generators)
def test_a_hierarchy_that_leaves_out_a_base_code_is_refused(rng: np.random.Generator) -> None:
    made = random_dimension(rng, "A", int(rng.integers(3, 8)), hierarchical=True, second=True)
    assume(len(made.hierarchies) == 2)
    second = made.hierarchies[1]
    gone = second.leaves[int(rng.integers(len(second.leaves)))]
    # A sum whose last code goes would become a base code itself, which is another matter.
    siblings = [code for code, up in second.pairs() if up == dict(second.pairs())[gone]]
    assume(len(siblings) > 1)
    less = Hierarchy.from_pairs([pair for pair in second.pairs() if pair[0] != gone], total="Total", source="less.hrc")
    with pytest.raises(InputError, match=r"dimension 'A', .*do not make up"):
        Dimension("A", [made.hierarchies[0], less])
    with pytest.raises(InputError, match=r"dimension 'A', .*do not make up"):
        Dimension("A", [less, made.hierarchies[0]])


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        # d in no code of the second.
        (
            [("coast", "Total"), ("a", "coast"), ("c", "coast"), ("b", "Total")],
            "below 1 code do not make up what",
        ),
        # east is a and b in the first, a and c in the second.
        (
            [("east", "Total"), ("a", "east"), ("c", "east"), ("b", "Total"), ("d", "Total")],
            "below 2 codes do",
        ),
        # east is counted, and a in it once more.
        ([("east", "Total"), ("x", "Total"), ("a", "x"), ("c", "x"), ("d", "Total")], "below 1 code"),
        # e is in no code of the first.
        ([("a", "Total"), ("b", "Total"), ("c", "Total"), ("d", "Total"), ("e", "Total")], "below 1 code"),
    ],
)
def test_sums_that_contradict_each_other_are_refused(pairs: list[tuple[str, str]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Dimension("region", [ADMINISTRATIVE, Hierarchy.from_pairs(pairs, total="Total")])


def test_a_code_that_is_part_of_itself_by_way_of_two_hierarchies_is_refused() -> None:
    one = Hierarchy.from_pairs([("x", "Total"), ("y", "x"), ("z", "Total")])
    other = Hierarchy.from_pairs([("y", "Total"), ("x", "y"), ("z", "Total")])
    with pytest.raises(InputError, match=r"dimension 'region': a code is part of itself"):
        Dimension("region", [one, other])


def test_many_hierarchies_are_no_circle() -> None:
    # Sums of the first 1, 2, … base codes; a hierarchy for each two of them, so that each is in all that are larger.
    steps = 9
    ways = []
    for high in range(steps, 0, -1):
        for low in range(high - 1, 0, -1):
            pairs = [(f"s{low}", f"s{high}"), (f"s{high}", "Total"), ("rest", "Total")]
            pairs += [(f"l{at}", f"s{low}" if at <= low else f"s{high}") for at in range(high + 1)]
            pairs += [(f"l{at}", "Total") for at in range(high + 1, steps + 1)]
            ways.append(Hierarchy.from_pairs(pairs, total="Total"))
    made = Dimension("region", ways)
    for code in made.codes:
        assert {made.codes[at] for at in made.ancestors[made.position[code]]} == ancestors_of(made, code)


def test_hierarchies_must_share_the_total() -> None:
    with pytest.raises(InputError, match="'size': its hierarchies name the total differently"):
        Dimension("size", [Hierarchy.flat("ab"), Hierarchy.flat("ab", total="All")])


def test_a_dimension_without_hierarchy_is_refused() -> None:
    with pytest.raises(InputError, match="'size' has no hierarchy"):
        Dimension("size", [])


def test_one_hierarchy_need_not_be_in_a_list() -> None:
    assert Dimension("size", Hierarchy.flat("ab")) == Dimension("size", [Hierarchy.flat("ba")])
    assert Dimension("size", Hierarchy.flat("ab")).is_flat


def test_equality_is_that_of_name_trees_and_missing_codes() -> None:
    made = Dimension("region", [ADMINISTRATIVE, COAST], missing=["d"])
    assert made == Dimension("region", [COAST, ADMINISTRATIVE], missing=["d"])
    assert hash(made) == hash(Dimension("region", [COAST, ADMINISTRATIVE], missing=["d"]))
    assert made != Dimension("region", [ADMINISTRATIVE, COAST])
    assert made != Dimension("area", [ADMINISTRATIVE, COAST], missing=["d"])
    assert made != Dimension("region", ADMINISTRATIVE, missing=["d"])
    assert made != "region"
    assert repr(made) == "Dimension 'region' of 9 codes"
