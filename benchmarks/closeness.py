"""Groups that keep t-closeness: the loss against the published ways, and the time of large data.

`python -m benchmarks.closeness` takes Census with the quasi-identifiers TAXINC, POTHVAL, INTVAL and EMCONTRB and the
confidential FICA, moderately correlated with them, or FEDTAX, highly, and sets the default beside the three methods of
Soria-Comas, Domingo-Ferrer, Sánchez and Martínez (2015) for each k and t. The bars: below the best of them in every
cell, and by 15 % in the median. `--speed` sets the time of the search with l, with t and with both beside that without,
in two ways: of a step, which `--steps` counts, of this search and of the one without promises; and of as many changes
tried by one and the same kernel, which has nothing to keep or has them. The bar is 2.5 times. `--large` groups
generated records with promises of l and t, as many as are said and ten times as many, and sets the times per record
side by side.
"""

import argparse
import os
import statistics
from itertools import islice, product
from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.common import ROOT, clocked, standardised, verdict

from discreet.kernels.partitions.groups import total_sse
from discreet.kernels.promised.constraints import DISTINCT, ORDERED
from discreet.kernels.random import seeded
from discreet.kernels.space.lists import neighbour_lists
from discreet.methods import make
from discreet.microdata.memetic.promised import NEIGHBOURS, UNION_RECORDS, Chain, construct
from discreet.microdata.method import Run, begin_records
from discreet.microdata.promises import Constraint, Constraints
from discreet.microdata.records import Records, records_at

QUASI = ["TAXINC", "POTHVAL", "INTVAL", "EMCONTRB"]
CONFIDENTIAL = ("FICA", "FEDTAX")
KS = (2, 5, 10, 15, 20, 25, 30)
TS = (0.01, 0.05, 0.09, 0.13, 0.17, 0.21, 0.25)
BASELINES = ("t-merging", "k-first", "t-first")
MEDIAN_GAIN = 15.0
MOST_TIMES = 2.5


# Kind, limit and values of a column.
Column = tuple[int, float, np.ndarray]


def constrain(k: int, *columns: Column, size: int | None = None) -> Constraints:
    """Constraints on records of different persons: kind, limit and values of each column."""
    n = len(columns[0][2]) if size is None else size
    made = []
    for kind, limit, values in columns:
        codes = np.unique(values, return_inverse=True)[1].astype(np.int64)
        made.append(Constraint("column", kind, limit, codes, np.bincount(codes) / n))
    return Constraints(k, np.arange(n), np.ones(n), tuple(made))


def loss(name: str, records: Records, constraints: Constraints, epochs: int, seed: int = 0) -> float:
    """The IL of a method, in percent; a search takes so many epochs."""
    process = begin_records(make(name, {}), records, constraints.k, Run(seed, constraints=constraints))
    for _ in islice(process.epochs(), epochs):
        pass
    labels = process.answer()
    assert constraints.keep(labels)
    return 100.0 * records.sse(labels) / total_sse(records.numbers)


