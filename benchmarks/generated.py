"""The loss of `memetic` relative to other methods on data of several shapes."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
import polars as pl
from benchmarks.common import clocked, standardised, warm_up

import discreet
from discreet.data.attributes import Attribute
from discreet.data.embedding import embed
from discreet.kernels.arrays import Floats

SIZES = (200, 1_000, 5_000)
WIDTHS = (2, 5, 12)
KS = (3, 5, 10)
RIVALS: dict[str, tuple[str, dict[str, object]]] = {
    "mdav": ("mdav", {}),
    "vmdav": ("vmdav", {"gamma": "auto"}),
    "tour": ("tour", {"order": "mdav"}),
    "two-step": ("two-step", {}),
}


def normal(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Independent normal attributes."""
    return standardised(rng.normal(size=(n, d)))


def clustered(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Clusters of some 25 records, a twentieth as wide as all of them together."""
    centres = rng.normal(size=(n // 25, d))
    return standardised(centres[rng.integers(len(centres), size=n)] + 0.05 * rng.normal(size=(n, d)))


def skewed(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Lognormal attributes, as of enterprises."""
    return standardised(rng.lognormal(size=(n, d)))


def mixed(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Half of the attributes nominal, with 2 to 6 categories of unequal frequency, embedded as `protect` does it."""
    attributes = []
    for j in range(d):
        if j % 2 == 0:
            attributes.append(Attribute(f"number {j}", "numeric", rng.normal(size=n), pl.Float64()))
            continue
        count = int(rng.integers(2, 7))
        codes = rng.choice(count, size=n, p=rng.dirichlet(np.full(count, 5.0))).astype(np.float64)
        names = pl.Series([f"category {c}" for c in range(count)])
        attributes.append(Attribute(f"nominal {j}", "nominal", codes, pl.String(), names))
    return embed(attributes)[0].points([attribute.values for attribute in attributes])


SHAPES: dict[str, Callable[[int, int, np.random.Generator], Floats]] = {
    "normal": normal,
    "clustered": clustered,
    "skewed": skewed,
    "mixed": mixed,
}


def report(times: Sequence[float], seeds: int) -> None:
    """Print the ratios of each case and the medians of each shape; `two-step` gets as much time as `memetic`."""
    warm_up()
    for seconds in times:
        print(
            f"generated: IL of memetic (time={seconds:g}, threads=1) and its ratio to the IL of others, medians over "
            f"{seeds} seed{'s' * (seeds > 1)}"
        )
        print("tour is order=mdav, vmdav gamma=auto; a ratio above 1 is marked with *")
        print(
            f"{'data':<11}{'n':>6}{'d':>4}{'k':>4}{'IL %':>10}"
            + "".join(f"{name:>10}" for name in RIVALS)
            + f"{'CPU s':>9}{'wall s':>8}"
        )
        summary: dict[tuple[str, str], list[float]] = defaultdict(list)
        for shape in SHAPES:
            for n, d, k in ((n, d, k) for n in SIZES for d in WIDTHS for k in KS):
                results = [_compared(shape, n, d, k, seed, seconds) for seed in range(seeds)]
                middle = {name: median(result[name] for result in results) for name in results[0]}
                for name in RIVALS:
                    summary[shape, name] += [result[name] for result in results]
                print(
                    f"{shape:<11}{n:>6}{d:>4}{k:>4}{middle['il']:>10.4f}"
                    + "".join(f"{middle[name]:>9.4f}{'*' if middle[name] > 1 else ' '}" for name in RIVALS)
                    + f"{middle['cpu']:>9.2f}{middle['wall']:>8.2f}",
                    flush=True,
                )
        print(f"\n{'all of':<25}" + "".join(f"{name:>20}" for name in RIVALS) + "   median (largest) ratio")
        for shape in SHAPES:
            ratios = [summary[shape, name] for name in RIVALS]
            print(f"{shape:<25}" + "".join(f"{f'{median(all_):.4f} ({max(all_):.4f})':>20}" for all_ in ratios))
        worse = sum(ratio > 1 for ratios in summary.values() for ratio in ratios)
        print(f"memetic is worse than another method in {worse} of {sum(map(len, summary.values()))} comparisons\n")


def _compared(shape: str, n: int, d: int, k: int, seed: int, seconds: float) -> dict[str, float]:
    """Run all methods on one data set: IL and time of memetic, and the ratios."""
    points = SHAPES[shape](n, d, np.random.default_rng((seed, n, d)))
    with clocked() as spent:
        found = discreet.partition(points, k=k, method="memetic", time=seconds, seed=seed, threads=1)
    result = {"il": found.il, "cpu": spent.cpu, "wall": found.search["seconds"]}
    for name, (method, params) in RIVALS.items():
        rival = discreet.partition(points, k=k, method=method, params=params, time=seconds, seed=seed, threads=1)
        result[name] = found.il / rival.il
    return result
