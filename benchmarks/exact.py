"""How soon `exact` proves an optimum on normal data."""

import numpy as np
from benchmarks.common import clocked, warm_up

import discreet
from discreet.methods import names

K = 3
CASES = [(n, d) for n in (100, 150, 200) for d in (2, 3, 4, 5)]
# CPU seconds within which the optimum of so many records is to be proven.
BARS = {100: 3.0}
LIMIT = 60.0
WARM_UP = 5.0
# A gap in percent that is rounding.
ROUNDING = 1e-6


def report(seeds: int) -> None:
    """Print the table."""
    print(f"exact: normal data, k = {K}, time={LIMIT:g}, threads=1; over: IL of memetic (time=1) above it, in percent")
    if "exact" not in names():
        print("skipped: there is no method 'exact'")
        return
    print(
        f"{'n':>5}{'d':>4}{'seed':>6}{'IL %':>10}{'gap %':>9}  {'':<10}{'CPU s':>8}{'wall s':>8}{'bar':>6}  {'':<8}over"
    )
    warm_up()
    for n, d in CASES:
        for seed in range(seeds):
            points = np.random.default_rng((seed, n, d)).normal(size=(n, d))
            # Which kernels are needed depends on the data, so the case itself is what loads or compiles them.
            discreet.partition(points, k=K, method="exact", time=WARM_UP, threads=1)
            with clocked() as spent:
                found = discreet.partition(points, k=K, method="exact", time=LIMIT, threads=1)
            rival = discreet.partition(points, k=K, method="memetic", time=1, seed=seed, threads=1)
            gap = found.bound["gap"] if found.bound else float("nan")
            proven, bar = gap <= ROUNDING, BARS.get(n)
            judged = "" if bar is None else "met" if proven and spent.cpu <= bar else "missed"
            print(
                f"{n:>5}{d:>4}{seed:>6}{found.il:>10.4f}{gap:>9.4f}  {'proven' if proven else 'not proven':<10}"
                f"{spent.cpu:>8.2f}{spent.wall:>8.2f}{bar or '':>6}  {judged:<8}{100 * (rival.il / found.il - 1):.4f}",
                flush=True,
            )
