"""Risk per record and its distribution equal what counting gives."""

import json
import math
from collections import Counter
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import wasserstein_distance

from discreet.errors import InputError
from discreet.measures.risk import THRESHOLDS, attribute_disclosure, class_ids, closeness, record_risk

CLASSES = st.lists(st.integers(-3, 8), min_size=1, max_size=60)


@settings(deadline=None)
@given(CLASSES)
def test_a_record_is_one_of_its_class(classes: list[int]) -> None:
    sizes = Counter(classes)
    risks = [1 / sizes[c] for c in classes]
    found = record_risk(np.array(classes))
    assert list(found.by_class) == risks
    assert found.classes.mean == pytest.approx(100 * sum(risks) / len(risks))
    assert found.classes.largest == pytest.approx(100 * max(risks))
    for threshold in THRESHOLDS:
        share = 100 * sum(risk > threshold for risk in risks) / len(risks)
        assert found.classes.above[threshold] == pytest.approx(share)
    # One of each class is found, whoever it is.
    assert found.classes.expected == pytest.approx(len(sizes))
    json.dumps(found.as_dict(), allow_nan=False)


@settings(deadline=None)
@given(CLASSES)
def test_the_histogram_counts_every_class_once(classes: list[int]) -> None:
    sizes = Counter(classes).values()
    found = record_risk(np.array(classes)).sizes
    for each in found:
        least, most = each["least"], each["most"]
        assert least is not None
        inside = [size for size in sizes if least <= size and (most is None or size <= most)]
        assert (each["classes"], each["records"]) == (len(inside), sum(inside))
    assert sum(each["records"] or 0 for each in found) == len(classes)


def test_large_classes_have_an_open_bin() -> None:
    assert record_risk(np.zeros(1000, dtype=int)).sizes == [{"least": 100, "most": None, "classes": 1, "records": 1000}]


@pytest.mark.parametrize("k", [2, 5, 10, 20])
def test_a_class_of_k_is_not_above_one_in_k(k: int) -> None:
    assert record_risk(np.zeros(k, dtype=int)).classes.above[1 / k] == 0.0
    assert record_risk(np.zeros(k - 1, dtype=int)).classes.above[1 / k] == 100.0


@settings(deadline=None)
@given(CLASSES, st.data())
def test_linkage_risk_is_its_credit(classes: list[int], data: st.DataObject) -> None:
    credit = [data.draw(st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0])) for _ in classes]
    found = record_risk(np.array(classes), np.array(credit)).linkage
    assert found is not None
    assert found.expected == pytest.approx(sum(credit))
    assert found.mean == pytest.approx(100 * sum(credit) / len(credit))
    assert found.largest == pytest.approx(100 * max(credit))
    assert found.above[0.2] == pytest.approx(100 * sum(c > 0.2 for c in credit) / len(credit))


def test_the_order_of_records_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    classes, credit = rng.integers(0, 300, 1000), 1 / rng.integers(1, 9, 1000)
    order = rng.permutation(1000)
    assert record_risk(classes, credit).as_dict() == record_risk(classes[order], credit[order]).as_dict()


def test_a_sample_of_a_linkage_is_raised_to_the_file() -> None:
    found = record_risk(np.zeros(4, dtype=int), np.array([1.0, np.nan, 0.0, np.nan])).linkage
    assert found is not None
    assert (found.mean, found.expected) == (50.0, 2.0)


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(InputError, match="no record"):
        record_risk(np.zeros(0, dtype=int))
    with pytest.raises(InputError, match="one credit"):
        record_risk(np.zeros(2, dtype=int), np.zeros(3))
    for wrong in (1.5, -0.1, np.nan):
        with pytest.raises(InputError, match="from 0 to 1"):
            record_risk(np.zeros(1, dtype=int), np.array([wrong]))


RECORDS = st.lists(
    st.tuples(st.integers(-2, 4), st.sampled_from([math.nan, -1.0, 0.0, 0.5, 2.0, 7.0])), min_size=1, max_size=40
)


