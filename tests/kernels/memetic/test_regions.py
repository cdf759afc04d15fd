"""Groups round a point and groups within a region, against plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats
from discreet.kernels.memetic.pool import inside, region
from partitions import any_partition, cases, cloud

SEEDS = st.integers(0, 2**32)


@given(cases(), st.integers(1, 100), SEEDS)
def test_a_region_has_the_nearest_groups_and_no_more_than_it_needs(
    case: tuple[Floats, int], reach: int, seed: int
) -> None:
    points, k = case
    labels = any_partition(len(points), k, seed)
    sizes = np.bincount(labels)
    centre = points[seed % len(points)]
    found = region(points, labels, centre, reach).tolist()
    distances = np.array([((points[labels == g].mean(axis=0) - centre) ** 2).sum() for g in range(len(sizes))])
    assert len(set(found)) == len(found)
    # Enough records, and not without the last group; or all there are.
    assert sizes[found].sum() >= min(reach, len(points))
    assert sizes[found[:-1]].sum() < reach
    # No group that was left out is nearer than one that was taken.
    left = np.delete(distances, found)
    assert not len(left) or distances[found].max() <= left.min() * (1 + 1e-9) + 1e-12


def test_groups_are_taken_from_near_to_far() -> None:
    points = cloud(90, 2, "scattered", 1)
    labels = any_partition(90, 3, 1)
    found = region(points, labels, points[7], 60)
    distances = [float(((points[labels == g].mean(axis=0) - points[7]) ** 2).sum()) for g in found]
    assert distances == sorted(distances)
    assert len(found) > 10


@given(st.integers(2, 5), st.integers(0, 40), st.floats(0, 1), SEEDS)
def test_inside_are_the_groups_with_all_members_there(k: int, extra: int, share: float, seed: int) -> None:
    n = 2 * k + extra
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 30))
    sizes = rng.integers(k, 2 * k, count)
    members = np.array([rng.permutation(n)[: 2 * k - 1] for _ in range(count)], np.int64).reshape(count, 2 * k - 1)
    position = np.where(rng.random(n) < share, np.arange(n), -1)
    there = {i for i in range(n) if position[i] >= 0}
    expected = [g for g in range(count) if set(members[g, : sizes[g]].tolist()) <= there]
    assert inside(members, sizes, position).tolist() == expected
