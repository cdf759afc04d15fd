"""Each rule finds the cells in which its attack works, and its level is what the attack is short of."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tables.tabulation import Contributions
from discreet.tabular import rules
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.rules import Rule
from discreet.tabular.table import Table
from random_tables import cell_of, table_of

Lists = list[list[int]]

contributions = st.lists(
    st.lists(st.one_of(st.integers(0, 20), st.integers(0, 2000)), min_size=1, max_size=6), min_size=1, max_size=4
)
percents = st.one_of(st.integers(1, 100), st.sampled_from([0.5, 12.5, 99.9]))


def table(lists: Sequence[Sequence[float]], *, top: int = 7, asked: list[list[bool]] | None = None) -> Table:
    """Cells c0, c1, … of these contributions, and their total."""
    one = Dimension("cell", Hierarchy.flat([f"c{at}" for at in range(len(lists))]))
    codes = [[1 + at] for at, held in enumerate(lists) for _ in held]
    amount = np.array([x for held in lists for x in held], dtype=np.float64)
    wanted = None if asked is None else np.array([x for held in asked for x in held])
    return table_of([one], Contributions(np.array(codes, np.int32), amount, None, None, wanted), top=top)


def judged(rule: Rule, made: Table) -> dict[str, tuple[bool, float]]:
    unsafe, level = rule.judge(made)
    return {code: (bool(unsafe[at]), float(level[at])) for at, code in enumerate(made.codes_of(0))}


def cells(lists: Lists) -> dict[str, list[int]]:
    """The contributions to each cell in falling order."""
    held = {f"c{at}": sorted(one, reverse=True) for at, one in enumerate(lists)}
    return {"Total": sorted((x for one in lists for x in one), reverse=True), **held}


def share(percent: float) -> Fraction:
    return Fraction(str(percent)) / 100


@pytest.mark.parametrize(
    ("rule", "held", "unsafe", "level"),
    [
        # T = 120, R = 120 − 100 − 15 = 5, below 15 % of 100 by 10.
        (rules.p_percent(15, 1), [100, 15, 3, 2], True, 10),
        # R = 15 is not below 15.
        (rules.p_percent(15, 1), [100, 20, 10, 5], False, 0),
        # Two together know 20 + 10, and leave 5.
        (rules.p_percent(15, 2), [100, 20, 10, 5], True, 10),
        # One alone: nothing is left to hide behind.
        (rules.p_percent(15, 1), [100], True, 15),
        (rules.p_percent(10, 1), [0, 0], False, 0),
        # Within 15 of 60 percent is 25 of 100; R = 15.
        (rules.prior_posterior(15, 60, 1), [100, 20, 10, 5], True, 10),
        (rules.prior_posterior(15, 60, 1), [100, 25, 25], False, 0),
        # 80 of 100 are more than 75 %: 100/75·80 = 106.67.
        (rules.dominance(1, 75), [80, 10, 10], True, 100 / 75 * 80 - 100),
        (rules.dominance(1, 75), [75, 15, 10], False, 0),
        (rules.dominance(2, 85), [75, 15, 10], True, 100 / 85 * 90 - 100),
        (rules.dominance(2, 90), [75, 15, 10], False, 0),
        (rules.threshold(3, 30), [50, 50], True, 30),
        (rules.threshold(3, 30), [50, 25, 25], False, 30),
        (rules.threshold(2, 10), [50], True, 5),
        (rules.zeros(4), [0, 0], True, 4),
        (rules.zeros(4), [0, 1], False, 4),
    ],
)
def test_formulas_on_small_cells(rule: Rule, held: list[int], unsafe: bool, level: float) -> None:
    found, given = judged(rule, table([held]))["c0"]
    assert found == unsafe
    assert given == pytest.approx(level, abs=1e-9)


@given(contributions, percents, st.integers(1, 3))
def test_p_percent_is_unsafe_where_some_coalition_estimates_somebody_to_within_p_percent(
    lists: Lists, p: float, coalition: int
) -> None:
    found = judged(rules.p_percent(p, coalition), table(lists))
    for code, held in cells(lists).items():
        # Whoever they are and whomever they are after: they subtract what they know, and take all that is left.
        attacked = False
        for victim, x in enumerate(held):
            others = [y for at, y in enumerate(held) if at != victim]
            for size in range(coalition + 1):
                for known in combinations(others, size):
                    attacked |= sum(held) - sum(known) - x < share(p) * x
        assert found[code][0] == attacked


@given(contributions, percents, st.integers(1, 3))
def test_the_level_of_p_percent_is_what_the_estimate_is_short_of(lists: Lists, p: float, coalition: int) -> None:
    found = judged(rules.p_percent(p, coalition), table(lists))
    for code, held in cells(lists).items():
        unsafe, level = found[code]
        estimate = sum(held) + Fraction(level) - sum(held[1 : coalition + 1])
        if unsafe:
            assert level > 0
            assert float(estimate) == pytest.approx(float((1 + share(p)) * held[0]))


@given(contributions, percents, st.integers(1, 3))
def test_prior_posterior_of_100_percent_is_p_percent(lists: Lists, p: float, coalition: int) -> None:
    made = table(lists)
    one, other = judged(rules.p_percent(p, coalition), made), judged(rules.prior_posterior(p, 100, coalition), made)
    assert {code: found for code, (found, _) in one.items()} == {code: found for code, (found, _) in other.items()}


@given(contributions, st.integers(1, 50), st.integers(51, 100), st.integers(1, 3))
def test_prior_posterior_scales_what_is_known_before(lists: Lists, p: int, q: int, coalition: int) -> None:
    found = judged(rules.prior_posterior(p, q, coalition), table(lists))
    for code, held in cells(lists).items():
        rest = sum(held[coalition + 1 :])
        assert found[code][0] == (rest < Fraction(p, q) * held[0])
        if found[code][0]:
            assert found[code][1] == pytest.approx(float(Fraction(p, q) * held[0] - rest))


@given(contributions, percents, st.integers(1, 4))
def test_dominance_is_unsafe_where_the_largest_are_more_than_their_share(lists: Lists, k: float, n: int) -> None:
    found = judged(rules.dominance(n, k), table(lists))
    for code, held in cells(lists).items():
        unsafe, level = found[code]
        together = sum(held[:n])
        assert unsafe == (together > share(k) * sum(held))
        if unsafe:
            # A total that much larger would be safe, and no smaller one.
            assert float(share(k) * (sum(held) + Fraction(level))) == pytest.approx(together)


def test_a_share_of_exactly_k_percent_is_not_more_than_k_percent() -> None:
    for k in range(1, 100):
        made = table([[k, *[1] * (100 - k)]], asked=[[True, *[False] * (100 - k)]])
        assert not judged(rules.dominance(1, k), made)["c0"][0]
        assert not judged(rules.request(k), made)["c0"][0]
        tenths = table([[k / 10, *[0.1] * (100 - k)]], asked=[[True, *[False] * (100 - k)]])
        assert not judged(rules.dominance(1, k), tenths)["c0"][0]
        assert not judged(rules.request(k), tenths)["c0"][0]


def test_an_estimate_of_exactly_p_percent_is_not_within_p_percent() -> None:
    for p in range(1, 100):
        assert not judged(rules.p_percent(p, 1), table([[100, 100, p]]))["c0"][0]
        assert not judged(rules.p_percent(p, 1), table([[10.0, 10.0, p / 10]]))["c0"][0]
        assert judged(rules.p_percent(p, 1), table([[1000, 1000, 10 * p - 1]]))["c0"][0]


@given(contributions, st.integers(1, 6), percents)
def test_threshold_counts_contributors(lists: Lists, least: int, width: float) -> None:
    found = judged(rules.threshold(least, width), table(lists))
    for code, held in cells(lists).items():
        assert found[code][0] == (len(held) < least)
        assert found[code][1] == pytest.approx(float(share(width) * sum(held)))


@given(contributions, percents, st.data())
def test_request_is_unsafe_where_one_who_asked_has_more_than_the_share(
    lists: Lists, k: float, data: st.DataObject
) -> None:
    asked = [[data.draw(st.booleans()) for _ in held] for held in lists]
    found = judged(rules.request(k), table(lists, asked=asked))
    wanted = {f"c{at}": list(zip(*pair, strict=True)) for at, pair in enumerate(zip(lists, asked, strict=True))}
    wanted["Total"] = [pair for held in wanted.values() for pair in held]
    for code, held in wanted.items():
        largest = max((x for x, wants in held if wants), default=0)
        total = sum(x for x, _ in held)
        assert found[code][0] == (largest > share(k) * total)
        if found[code][0]:
            assert float(share(k) * (total + Fraction(found[code][1]))) == pytest.approx(largest)


@given(contributions)
def test_zeros_are_unsafe_where_nothing_is_contributed(lists: Lists) -> None:
    found = judged(rules.zeros(3), table(lists))
    assert {code: unsafe for code, (unsafe, _) in found.items()} == {
        code: sum(held) == 0 for code, held in cells(lists).items()
    }


@given(contributions, st.integers(1, 99), st.integers(1, 99), st.integers(1, 4), st.integers(1, 4))
def test_stricter_parameters_find_all_that_milder_ones_find(lists: Lists, a: int, b: int, m: int, n: int) -> None:
    low, high = sorted((a, b))
    few, many = sorted((m, n))
    made = table(lists)

    def found(rule: Rule) -> set[str]:
        return {code for code, (unsafe, _) in judged(rule, made).items() if unsafe}

    assert found(rules.p_percent(low, 1)) <= found(rules.p_percent(high, 1))
    assert found(rules.p_percent(low, few)) <= found(rules.p_percent(low, many))
    assert found(rules.prior_posterior(low, 100, 1)) >= found(rules.prior_posterior(low, 200, 1))
    assert found(rules.dominance(1, high)) <= found(rules.dominance(1, low))
    assert found(rules.dominance(few, low)) <= found(rules.dominance(many, low))
    assert found(rules.threshold(few, 30)) <= found(rules.threshold(many, 30))


@pytest.mark.parametrize(
    ("make", "needs"),
    [
        (lambda: rules.p_percent(10, 3), 4),
        (lambda: rules.prior_posterior(10, 50, 3), 4),
        (lambda: rules.dominance(4, 80), 4),
    ],
)
def test_a_rule_that_looks_at_more_contributions_than_are_kept_is_refused(make: Callable[[], Rule], needs: int) -> None:
    with pytest.raises(
        InputError, match=rf"holds the 3 largest .* looks at {needs}; make the table with --top {needs}"
    ):
        make().judge(table([[5, 4, 3, 2]], top=3))
    make().judge(table([[5, 4, 3, 2]], top=4))
    # Where no cell has more contributors than are kept, all are kept.
    make().judge(table([[5, 4, 3]], top=3))
    with pytest.raises(InputError, match="does not hold the largest contributions"):
        make().judge(table([[5, 4]]).but(tops=None))


def test_what_a_rule_looks_at_must_be_known() -> None:
    made = table([[5, 4]]).but(count=None, source="some.csv")
    with pytest.raises(InputError, match=r"some\.csv does not say numbers of contributors, which the threshold rule"):
        rules.threshold(3, 30).judge(made)
    with pytest.raises(InputError, match=r"some\.csv does not say who asked for protection"):
        rules.request(70).judge(made)
    with pytest.raises(InputError, match="looks at 9"):
        rules.p_percent(10, 8).judge(made)


@pytest.mark.parametrize(
    "make", [lambda: rules.p_percent(10, 1), lambda: rules.dominance(1, 80), lambda: rules.request(70)]
)
def test_negative_values_have_no_largest_contribution(make: Callable[[], Rule]) -> None:
    for held in ([[731609, -3], [5]], [[-731609], [5]]):
        made = table(held, asked=[[True] * len(one) for one in held])
        with pytest.raises(
            InputError, match=r"negative values in \d cells .*cell=c0.* has no meaning for them"
        ) as error:
            make().judge(made)
        assert "731609" not in str(error.value)


def test_threshold_and_zeros_take_negative_values() -> None:
    made = table([[-10], [5, 5, 5]])
    unsafe, level = rules.threshold(2, 30).judge(made)
    assert unsafe[cell_of(made, "c0")]
    assert level[cell_of(made, "c0")] == pytest.approx(3)
    rules.zeros(1).judge(made)


def test_rules_say_in_words_what_they_do() -> None:
    made = [rules.p_percent(15, 2), rules.dominance(1, 75), rules.threshold(3, 30), rules.zeros(1), rules.request(70)]
    assert [one.name for one in made] == ["p", "dominance", "threshold", "zero", "request"]
    assert made[0].words == "the largest known to within 15 % by 2 others together"
    assert "by who knew it to within 60 %" in rules.prior_posterior(15, 60, 1).words
