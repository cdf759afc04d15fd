"""Constraints to draw, and what groups are held against: as the definitions say, apart from the kernels."""

import math

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.stats import wasserstein_distance

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.promised.constraints import DISTINCT, ENTROPY, EQUAL, ORDERED
from discreet.microdata.promises import Constraint, Constraints


def constraint(name: str, kind: int, limit: float, values: Ints | Floats, votes: Floats) -> Constraint:
    """A constraint on a column of which these are all records."""
    codes = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return Constraint(name, kind, limit, codes, np.bincount(codes, votes) / votes.sum())


def constrain(k: int, persons: Ints, *columns: tuple[int, float, Ints | Floats]) -> Constraints:
    """Constraints given the persons of records, and the kind, limit and values of columns."""
    persons = np.unique(persons, return_inverse=True)[1].astype(np.int64)
    votes = 1.0 / np.bincount(persons)[persons]
    made = tuple(constraint(f"c{at}", *column, votes) for at, column in enumerate(columns))
    return Constraints(k, persons, votes, made)


def plain_measure(own: Constraints, column: Constraint, members: Ints) -> float:
    """What a column comes to in a group."""
    codes, votes = column.codes[members], own.votes[members]
    if column.kind == DISTINCT:
        edges = csr_matrix((np.ones(len(members)), (codes, own.persons[members])))
        return float((maximum_bipartite_matching(edges) >= 0).sum())
    shares = np.bincount(codes, votes, minlength=len(column.shares)) / votes.sum()
    if column.kind == ENTROPY:
        seen = shares[shares > 0]
        return float(-(seen * np.log(seen)).sum())
    if column.kind == EQUAL:
        return float(np.abs(shares - column.shares).sum() / 2)
    values = np.arange(len(shares))
    return float(wasserstein_distance(values, values, shares, column.shares) / max(1, len(shares) - 1))


def plain_keep(own: Constraints, labels: Ints, slack: float = 1e-9) -> bool:
    """Whether every group keeps everything."""
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if len(np.unique(own.persons[members])) < own.k:
            return False
        for column in own.columns:
            found = plain_measure(own, column, members)
            if found > column.limit + slack if column.kind >= ORDERED else found < column.limit - slack:
                return False
    return True


@st.composite
def constraints(draw: st.DrawFn, n: int, k: int) -> Constraints:
    """Constraints that all records together keep: ties, few values or many, persons with several records or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    several = draw(st.booleans())
    persons = rng.integers(0, max(k, n - n // 4), n) if several else np.arange(n)
    persons[:k] = n + np.arange(k)
    columns = []
    for _ in range(draw(st.integers(0 if several else 1, 2))):
        kind = draw(st.sampled_from((DISTINCT, ENTROPY, ORDERED, EQUAL)))
        values = rng.integers(0, draw(st.sampled_from((2, 3, 7, 1000))), n)
        limit = draw(st.sampled_from((0.05, 0.15, 0.3, 0.5)))
        if kind < ORDERED:
            votes = 1.0 / np.bincount(persons)[persons]
            whole = constraint("c", kind, math.inf, values, votes)
            most = plain_measure(Constraints(k, persons, votes), whole, np.arange(n))
            limit = math.floor(min(most, 4)) if kind == DISTINCT else min(most * 0.9, math.log(3))
        columns.append((kind, limit, values))
    return constrain(k, persons, *columns)
