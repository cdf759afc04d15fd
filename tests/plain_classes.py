"""What each class of a release has of a confidential column, by pandas, scipy and networkx, from the definitions."""

import math

import networkx
import numpy as np
import pandas as pd
from scipy.stats import entropy, wasserstein_distance


def look_at_classes(frame: pd.DataFrame, keys: list[str], column: str, person: str | None = None) -> pd.DataFrame:
    """For each class its size (records, or persons), different values, exp(entropy) and distance to all records.

    A column of numbers has an order, and its missing value stands below the lowest.
    """
    numbers = pd.api.types.is_numeric_dtype(frame[column])
    held = frame[column].fillna(-math.inf) if numbers else frame[column].astype(object).fillna("missing")
    frame = frame.assign(held=held, vote=1.0)
    if person is not None:
        frame["vote"] = 1.0 / frame.groupby(person)[person].transform("size")
    values = sorted(frame["held"].unique())
    rows = []
    for _, part in frame.groupby(keys, dropna=False):
        p, q = ([one.loc[one["held"] == value, "vote"].sum() for value in values] for one in (part, frame))
        shares, all_shares = np.divide(p, np.sum(p)), np.divide(q, np.sum(q))
        ranks = range(len(values))
        if numbers:
            distance = wasserstein_distance(ranks, ranks, shares, all_shares) / max(len(values) - 1, 1)
        else:
            distance = float(np.abs(shares - all_shares).sum() / 2)
        rows.append(
            {
                "size": len(part) if person is None else part[person].nunique(),
                "records": len(part),
                "l": part["held"].nunique() if person is None else _match(part, person),
                "entropy": math.exp(entropy(shares)),
                "t": distance,
            }
        )
    return pd.DataFrame(rows)


def _match(part: pd.DataFrame, person: str) -> int:
    """The most persons of whom each has a value that none of the others stands for."""
    edges = {(("person", who), ("value", value)) for who, value in zip(part[person], part["held"], strict=True)}
    return len(networkx.bipartite.hopcroft_karp_matching(networkx.Graph(edges), {one for one, _ in edges})) // 2
