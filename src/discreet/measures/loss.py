"""Information loss between original and released values (SPEC §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.data.attributes import Attribute, Values
from discreet.data.embedding import embed


def information_loss(attributes: Sequence[Attribute], released: Sequence[Values]) -> tuple[float, dict[str, float]]:
    """`il` = 100·SSE/SST in the original's embedding: in total, and per attribute.

    A value that was missing in the original takes no part. A value that is missing in the release only stands at its
    attribute's mean: all that it told is lost. In the total an attribute counts by its weight; its own loss does not
    depend on it. A mode in place of categories can lose more than the mean would, and so more than 100 %.

    Parameters
    ----------
    attributes : sequence of Attribute
        The original.
    released : sequence of arrays
        The released values of each attribute.
    """

    sse_all, sst_all = 0.0, 0.0
    parts: dict[str, float] = {}
    embedding, _ = embed([replace(attribute, weight=1.0) for attribute in attributes])
    for axis, attribute, after in zip(embedding.axes, attributes, released, strict=True):
        known = ~np.isnan(attribute.values)
        x = np.zeros((int(known.sum()), axis.width))
        y = np.zeros_like(x)
        axis.place(attribute.values[known], x)
        axis.place(after[known], y)
        sse, sst = float(np.sum((x - y) ** 2)), float(np.sum(x**2))
        parts[axis.name] = 100.0 * sse / sst if sst > 0 else 0.0
        sse_all, sst_all = sse_all + attribute.weight * sse, sst_all + attribute.weight * sst
    return (100.0 * sse_all / sst_all if sst_all > 0 else 0.0), parts
