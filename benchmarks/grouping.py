"""Speed and quality of the grouping of attributes on one core: `python -m benchmarks.grouping`.

Parts: `speed` (a run of the paper's size, and what keeping groups gives over fewer generations), `table` (scores of the
searches and of every rival, by data set, k and seed), `patience` (how long D-GOMM should wait before it drops an
operator), `front` (hypervolume of `pareto` and of the fronts that fall off from `gomm`) and `large` (generated data of
100,000 records). `--data`, `--k` and `--seeds` choose pieces of a part; `--output` adds all runs to a CSV file, from
which `--report` prints the tables again. CPU seconds, kernels compiled before.
"""

import argparse
import csv
import os
import resource
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import polars as pl
from benchmarks.common import ROOT, clocked

import discreet
from discreet.configuration import Config
from discreet.data.dataset import accept
from discreet.grouping.candidates import candidate, count
from discreet.grouping.evaluator import Evaluator
from discreet.grouping.objective import Objective, Weights
from discreet.grouping.parts import Inner
from discreet.grouping.rivals import rivals
from discreet.grouping.search import compile_kernels
from discreet.grouping.space import Space
from discreet.measures.choices import Choices
from discreet.methods import make
from discreet.microdata.protection import declare, read_attributes

PARTS = ("speed", "table", "patience", "front", "large")
KS = {"census": (5, 10, 25, 50), "water_treatment": (5, 25, 50, 100)}
LIMITS = {"census": 180.0, "water_treatment": 60.0}
SEARCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "gomm, random start": ("gomm", {"start": "random"}),
    "gomm": ("gomm", {}),
    "d-gomm, random start": ("d-gomm", {"start": "random"}),
    "d-gomm": ("d-gomm", {}),
}
PATIENCE = (5, 10, 15, 20, 25)
FEW = 20  # generations of the comparison of what is kept


@dataclass(frozen=True)
class Run:
    """A line of the tidy file: a search or a rival at one k."""

    part: str
    data: str
    k: int
    run: str
    seed: int
    score: float
    il: float
    dr: float
    groups: int
    generations: int
    evaluations: int
    hypervolume: float
    cpu: float


