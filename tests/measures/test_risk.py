"""Risk per record and its distribution equal what counting gives."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.measures.risk import THRESHOLDS, record_risk

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
