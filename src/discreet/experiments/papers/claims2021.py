"""What the 2021 paper says of its tables in words, and what we find: its figures are lost, its claims are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from discreet.experiments.papers.judged import DATA, KS, MEASURES, PRINTED

if TYPE_CHECKING:
    import polars as pl

Row = tuple[str, object, object, str]
Found = dict[tuple[str, int, str], dict[str, float]]
Own = Callable[[str], dict[str, float]]

TITLES = {"census": "Census", "tarragona": "Tarragona"}
CASES = [(data, k) for data in DATA for k in KS]
OF_PAPER = ("mdav", "domes", "recursive")
EQUAL = 1e-9
WHY_LOSS = (
    "as we read the algorithms, a record that an early halving puts on the wrong side never comes back in `recursive`, "
    "while `domes` at last exchanges records of the whole file; ratios and epochs of the paper are lost"
)
LOST = "the paper's parameters are lost, see IL in Table 1"


def medians(runs: pl.DataFrame) -> Found:
    """The median over the seeds of every measure, by data set, k and method."""
    import polars as pl

    frame = runs.group_by("data", "k", "method").agg(pl.col(*MEASURES, "seconds").median())
    return {(row["data"], row["k"], row["method"]): row for row in frame.to_dicts()}


def claims_1(found: Found) -> list[Row]:
    """The claims about Table 1: information loss and time."""
    no_worse, printed = (
        count(found, lambda of, name=name: of(name)["il"] <= of("domes")["il"] * (1 + EQUAL))  # type: ignore[misc]
        for name in ("recursive", PRINTED)
    )
    quicker = count(found, lambda of: of("recursive")["seconds"] < of("domes")["seconds"])
    saved = [100 * (1 - found[d, k, "recursive"]["seconds"] / found[d, k, "domes"]["seconds"]) for d, k in CASES]
    return [
        ("IL of recursive equal to or below that of domes", "always", *_verdict(no_worse, WHY_LOSS)),
        (f"the same for {PRINTED}", "always", *_verdict(printed, WHY_LOSS)),
        ("recursive faster than domes", "always", *_verdict(quicker, "other programs")),
        (
            "time saved by recursive",
            "up to 70 %",
            f"{min(saved):.0f} to {max(saved):.0f} %",
            "other, compiled programs",
        ),
        ("IL grows with k", "tends to", *_steps(found, "il", 1, "chance")),
        ("time grows with k", "tends to", *_steps(found, "seconds", 1, "not explained; these are milliseconds")),
    ]


def claims_2(found: Found) -> list[Row]:
    """The claims about Table 2: loss, risk and scoring index."""
    rows: list[Row] = []
    grows, _ = _steps(found, "gil", 1, "")
    for data, best in (("census", 3), ("tarragona", 4)):
        where = {method: _least([(k, found[data, k, method]["gil"]) for k in KS]) for method in OF_PAPER}
        told = ", ".join(f"{method} {k}" for method, k in where.items())
        why = "none" if set(where.values()) == {best} else f"not explained; GIL grows {grows}"
        rows.append((f"{TITLES[data]}: k of the least GIL", f"{best} for all three", told, why))
    wins = sum(_best(found, data, k, "gil") == "recursive" for data, k in CASES)
    rows.append(("recursive has the least GIL", "yes", *_verdict(wins, LOST)))
    rows.append(("DLD falls with k", "yes", *_steps(found, "dld", -1, "chance")))
    for data in DATA:
        told = ", ".join(f"k = {k}: {_best(found, data, k, 'dld')}" for k in KS)
        rows.append((f"{TITLES[data]}: method with the least DLD", None, told, "the name is lost from the text"))
    scores = [[found[data, k, method]["si"] for method in OF_PAPER] for data, k in CASES]
    spread = max(max(each) - min(each) for each in scores)
    rows.append(("SI of the three methods", "comparable", f"at most {spread:.1f} percentage points apart", "none"))
    return rows


def balance(found: Found) -> Row:
    """The claim about Figure 1: whether another method is better than `recursive` in both loss and risk."""
    beaten = count(
        found,
        lambda of: any(
            of(other)["gil"] < of("recursive")["gil"] and of(other)["gdr"] < of("recursive")["gdr"]
            for other in ("mdav", "domes")
        ),
    )
    told = f"another is better in both at the same k in {beaten} of {len(CASES)} cases"
    return ("recursive balances GIL and GDR", "in an excellent way", told, LOST if beaten else "none")


def misled(found: Found) -> int:
    """In how many cases the partition of largest loss has the least scoring index, of the paper's methods and ours."""
    methods = (*OF_PAPER, PRINTED, "memetic")
    return sum(
        max(methods, key=lambda name, own=own: found[*own, name]["il"])  # type: ignore[misc]
        == min(methods, key=lambda name, own=own: found[*own, name]["si"])  # type: ignore[misc]
        for own in CASES
    )


def count(found: Found, holds: Callable[[Own], bool]) -> int:
    """In how many cases something holds; it is given a way to the measures of a method."""
    return sum(holds(lambda method, own=own: found[*own, method]) for own in CASES)  # type: ignore[misc]


def _verdict(number: int, why: str) -> tuple[str, str]:
    return f"in {number} of {len(CASES)} cases", "none" if number == len(CASES) else why


def _steps(found: Found, name: str, sign: int, why: str) -> tuple[str, str]:
    """How often a measure grows (sign 1) or falls (−1) from one k to the next."""
    steps = [
        sign * (found[data, k + 1, method][name] - found[data, k, method][name]) > 0
        for data in DATA
        for method in OF_PAPER
        for k in KS[:-1]
    ]
    return f"in {sum(steps)} of {len(steps)} steps from k to k + 1", "none" if all(steps) else why


def _best(found: Found, data: str, k: int, name: str) -> str:
    return str(_least([(method, found[data, k, method][name]) for method in OF_PAPER]))


def _least(pairs: Sequence[tuple[object, float]]) -> object:
    return min(pairs, key=lambda pair: pair[1])[0]