def split(records: list[tuple[int, float]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    return np.array([c for c, _ in records]), np.array([v for _, v in records])


@settings(deadline=None)
@given(RECORDS, st.booleans())
def test_equals_the_definitions(records: list[tuple[int, float]], ordered: bool) -> None:
    assume(not all(math.isnan(v) for _, v in records))
    # A missing value is one more, below all others.
    held = [(c, -math.inf if math.isnan(v) else v) for c, v in records]
    everybody = Counter(v for _, v in held)
    domain = sorted(everybody)
    classes = {c: Counter(v for d, v in held if d == c) for c, _ in held}
    distances, entropies = [], []
    for values in classes.values():
        p = [values[v] / values.total() for v in domain]
        q = [everybody[v] / everybody.total() for v in domain]
        entropies.append(-sum(share * math.log(share) for share in p if share))
        if not ordered:
            distances.append(sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2)
        elif len(domain) == 1:
            distances.append(0.0)
        else:
            ranks = range(len(domain))
            distance = sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in ranks) / (len(domain) - 1)
            assert distance == pytest.approx(wasserstein_distance(ranks, ranks, p, q) / (len(domain) - 1))
            distances.append(distance)
    found = closeness(*split(records), ordered=ordered)
    assert found.k == min(Counter(c for c, _ in records).values())
    assert found.classes == len(classes)
    assert found.unknown == sum(set(values) == {-math.inf} for values in classes.values())
    assert found.distinct == min(len(values) for values in classes.values())
    assert found.entropy == pytest.approx(math.exp(min(entropies)))
    assert found.t == pytest.approx(100 * max(distances), abs=1e-10)
    json.dumps(found.as_dict(), allow_nan=False)


@settings(deadline=None)
@given(RECORDS, st.booleans())
def test_the_order_of_records_and_the_names_of_classes_do_not_matter(
    records: list[tuple[int, float]], ordered: bool
) -> None:
    assume(not all(math.isnan(v) for _, v in records))
    classes, values = split(records)
    order = np.random.default_rng(len(records)).permutation(len(records))
    one, two = (
        closeness(classes, values, ordered=ordered),
        closeness(7 - classes[order], values[order], ordered=ordered),
    )
    assert (one.k, one.distinct, one.unknown) == (two.k, two.distinct, two.unknown)
    assert (one.entropy, one.t) == pytest.approx((two.entropy, two.t))


def test_the_example_of_the_paper() -> None:
    # Li, Li and Venkatasubramanian: salaries 3k..11k, classes {3,4,5}, {6,8,11}, {7,9,10}; the distance of the first
    # is 0.375 and of {6k, 8k, 11k} 0.167.
    salaries = np.array([3, 4, 5, 6, 11, 8, 7, 9, 10]) * 1000.0
    assert closeness(np.repeat([0, 1, 2], 3), salaries, ordered=True).t == pytest.approx(37.5)
    assert closeness(np.array([0, 0, 0, 1, 1, 1, 0, 0, 0]), salaries, ordered=True).t == pytest.approx(100 * 1 / 6)


def test_one_class_is_as_close_as_can_be() -> None:
    found = closeness(np.zeros(4, dtype=np.int64), np.array([1.0, 2.0, 2.0, 9.0]), ordered=True)
    assert (found.k, found.classes, found.distinct, found.t) == (4, 1, 3, 0.0)


def test_one_record_has_nothing_to_hide_behind() -> None:
    found = closeness(np.array([5]), np.array([1.0]), ordered=False)
    assert (found.k, found.distinct, found.entropy, found.t) == (1, 1, 1.0, 0.0)


def test_many_classes_and_values_need_no_table_of_both() -> None:
    # As a table of classes×values this would take 80 GB.
    rng = np.random.default_rng(2)
    n = 200_000
    found = closeness(np.arange(n) // 2, rng.permutation(n).astype(float), ordered=True)
    assert (found.k, found.distinct) == (2, 2)
    assert found.entropy == pytest.approx(2)
    assert 45 < found.t <= 50


def test_a_confidential_column_without_values_is_refused() -> None:
    with pytest.raises(InputError, match="no value"):
        closeness(np.array([0, 0]), np.array([np.nan, np.nan]), ordered=True)
    with pytest.raises(InputError, match="same length"):
        closeness(np.array([0, 0]), np.array([1.0]), ordered=True)


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([math.nan, 0.0, -0.0, 1.5])] * 3), min_size=1, max_size=30))
def test_classes_are_the_records_equal_in_all_columns(rows: list[tuple[float, float, float]]) -> None:
    ids = class_ids([np.array(column) for column in zip(*rows, strict=True)])
    # Minus zero equals zero, and missing equals missing.
    keys = [tuple("" if math.isnan(v) else v + 0.0 for v in row) for row in rows]
    for i, key in enumerate(keys):
        assert [j for j in range(len(rows)) if ids[j] == ids[i]] == [j for j in range(len(rows)) if keys[j] == key]
    assert set(ids) == set(range(len(set(keys))))


def test_classes_need_columns_of_one_length() -> None:
    with pytest.raises(InputError, match="no record or no quasi"):
        class_ids([])
    with pytest.raises(InputError, match="different numbers"):
        class_ids([np.zeros(2), np.zeros(3)])


confidential_values = st.one_of(
    st.lists(st.sampled_from([None, 1.0, 2.0, math.nan]), min_size=30, max_size=30),
    st.lists(st.sampled_from([None, "a", "b", ""]), min_size=30, max_size=30),
    st.lists(st.sampled_from([None, True, False]), min_size=30, max_size=30),
    st.lists(st.sampled_from([None, date(2001, 1, 1), date(2002, 1, 1)]), min_size=30, max_size=30),
)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, -0.0, 1.0, None]), st.sampled_from("xy")), min_size=30, max_size=30),
    confidential_values,
)
def test_attribute_disclosure_counts_the_records_of_classes_with_one_value(known: list[Any], held: list[Any]) -> None:
    frame = pl.DataFrame(known, schema={"known0": pl.Float64, "town": pl.String}, orient="row")
    found = attribute_disclosure(frame, pl.DataFrame({"times": pl.Series(held, strict=False)}))["times"]
    classes: dict[Any, list[Any]] = {}
    for key, value in zip(known, held, strict=True):
        if value is not None and value == value:  # not NaN
            classes.setdefault(key, []).append(value)
    records = sum(len(values) for values in classes.values() if len(set(values)) == 1)
    counts = Counter(value for values in classes.values() for value in values)
    assert found["records"] == records
    assert found["share"] == pytest.approx(100 * records / 30)
    assert found["commonest"] == pytest.approx(100 * max(counts.values(), default=0) / 30)


def test_a_category_is_compared_as_a_value() -> None:
    held = pl.DataFrame({"c": pl.Series(["b", "a", "a", "b"], dtype=pl.Categorical)})
    found = attribute_disclosure(pl.DataFrame({"q": [1, 1, 2, 2]}), held)
    assert found["c"] == {"records": 0, "share": 0.0, "commonest": 50.0}
    assert attribute_disclosure(pl.DataFrame({"q": [1, 2, 2, 1]}), held)["c"]["records"] == 4
