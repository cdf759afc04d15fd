"""Golden master: what the public verbs and commands give for fixed seeds and steps, to the last bit.

The results are in `golden.json`; `python tests/test_golden.py --record` writes them (or the cases it names) anew, after
a change that is meant to change them. Cases named `mixed-…` have tables of which one part is a network of flows and
another is not.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import discreet
from discreet.cli.app import run
from discreet.data import Hierarchy, Table

RECORDED = Path(__file__).with_name("golden.json")
THREADS = 1
NEWER = "sole_contributors"
SAFE, PRIMARY, SECONDARY, FIXED = range(4)

Floats = NDArray[np.float64]
Figures = dict[str, Any]
Case = Callable[[Path], Figures]
Make = Callable[[], Table]


# What is recorded of a result.


def digest(content: bytes | str) -> str:
    """The beginning of a SHA-256."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:16]


def digest_array(values: Any) -> str:
    """The same of the bytes of an array, on any machine."""
    array = np.ascontiguousarray(values)
    return digest(array.astype("<f8" if array.dtype.kind == "f" else "<i8").tobytes())


def plain(value: Any, digits: int = 10) -> Any:
    """Values for JSON, numbers to so many significant digits; times are left out."""
    if isinstance(value, dict):
        return {str(key): plain(one, digits) for key, one in value.items() if key not in ("seconds", "processor")}
    if isinstance(value, list | tuple):
        return [plain(one, digits) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return repr(float(f"{value:.{digits - 1}e}")) if isinstance(value, float) else value


def condense(value: Any, name: str = "") -> Any:
    """Figures as they are recorded: long lists, and what is said of measures, promises and verdicts, as a digest."""
    if isinstance(value, dict) and name not in ("measures", "promise", "verdict"):
        return {key: condense(one, key) for key, one in value.items()}
    if not isinstance(value, dict | list):
        return value
    text = json.dumps(value, sort_keys=True)
    return digest(text) if len(text) > 40 else value


def of_evidence(account: dict[str, Any]) -> Figures:
    """What the evidence says of the search, the measures, the promise and the bound."""
    search = account["search"]
    # Recorded before a promise said whether sole contributors are judged.
    promise = account["promise"] and {name: said for name, said in account["promise"].items() if name != NEWER}
    return {
        "steps": search["steps"],
        "stopped": search["stopped"],
        "measures": plain(account["measures"]),
        "promise": plain(promise),
        "bound": plain(account["bound"]),
    }


def of_partition(found: Any) -> Figures:
    """The groups of a partition and what they cost."""
    return {
        "labels": digest_array(found.labels),
        "il": plain(found.il, 12),
        "sse": plain(found.sse, 12),
        "steps": found.search["steps"],
        "stopped": found.search["stopped"],
        "bound": plain(found.bound, 12),
    }


def of_release(found: Any) -> Figures:
    """The records of a release and its evidence."""
    return {
        "data": digest(found.data.write_csv()),
        "labels": digest_array(found.labels),
        "il": plain(found.measures["il"], 12),
        **of_evidence(found.evidence),
    }


def of_grouping(found: Any) -> Figures:
    """The groups of attributes, the front, the rivals and the operators of a search."""
    return {
        "groups": found.groups,
        "score": plain(found.score, 12),
        "front": digest(json.dumps(plain([point.as_dict() for point in found.front]))),
        "rivals": digest(json.dumps(plain({name: point.as_dict() for name, point in found.rivals.items()}))),
        "operators": digest(json.dumps(plain(found.operators))),
        "hypervolume": plain(found.hypervolume, 12),
        **of_evidence(found.evidence),
    }


def of_suppression(found: Any) -> Figures:
    """The pattern of a suppressed table, what it costs, what is proven and what would be published."""
    return {
        "pattern": digest_array(found.table.status),
        "secondary": len(found.secondary),
        "public": digest(found.public().write_csv()),
        "cost": plain(found.cost, 12),
        "trace": digest(json.dumps(plain([(point[0], point[2]) for point in found.trace], 12))),
        "audit": digest(json.dumps(plain(judgement(found.audit)))),
        **of_evidence(found.evidence),
    }


def judgement(audit: Any) -> Figures:
    """The verdict, without how many cells were certified: recorded before every audit counted that."""
    return {name: count for name, count in audit.as_dict().items() if name not in {"certified", "by_solver_only"}}


def of_audit(found: Any) -> Figures:
    """The intervals of an attacker, the verdict and the certificate."""
    asked = {} if found.certificate is not None else {"certificate": None}
    return {
        "verdict": plain(judgement(found) | asked),
        "failed": found.failed.tolist(),
        "intervals": digest(json.dumps(plain(found.intervals().rows()))),
        "certificate": None if found.certificate is None else digest(found.certificate.text()),
    }


def of_table(table: Table) -> Figures:
    """The cells of a table, their rules, levels, bounds and costs."""
    names = ("value", "status", "rule", "lpl", "upl", "lower", "upper", "cost", "codes")
    return {name: digest_array(getattr(table, name)) for name in names} | {
        "cells": len(table),
        "relations": len(table.relations),
        "primary": len(table.primary),
    }


# The data.


def cloud(records: int, attributes: int, seed: int = 1) -> Floats:
    """Points in loose clusters."""
    rng = np.random.default_rng([seed, records, attributes])
    centres = rng.integers(0, 8, (records, 1)) * rng.integers(1, 4, (1, attributes))
    values: Floats = np.round(centres + rng.normal(size=(records, attributes)), 4)
    return values


def survey(records: int = 90, columns: int = 6, seed: int = 2) -> pl.DataFrame:
    """Numbers that hang together."""
    rng = np.random.default_rng([seed, records, columns])
    common = rng.normal(size=(records, 1)) * rng.integers(0, 3, (1, columns))
    values = np.round(10 + common + rng.normal(size=(records, columns)), 3)
    return pl.DataFrame({f"a{at}": values[:, at] for at in range(columns)})


def persons(records: int = 120, *, gaps: bool = False) -> pl.DataFrame:
    """Numbers, categories, ordered categories and dates in strata; with gaps in them if wanted."""
    rng = np.random.default_rng([3, records])
    frame = pl.DataFrame(
        {
            "id": [f"p{at}" for at in range(records)],
            "region": rng.choice(["north", "south"], records),
            "age": rng.integers(18, 90, records),
            "income": np.round(rng.lognormal(8.0, 0.7, records), 2),
            "town": rng.choice(["A", "B", "C", "D"], records),
            "school": rng.choice(["low", "middle", "high"], records),
            "born": [f"{year}-{month:02}-11" for year, month in rng.integers((1930, 1), (2005, 13), (records, 2))],
            "ill": rng.integers(0, 3, records),
        }
    ).with_columns(pl.col("born").str.to_date())
    if not gaps:
        return frame
    gone = rng.random((records, 2)) < 0.3
    return frame.with_columns(
        pl.when(pl.Series(~gone[:, 0])).then(pl.col("income")).alias("income"),
        pl.when(pl.Series(~gone[:, 1])).then(pl.col("school")).alias("school"),
    )


ROLES: dict[str, Any] = {
    "k": 4,
    "quasi": ["age", "income", "town", "school", "born"],
    "confidential": ["ill"],
    "identifier": ["id"],
    "nominal": ["town"],
    "ordinal": {"school": ["low", "middle", "high"]},
    "date": ["born"],
    "ignore": "rest",
}
TREE = Hierarchy.from_pairs(
    [("N", "Total"), ("a0", "N"), ("a1", "N"), ("a2", "N"), ("S", "Total"), ("S1", "S"), ("a3", "S1"), ("a4", "S1")]
    + [("a5", "S"), ("a6", "Total"), ("a7", "Total")],
    total="Total",
)


def contributions(sizes: tuple[int, ...], *, zeros: float = 0.0, mean: float = 3.0, seed: int = 4) -> pl.DataFrame:
    """Records of contributors to the cells of a table: skewed amounts, some of holdings, some cells empty."""
    rng = np.random.default_rng([seed, *sizes])
    cells = np.argwhere(rng.random(sizes) >= zeros)
    number = rng.poisson(mean, len(cells)) + 1
    places = np.repeat(cells, number, axis=0)
    codes = {name: [f"{name}{code}" for code in places[:, at]] for at, name in enumerate("abcd"[: len(sizes)])}
    return pl.DataFrame(
        {
            **codes,
            "sales": np.ceil(rng.lognormal(3.5, 1.2, len(places))),
            "holding": rng.integers(0, len(places) // 2, len(places)),
            "asked": rng.random(len(places)) < 0.05,
            "weight": rng.integers(1, 4, len(places)) / 2,
        }
    )


def unsafe(
    sizes: tuple[int, ...],
    *,
    tree: bool = False,
    zeros: float = 0.0,
    mean: float = 3.0,
    seed: int = 4,
    parts: list[list[str]] | None = None,
    **rules: Any,
) -> Table:
    """A table with its unsafe cells."""
    frame = contributions(sizes, zeros=zeros, mean=mean, seed=seed)
    by = {name: TREE if tree and name == "a" else None for name in "abcd"[: len(sizes)]}
    table = discreet.tabulate(frame, by=by, value="sales", parts=parts)
    return discreet.primary(table, **({"p": 15} | rules))


def ranges(table: Table) -> Table:
    """The table with the sum of both levels as a range instead."""
    return table.but(spl=table.lpl + table.upl, lpl=np.zeros(len(table)), upl=np.zeros(len(table)))


def plane() -> Table:
    """Two dimensions: a network."""
    return unsafe((9, 7))


def wide() -> Table:
    """Two dimensions, one of them a hierarchy, so many codes that the order in which cells are protected matters."""
    return unsafe((8, 60), tree=True, zeros=0.3, mean=4.0, seed=14)


def forest() -> Table:
    """Two dimensions, one of them a hierarchy: a network."""
    return unsafe((8, 6), tree=True)


def cube() -> Table:
    """Three dimensions, every cell full."""
    return unsafe((5, 4, 4))


def cube_of_trees() -> Table:
    """Three dimensions, one of them a hierarchy."""
    return unsafe((8, 3, 3), tree=True)


def sparse() -> Table:
    """Three dimensions, most cells empty."""
    return unsafe((8, 5, 4), zeros=0.6, mean=1.0)


def lattice() -> Table:
    """Three dimensions, full, and large enough for an interior-point method of its own."""
    return unsafe((13, 12, 11), mean=8.0, p=4)


def large_trees() -> Table:
    """Three dimensions, one of them a hierarchy, and large enough for boxes along its branches."""
    return unsafe((8, 16, 15), tree=True, mean=8.0, p=4)


def vast() -> Table:
    """Three dimensions, one of them a hierarchy, and so many cells that programs look at those nearby only."""
    return unsafe((8, 41, 40), tree=True, mean=8.0, p=1.5)


def linked() -> Table:
    """Three tables of two dimensions each, every two of them with a dimension in common."""
    return unsafe((5, 4, 3), parts=[["a", "b"], ["b", "c"], ["a", "c"]], zeros=0.5, mean=1.0)


def joint(_: Path) -> Figures:
    """Two tables with a dimension in common whose margin is published: a network beside a cube."""
    table = unsafe((5, 4, 3, 3), parts=[["a", "b"], ["b", "c", "d"]], zeros=0.6, mean=1.0, p=30)
    margin = np.flatnonzero((table.codes[:, [0, 2, 3]] == 0).all(axis=1) & (table.status == SAFE))
    said: dict[str, Any] = {"frozen": margin.tolist(), "partial": True}
    return {name: suppress(table, name, 10, **said) for name in ("search", "ls-swap", "exact", "hypercube")}


# The runs.


def partition(points: Floats, k: int, **said: Any) -> Figures:
    return of_partition(discreet.partition(points, k=k, threads=THREADS, **({"seed": 7} | said)))


def protect(frame: pl.DataFrame, **said: Any) -> Figures:
    return of_release(discreet.protect(frame, threads=THREADS, **({"seed": 7, "steps": 40} | ROLES | said)))


def group(frame: pl.DataFrame, **said: Any) -> Figures:
    small = {"population": 30, "crossovers": 4, "mutations": 2, "enumeration": 0}
    params = small | said.pop("params", {})
    given = {"k": 5, "quasi": "all", "steps": 12, "seed": 5, "params": params} | said
    return of_grouping(discreet.group(frame, threads=THREADS, **given))


def suppress(table: Table, method: str, steps: int, **said: Any) -> Figures:
    return of_suppression(
        discreet.suppress(table, method=method, steps=steps, **({"seed": 3, "singletons": False} | said))
    )


def resume(folder: Path) -> Figures:
    """A search that is stopped, kept and gone on with."""
    said: dict[str, Any] = {"checkpoint": folder / "search.npz", "by": ["region"]}
    first = protect(persons(), steps=25, **said)
    return {"first": first, "second": protect(persons(), steps=80, **said)}


def resume_partitions(folder: Path) -> Figures:
    """Searches of every kind that are stopped, one of them within a proof, and gone on with."""
    blocks, generations = {"large": 50}, {"generations": 4000}
    searches: dict[str, tuple[int, int, dict[str, Any]]] = {
        "proof": (215, 600, {}),
        "blocks": (2, 6, {"params": blocks}),
        "genetic": (2, 5, {"method": "genetic", "params": generations}),
        "two-step": (2, 5, {"method": "two-step", "params": {"inner": "memetic", "steps": 7}}),
        "exact": (10, 100, {"method": "exact"}),
    }
    found = {}
    for name, (first, last, said) in searches.items():
        kept = {"checkpoint": folder / f"{name}.npz", **said}
        found[name] = [partition(cloud(60, 2), 3, steps=steps, **kept) for steps in (first, last)]
    return found


def refine(_: Path) -> Figures:
    """A better release out of one by a simple method."""
    frame, said = persons(), {**ROLES, "seed": 7, "threads": THREADS}
    coarse = discreet.protect(frame, method="mdav", **said)
    return of_release(discreet.refine(frame, coarse.data, steps=60, **said))


def verify(_: Path) -> Figures:
    """A promise that is kept and one that is not."""
    frame = persons().with_columns(pl.col("age") // 30)
    kept = discreet.verify(frame, quasi=["age", "region"], k=2)
    broken = discreet.verify(frame, grouping=[["age", "town"], ["school", "income"]], k=3, by=["region"])
    return {"kept": plain(kept.as_dict()), "broken": plain(broken.as_dict()), "words": digest(broken.words())}


def measured(frame: pl.DataFrame, said: dict[str, Any], **choices: Any) -> Figures:
    """All measures of a release."""
    released = discreet.protect(frame, method="mdav", seed=7, threads=THREADS, measures="none", **said).data
    types = {name: said[name] for name in ("quasi", "confidential", "nominal", "ordinal", "date") if name in said}
    found = discreet.measure(frame, released, measures="all", seed=2, **types, **choices)
    risks = {name: digest_array(np.round(values, 10)) for name, values in found.per_record.items()}
    return {"measures": plain(found.figures), "risks": risks}


def attack(_: Path) -> Figures:
    """Exact intervals and certificates of patterns, sound and not, on a network and on a cube."""
    found = {}
    for name, table in (("forest", forest()), ("cube", cube())):
        released = discreet.suppress(table, steps=3, seed=3, singletons=False).table
        found[name] = of_audit(discreet.audit(released, intervals=True, certificate=True, sums=True, singletons=True))
        some = np.where((released.status == SECONDARY) & (np.arange(len(table)) % 3 == 0), SAFE, released.status)
        weak = released.but(status=some.astype(np.uint8))
        found[f"{name} laid open"] = of_audit(discreet.audit(weak, intervals=True, secondaries=True, strict=True))
    return found


def judge(_: Path) -> Figures:
    """Unsafe cells by several rules at once, of a weighted table with holdings and requests."""
    frame = contributions((6, 5), zeros=0.1)
    by = {"a": TREE, "b": None}
    more: dict[str, Any] = {"weight": "weight", "holding": "holding", "request": "asked"}
    table = discreet.tabulate(frame, by=by, value="sales", top=4, complete=True, **more)
    ways: dict[str, dict[str, Any]] = {
        "all": {"p": 10, "q": 60, "dominance": (2, 80.0), "threshold": 3, "request": 20.0, "zeros": 5.0},
        "coalition": {"p": 20, "coalition": 2, "cost": "log", "bounds": "-100%,400%"},
        "by hand": {"threshold": 4, "range": 40.0, "manual": [("a0", "b1"), ("N", "Total")], "cost": "count"},
    }
    counts = discreet.tabulate(frame, by=["a", "b"])
    found = {name: of_table(discreet.primary(table, **rules)) for name, rules in ways.items()}
    return found | {"counts": of_table(discreet.primary(counts, threshold=4, cost="unit"))}


def wishes(_: Path) -> Figures:
    """Cells that are frozen, preferred and avoided; strict levels; secondary cells and sole contributors."""
    found = {}
    for name, table in (("forest", forest()), ("cube", cube())):
        free = discreet.suppress(table, steps=3, seed=3, singletons=False)
        first, second = free.secondary[:1].tolist(), free.secondary[1:4].tolist()
        others = np.flatnonzero(free.table.status == SAFE)[:8].tolist()
        wish = {"frozen": first, "avoid": second, "prefer": others, "strict": True, "partial": True}
        found[name] = suppress(table, "search", 14, **wish)
    return found


def guards(_: Path) -> Figures:
    """Protection of secondary cells and against sole contributors."""
    asked: dict[str, Any] = {"singletons": True, "protect_secondaries": True, "partial": True, "certificate": True}
    tables = {"plane": unsafe((8, 6), mean=1.5, p=10), "cube": unsafe((4, 4, 3), mean=2.0, p=10)}
    return {name: suppress(table, "search", 6, **asked) for name, table in tables.items()}


def again(folder: Path) -> Figures:
    """A pattern to begin with, and other costs."""
    found = {}
    for name, table in (("forest", forest()), ("cube", cube())):
        first = discreet.suppress(table, steps=2, seed=3, cost="unit", singletons=False)
        first.write(folder / f"{name}.csv", internal=folder / f"{name}.parquet")
        found[name] = suppress(table, "search", 8, previous=folder / f"{name}.parquet", cost="log")
    return found


def lost(_: Path) -> Figures:
    """Unsafe cells that nothing protects."""
    table = plane()
    fixed = np.where((table.status == SAFE) & (np.arange(len(table)) % 9 > 0), FIXED, table.status)
    return suppress(table.but(status=fixed.astype(np.uint8)), "search", 12, partial=True)


def each(methods: tuple[str, ...], tables: Mapping[str, Make], steps: int, **said: Any) -> Case:
    """Several methods on several tables."""
    return lambda _: {
        f"{method} {name}": suppress(make(), method, steps, **said)
        for method in methods
        for name, make in tables.items()
    }


# The commands.


def command(*words: object) -> None:
    """Run `discreet`."""
    status = run([str(word) for word in words])
    assert status == 0, f"discreet {words[0]} ended with {status}"


def files(folder: Path, *names: str) -> Figures:
    return {name: digest((folder / name).read_bytes()) for name in names}


def evidence(path: Path) -> Figures:
    return of_evidence(json.loads(path.read_text(encoding="utf-8")))


def companies(folder: Path) -> Figures:
    """The example of companies, protected with its own declarations and tabulated."""
    command("example", "companies", folder, "--records", 300, "--seed", 3)
    data, search = folder / "companies.csv", ("--steps", 40, "--seed", 7, "--threads", THREADS)
    command("protect", data, "--config", folder / "companies.toml", *search, "-o", folder / "public.csv", "--quiet")
    by = ("--by", f"industry@{folder / 'industry.hrc'}", "--by", "size_class")
    table, flagged = folder / "table.parquet", folder / "unsafe.parquet"
    command("tabulate", data, *by, "--value", "turnover", "--holding", "holding", "-o", table, "--quiet")
    command("primary", table, "--p", 15, "--threshold", 3, "-o", flagged, "--quiet")
    more = ("--steps", 8, "--seed", 7, "--partial", "--no-singletons", "--internal", folder / "all.jj")
    command("suppress", flagged, *more, "-o", folder / "published.csv", "--quiet")
    return {
        **files(folder, "companies.csv", "public.csv", "published.csv", "all.jj"),
        "protected": evidence(folder / "public.csv.evidence.json"),
        "suppressed": evidence(folder / "published.csv.evidence.json"),
    }


def example_tables(folder: Path) -> Figures:
    """Example tables, suppressed from their files, with a certificate."""
    found: Figures = {}
    for kind, suffix in (("12x6", "jj"), ("4x4x8h", "parquet")):
        command("example", "tables", folder, "--kind", kind, "--seed", 2)
        names = [f"{kind}.{end}" for end in ("csv", suffix, "public.csv", "internal.jj", "proof.json")]
        _, table, public, internal, proof = (folder / name for name in names)
        search = ("--steps", 8, "--seed", 7, "--certificate", proof, "--internal", internal, "--no-singletons")
        command("suppress", table, *search, "-o", public, "--quiet")
        command("audit", internal, "--check", proof, "--quiet")
        found |= files(folder, *(name for name in names if not name.endswith(".parquet")))
        found[kind] = evidence(public.with_name(f"{public.name}.evidence.json"))
    return found


def example_survey(folder: Path) -> Figures:
    """The example of persons: every kind of column, missing values, medians."""
    command("example", "survey", folder, "--records", 150, "--seed", 3)
    search = ("--config", folder / "survey.toml", "--steps", 40, "--seed", 7, "--threads", THREADS)
    command("protect", folder / "survey.csv", *search, "-o", folder / "public.csv", "--quiet")
    return files(folder, "survey.csv", "public.csv") | evidence(folder / "public.csv.evidence.json")


def sensitivity(folder: Path) -> Figures:
    """A study of a parameter."""
    survey(40, 2).write_csv(folder / "survey.csv")
    grid = ("--grid", "mutation=0,0.1", "--grid", "population=10:20:10", "--runs", 2, "--param", "generations=40")
    said = ("--quasi", "a0,a1", "--k", 4, "--seed", 5, "--threads", 1, "--quiet")
    command("study", "sensitivity", folder / "survey.csv", *said, *grid, "-o", folder / "out")
    return {"runs": runs(folder / "out" / "runs.parquet")}


def comparison(folder: Path) -> Figures:
    """A comparison of methods."""
    survey(60, 2).write_csv(folder / "survey.csv")
    methods = ("--method", "mdav", "--method", "tour", "--method", "genetic:generations=20")
    said = ("--quasi", "a0,a1", "--k", 3, "--k", 4, "--seeds", 2, "--steps", 2, "--seed", 5, "--threads", 1, "--quiet")
    command("study", "compare", folder / "survey.csv", *methods, *said, "-o", folder / "out")
    return {"runs": runs(folder / "out" / "runs.parquet")}


def runs(path: Path) -> str:
    """All figures of all runs but the times."""
    frame = pl.read_parquet(path)
    kept = frame.select(name for name in frame.columns if name not in ("seconds", "processor"))
    return digest(json.dumps(plain(sorted(kept.rows(), key=repr), 12)))


def reproduced(folder: Path) -> Figures:
    """The quick run of tables of a paper."""
    said = ("--quick", "--seed", 1, "--threads", 1, "--store", folder / "store", "--quiet")
    command("reproduce", 2006, "--table", 1, "--table", 2, *said, "-o", folder / "page.md")
    page = (folder / "page.md").read_text(encoding="utf-8").splitlines()
    # One line tells the version, the machine and the time it took.
    return {"page": digest("\n".join(line for line in page if not line.startswith("Made with ")))}


NETWORKS: dict[str, Make] = {"plane": plane, "forest": forest}
WIDE: dict[str, Make] = {"forest": forest, "wide": wide}
OTHERS: dict[str, Make] = {"cube": cube, "trees": cube_of_trees}
GENETIC = ("ga-swap", "ga-insert", "ga-invert", "ga-one-p", "ga-one-k", "ga-group-k")
LOCAL = ("ls-swap", "ls-insert", "ls-invert")

CASES: dict[str, Case] = {
    "partition-memetic-small": lambda _: partition(cloud(40, 2), 3, steps=600),
    "partition-memetic-medium": lambda _: partition(cloud(360, 3), 3, steps=330),
    "partition-memetic-islands": lambda _: partition(cloud(200, 2), 7, steps=60, params={"islands": 3}),
    "partition-memetic-blocks": lambda _: partition(cloud(20_400, 2), 3, steps=7),
    "partition-memetic-start": lambda _: partition(cloud(90, 2), 3, steps=20, start=np.arange(90) // 3),
    "partition-mdav-bound": lambda _: partition(cloud(60, 2), 3, method="mdav", bound=True),
    "partition-vmdav": lambda _: partition(cloud(150, 3), 4, method="vmdav", params={"gamma": 1.1}),
    "partition-md": lambda _: partition(cloud(150, 3), 4, method="md"),
    "partition-mst": lambda _: partition(cloud(150, 3), 4, method="mst"),
    "partition-univariate": lambda _: partition(cloud(300, 1), 4, method="univariate"),
    "partition-tour": lambda _: {
        order: partition(cloud(150, 3), 4, method="tour", params={"order": order})
        for order in ("curve", "nearest", "mdav")
    },
    "partition-exact": lambda _: partition(cloud(70, 3), 3, method="exact", steps=200),
    "partition-exhaustive": lambda _: partition(cloud(14, 2), 3, method="exhaustive"),
    "partition-genetic": lambda _: partition(cloud(35, 2), 3, method="genetic", steps=4, params={"generations": 900}),
    "partition-two-step": lambda _: {
        inner: partition(
            cloud(120, 2), 3, method="two-step", steps=30, params={"inner": inner, "generations": 60, "steps": 40}
        )
        for inner in ("genetic", "memetic", "exact")
    },
    "partition-recursive": lambda _: partition(cloud(151, 3), 4, method="recursive"),
    "partition-domes": lambda _: partition(cloud(151, 3), 4, method="domes"),
    "partition-resumed": resume_partitions,
    "protect-mixed-columns": lambda _: protect(persons(), weights={"age": 2.0}, measures="all"),
    "protect-strata": lambda _: protect(persons(), by=["region"]),
    "protect-missing-separate": lambda _: protect(persons(240, gaps=True), by=["region"], missing="separate"),
    "protect-missing-impute": lambda _: protect(persons(gaps=True), missing="impute"),
    "protect-grouping": lambda _: protect(persons(), grouping=[["age", "born"], ["income", "town", "school"]]),
    "protect-medians": lambda _: protect(
        persons(), aggregate={"age": "median", "income": "median"}, digits={"age": 0, "income": 1}, measures="none"
    ),
    "protect-bound": lambda _: protect(persons(60), by=["region"], bound=True, method="mdav"),
    "protect-resumed": resume,
    "refine": refine,
    "verify": verify,
    "measure-linkage": lambda _: measured(survey(), {"k": 4, "quasi": "all"}, nearest=2, direction="released"),
    "measure-intervals": lambda _: measured(
        survey(), {"k": 4, "quasi": "all"}, interval="rank", known=["a0", "a1", "a2"], choose=2, sample=50
    ),
    "measure-mixed-columns": lambda _: measured(persons(), ROLES | {"confidential": ["ill", "region"]}),
    "group-gomm": lambda _: group(survey(columns=8), loss_weight=3.0),
    "group-gomm-random": lambda _: group(survey(columns=7), start="random", inner="tour", loss_weight=2.0),
    "group-d-gomm": lambda _: group(survey(columns=8), method="d-gomm", loss_weight=3.0, params={"patience": 3}),
    "group-pareto": lambda _: group(survey(columns=7), method="pareto", k=[3, 6], steps=6),
    "group-enumerated": lambda _: group(survey(columns=4), params={"enumeration": 5000}),
    "group-known": lambda _: group(
        survey(60, 6), steps=4, known=["a0", "a1", "a2"], choose=2, direction="released", interval="sd"
    ),
    "group-inner-search": lambda _: group(survey(40, 4), steps=3, inner="memetic", inner_steps=3),
    "tables-primary": judge,
    "tables-audit": attack,
    "suppress-search-networks": each(("search",), NETWORKS, 60),
    "suppress-search-wide": each(("search",), {"wide": wide}, 60),
    "suppress-search-unproven": each(("search",), WIDE, 60, params={"proofs": False, "starts": 2}),
    "suppress-search-cube": each(("search",), {"cube": cube}, 60),
    "suppress-search-lattice": each(("search",), {"lattice": lattice}, 40),
    "suppress-search-large-trees": each(("search",), {"trees": large_trees}, 40),
    "suppress-search-vast": each(("search",), {"vast": vast}, 6),
    "suppress-search-trees": each(("search",), {"trees": cube_of_trees}, 40),
    "suppress-search-sparse": each(("search",), {"sparse": sparse}, 30, partial=True),
    "suppress-search-linked": each(("search",), {"linked": linked}, 30, partial=True),
    "suppress-search-ranges": each(
        ("search",), {"forest": lambda: ranges(forest()), "cube": lambda: ranges(cube())}, 20
    ),
    "suppress-exact-networks": each(("exact",), NETWORKS, 60),
    "suppress-exact-cube": each(("exact",), {"cube": lambda: unsafe((3, 3, 3))}, 30),
    "suppress-exact-ranges": each(
        ("exact",), {"plane": lambda: ranges(plane()), "cube": lambda: ranges(unsafe((3, 3, 3)))}, 30
    ),
    "suppress-local": each(LOCAL, {"wide": wide, "cube": cube}, 8),
    "suppress-genetic": each(GENETIC, {"wide": wide}, 10, params={"population": 5}),
    "suppress-genetic-cube": each(("ga-swap", "ga-one-k"), {"cube": cube}, 8, params={"population": 4}),
    "suppress-genetic-groups": each(
        ("ga-group-k",), NETWORKS | {"cube": cube}, 8, params={"population": 4, "groups": 4}
    ),
    "suppress-surrogate": each(("ga-one-k", "ga-group-k"), WIDE, 6, params={"surrogate": True, "clean": True}),
    "suppress-baselines": each(("hypercube", "marginal"), NETWORKS | OTHERS, 5, partial=True),
    "suppress-wishes": wishes,
    "suppress-guards": guards,
    "suppress-previous": again,
    "suppress-partial": lost,
    "mixed-suppress": joint,
    "command-companies": companies,
    "command-tables": example_tables,
    "command-survey": example_survey,
    "command-sensitivity": sensitivity,
    "command-compare": comparison,
    "command-reproduce": reproduced,
}


def record(names: Sequence[str]) -> None:
    """Compute cases and keep what they give; others stay as they are recorded."""
    found = json.loads(RECORDED.read_text(encoding="utf-8"))
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            found[name] = condense(json.loads(json.dumps(CASES[name](Path(folder)))))
    RECORDED.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def recorded() -> Figures:
    found: Figures = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_recorded_ones(name: str, recorded: Figures, tmp_path: Path) -> None:
    found = json.loads(json.dumps(CASES[name](tmp_path)))
    assert condense(found) == recorded[name], f"{name}\nfound:    {found}\nrecorded: {recorded[name]}"


def test_every_recorded_case_is_computed(recorded: Figures) -> None:
    assert set(recorded) == set(CASES)


if __name__ == "__main__":
    if sys.argv[1:2] != ["--record"] or not set(sys.argv[2:]) <= set(CASES):
        sys.exit("usage: python tests/test_golden.py --record [CASE …]")
    record(sys.argv[2:] or list(CASES))
