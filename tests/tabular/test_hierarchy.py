"""A hierarchy is a tree with the total at its root, however it is made; what is no tree is refused in words."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tabular.hierarchy import Hierarchy
from random_tables import generators, random_hierarchy

REGIONS = [("north", "Total"), ("a", "north"), ("b", "north"), ("b1", "b"), ("b2", "b"), ("south", "Total")]


def drawn(rng: np.random.Generator) -> Hierarchy:
    leaves = [f"c{at}" for at in range(int(rng.integers(1, 12)))]
    return random_hierarchy(rng, leaves, "sum", int(rng.integers(0, 5)))


def test_flat_puts_every_code_under_the_total() -> None:
    made = Hierarchy.flat(["s", "m", "l"], total="All")
    assert made.codes == ("All", "s", "m", "l")
    assert made.parents.tolist() == [-1, 0, 0, 0]
    assert made.depths.tolist() == [0, 1, 1, 1]
    assert made.leaves == ("s", "m", "l")
    assert made.is_flat
    assert made.total == "All"


def test_branches_may_be_of_unequal_depth() -> None:
    made = Hierarchy.from_pairs(REGIONS)
    assert dict(zip(made.codes, made.depths.tolist(), strict=True)) == {
        "Total": 0,
        "north": 1,
        "a": 2,
        "b": 2,
        "b1": 3,
        "b2": 3,
        "south": 1,
    }
    assert made.leaves == ("a", "b1", "b2", "south")
    assert not made.is_flat
    assert [code for code, inner in zip(made.codes, made.inner, strict=True) if inner] == ["Total", "north", "b"]


@given(generators)
def test_pairs_make_the_same_hierarchy_again_in_any_order(rng: np.random.Generator) -> None:
    made = drawn(rng)
    pairs = made.pairs()
    shuffled = [pairs[at] for at in rng.permutation(len(pairs))]
    again = Hierarchy.from_pairs(shuffled)
    assert again == made
    assert hash(again) == hash(made)
    assert set(again.leaves) == set(made.leaves)


@given(generators)
def test_depths_leaves_and_sums_are_those_of_the_tree(rng: np.random.Generator) -> None:
    made = drawn(rng)
    above = dict(made.pairs())
    for code, depth, inner in zip(made.codes, made.depths.tolist(), made.inner.tolist(), strict=True):
        steps, at = 0, code
        while at != made.total:
            at = above[at]
            steps += 1
        assert steps == depth
        assert inner == (code in above.values())
        assert (code in made.leaves) != inner


@given(generators)
def test_every_code_stands_after_the_one_it_belongs_to(rng: np.random.Generator) -> None:
    made = drawn(rng)
    assert (made.parents < np.arange(len(made.codes))).all()


def test_equality_is_that_of_the_tree() -> None:
    made = Hierarchy.from_pairs(REGIONS)
    assert made == Hierarchy.from_pairs(REGIONS, source="some.hrc")
    assert made != Hierarchy.from_pairs([*REGIONS[:-1], ("south", "north")])
    assert made != Hierarchy.from_pairs([*REGIONS, ("west", "Total")])
    assert Hierarchy.flat("ab") != Hierarchy.flat("ab", total="All")
    assert made != "north"


def test_blank_and_no_parent_mean_the_total() -> None:
    assert Hierarchy.from_pairs([("north", None), ("a", "north"), ("south", " ")]) == Hierarchy.from_pairs(
        [("north", "Total"), ("a", "north"), ("south", "Total")]
    )


def test_the_total_is_found_out_if_it_is_the_only_code_above_others_without_one_above() -> None:
    assert Hierarchy.from_pairs([("a", "Land"), ("b", "Land")]).total == "Land"
    assert Hierarchy.from_pairs([("Land", None), ("a", "Land"), ("b", "Land")]).total == "Land"
    assert Hierarchy.from_pairs([("Land", ""), ("a", "Land")], total="Land").codes == ("Land", "a")
    assert Hierarchy.from_pairs([("a", None), ("b", None)]).total == "Total"


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        (
            [("a", "b"), ("b", "c"), ("c", "a"), ("x", "Total")],
            "3 codes are part of themselves: .* circle",
        ),
        ([("a", "a"), ("x", "Total")], "1 code is part of itself"),
        ([("Total", "a"), ("a", "Total")], "the code of the total is also a code below it"),
        ([("a", "north"), ("b", "south"), ("north", None)], "1 code belongs to a code that itself belongs to nothing"),
        (
            [("a", "north"), ("b", "Total")],
            "a code that itself belongs to nothing.*or name the total",
        ),
        ([("a", "x"), ("a", "y"), ("x", None), ("y", None)], "a code belongs to two others"),
        ([("a", "Total"), ("a", "Total")], "1 code stands in the hierarchy more than once"),
        ([(" ", "Total"), ("b", "Total")], "not blank"),
        ([("", "Total"), ("b", "Total")], "not blank"),
        ([], "no code but the total"),
        ([("Total", None)], "no code but the total"),
    ],
)
def test_pairs_that_are_no_tree_are_refused(pairs: list[tuple[str, str | None]], words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        Hierarchy.from_pairs(pairs, source="some.hrc")
    assert str(error.value).startswith("some.hrc: ")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Hierarchy.flat(["a", "b", "a", "b"]), "2 codes stand in the hierarchy more than once"),
        (lambda: Hierarchy.flat(["a", "Total"]), "1 code stands in the hierarchy more than once"),
        (lambda: Hierarchy.flat(["a", "\t"]), "not blank"),
        (lambda: Hierarchy.flat([]), "no code but the total"),
        (lambda: Hierarchy(["Total", "a"], [-1]), "as many parents as codes"),
        (lambda: Hierarchy([], []), "a code at least"),
        (lambda: Hierarchy(["Total", 1], [-1, 0]), "must be a text"),  # type: ignore[list-item]
        (lambda: Hierarchy(["Total", "a"], [0, -1]), "the total must come first"),
        (lambda: Hierarchy(["Total", "a", "b"], [-1, 0, -1]), "the total must come first"),
        (lambda: Hierarchy(["Total", "a", "b"], [-1, 2, 0]), "1 code stands before the code it belongs to"),
        (lambda: Hierarchy(["Total", "a", "b"], [-1, 1, 0]), "1 code stands before the code it belongs to"),
        (lambda: Hierarchy(["Total", "a"], [-1, 9]), "1 code stands before"),
    ],
)
def test_what_is_no_tree_is_refused(make: Callable[[], Hierarchy], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_digits_make_the_levels_and_zeros_are_passed_over() -> None:
    made = Hierarchy.from_digits(["34110", "34120", "34111", "35200"], [3, 1, 1, 0, 0])
    assert dict(made.pairs()) == {
        "341": "Total",
        "3411": "341",
        "34110": "3411",
        "34111": "3411",
        "3412": "341",
        "34120": "3412",
        "352": "Total",
        "3520": "352",
        "35200": "3520",
    }
    assert made.leaves == ("34110", "34111", "34120", "35200")


def test_digits_leave_codes_apart_under_the_total_whatever_their_length() -> None:
    made = Hierarchy.from_digits(["111", "112", "9", "99999"], [2, 1], apart=["9", "99999", "not there"])
    assert dict(made.pairs()) == {"11": "Total", "111": "11", "112": "11", "9": "Total", "99999": "Total"}


@given(st.sets(st.text("012", min_size=4, max_size=4), min_size=1), st.sampled_from([(4,), (1, 3), (2, 1, 0, 1)]))
def test_digits_nest_every_code_in_its_beginnings(codes: set[str], lengths: tuple[int, ...]) -> None:
    made = Hierarchy.from_digits(codes, lengths)
    assert set(made.leaves) == codes
    assert all(parent in ("Total", code[: len(parent)]) for code, parent in made.pairs())
    assert set(made.depths[np.isin(made.codes, list(codes))]) == {sum(length > 0 for length in lengths)}


@pytest.mark.parametrize(
    ("codes", "lengths", "words"),
    [
        (["341"], [3, 1], "1 code does not have the 4 characters that the levels take"),
        (["341"], [0, 0], "numbers of characters, such as 3 1 1"),
        (["341"], [], "numbers of characters"),
        (["341"], [4, -1], "numbers of characters"),
        ([], [3], "no code but the total"),
        (["Total1"], [5, 1], "the code of the total is also a code below it"),
    ],
)
def test_digits_that_do_not_fit_are_refused(codes: list[str], lengths: list[int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Hierarchy.from_digits(codes, lengths)


def test_columns_make_nested_levels() -> None:
    frame = pl.DataFrame(
        {
            "country": ["x", "x", "x", "y", "x", "z"],
            "district": ["x1", "x1", "x2", "y1", "x1", "z"],
            "town": ["p", "q", "x2", "r", "p", None],
        }
    )
    made = Hierarchy.from_columns(frame, ["country", "district", "town"])
    assert dict(made.pairs()) == {
        "x": "Total",
        "x1": "x",
        "p": "x1",
        "q": "x1",
        "x2": "x",
        "y": "Total",
        "y1": "y",
        "r": "y1",
        "z": "Total",
    }


def test_columns_of_numbers_are_codes_too() -> None:
    frame = pl.DataFrame({"region": [1, 1, 2], "town": [11, 12, 2]})
    made = Hierarchy.from_columns(frame, ["region", "town"])
    assert dict(made.pairs()) == {"1": "Total", "11": "1", "12": "1", "2": "Total"}


@pytest.mark.parametrize(
    ("town", "words"),
    [
        (["p", "p"], "a code of column 'town' lies in two codes of the columns before it; the columns are not nested"),
        (["y", "q"], "a code of column '(town|region)' lies in"),
        (["p", "Total"], "the code of the total is also a code below it"),
    ],
)
def test_columns_that_are_not_nested_are_refused(town: list[str], words: str) -> None:
    frame = pl.DataFrame({"region": ["x", "y"], "town": town})
    with pytest.raises(InputError, match=words):
        Hierarchy.from_columns(frame, ["region", "town"])


def test_a_file_makes_the_same_as_its_pairs(tmp_path: Path) -> None:
    path = tmp_path / "region.hrc"
    path.write_text("north\n@a\n@b\n@@b1\n@@b2\nsouth\n")
    assert Hierarchy.from_hrc(path) == Hierarchy.from_pairs(REGIONS)
    path.write_text("north\n--a\nsouth\n")
    assert Hierarchy.from_hrc(path, lead="--", total="All") == Hierarchy.from_pairs(
        [("north", "All"), ("a", "north"), ("south", "All")]
    )


def test_a_hierarchy_says_how_large_it_is() -> None:
    assert repr(Hierarchy.from_pairs(REGIONS)) == "Hierarchy of 7 codes, 3 levels below 'Total'"
