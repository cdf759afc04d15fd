"""Forged checkpoints and certificates: refused, or harmless."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from campaign.commands import call
from campaign.found import Found
from campaign.tables import attack_file

RESUMED = "a run that goes on from a forged checkpoint is refused, or ends in a release that keeps its promise"
CHECKED = "a forged certificate is refused, or what it shows is true"


def run(seed: int, folder: Path) -> Found:
    """Forge one checkpoint, or one certificate."""
    rng = np.random.default_rng([seed, 4])
    found = Found()
    if seed % 2:
        _forge_checkpoint(rng, folder, found)
    else:
        _forge_certificate(rng, folder, found)
    return found


def _forge_checkpoint(rng: np.random.Generator, folder: Path, found: Found) -> None:
    n, k = int(rng.integers(20, 60)), 3
    path, kept = folder / "data.csv", folder / "run.npz"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["x", "y", "s"])
        out.writerows(zip(rng.normal(size=n).round(3), rng.normal(size=n).round(3), range(n), strict=True))
    roles = ["--quasi", "x,y", "--confidential", "s", "--k", k, "--measures", "none", "--quiet", "--checkpoint", kept]
    method = str(rng.choice(["memetic", "genetic", "exact"]))
    common = ["protect", path, *roles, "--method", method]
    call(*common, "--steps", 2, "-o", folder / "first.csv")
    if not kept.exists():
        return
    kept.write_bytes(_forge_archive(rng, kept.read_bytes()))
    result = call(*common, "--steps", 4, "-o", folder / "second.csv")
    if result.status == 0:
        with (folder / "second.csv").open(newline="") as file:
            rows = [(row["x"], row["y"]) for row in csv.DictReader(file)]
        found.hold(RESUMED, len(rows) == n and min(Counter(rows).values()) >= k, method)
    else:
        found.hold(RESUMED, result.is_orderly, f"{method}, status {result.status}")


def _forge_archive(rng: np.random.Generator, content: bytes) -> bytes:
    """The archive with one to three of its arrays changed in value, kind or shape."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: np.load(io.BytesIO(archive.read(name)), allow_pickle=False) for name in archive.namelist()}
    names = [name for name in members if name.startswith("state")] or list(members)
    for name in rng.choice(names, int(rng.integers(1, 4))).tolist():
        members[name] = _forge_array(rng, members[name])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in members.items():
            held = io.BytesIO()
            np.save(held, array, allow_pickle=False)
            archive.writestr(name, held.getvalue())
    return out.getvalue()


def _forge_array(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    injury = int(rng.integers(6))
    if injury == 0:
        return (
            array.astype(str(rng.choice(["int8", "float64", "int32", "bool", "U8"])))
            if array.dtype.kind in "biuf"
            else array[..., None]
        )
    if injury == 1:
        return array.reshape(-1)[: max(0, array.size - int(rng.integers(1, 5)))]
    if injury == 2:
        return np.concatenate([array.reshape(-1)] * 2)
    changed = array.copy().reshape(-1)
    if changed.size and changed.dtype.kind in "iu":
        info = np.iinfo(changed.dtype)
        changed[int(rng.integers(changed.size))] = int(rng.choice([info.min, info.max, 0, 1, 10**3 % info.max]))
    elif changed.size and changed.dtype.kind == "f":
        changed[int(rng.integers(changed.size))] = rng.choice([np.nan, np.inf, -1e300, 0.0])
    elif changed.size and changed.dtype.kind == "b":
        changed[:] = ~changed
    return changed.reshape(array.shape)


def _forge_certificate(rng: np.random.Generator, folder: Path, found: Found) -> None:
    """A table of two rows and columns and a cell that is exposed, with a certificate that is altered to cover it."""
    path, paper = folder / "table.jj", folder / "certificate.json"
    values, unsafe, hidden, level = _draw_square(rng)
    _write_square(path, values, unsafe, hidden, level)
    result = call("audit", path, "--certificate", paper)
    if not paper.exists():
        found.hold(CHECKED, result.is_orderly, f"audit, status {result.status}")
        return
    content = json.loads(paper.read_text())
    for _ in range(int(rng.integers(1, 4))):
        _forge_moves(rng, content, len(values))
    paper.write_text(json.dumps(content))
    result = call("audit", path, "--check", paper)
    truth = attack_file(values, hidden, unsafe, level)
    found.hold(CHECKED, result.is_orderly and (result.status != 0 or truth), f"status {result.status}")


def _draw_square(rng: np.random.Generator) -> tuple[list[int], list[int], set[int], int]:
    size = 3
    inner = rng.integers(0, int(rng.choice([5, 50, 10**9])), (size, size))
    full = np.zeros((size + 1, size + 1), dtype=np.int64)
    full[:size, :size] = inner
    full[size, :size], full[:size, size], full[size, size] = inner.sum(0), inner.sum(1), inner.sum()
    hidden = set(rng.choice((size + 1) ** 2, int(rng.integers(3, 11)), replace=False).tolist())
    unsafe = sorted(hidden)[: int(rng.integers(1, 3))]
    return full.reshape(-1).tolist(), unsafe, hidden, int(rng.choice([1, 2, 10]))


def _write_square(path: Path, values: list[int], unsafe: list[int], hidden: set[int], level: int) -> None:
    cells = []
    for at, value in enumerate(values):
        status = "u" if at in unsafe else "m" if at in hidden else "s"
        asked = level if at in unsafe else 0
        cells.append(f"{at} {value} 1 {status} 0 {3 * max(values) + 10} {min(asked, value)} {asked} 0")
    ways = [[4 * one + at for at in range(4)] for one in range(4)] + [range(one, 16, 4) for one in range(4)]
    lines = [f"0 4 : {way[3]} (-1) " + " ".join(f"{at} (1)" for at in way[:3]) for way in ways]
    path.write_text("\n".join(["0", str(len(values)), *cells, str(len(lines)), *lines]) + "\n")


def _forge_moves(rng: np.random.Generator, content: dict[str, list[dict[str, object]]], cells: int) -> None:
    """Change a move or a proof."""
    moves, proofs = content["moves"], content["proofs"]
    if not moves:
        moves.append({"unit": 1, "cells": [0], "amounts": [10**6]})
    move = moves[int(rng.integers(len(moves)))]
    injury = int(rng.integers(5))
    if injury == 0:
        move["unit"] = None
    elif injury == 1:
        move["amounts"] = [int(rng.integers(-(10**6), 10**6)) for _ in list(move["cells"])]  # type: ignore[call-overload]
    elif injury == 2:
        move["cells"] = [int(rng.integers(-2, cells + 2)) for _ in list(move["cells"])]  # type: ignore[call-overload]
    elif injury == 3 and proofs:
        proofs[int(rng.integers(len(proofs)))] |= {"down": -1, "up": int(rng.integers(-1, len(moves)))}
    elif injury == 4 and proofs:
        del proofs[int(rng.integers(len(proofs)))]