def space_of(name: str) -> Space | None:
    """The attributes of a reference data set, or a message that it is not here."""
    folder = Path(os.environ.get("DISCREET_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
    path = folder / "microdata" / f"{name}.csv"
    if not path.exists():
        print(f"{name}: skipped, the reference data is not here: no microdata/{path.name} in $DISCREET_REFERENCE_DATA")
        return None
    dataset = accept(path)
    declarations = declare(dataset, Config(), quasi="all")
    return Space(dataset, tuple(read_attributes(dataset, declarations)[0]))


def searched(
    part: str,
    name: str,
    space: Space,
    k: int,
    title: str,
    seed: int,
    method: str,
    params: dict[str, Any],
    memory: int = 1_000_000_000,
) -> Run:
    """Run a search to its end on one thread."""
    inner = Inner.named("mdav", {})
    compile_kernels(space, inner, k)
    chosen = make(method, params, "grouping")
    with clocked() as spent:
        evaluator = Evaluator(space, k, inner, Choices(), memory=memory)
        objective = Objective([evaluator], Weights())
        process: Any = chosen.search(objective, rivals(space).values(), seed)
        while not process.finished:
            next(process.epochs())
    best = process.answer()
    (found,) = objective.figures([best])
    return Run(
        part, name, k, title, seed, Weights().score(found), found.il, found.dr, count(best[1:]), process.generation,
        objective.evaluations, objective.front.hypervolume, spent.cpu,
    )  # fmt: skip


def judged_rivals(part: str, name: str, space: Space, k: int) -> list[Run]:
    """The rivals at one k."""
    objective = Objective([Evaluator(space, k, Inner.named("mdav", {}), Choices())], Weights())
    every = rivals(space)
    figures = objective.figures([candidate(labels) for labels in every.values()])
    return [
        Run(part, name, k, title, 0, Weights().score(found), found.il, found.dr, count(labels), 0, 1, 0.0, 0.0)
        for (title, labels), found in zip(every.items(), figures, strict=True)
    ]


def runs_of(part: str, name: str, space: Space, k: int, seeds: Iterable[int]) -> Iterable[Run]:
    """All runs of a part at one k."""
    if part == "table":
        yield from judged_rivals(part, name, space, k)
    for seed in seeds:
        if part == "speed":
            yield from _speed(name, space, k, seed)
        elif part == "table":
            for title, (method, params) in SEARCHES.items():
                yield searched(part, name, space, k, title, seed, method, params)
        elif part == "patience":
            yield searched(part, name, space, k, "gomm", seed, "gomm", {"start": "random"})
            for patience in PATIENCE:
                params = {"start": "random", "patience": patience}
                yield searched(part, name, space, k, f"d-gomm, patience {patience}", seed, "d-gomm", params)
        else:
            for method in ("gomm", "pareto"):
                yield searched(part, name, space, k, method, seed, method, {})


def _speed(name: str, space: Space, k: int, seed: int) -> Iterable[Run]:
    yield searched("speed", name, space, k, "full run", seed, "gomm", {"start": "random"})
    few = {"start": "random", "generations": FEW}
    yield searched("speed", name, space, k, f"{FEW} generations", seed, "gomm", few)
    yield searched("speed", name, space, k, f"{FEW} without anything kept of groups", seed, "gomm", few, memory=0)


def report(runs: Sequence[Run]) -> None:
    """Print the tables of runs as Markdown."""
    by_part: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_part[run.part].append(run)
    for part, own in by_part.items():
        print(f"\n### {part}\n")
        {"speed": _report_speed, "table": _report_table}.get(part, _report_plain)(own)


def _report_speed(runs: Sequence[Run]) -> None:
    print("| data | k | run | evaluations | CPU s | limit |\n|---|---|---|---|---|---|")
    for run in runs:
        limit = LIMITS[run.data] if run.run == "full run" else None
        verdict = "" if limit is None else f"{limit:.0f} {'met' if run.cpu <= limit else 'missed'}"
        print(f"| {run.data} | {run.k} | {run.run} | {run.evaluations:,} | {run.cpu:.1f} | {verdict} |")


def _report_table(runs: Sequence[Run]) -> None:
    cases: dict[tuple[str, int], dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        cases[run.data, run.k][run.run].append(run)
    titles = list(dict.fromkeys(run.run for run in runs))
    print(f"| score (median) | {' | '.join(f'{data} k={k}' for data, k in cases)} |")
    print(f"|---|{'---|' * len(cases)}")
    for title in sorted(titles, key=lambda title: title not in SEARCHES):
        cells = [_median(own[title]) if title in own else "" for own in cases.values()]
        print(f"| {title} | {' | '.join(cells)} |")
    print("\n| claim |", " | ".join(f"{data} k={k}" for data, k in cases), "|")
    print(f"|---|{'---|' * len(cases)}")
    for claim, tell in CLAIMS.items():
        print(f"| {claim} | {' | '.join(tell(own) for own in cases.values())} |")


def _median(runs: Sequence[Run]) -> str:
    return f"{statistics.median(run.score for run in runs):.2f}"


def _rival_scores(own: dict[str, list[Run]]) -> list[float]:
    return [run.score for title, runs in own.items() if title not in SEARCHES for run in runs]


def _never_above(own: dict[str, list[Run]]) -> str:
    worst = max(run.score for title in ("gomm", "d-gomm") for run in own[title])
    return "met" if worst <= min(_rival_scores(own)) + 1e-9 else "missed"


def _below(own: dict[str, list[Run]]) -> str:
    best_rival = min(_rival_scores(own))
    best_known = min(run.score for title in SEARCHES for run in own[title])
    if best_known >= best_rival - 1e-9:
        return "a rival is the best known"
    median = statistics.median(run.score for run in own["gomm, random start"])
    return f"{'met' if median < best_rival else 'missed'} ({median / best_rival:.3f})"


def _reaches(title: str, other: str) -> Any:
    def tell(own: dict[str, list[Run]]) -> str:
        pairs = _pairs(own, title, other)
        reached = sum(quick.score <= full.score + 1e-9 for quick, full in pairs)
        return f"{reached} of {len(pairs)}"

    return tell


def _ratio(title: str, other: str) -> Any:
    def tell(own: dict[str, list[Run]]) -> str:
        pairs = _pairs(own, title, other)
        return f"{statistics.mean(quick.evaluations / full.evaluations for quick, full in pairs):.2f}"

    return tell


def _pairs(own: dict[str, list[Run]], title: str, other: str) -> list[tuple[Run, Run]]:
    full = {run.seed: run for run in own[other]}
    return [(quick, full[quick.seed]) for quick in own[title] if quick.seed in full]


CLAIMS = {
    "default never above a rival": _never_above,
    "random start below every rival (ratio to the best)": _below,
    "d-gomm reaches gomm, random start": _reaches("d-gomm, random start", "gomm, random start"),
    "its share of the evaluations": _ratio("d-gomm, random start", "gomm, random start"),
    "d-gomm reaches gomm": _reaches("d-gomm", "gomm"),
    "its share of their evaluations": _ratio("d-gomm", "gomm"),
}


def _report_plain(runs: Sequence[Run]) -> None:
    print("| data | k | run | score (median) | hypervolume | evaluations | reaches gomm | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    cases: dict[tuple[str, int, str], list[Run]] = defaultdict(list)
    for run in runs:
        cases[run.data, run.k, run.run].append(run)
    for (data, k, title), own in cases.items():
        full = {run.seed: run.score for run in cases.get((data, k, "gomm"), [])}
        reached = sum(run.score <= full[run.seed] + 1e-9 for run in own if run.seed in full)
        means = [statistics.mean(getattr(run, name) for run in own) for name in ("hypervolume", "evaluations", "cpu")]
        print(
            f"| {data} | {k} | {title} | {_median(own)} | {means[0]:.3f} | {means[1]:,.0f} | {reached} of {len(own)} | "
            f"{means[2]:.1f} |"
        )


def report_large() -> None:
    """100,000 records of 20 attributes that hang together: groups of records by `tour`, linkage of a sample of them."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(100_000, 8)) @ rng.normal(size=(8, 20)) + 0.5 * rng.normal(size=(100_000, 20)) + 10.0
    frame = pl.DataFrame({f"a{j}": values[:, j] for j in range(20)})
    usual: dict[str, Any] = {"k": 25, "quasi": "all"}
    cases: dict[str, dict[str, Any]] = {
        "gomm": {"steps": 6},
        "gomm, too little memory for tables: searches in kd-trees": {"steps": 1, "memory": 100},
        "pareto, k = 10 and 25": {"method": "pareto", "k": [10, 25], "steps": 3},
        "gomm, the default 10 s": {},
    }
    print("| run | groupings | steps | search, CPU s and s | best | memory, GB |\n|---|---|---|---|---|---|")
    for title, said in cases.items():
        with clocked() as spent:
            found = discreet.group(frame, **(usual | said))
        search, judged = found.evidence["search"], found.evidence["measures"]["evaluations"]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"| {title} | {judged} | {search['steps']} | {spent.cpu:.1f}, {search['seconds']:.1f} | score "
            f"{found.score:.2f}, {len(found.groups)} groups | {peak:.1f} |",
            flush=True,
        )


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["speed"], help=", ".join(PARTS))
    parser.add_argument("--data", nargs="*", default=list(KS))
    parser.add_argument("--k", nargs="*", type=int)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--report", type=Path, help="print the tables of a file of runs, and run nothing")
    asked = parser.parse_args()
    if asked.report:
        with asked.report.open(newline="") as file:
            kinds = get_type_hints(Run)
            lines = csv.DictReader(file)
            report([Run(**{name: kinds[name](value) for name, value in line.items()}) for line in lines])
        return
    done: list[Run] = []
    for part in asked.parts:
        if part == "large":
            report_large()
            continue
        for name in asked.data:
            space = space_of(name)
            for k in asked.k or (KS[name] if part != "speed" else (25,)) if space else ():
                assert space is not None
                for run in runs_of(part, name, space, k, range(1 if part == "speed" else asked.seeds)):
                    done.append(run)
                    _keep(run, asked.output)
    report(done)


def _keep(run: Run, path: Path | None) -> None:
    """Add a run to the file, at once: a part can be stopped and its runs are there."""
    if path is None:
        return
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Run)])
        if fresh:
            writer.writeheader()
        writer.writerow(asdict(run))


if __name__ == "__main__":
    main()
