"""The method `memetic`: islands on data of moderate size, blocks on large data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

import numpy as np

from discreet.errors import InputError, at_least, whole
from discreet.evolution.process import Process
from discreet.microdata.memetic.blocks import MOST_UNION_K, Blocks
from discreet.microdata.memetic.islands import IslandParameters, Islands, can_be_proven, compile_kernels
from discreet.microdata.memetic.mixed import MixedSearch
from discreet.microdata.memetic.promised import PromisedSearch
from discreet.microdata.method import Labels, Method, Points, Run
from discreet.microdata.methods.exhaustive import prove_promised
from discreet.microdata.promises import Constraints
from discreet.microdata.records import Records

# Data of many attributes counts as large if it has as many values as the largest moderate data of so many attributes.
MODERATE_WIDTH = 10
# Of so few records the best groups that keep more than their size are found by looking at everything, in 0.2 s.
FEW_RECORDS = 16


@dataclass(frozen=True)
class Memetic(IslandParameters, Method):
    """Evolutionary search with annealed local search: the default, and the best this package has.

    A few partitions, the islands, are annealed side by side: a step takes some 3 to 6 neighbouring groups, perturbs or
    rebuilds them, descends by moving and swapping records, and keeps the outcome by the rule of annealing, with a
    temperature relative to the cost of the groups at hand. The best partition inherits from each island whatever is
    better there (crossover by components, which needs no repair). At the end of a cycle regions of it are put together
    anew, by set partitioning, from all groups the islands have formed. The next, longer cycle starts from there. Beside
    later cycles, where the records are few enough for k, the search of `exact` goes on: it may prove the optimum.

    Large data is searched in blocks of neighbouring groups, in passes that draw other borders each time; a block never
    gets worse. The start is then `mdav` within blocks. Time and memory for a pass are linear in the number of records.
    So is data with categories, but by the loss of the means and modes that will be written; equal records come first,
    then records sorted by their columns and cut.

    Parameters
    ----------
    islands : int
        Partitions annealed side by side, at least 1; they are what several threads work on.
    heat : float
        The temperature at the start of a cycle, relative to the cost of a union; at least 0. The first cycle starts
        twice as hot.
    neighbours : int
        Neighbours of each record that are looked at, at least 1.
    regions : bool
        Whether regions are put together anew by set partitioning.
    effort : int
        Annealing steps of an epoch per group and island, at least 1; 5 take 5 to 50 ms up to some thousand records.
    cycle : int
        Epochs of the first cycle, at least 1.
    growth : float
        How much longer each cycle is than the one before, at least 1.
    patience : int
        Cycles without a better partition that end the search, at least 1; a proof under way is completed first.
    proofs : int
        Steps of the exact search in a later cycle, at least 0; 0 for no proof.
    large : int
        Data of more records than this is searched in blocks, at least 1; data of more than 10 attributes earlier, by
        its number of values.
    block : int
        Groups in a block of large data, at least 1: much of what can be gained lies across borders, and a block should
        fit into the cache.

    References
    ----------
    E. Falkenauer, Genetic algorithms and grouping problems, Wiley (1998); G. Schrimpf, J. Schneider, H.
    Stamm-Wilbrandt, G. Dueck, Record breaking optimization results using the ruin and recreate principle, Journal of
    Computational Physics 159 (2000) 139-171; D. Whitley, D. Hains, A. Howe, Tunneling between optima: partition
    crossover for the traveling salesman problem, GECCO (2009) 915-922. The combination is our own.
    """

    large: int = 20_000
    block: int = 2_000

    def __post_init__(self) -> None:
        for name in ("islands", "neighbours", "effort", "cycle", "patience", "large", "block"):
            whole(name, getattr(self, name), 1)
        whole("proofs", self.proofs, 0)
        at_least("heat", self.heat, 0.0)
        at_least("growth", self.growth, 1.0)
        if not isinstance(self.regions, bool):
            raise InputError(f"regions is {self.regions!r}; it must be True or False")

    def _in_blocks(self, records: int, width: int, k: int) -> bool:
        """Whether the data is large: by its records, by all its values, or by groups too large for unions."""
        return records > self.large or records * width > MODERATE_WIDTH * self.large or k > MOST_UNION_K

    def search(self, points: Points, k: int, run: Run) -> Process[Labels]:
        """Begin the search."""
        if self._in_blocks(len(points), points.shape[1], k):
            return self._blocks(points, k, run)
        return self._islands(points, k, run)

    def search_records(self, records: Records, k: int, run: Run) -> Process[Labels]:
        """Begin the search on records with categories, by the loss of means and modes."""
        return self._mixed(records, k, run)

    def search_promised(self, records: Records, constraints: Constraints, run: Run) -> Process[Labels]:
        """Begin the search for groups that keep more than their size; of a few records it is done by a proof."""
        if len(records) <= FEW_RECORDS:
            return prove_promised(records, constraints)
        return self._promised(records, constraints, run)

    def _promised(self, records: Records, constraints: Constraints, run: Run) -> PromisedSearch:
        return PromisedSearch(
            records,
            constraints,
            run,
            heat=self.heat,
            islands=self.islands,
            cycle=self.cycle,
            growth=self.growth,
            patience=self.patience,
        )

    def _mixed(self, records: Records, k: int, run: Run) -> MixedSearch:
        # A pass is shorter than a cycle.
        return MixedSearch(
            records.mixed, k, run, heat=self.heat, groups=self.block, growth=self.growth, patience=2 * self.patience
        )

    def _blocks(self, points: Points, k: int, run: Run) -> Blocks:
        return Blocks(points, k, run, heat=self.heat, groups=self.block)

    def _islands(self, points: Points, k: int, run: Run) -> Islands:
        return Islands(points, k, run, self)

    def rehearse(self, points: Points, k: int, sizes: Collection[int]) -> None:
        """Do on a few points all that a search of parts of these sizes does, so that it is compiled."""
        points, width = points[:50], points.shape[1]
        in_blocks = [self._in_blocks(size, width, 2) for size in sizes]
        # A larger k takes longer and compiles nothing else.
        if any(in_blocks):
            # The first partition, and passes with and without heat.
            for _ in islice(self._blocks(points, 2, Run()).epochs(), 4):
                pass
        if not all(in_blocks):
            prove = any(can_be_proven(size, k) for size in sizes)
            compile_kernels(points, 2, prove)
            self._islands(points, 2, Run()).rehearse()

    def rehearse_promised(self, records: Records, constraints: Constraints) -> None:
        """The same on a few records whose groups must keep more than their size."""
        for _ in islice(self._promised(records, constraints, Run()).epochs(), 2):
            pass

    def rehearse_records(self, records: Records, k: int, sizes: Collection[int]) -> None:
        """The same on a few records with categories."""
        # The first partition, the orders, and passes with and without heat.
        for _ in islice(self._mixed(records.take(np.arange(min(50, len(records)))), 2, Run()).epochs(), 8):
            pass
