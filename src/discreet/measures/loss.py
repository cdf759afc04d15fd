"""Information loss between original and released values (SPEC §2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.data.attributes import Values
    from discreet.data.embedding import Embedding


def information_loss(
    embedding: Embedding, original: Sequence[Values], released: Sequence[Values]
) -> tuple[float, dict[str, float]]:
    """`il` = 100·SSE/SST in the original's embedding: in total, and per attribute.

    A value that was missing in the original takes no part. A value that is missing in the release only stands at its
    attribute's mean: all that it told is lost.

    Parameters
    ----------
    embedding : Embedding
        Fixed by the original.
    original, released : sequences of arrays
        Values of each attribute.
    """
    import numpy as np

    sse_all, sst_all = 0.0, 0.0
    parts: dict[str, float] = {}
    for axis, before, after in zip(embedding.axes, original, released, strict=True):
        known = ~np.isnan(before)
        x = np.zeros((int(known.sum()), axis.width))
        y = np.zeros_like(x)
        axis.place(before[known], x)
        axis.place(after[known], y)
        sse, sst = float(np.sum((x - y) ** 2)), float(np.sum(x**2))
        parts[axis.name] = 100.0 * sse / sst if sst > 0 else 0.0
        sse_all, sst_all = sse_all + sse, sst_all + sst
    return (100.0 * sse_all / sst_all if sst_all > 0 else 0.0), parts
