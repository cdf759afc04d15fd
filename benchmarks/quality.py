"""The loss that `memetic` reaches on the reference data in a given time, against bars and the best figures known."""

from collections.abc import Sequence

from benchmarks.common import clocked, reference, verdict, warm_up

import discreet

KS = (3, 4, 5, 10)
# The bars are targets: IL in percent to reach in so many seconds on one core, for k = 3, 4, 5, 10. The best figures
# known are those of long trials; the best of the tables published to 2013 are 2 to 15 % above them.
BARS = {
    1.0: {
        "tarragona": (14.70, 17.40, 20.45, 30.30),
        "census": (4.95, 6.45, 7.60, 11.75),
        "eia": (0.3520, 0.4860, 0.7420, 1.960),
    },
    10.0: {
        "tarragona": (14.55, 17.13, 20.20, 30.15),
        "census": (4.73, 6.09, 7.33, 11.44),
        "eia": (0.3492, 0.4835, 0.7310, 1.936),
    },
    # Two threads for 120 s, at most 0.1 % above the best known.
    240.0: {
        "tarragona": (14.4819, 17.0983, 20.1747, 30.1476),
        "census": (4.6726, 6.0382, 7.2500, 11.3817),
        "eia": (0.3492, 0.4835, 0.7301, 1.9336),
    },
}
BEST = {
    "tarragona": (14.4674, 17.0812, 20.1545, 30.1175),
    "census": (4.66794, 6.0291, 7.2428, 11.3703),
    "eia": (0.3489, 0.4830, 0.7294, 1.9317),
}


def report(times: Sequence[float], seeds: int) -> None:
    """Print the table; compiling, and loading what is compiled, is not in the times."""
    print("quality: memetic on reference data, threads=1; over: how far above the best IL known before, in percent")
    print(
        f"{'data':<11}{'k':>3}{'time':>6}{'seed':>5}{'IL %':>10}{'bar':>9}  {'':<7}{'best':>9}{'over':>8}"
        f"{'CPU s':>9}{'wall s':>9}{'steps':>8}  stopped"
    )
    warm_up()
    missed = lines = 0
    for name, best in BEST.items():
        points = reference(name)
        if points is None:
            continue
        for number, k in enumerate(KS):
            discreet.partition(points, k=k, method="memetic", steps=1, threads=1)
            for seconds in times:
                bars = BARS.get(seconds)
                bar = bars[name][number] if bars else None
                for seed in range(seeds):
                    with clocked() as spent:
                        found = discreet.partition(points, k=k, method="memetic", time=seconds, seed=seed, threads=1)
                    target, judged = ("", "") if bar is None else (f"{bar:.4f}", verdict(found.il, bar))
                    lines, missed = lines + (bar is not None), missed + (judged == "missed")
                    print(
                        f"{name:<11}{k:>3}{seconds:>6g}{seed:>5}{found.il:>10.4f}{target:>9}  {judged:<7}"
                        f"{best[number]:>9.4f}{100 * (found.il / best[number] - 1):>8.3f}"
                        f"{spent.cpu:>9.2f}{found.search['seconds']:>9.2f}{found.search['steps']:>8}"
                        f"  {found.search['stopped']}",
                        flush=True,
                    )
    print(f"{lines - missed} of {lines} bars met, {missed} missed")
