"""The method `genetic`: the genetic algorithm of 2006."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError, between, whole
from discreet.evolution.checks import floats, integers, words
from discreet.evolution.process import Process, Search, State
from discreet.kernels.partitions.genetic import Rates, breed, populate, tabulate
from discreet.kernels.partitions.groups import total_sse
from discreet.kernels.random import seeded
from discreet.microdata.method import Labels, Method, Points, Run, renumber, split_large

# Genes handled in an epoch: some 5 to 15 ms.
EPOCH_GENES = 1_000_000
# Up to so many records all their distances are kept in a table.
MOST_TABLE_RECORDS = 1500


@dataclass(frozen=True)
class Genetic(Method):
    """The genetic algorithm of 2006, for small data: up to some 50 records it beats `mdav` by far.

    A chromosome has a gene per record, whose allele is the group of the record; there are ⌊n/k⌋ alleles, as many as
    there can be groups. The first chromosomes are drawn by Algorithm I of the paper, and records are then moved at
    random from groups above k to groups below k. The fitness is 1/(SSE+1). Where a group does not have k to 2k−1
    records, the chromosome is penalised and not evaluated; an allele that no record has is no group and does no harm.
    The roulette wheel selects the next generation, neighbours in it cross at one point, and every gene mutates with the
    same probability, to an allele drawn at random. The answer is the best chromosome ever.

    The paper does not say that the best chromosome of a generation passes to the next unaltered, but only then does the
    mutation of every gene show what its tables and figures do: on uniform data of 20, 35 and 50 records SSE far below
    that of `mdav`, on 100 records about 15 at best and 20 on average after 100,000 generations, and the best mutation
    rate near 0.1. Otherwise the search is lost from 35 records on.

    Parameters
    ----------
    population : int
        Number of chromosomes, at least 2.
    crossover : float
        Share of the pairs that cross, from 0 to 1.
    mutation : float
        Probability that a gene mutates, from 0 to 1.
    generations : int
        Number of generations, at least 1. The paper has 10,000, and 100,000 for 50 records.
    penalty : float
        Fitness of a chromosome that is no k-partition, as a share of the fitness of all records in one group, from
        1e-9 to 1. The paper leaves it open; up to 0.01 the results hardly depend on it.
    elite : bool
        Whether the best chromosome of a generation passes to the next unaltered.

    References
    ----------
    A. Solanas, A. Martínez-Ballesté, J. M. Mateo-Sanz, J. Domingo-Ferrer, Multivariate microaggregation based genetic
    algorithms, 3rd International IEEE Conference on Intelligent Systems (2006) 65-70.
    """

    population: int = 100
    crossover: float = 0.3
    mutation: float = 0.1
    generations: int = 10_000
    penalty: float = 1e-3
    elite: bool = True

    def __post_init__(self) -> None:
        whole("population", self.population, 2)
        whole("generations", self.generations, 1)
        between("crossover", self.crossover, 0.0, 1.0)
        between("mutation", self.mutation, 0.0, 1.0)
        between("penalty", self.penalty, 1e-9, 1.0)
        if not isinstance(self.elite, bool):
            raise InputError(f"elite is {self.elite!r}; it must be True or False")

    def search(self, points: Points, k: int, run: Run) -> Process[Labels]:
        """Begin the search for a partition."""
        return Population(self, points, k, run)


class Population(Search[Labels]):
    """The algorithm under way; an epoch is a number of generations.

    Parameters
    ----------
    method : Genetic
        The parameters.
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group.
    run : Run
        The seed; and a partition to start from, which becomes one of the chromosomes.
    """

    def __init__(self, method: Genetic, points: Points, k: int, run: Run) -> None:
        self._points, self._k, self._generations = points, k, method.generations
        self._table = tabulate(points) if len(points) <= MOST_TABLE_RECORDS else np.empty((0, 0))
        penalised = method.penalty / (total_sse(points) + 1.0)
        self._rates = Rates(float(method.crossover), float(method.mutation), penalised, method.elite)
        start = np.empty(0, np.int64) if run.start is None else split_large(run.start, k)
        self._population = populate(points, self._table, k, start, method.population, seeded(run.seed, 0))

    @property
    def cost(self) -> float:
        """SSE of the best chromosome so far."""
        return float(self._population.least[0])

    @property
    def done(self) -> int:
        """Generations done."""
        return int(self._population.counts[0])

    @property
    def converged(self) -> int:
        """The generation that found the best chromosome; 0 is the first population."""
        return int(self._population.counts[1])

    @property
    def finished(self) -> bool:
        """Whether all generations are done."""
        return self.done >= self._generations

    def _epochs(self) -> Iterator[None]:
        """Breed some generations an epoch; how many depends on the size of the problem alone."""
        epoch = max(1, EPOCH_GENES // self._population.genes[0].size)
        while not self.finished:
            generations = min(epoch, self._generations - self.done)
            breed(self._points, self._table, self._k, self._rates, generations, self._population)
            yield

    def answer(self) -> Labels:
        """The groups of the best chromosome; alleles that it does not use are left out."""
        return renumber(self._population.best)

    def _state(self) -> State:
        """The population, the best chromosome and the random state."""
        return dict(self._population._asdict())

    def _restore(self, state: State) -> None:
        kept, groups = self._population, len(self._points) // self._k
        kept.genes[...] = integers("genes", state["genes"], kept.genes.shape, 0, groups - 1)
        kept.best[...] = integers("best", state["best"], kept.best.shape, 0, groups - 1)
        kept.counts[...] = integers("counts", state["counts"], kept.counts.shape, 0, self._generations)
        kept.sse[...] = floats("sse", state["sse"], kept.sse.shape, infinite=True)
        kept.least[...] = floats("least", state["least"], kept.least.shape, infinite=True)
        kept.random[...] = words("random", state["random"], kept.random)