def read_census() -> tuple[pl.DataFrame, Records] | None:
    """Census, and its records as points; nothing where the reference data is not here."""
    folder = Path(os.environ.get("DISCREET_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
    path = folder / "microdata" / "census.csv"
    if not path.exists():
        print(f"skipped: the reference data is not here, no {path.name}")
        return None
    census = pl.read_csv(path)
    return census, records_at(standardised(census.select(QUASI).to_numpy().astype(np.float64)))


def time_steps(rounds: int = 15) -> None:
    """Print the times with promises as multiples of the time without, the least of some rounds in turns."""
    read = read_census()
    if read is None:
        return
    census, records = read
    n, worst = len(records), 0.0
    tax = census["FEDTAX"].to_numpy()
    fifths = np.digitize(tax, np.quantile(tax, [0.2, 0.4, 0.6, 0.8]))
    near = neighbour_lists(records.points(), NEIGHBOURS)
    print("k   promised      step   of one without   change tried   of one without")
    for k, t in product((3, 5, 10), (0.15, 0.25)):
        diverse, close = (DISTINCT, 2, fifths), (ORDERED, t, tax)
        asked: dict[str, list[Column]] = {"nothing": [], "l": [diverse], "t": [close], "l and t": [diverse, close]}
        promises = {name: constrain(k, *columns, size=n) for name, columns in asked.items()}
        searches, chains, heats = {}, {}, {}
        for name, own in promises.items():
            kept = own if name != "nothing" else None
            searches[name] = begin_records(make("memetic", {}), records, k, Run(constraints=kept)).epochs()
            labels = construct(records, own, 1)
            chains[name] = Chain(records, own, near, labels, seeded(1, 1))
            heats[name] = 0.03 * UNION_RECORDS * records.loss(labels) / n
            next(searches[name])
            chains[name].anneal(heats[name], 20)
        steps, changes = dict.fromkeys(asked, np.inf), dict.fromkeys(asked, np.inf)
        for _, name in product(range(rounds), asked):
            with clocked() as spent:
                next(searches[name])
            steps[name] = min(steps[name], spent.cpu)
            with clocked() as spent:
                chains[name].anneal(heats[name], 7)
            changes[name] = min(changes[name], spent.cpu / (7 * n))
        for name in asked:
            ratios = steps[name] / steps["nothing"], changes[name] / changes["nothing"]
            worst = max(worst, *ratios)
            print(
                f"{k:2}  {name + (f', t {t}' if 't' in name.split() else ''):15} {1e3 * steps[name]:5.1f} ms  "
                f"{ratios[0]:5.2f}  {1e9 * changes[name]:12.0f} ns  {ratios[1]:8.2f}",
                flush=True,
            )
    print(f"at most {worst:.2f} times (bar {MOST_TIMES}), {verdict(worst, MOST_TIMES)}")


def compare(ks: tuple[int, ...], ts: tuple[float, ...], epochs: int) -> None:
    """Print the table and the verdicts."""
    read = read_census()
    if read is None:
        return
    census, records = read
    gains = []
    print("column  k   t      t-merging  k-first  t-first  memetic  below  CPU s")
    for column, k, t in product(CONFIDENTIAL, ks, ts):
        own = constrain(k, (ORDERED, t, census[column].to_numpy()))
        rivals = [loss(name, records, own, 0) for name in BASELINES]
        with clocked() as spent:
            found = loss("memetic", records, own, epochs)
        gains.append(100.0 * (1.0 - found / min(rivals)))
        told = "  ".join(f"{rival:7.2f}" for rival in rivals)
        print(f"{column:6}  {k:2}  {t:.2f}  {told}  {found:7.2f}  {gains[-1]:4.1f}%  {spent.cpu:5.1f}", flush=True)
    print(f"least below the best of the three: {min(gains):.1f} %, {verdict(-min(gains), 0.0)}")
    median = statistics.median(gains)
    print(f"median below: {median:.1f} % (bar {MEDIAN_GAIN} %), {verdict(-median, -MEDIAN_GAIN)}")


def scale(size: int) -> None:
    """Group records in blocks, with l and t; the first partition and two passes."""
    for n in (size, 10 * size):
        rng = np.random.default_rng(0)
        points = rng.normal(size=(n, 4))
        income = points[:, 0] + rng.normal(size=n)
        own = constrain(5, (ORDERED, 0.1, income), (DISTINCT, 3, rng.integers(0, 20, n)))
        records = records_at(points)
        process = begin_records(make("memetic", {}), records, 5, Run(constraints=own, threads=2))
        with clocked() as first:
            next(process.epochs())
        begun = process.cost
        with clocked() as epoch:
            next(process.epochs())
        assert own.keep(process.answer())
        share = min(n, 20_000) / n
        print(
            f"{n:10,} records: first partition {first.cpu:6.1f} CPU s, {1e6 * first.cpu / n:5.1f} µs a record, IL "
            f"{100 * begun / total_sse(points):.3f} %; a pass about {epoch.cpu / share:6.1f} CPU s",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--quick", action="store_true", help="a few cells only")
    parser.add_argument("--speed", action="store_true", help="the time with promises beside that without")
    parser.add_argument("--large", type=int, help="records of the smaller of two large sets")
    given = parser.parse_args()
    if given.large:
        scale(given.large)
    elif given.speed:
        time_steps()
    else:
        compare(KS[::3] if given.quick else KS, TS[::3] if given.quick else TS, given.epochs)
