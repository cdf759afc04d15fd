"""The outermost record is that of a scan, wherever the centre moves."""

import numpy as np
import pytest

from discreet.kernels.partitions.mdav import blank, outermost
from discreet.kernels.space.kdtree import grow, remove


@pytest.mark.parametrize("step", [0.0, 1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("grid", [0, 3])
def test_outermost_equals_a_scan(step: float, grid: int) -> None:
    rng = np.random.default_rng(1)
    points = rng.integers(0, grid, (500, 2)).astype(np.float64) if grid else rng.normal(size=(500, 3))
    tree, rim = grow(points), blank(*points.shape)
    centre = points.mean(axis=0)
    left = np.ones(500, bool)
    for record in rng.permutation(500)[:-1]:
        alive = np.flatnonzero(left)
        scan = np.zeros(alive.size)
        for j in range(points.shape[1]):
            scan += (points[alive, j] - centre[j]) ** 2
        assert outermost(points, tree, rim, centre) == alive[np.argmax(scan)]
        remove(tree, record)
        left[record] = False
        centre = centre + step * rng.normal(size=centre.size)
