"""Play four users on generated look-alikes of their data: `python tools/users.py FOLDER [--full] [--only NAME]`.

A hospital, an office with a large file of categories, one with a table of two hierarchies, one with linked tables that
were summed up elsewhere. Everything goes through the public commands, and every release is checked by code that shares
nothing with the package: polars counts the classes of microdata, scipy's linear programs attack the tables. The seeds
are fixed. Without --full the files are small.
"""

import argparse
import itertools
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import polars as pl
from scipy.optimize import linprog

TOTAL = "Total"
Cell = tuple[str, ...]
# Of each unsafe cell the attacker must think possible what lies so far from it, as a share.
RANGE = 0.1
NOT_FOUND = "none found out by a linear program, nor in {:,} attacks by sole contributors"


def discreet(*arguments: object) -> str:
    """Run a command; what it prints."""
    words = [str(argument) for argument in arguments]
    print("$ discreet", *words, flush=True)
    done = subprocess.run([sys.executable, "-m", "discreet", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"exit {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def hospital(folder: Path, full: bool) -> str:
    """A German hospital file: BOM, `;`, decimal comma, postal codes, ICD codes, gaps and free text."""
    n, rng = 20_000 if full else 400, np.random.default_rng(1)
    towns = rng.integers(1_000, 99_999, 5_463 if full else 60)
    codes = [f"{chapter}{number:02}.{digit}" for chapter in "ABCDEFGHIJK" for number in range(100) for digit in (0, 1)]
    age = rng.integers(0, 100, n)
    frame = pl.DataFrame(
        {
            "fall": [f"F{number:07}" for number in range(n)],
            "plz": [f"{town:05}" for town in rng.choice(towns, n)],
            "alter": [None if gap else int(years) for years, gap in zip(age, rng.random(n) < 0.03, strict=True)],
            "geschlecht": rng.choice(["m", "w"], n),
            "icd": rng.choice(codes[: 1_883 if full else 120], n),
            "kosten": [f"{value:.2f}".replace(".", ",") for value in rng.gamma(2, 1_500, n)],
            "befund": [f"Patient {number} klagt seit {number % 9} Tagen über Schmerzen" for number in range(n)],
        }
    )
    data, release = folder / "hospital.csv", folder / "hospital-release.csv"
    data.write_bytes(b"\xef\xbb\xbf" + frame.write_csv(separator=";").encode())
    quasi = ["plz", "alter", "geschlecht", "icd"]
    discreet("inspect", data)
    discreet(
        "protect", data, "-o", release, "--k", 5, "--quasi", ",".join(quasi), "--nominal", "plz", "--confidential",
        "kosten", "--identifier", "fall", "--ignore", "befund", "--coarsen", "plz=prefix:2,icd=prefix:1",
        "--time", 10 if full else 1, "--force",
    )  # fmt: skip
    discreet("verify", release, "--promise", f"{release}.release.json")
    public = pl.read_csv(release, separator=";", infer_schema=False)
    least = count_least(public, quasi)
    assert least >= 5, least
    assert not {"fall", "befund"} & set(public.columns)
    assert sorted(public["kosten"]) == sorted(frame["kosten"])
    assert public["plz"].drop_nulls().str.len_chars().max() == 2
    return f"hospital: {n:,} records, every combination occurs at least {least} times, costs unchanged"


def categories(folder: Path, full: bool) -> str:
    """A large file of nine categories."""
    n, rng = 1_200_000 if full else 3_000, np.random.default_rng(2)
    levels = (2, 3, 4, 5, 6, 8, 12, 40, 139)
    frame = pl.DataFrame(
        {
            f"c{number}": [f"v{code}" for code in rng.geometric(2 / size, n).clip(max=size)]
            for number, size in enumerate(levels)
        }
    )
    data, release = folder / "categories.csv", folder / "categories-release.csv"
    frame.write_csv(data)
    discreet(
        "protect", data, "-o", release, "--k", 3, "--quasi", "all", "--header", "yes", "--time", 10 if full else 1,
        "--force",
    )  # fmt: skip
    discreet("verify", release, "--promise", f"{release}.release.json")
    public = pl.read_csv(release, infer_schema=False)
    least = count_least(public, public.columns)
    assert least >= 3, least
    assert public.height == n
    return f"categories: {n:,} records, every combination occurs at least {least} times"


def count_least(public: pl.DataFrame, quasi: Iterable[str]) -> int:
    """How often the rarest combination of values occurs."""
    return int(public.group_by(list(quasi)).len()["len"].min())  # type: ignore[arg-type]


def tree(letter: str, branches: int, leaves: int) -> dict[str, list[str]]:
    """A hierarchy of two levels below the total: the parts of each code."""
    groups = [f"{letter}{branch}" for branch in range(branches)]
    return {TOTAL: groups} | {group: [f"{group}{leaf:02}" for leaf in range(leaves)] for group in groups}


def write_hrc(parts: Mapping[str, list[str]], path: Path) -> None:
    """The hierarchy as a file: one code a line, depth by @."""
    path.write_text("".join(f"{group}\n" + "".join(f"@{leaf}\n" for leaf in parts[group]) for group in parts[TOTAL]))


def hierarchies(folder: Path, full: bool) -> str:
    """A table of two hierarchies by a flat variable, from microdata."""
    rng = np.random.default_rng(3)
    act, nuts = (tree("A", 6, 6), tree("N", 4, 4)) if full else (tree("A", 3, 2), tree("N", 2, 2))
    sizes = {TOTAL: ["large", "small"]}
    n = 4_000 if full else 70
    frame = pl.DataFrame(
        {
            "act": rng.choice([leaf for group in act[TOTAL] for leaf in act[group]], n),
            "nuts": rng.choice([leaf for group in nuts[TOTAL] for leaf in nuts[group]], n),
            "size": rng.choice(sizes[TOTAL], n),
            "turnover": rng.lognormal(8, 1.5, n).astype(int) + 1,
        }
    )
    data, table, flagged, public = (
        folder / name for name in ("firms.csv", "firms.parquet", "firms-flagged.parquet", "firms-public.csv")
    )
    frame.write_csv(data)
    write_hrc(act, folder / "act.hrc")
    write_hrc(nuts, folder / "nuts.hrc")
    by = ["--by", f"act@{folder / 'act.hrc'}", "--by", f"nuts@{folder / 'nuts.hrc'}", "--by", "size"]
    discreet("tabulate", data, *by, "--value", "turnover", "-o", table, "--force")
    discreet("primary", table, "--threshold", 3, "--range", 100 * RANGE, "-o", flagged, "--force")
    discreet("suppress", flagged, "-o", public, "--time", 60 if full else 1, "--force")
    values, counts = add_up(frame, (act, nuts, sizes), "turnover")
    shown = [read_public(public, ["act", "nuts", "size"])]
    broken, unsafe, tried = attack(values, counts, (act, nuts, sizes), shown, 600 if full else 40)
    assert not broken, broken
    return f"hierarchies: {len(values):,} cells, {unsafe:,} unsafe, {NOT_FOUND.format(tried)}"


def linked(folder: Path, full: bool) -> str:
    """Two linked tables, summed up elsewhere, that share the activities."""
    rng = np.random.default_rng(4)
    act, sizes = tree("A", 5, 5 if full else 2), {TOTAL: ["large", "small", "tiny"]}
    regions = {TOTAL: ["east", "north", "south", "west"]}
    n = 900 if full else 90
    frame = pl.DataFrame(
        {
            "ACT": rng.choice([leaf for group in act[TOTAL] for leaf in act[group]], n),
            "SIZE": rng.choice(sizes[TOTAL], n),
            "REGION": rng.choice(regions[TOTAL], n),
            "TOT": rng.lognormal(8, 1.5, n).astype(int) + 1,
        }
    )
    write_hrc(act, folder / "activity.hrc")
    names, trees = ("ACT", "SIZE", "REGION"), (act, sizes, regions)
    values, counts = add_up(frame, trees, "TOT")
    flagged = []
    for other in ("SIZE", "REGION"):
        kept = [cell for cell in values if cell[2 if other == "SIZE" else 1] == TOTAL]
        rows = [{name: code for name, code in zip(names, cell, strict=True) if name in ("ACT", other)} for cell in kept]
        cells = pl.DataFrame(rows).with_columns(
            TOT=pl.Series([values[cell] for cell in kept]), N_OBS=pl.Series([counts[cell] for cell in kept])
        )
        cells.write_csv(folder / f"act-{other.lower()}.csv")
        flagged.append(folder / f"act-{other.lower()}.parquet")
        discreet(
            "primary", folder / f"act-{other.lower()}.csv", "--by", f"ACT@{folder / 'activity.hrc'}", "--by", other,
            "--value", "TOT", "--count", "N_OBS", "--threshold", 3, "--range", 100 * RANGE, "-o", flagged[-1],
            "--force",
        )  # fmt: skip
    system, public = folder / "linked.parquet", folder / "linked-public.csv"
    discreet("link", *flagged, "-o", system, "--force")
    discreet("suppress", system, "-o", public, "--time", 30 if full else 1, "--force")
    shown = [read_public(path, list(names)) for path in sorted(folder.glob("linked-public*.csv"))]
    both = {cell: value for cell, value in values.items() if TOTAL in cell[1:]}
    broken, unsafe, tried = attack(both, counts, trees, shown, 600 if full else 40)
    assert not broken, broken
    return f"linked: {len(both):,} cells in two tables, {unsafe:,} unsafe, {NOT_FOUND.format(tried)}"


def add_up(
    frame: pl.DataFrame, trees: tuple[Mapping[str, list[str]], ...], value: str
) -> tuple[dict[Cell, float], dict[Cell, int]]:
    """Value and contributors of every cell that has any, all totals among them."""
    above = [{part: code for code, parts in each.items() for part in parts} for each in trees]
    values: dict[Cell, float] = {}
    counts: dict[Cell, int] = {}
    for *codes, amount in frame.iter_rows():
        chains = []
        for code, parent in zip(codes, above, strict=True):
            chain = [code]
            while chain[-1] in parent:
                chain.append(parent[chain[-1]])
            chains.append(chain)
        for cell in itertools.product(*chains):
            values[cell] = values.get(cell, 0) + amount
            counts[cell] = counts.get(cell, 0) + 1
    assert value == frame.columns[-1]
    return values, counts


def read_public(path: Path, names: list[str]) -> set[Cell]:
    """The cells that a publication shows, by their codes; a dimension that it has not stands at its total."""
    table = pl.read_csv(path, infer_schema=False)
    number = next(name for name in table.columns if name not in names)
    open_cells = table.filter(pl.col(number).str.contains(r"^-?[0-9.]+$"))
    have = [pl.col(name) if name in table.columns else pl.lit(TOTAL).alias(name) for name in names]
    return {tuple(row) for row in open_cells.select(have).iter_rows()}


def attack(
    values: Mapping[Cell, float],
    counts: Mapping[Cell, int],
    trees: tuple[Mapping[str, list[str]], ...],
    shown: list[set[Cell]],
    pairs: int,
) -> tuple[list[Cell], int, int]:
    """The unsafe cells that are published, or that linear programs find to within less than their level.

    They are looked for by an outsider, and by those who are alone in a cell: so many pairs of such a contributor and an
    unsafe cell, those first in which he has a part. Of the others' part of a cell he must not know more. How many cells
    were unsafe, and how many pairs were tried, comes along.
    """
    published = set().union(*shown)
    hidden = [cell for cell in values if cell not in published]
    place = {cell: column for column, cell in enumerate(hidden)}
    unsafe = [cell for cell in values if counts[cell] < 3]
    broken = [cell for cell in unsafe if cell in published]
    rows, sides = [], []
    ups: dict[Cell, set[Cell]] = {cell: set() for cell in values}
    for cell in values:
        for at, parts in enumerate(trees):
            below = [(*cell[:at], part, *cell[at + 1 :]) for part in parts.get(cell[at], [])]
            if not below or not all(each in values or counts.get(each, 0) == 0 for each in below):
                continue
            row, side = np.zeros(len(hidden)), 0.0
            for each, sign in [(cell, 1.0), *((each, -1.0) for each in below if each in values)]:
                if each in place:
                    row[place[each]] += sign
                else:
                    side -= sign * values[each]
                if sign < 0:
                    ups[each].add(cell)
                    # Who contributes to a total contributes to a part that as many contribute to.
                    if counts[each] == counts[cell]:
                        ups[cell].add(each)
            if row.any():
                rows.append(row)
                sides.append(side)
    most = 1.5 * max(values.values())

    def is_narrow(cell: Cell, level: float, known: Iterable[Cell] = ()) -> bool:
        """Whether somebody who knows some cells finds another to within less than a level."""
        fixed = set(known)
        bounds = [(values[each], values[each]) if each in fixed else (0, most) for each in hidden]
        for sign in (1.0, -1.0):
            goal = np.zeros(len(hidden))
            goal[place[cell]] = sign
            found = linprog(goal, A_eq=np.array(rows), b_eq=sides, bounds=bounds)
            reach = values[cell] - sign * found.fun
            if found.status or sign * reach < level - 1e-6 * max(1.0, values[cell]):
                return True
        return False

    broken += [cell for cell in unsafe if cell in place and is_narrow(cell, RANGE * values[cell])]
    tried = list(itertools.islice(judge_insiders(values, counts, ups, unsafe), pairs))
    broken += [cell for known, cell, level in tried if cell in place and is_narrow(cell, level, known)]
    return broken, len(unsafe), len(tried)


def judge_insiders(
    values: Mapping[Cell, float], counts: Mapping[Cell, int], ups: Mapping[Cell, set[Cell]], unsafe: list[Cell]
) -> Iterable[tuple[set[Cell], Cell, float]]:
    """Pairs of the cells that one contributor is alone in and an unsafe cell, with the level of the others' part."""

    def reach(first: Cell, steps: Mapping[Cell, Iterable[Cell]]) -> set[Cell]:
        found, fresh = {first}, [first]
        while fresh:
            fresh = [each for each in {up for cell in fresh for up in steps[cell]} if each not in found]
            found.update(fresh)
        return found

    alone = [cell for cell in values if counts[cell] == 1]
    # Who is alone in a total and in a part of it is one contributor.
    same: dict[Cell, set[Cell]] = {cell: set() for cell in alone}
    for cell in alone:
        for up in ups[cell]:
            if counts[up] == 1:
                same[cell].add(up)
                same[up].add(cell)
    owned = {frozenset(reach(cell, same)) for cell in alone}
    found = []
    for own in sorted(owned, key=sorted):
        above = set().union(*(reach(cell, ups) for cell in own))
        for cell in unsafe:
            if cell not in own:
                mine = max(values[each] for each in own) if cell in above else 0.0
                left = counts[cell] - (cell in above)
                if 0 < left < 3:
                    found.append((cell not in above, set(own), cell, RANGE * (values[cell] - mine)))
    # Those first in which he has a part; of the others some of everywhere.
    found.sort(key=lambda each: each[0])
    parts = [each for each in found if not each[0]]
    rest = [found[at] for at in np.random.default_rng(5).permutation(np.arange(len(parts), len(found)))]
    return ((known, cell, level) for _, known, cell, level in (*parts, *rest))


USERS = {"hospital": hospital, "categories": categories, "hierarchies": hierarchies, "linked": linked}


def main() -> None:
    """Play the users, and say what was checked of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--full", action="store_true", help="the sizes of real data; minutes")
    parser.add_argument("--only", choices=USERS, help="one of the users")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name, play in USERS.items():
        if asked.only in (None, name):
            print(play(asked.folder, asked.full), flush=True)


if __name__ == "__main__":
    main()
