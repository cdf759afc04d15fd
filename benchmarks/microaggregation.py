"""Quality and speed of microaggregation: `python -m benchmarks.microaggregation`.

Parts: `quality` (memetic on the reference data against bars), `near` (how soon it is near the best known), `epochs`
(the longest of them), `generated` (memetic against other methods on generated data), `scale` (time, memory and loss on
large data), `exact` (proofs of optimality) and `genetic` (the papers' genetic algorithm and two-step method). A bar
that is not reached is printed as missed. Compiling is in none of the times; CPU seconds are those of all threads.
Without arguments everything is run but the longest: `near`, `epochs` and `--n 10000000` have to be asked for.
"""

import argparse

from benchmarks import exact, generated, genetic, quality, scale

PARTS = ("quality", "generated", "scale", "exact", "genetic")
LONG_PARTS = ("near", "epochs")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="+", choices=PARTS + LONG_PARTS, default=PARTS, help="the parts to run")
    parser.add_argument(
        "--time", nargs="+", type=float, help="seconds of search in quality (1 10 by default) and generated (1)"
    )
    parser.add_argument(
        "--n", nargs="+", type=int, default=[10_000, 100_000, 1_000_000], help="numbers of records in scale"
    )
    parser.add_argument("--seeds", type=int, default=1, help="runs of each case in quality, generated and exact")
    chosen = parser.parse_args()
    reports = {
        "quality": lambda: quality.report(chosen.time or [1.0, 10.0], chosen.seeds),
        "near": lambda: quality.report_near(chosen.seeds),
        "epochs": quality.report_epochs,
        "generated": lambda: generated.report(chosen.time or [1.0], chosen.seeds),
        "scale": lambda: scale.report(sorted(chosen.n)),
        "exact": lambda: exact.report(chosen.seeds),
        "genetic": genetic.report,
    }
    for part in chosen.part:
        reports[part]()
        print(flush=True)


if __name__ == "__main__":
    main()
