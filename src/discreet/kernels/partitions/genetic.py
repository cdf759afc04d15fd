"""The genetic algorithm of 2006: chromosomes of one gene per record, whose allele is the record's group.

A. Solanas, A. Martínez-Ballesté, J. M. Mateo-Sanz, J. Domingo-Ferrer, Multivariate microaggregation based genetic
algorithms, 3rd International IEEE Conference on Intelligent Systems (2006) 65-70. A generation costs little more than
one random number per gene: only what has changed is looked at again, and only what is a k-partition is evaluated.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Words
from discreet.kernels.jit import helper, kernel
from discreet.kernels.random import below, uniform

# A partition counts as better when it is so by more than the rounding of a sum that was added in another order.
BETTER = 1.0 - 1e-12

_CHANGED = -1.0  # in place of the SSE of a chromosome that has yet to be looked at


class State(NamedTuple):
    """What a run keeps from generation to generation."""

    genes: Ints  # the population and, in turn, the next one: 2 × chromosomes × records
    sse: Floats  # 2 × chromosomes; infinite where the chromosome is no k-partition
    best: Ints  # the best chromosome ever
    least: Floats  # its SSE, one number
    counts: Ints  # generations done; the generation that found the best
    random: Words


class Rates(NamedTuple):
    """What rules a generation."""

    crossover: float  # share of the pairs that cross
    mutation: float  # share of the genes that are drawn anew
    penalised: float  # fitness of a chromosome that is no k-partition
    elite: bool  # whether the best of a generation passes to the next unaltered


def populate(points: Floats, table: Floats, k: int, start: Ints, size: int, random: Words) -> State:
    """Make the first population.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    table : array of shape (n, n) or (0, 0)
        Their squared distances, or nothing: they are then computed whenever needed.
    k : int
        Least size of a group.
    start : array of n or 0 ints
        A partition with groups of k to 2k−1 to be one of the chromosomes, or nothing.
    size : int
        Number of chromosomes.
    random : array of 4 words
        State of the random numbers.
    """
    n = points.shape[0]
    state = State(
        genes=np.zeros((2, size, n), np.int64),
        sse=np.full((2, size), np.inf),
        best=np.zeros(n, np.int64),
        least=np.full(1, np.inf),
        counts=np.zeros(2, np.int64),
        random=random,
    )
    for i in range(size):
        draw(state.genes[0, i], k, random)
    if start.size:
        state.genes[0, 0] = start
    state.sse[0] = _CHANGED
    _evaluate_all(points, table, k, state)
    return state


@kernel
def draw(chromosome: Ints, k: int, random: Words) -> None:
    """Draw a chromosome by Algorithm I, then move records at random from groups above k to groups below k."""
    n = chromosome.size
    groups = n // k
    sizes = np.zeros(groups, np.int64)
    gene = 0
    while gene < n:
        group = below(random, groups)
        if sizes[group] < 2 * k - 1:
            chromosome[gene] = group
            sizes[group] += 1
            gene += 1
    # Groups only shrink to k and only grow to k, so a record that may not move when its turn comes never may.
    order = np.arange(n)
    poor = 0
    for i in range(n):
        while poor < groups and sizes[poor] >= k:
            poor += 1
        if poor == groups:
            return
        other = i + below(random, n - i)
        order[i], order[other] = order[other], order[i]
        group = chromosome[order[i]]
        if sizes[group] > k:
            chromosome[order[i]] = poor
            sizes[group] -= 1
            sizes[poor] += 1


@kernel
def breed(points: Floats, table: Floats, k: int, rates: Rates, generations: int, state: State) -> None:
    """Go through so many generations: select, cross, mutate, evaluate."""
    wheel = np.empty(state.sse.shape[1])
    for _ in range(generations):
        now = state.counts[0] % 2
        old, new = state.genes[now], state.genes[1 - now]
        select(old, state.sse[now], rates, wheel, new, state.sse[1 - now], state.random)
        # The chromosome that passes unaltered is in the first place.
        first = 1 if rates.elite else 0
        cross(new[first:], state.sse[1 - now, first:], rates.crossover, state.random)
        mutate(new[first:], state.sse[1 - now, first:], rates.mutation, points.shape[0] // k, state.random)
        state.counts[0] += 1
        _evaluate_all(points, table, k, state)


@helper
def select(old: Ints, old_sse: Floats, rates: Rates, wheel: Floats, new: Ints, new_sse: Floats, random: Words) -> None:
    """Draw the next population with probabilities in proportion to the fitness: the roulette wheel."""
    size = old.shape[0]
    total, fittest = 0.0, 0
    for i in range(size):
        total += 1.0 / (old_sse[i] + 1.0) if old_sse[i] < np.inf else rates.penalised
        wheel[i] = total
        if old_sse[i] < old_sse[fittest]:
            fittest = i
    for i in range(size):
        chosen = fittest
        if i > 0 or not rates.elite:
            ball = uniform(random) * total
            chosen, last = 0, size - 1
            while chosen < last:
                middle = (chosen + last) // 2
                if wheel[middle] > ball:
                    last = middle
                else:
                    chosen = middle + 1
        for j in range(old.shape[1]):
            new[i, j] = old[chosen, j]
        new_sse[i] = old_sse[chosen]


@helper
def cross(genes: Ints, sse: Floats, rate: float, random: Words) -> None:
    """Let neighbours exchange what follows a random point, as many pairs as the rate says; the draw has mixed them."""
    size, n = genes.shape
    for i in range(0, size - 1, 2):
        if uniform(random) < rate:
            for j in range(1 + below(random, n - 1), n):
                if genes[i, j] != genes[i + 1, j]:
                    genes[i, j], genes[i + 1, j] = genes[i + 1, j], genes[i, j]
                    sse[i] = sse[i + 1] = _CHANGED


@helper
def mutate(genes: Ints, sse: Floats, rate: float, groups: int, random: Words) -> None:
    """Draw genes anew, each with the probability of the rate."""
    if rate < 2.0**-53:  # no random number but 0 is below it
        return
    size, n = genes.shape
    scale = groups / rate * (1.0 - 2.0**-50)  # so that rounding cannot reach the number of groups
    for i in range(size):
        changed = False
        for j in range(n):
            chance = uniform(random)
            gene = genes[i, j]
            # Below the rate, chance is uniform again: it decides the allele as well. Arithmetic, as a branch is slower.
            step = (chance < rate) * (int(chance * scale) - gene)
            changed |= step != 0
            genes[i, j] = gene + step
        if changed:
            sse[i] = _CHANGED


@kernel
def _evaluate_all(points: Floats, table: Floats, k: int, state: State) -> None:
    """Evaluate what has changed, and keep the best."""
    now = state.counts[0] % 2
    groups = points.shape[0] // k
    members = np.empty((groups, 2 * k - 1), np.int64)
    sizes = np.empty(groups, np.int64)
    for i in range(state.sse.shape[1]):
        if state.sse[now, i] == _CHANGED:
            chromosome = state.genes[now, i]
            state.sse[now, i] = evaluate(points, table, k, chromosome, members, sizes)
            if state.sse[now, i] < state.least[0] * BETTER:
                state.least[0] = state.sse[now, i]
                state.best[:] = chromosome
                state.counts[1] = state.counts[0]


@helper
def evaluate(points: Floats, table: Floats, k: int, chromosome: Ints, members: Ints, sizes: Ints) -> float:
    """The SSE of a chromosome, from the distances within its groups; infinite if one is not of k to 2k−1 records.

    An allele that no gene has is no group: there are k-partitions, and best ones, with fewer groups than alleles.
    """
    for group in range(sizes.size):
        sizes[group] = 0
    for i in range(chromosome.size):
        group = chromosome[i]
        count = sizes[group]
        if count == 2 * k - 1:
            return np.inf
        members[group, count] = i
        sizes[group] = count + 1
    for group in range(sizes.size):
        if 0 < sizes[group] < k:
            return np.inf
    total = 0.0
    for group in range(sizes.size):
        size = sizes[group]
        within = 0.0
        if table.size:
            for a in range(1, size):
                for b in range(a):
                    within += table[members[group, a], members[group, b]]
        else:
            for a in range(1, size):
                for b in range(a):
                    within += apart(points, members[group, a], members[group, b])
        if size:
            total += within / size
    return total


@helper
def apart(points: Floats, a: int, b: int) -> float:
    """The squared distance of two records."""
    distance = 0.0
    for j in range(points.shape[1]):
        difference = points[a, j] - points[b, j]
        distance += difference * difference
    return distance


@kernel
def tabulate(points: Floats) -> Floats:
    """All squared distances."""
    n = points.shape[0]
    table = np.empty((n, n))
    for a in range(n):
        for b in range(n):
            table[a, b] = apart(points, a, b)
    return table
