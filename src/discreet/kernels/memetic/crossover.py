"""Crossover of two partitions: wherever they can be told apart, the better one is inherited.

Two groups, one of each parent, are connected if they share a record. The records of a connected component are covered
exactly by groups of either parent, so each component can be taken from the parent that is better there, without any
repair: the child has only groups of its parents and costs no more than either of them.
"""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper, kernel

# Part of a component's cost that rounding may seem to gain.
NOTHING = 1e-11


@kernel
def cross(mother: Ints, mother_costs: Floats, father: Ints, father_costs: Floats) -> tuple[Ints, int]:
    """Take each component from the parent that is better there, from the mother where they are equal.

    Parameters
    ----------
    mother, father : arrays of n ints
        The group of each record in either parent.
    mother_costs, father_costs : arrays
        The cost of each group; a group without records costs 0.

    Returns
    -------
    labels : array of n ints
        The child, its groups numbered 0, 1, … in order of their first records.
    won : int
        The number of components that come from the father.
    """
    n, groups = mother.size, mother_costs.size
    parent = np.arange(groups + father_costs.size)
    for i in range(n):
        a, b = _root(parent, mother[i]), _root(parent, groups + father[i])
        if a != b:
            parent[max(a, b)] = min(a, b)
    gain = np.zeros(parent.size)
    cost = np.zeros(parent.size)
    for group in range(groups):
        gain[_root(parent, group)] += mother_costs[group]
        cost[_root(parent, group)] += mother_costs[group]
    for group in range(father_costs.size):
        gain[_root(parent, groups + group)] -= father_costs[group]
    won = 0
    for node in range(parent.size):
        won += parent[node] == node and gain[node] > NOTHING * cost[node]
    number = np.full(parent.size, -1)
    labels = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        root = _root(parent, mother[i])
        group = groups + father[i] if gain[root] > NOTHING * cost[root] else mother[i]
        if number[group] < 0:
            number[group] = count
            count += 1
        labels[i] = number[group]
    return labels, won


@helper
def _root(parent: Ints, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
