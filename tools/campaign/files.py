"""Broken files of every format: whatever is in them, the command ends orderly, tells no value and leaves nothing."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat

from campaign.commands import CANARY, call, leftovers
from campaign.found import Found

ORDERLY = "a broken file ends in a status and a message of our own"
SILENT = "no message tells a value that stands in a file"
CLEAN = "what is refused leaves no file behind"

HOSTILE = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"\r", b"\n\n", b",", b";", b"9" * 5000, b"[" * 100_000, b"nan",
    b"-inf", b"1e999", b"\x1b[31m", b"</script>", "\u202e".encode(), b"=cmd()", b"\\", b"@@@@", b"<", b"%s%n", b"../",
)  # fmt: skip


def run(seed: int, folder: Path) -> Found:
    """Write a sound file, break it, and hand it to a command."""
    rng = np.random.default_rng([seed, 3])
    kind = str(rng.choice(list(KINDS)))
    arguments, target = KINDS[kind](folder)
    found = Found()
    target.write_bytes(_break(rng, target.read_bytes()))
    known = {path for path in folder.rglob("*") if path.is_file()}
    result = call(*arguments, "--quiet") if arguments[0] in ("protect", "suppress") else call(*arguments)
    found.hold(ORDERLY, result.is_orderly, f"{kind}, status {result.status}")
    found.hold(SILENT, CANARY not in result.text, kind)
    if result.status not in (0, 3):
        found.hold(CLEAN, not leftovers(folder, known), kind)
    return found


def _break(rng: np.random.Generator, content: bytes) -> bytes:
    """One to four injuries: bytes changed, spans cut out, doubled or swapped, hostile text put in."""
    held = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        at, size = int(rng.integers(len(held) + 1)), int(rng.integers(1, 40))
        injury = int(rng.integers(6))
        if injury == 0 and at < len(held):
            held[at] = int(rng.integers(256))
        elif injury == 1:
            del held[at : at + size]
        elif injury == 2:
            held[at:at] = held[at : at + size]
        elif injury == 3:
            held[at:at] = HOSTILE[int(rng.integers(len(HOSTILE)))]
        elif injury == 4:
            del held[at:]
        else:
            held[at:at] = CANARY.encode()
    return bytes(held)


def _survey() -> pd.DataFrame:
    at = np.arange(24)
    town = [CANARY if one == 7 else f"t{one % 4}" for one in at]
    return pd.DataFrame({"age": 20 + at % 9, "income": 1000.5 + 37 * at, "town": town, "ill": at % 3})


def _protect(path: Path, folder: Path) -> list[object]:
    options = ["--k", 3, "--quasi", "age,income,town", "--confidential", "ill", "--method", "mdav"]
    return ["protect", path, *options, "-o", folder / "out.csv"]


def _csv(folder: Path) -> tuple[list[object], Path]:
    path = folder / "survey.csv"
    _survey().to_csv(path, index=False)
    return _protect(path, folder), path


def _gzip(folder: Path) -> tuple[list[object], Path]:
    path = folder / "survey.csv.gz"
    path.write_bytes(gzip.compress(_survey().to_csv(index=False).encode()))
    return _protect(path, folder), path


def _parquet(folder: Path) -> tuple[list[object], Path]:
    path = folder / "survey.parquet"
    _survey().to_parquet(path)
    return _protect(path, folder), path


def _excel(folder: Path) -> tuple[list[object], Path]:
    path = folder / "survey.xlsx"
    _survey().to_excel(path, index=False)
    return _protect(path, folder), path


def _spss(folder: Path) -> tuple[list[object], Path]:
    path = folder / "survey.sav"
    pyreadstat.write_sav(_survey(), path)
    return _protect(path, folder), path


def _stata(folder: Path) -> tuple[list[object], Path]:
    path = folder / "survey.dta"
    pyreadstat.write_dta(_survey(), path)
    return _protect(path, folder), path


def _configuration(folder: Path) -> tuple[list[object], Path]:
    _survey().to_csv(folder / "survey.csv", index=False)
    path = folder / "survey.toml"
    path.write_text(f'k = 3\nquasi = ["age", "income", "town"]\nconfidential = ["ill"]\n# {CANARY}\nmethod = "mdav"\n')
    return ["protect", folder / "survey.csv", "--config", path, "-o", folder / "out.csv"], path


def _groups(folder: Path) -> tuple[list[object], Path]:
    _survey().to_csv(folder / "survey.csv", index=False)
    path = folder / "groups.toml"
    path.write_text(f'groups = [["age", "income"], ["town"]] # {CANARY}\n')
    return [*_protect(folder / "survey.csv", folder), "--grouping", path], path


def _hierarchy(folder: Path) -> tuple[list[object], Path]:
    _survey().to_csv(folder / "survey.csv", index=False)
    path = folder / "town.hrc"
    path.write_text(f"a\n@t0\n@t1\nb\n@t2\n@t3\n@{CANARY}\n")
    by = ["--by", f"town@{path}", "--by", "ill", "--value", "income"]
    return ["tabulate", folder / "survey.csv", *by, "-o", folder / "table.parquet"], path


def _table(folder: Path) -> tuple[list[object], Path]:
    path = folder / "table.jj"
    values = [5, 6, 11, 7, 8, 15, 12, 14, 26]
    cells = [
        f"{at} {value} 1 {'u' if at == 0 else 's'} 0 {value * 3} {int(at == 0)} {int(at == 0)} 0"
        for at, value in enumerate(values)
    ]
    sums = [(2, (0, 1)), (5, (3, 4)), (8, (6, 7)), (6, (0, 3)), (7, (1, 4)), (8, (2, 5))]
    lines = [f"0 3 : {total} (-1) {one} (1) {other} (1)" for total, (one, other) in sums]
    path.write_text("\n".join(["0", "9", *cells, "6", *lines]) + "\n")
    return ["suppress", path, "--steps", 3, "-o", folder / "public.csv"], path


KINDS: dict[str, Callable[[Path], tuple[list[object], Path]]] = {
    "CSV": _csv,
    "gzip": _gzip,
    "Parquet": _parquet,
    "Excel": _excel,
    "SPSS": _spss,
    "Stata": _stata,
    "configuration": _configuration,
    "groups of columns": _groups,
    "hierarchy": _hierarchy,
    "table (.jj)": _table,
}
