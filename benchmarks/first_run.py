"""How long the first run takes to begin its search: an empty cache of kernels, the examples of `make demo`.

Processor seconds are those of the run and of the processes it starts; the cores should be idle for the time on the
clock. Bars: protect 20 s, suppress 15 s, and 60 % of that on the clock with two cores.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import discreet

BARS = {"protect": 20.0, "suppress": 15.0}
ON_THE_CLOCK = 0.6
SEARCHES = {"protect": "grouping", "suppress": "searching"}


class Begun(Exception):  # noqa: N818
    """The search has begun."""


def run(verb: str, folder: Path, started: float) -> None:
    """Run a verb until its search begins, and print what it took."""

    def listen(stage: str, _part: float) -> None:
        if stage == SEARCHES[verb]:
            raise Begun

    try:
        if verb == "protect":
            discreet.protect(folder / "survey.csv", config=folder / "survey.toml", k=5, steps=1, progress=listen)
        else:
            discreet.suppress(folder / "flagged.parquet", steps=1, progress=listen)
    except Begun:
        pass
    clock = time.time() - started
    ended = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(sum(one.ru_utime + one.ru_stime for one in ended) + spent_by_running_children(), clock)


def spent_by_running_children() -> float:
    """Processor seconds of the processes that were started and go on (on Linux)."""
    seconds = 0.0
    for number in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        fields = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def command_line(*arguments: str) -> None:
    """Run a command."""
    subprocess.run([sys.executable, "-m", "discreet", *arguments], check=True, capture_output=True)


def main() -> None:
    """Print the table."""
    print(f"{'':<10}{'cache':<8}{'processor s':>12}{'bar':>7}{'clock s':>10}{'bar':>7}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command_line("example", "survey", name)
        command_line("example", "companies", name)
        axes = ("--by", f"district@{folder / 'region.hrc'}", "--by", "size_class")
        table, flagged = str(folder / "turnover.parquet"), str(folder / "flagged.parquet")
        values = ("--value", "turnover", "--holding", "holding")
        command_line("tabulate", str(folder / "companies.csv"), *axes, *values, "-o", table)
        command_line("primary", table, "--p", "10", "--threshold", "3", "-o", flagged)
        for verb, bar in BARS.items():
            environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / f"cache {verb}")}
            for cache in ("empty", "filled"):
                command = [sys.executable, "-m", "benchmarks.first_run", verb, name, str(time.time())]
                done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
                spent, clock = map(float, done.stdout.split())
                print(f"{verb:<10}{cache:<8}{spent:>12.1f}{bar:>7.1f}{clock:>10.1f}{ON_THE_CLOCK * bar:>7.1f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
    else:
        main()
