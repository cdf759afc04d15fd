"""Forged checkpoints and certificates: refused, or harmless."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet
from campaign.commands import call
from campaign.found import Found
from campaign.tables import attack_file
from discreet.evolution import checkpoint

RESUMED = "a run that goes on from a forged checkpoint is refused, or ends in a release that keeps its promise"
CHECKED = "a forged certificate is refused, or what it shows is true"

EXTREMES = {"i": (-1, 10**12, -(2**62)), "u": (0, 2**63), "f": (np.nan, np.inf, -1e308), "b": (True, False)}
K = 3


def run(seed: int, folder: Path) -> Found:
    """Forge one checkpoint, or one certificate."""
    rng = np.random.default_rng([seed, 4])
    found = Found()
    if seed % 2:
        name = list(SEARCHES)[int(rng.integers(len(SEARCHES)))]
        found.hold(RESUMED, *forge_checkpoint(name, rng, folder, int(rng.integers(1, 4))))
    else:
        _forge_certificate(rng, folder, found)
    return found


def _survey(n: int, seed: int = 1) -> pl.DataFrame:
    return pl.DataFrame(np.random.default_rng(seed).normal(size=(n, 3)), schema=["a", "b", "c"])


def _coded(n: int) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    codes = {name: rng.integers(0, 5, n).astype(str) for name in ("u", "v")}
    return pl.DataFrame(codes | {"w": rng.normal(size=n)})


def _table(*shape: int) -> Any:
    rng = np.random.default_rng(2)
    size = 6 * int(np.prod(shape))
    rows = {f"d{axis}": rng.integers(0, codes, size).astype(str) for axis, codes in enumerate(shape)}
    frame = pl.DataFrame(rows | {"amount": rng.integers(1, 90, size)})
    return discreet.primary(discreet.tabulate(frame, by=list(rows), value="amount"), p=30, threshold=9)


def _companies() -> Any:
    """A table with sole contributors, so that the search is guarded."""
    rng = np.random.default_rng(5)
    rows = {f"d{axis}": rng.integers(0, 4, 40).astype(str) for axis in range(2)}
    frame = pl.DataFrame(rows | {"amount": np.ceil(rng.lognormal(3, 1, 40))})
    return discreet.primary(discreet.tabulate(frame, by=list(rows), value="amount", top=4), p=15)


def _protect(n: int, path: Path, steps: int, **said: Any) -> Any:
    return discreet.protect(_survey(n), k=K, quasi="all", measures="none", steps=steps, checkpoint=path, **said)


def _suppress(shape: tuple[int, ...], path: Path, steps: int, method: str = "search") -> Any:
    return discreet.suppress(_table(*shape), method=method, steps=steps, checkpoint=path)


def _group(path: Path, steps: int, method: str, enumeration: int = 0) -> Any:
    size = {} if enumeration else {"population": 6, "crossovers": 2, "mutations": 1}
    params = {"enumeration": enumeration} | size
    return discreet.group(_survey(30), k=K, quasi="all", method=method, params=params, steps=steps, checkpoint=path)


# A run of every kind of checkpoint, small, in a file and for some steps.
SEARCHES: dict[str, Callable[[Path, int], Any]] = {
    "memetic": lambda path, steps: _protect(40, path, steps),
    "memetic in blocks": lambda path, steps: _protect(200, path, steps, params={"large": 100, "block": 50}),
    "memetic with categories": lambda path, steps: discreet.protect(
        _coded(60), k=K, quasi="all", nominal=["u", "v"], measures="none", steps=steps, checkpoint=path
    ),
    "exact": lambda path, steps: _protect(20, path, steps, method="exact"),
    "genetic": lambda path, steps: _protect(40, path, steps, method="genetic"),
    "two-step": lambda path, steps: _protect(60, path, steps, method="two-step"),
    "patterns by flows": lambda path, steps: _suppress((5, 4), path, steps),
    "patterns by linear programs": lambda path, steps: _suppress((3, 3, 2), path, steps),
    "patterns, guarded": lambda path, steps: discreet.suppress(_companies(), steps=steps, checkpoint=path),
    "patterns, proven": lambda path, steps: _suppress((4, 4), path, steps, "exact"),
    "patterns by hypercubes": lambda path, steps: _suppress((3, 3, 2), path, steps, "hypercube"),
    "orders by flows": lambda path, steps: _suppress((5, 4), path, steps, "ga-one-p"),
    "orders by linear programs": lambda path, steps: _suppress((3, 3, 2), path, steps, "ls-swap"),
    "gomm": lambda path, steps: _group(path, steps, "gomm"),
    "d-gomm": lambda path, steps: _group(path, steps, "d-gomm"),
    "pareto": lambda path, steps: _group(path, steps, "pareto"),
    "all groupings": lambda path, steps: _group(path, steps, "gomm", 5_000),
}


def kept_state(name: str, path: Path, steps: int = 2) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a search for some steps: what its checkpoint holds of it, and its signature."""
    SEARCHES[name](path, steps)
    with np.load(path, allow_pickle=False) as archive:
        members = {key: archive[key] for key in archive.files}
    parts = [
        {key.removeprefix(f"{part}."): value for key, value in members.items() if key.startswith(f"{part}.")}
        for part in ("state", "signature")
    ]
    return parts[0], {key: value.item() for key, value in parts[1].items()}


def resume(name: str, path: Path, state: dict[str, Any], signature: dict[str, Any], steps: int = 3) -> tuple[bool, str]:
    """Go on from a state, with a digest that fits: whether it is refused as it should be, or keeps its promise."""
    checkpoint.save(path, state, signature)
    try:
        made = SEARCHES[name](path, steps)
    except discreet.DiscreetError as error:
        return True, str(error)
    if hasattr(made, "labels"):
        data = made.data.to_pandas() if hasattr(made.data, "to_pandas") else made.data
        counts = Counter(data.itertuples(index=False, name=None))
        return min(counts.values()) >= K, "gone on"
    return True, "gone on"


def forge_checkpoint(name: str, rng: np.random.Generator, folder: Path, count: int) -> tuple[bool, str]:
    """Change some arrays of a checkpoint, and go on from it."""
    path = folder / "run.npz"
    state, signature = kept_state(name, path, int(rng.integers(1, 5)))
    for key in rng.choice(sorted(state), count).tolist():
        state[key] = spoil(state[key], rng)
    try:
        return resume(name, path, state, signature, 6)
    except Exception as error:
        return False, f"{name}: {type(error).__name__}"


def spoil(array: Any, rng: np.random.Generator) -> Any:
    """Change an array in one of the ways that somebody might."""
    array = np.array(array)
    how = rng.integers(7)
    if array.dtype.kind not in EXTREMES or how == 0:
        return np.zeros((2, 3)) if array.dtype.kind in EXTREMES else "spoilt"
    if how == 1 and array.ndim:
        return array[: len(array) // 2]
    if how == 2 and array.ndim:
        return np.concatenate([array, array])
    if how == 3 and array.size > 1:
        return rng.permutation(array.ravel()).reshape(array.shape)
    if how == 4:
        return array.astype(np.float64) + 0.5
    flat = array.copy().reshape(-1)
    if flat.size and how == 5 and array.dtype.kind in "iu":
        # A little, so that it may well be in range.
        flat[rng.integers(flat.size)] += np.array(rng.choice([1, 2, 7])).astype(array.dtype)
    elif flat.size:
        extremes = EXTREMES[array.dtype.kind]
        flat[rng.integers(flat.size)] = np.array(extremes[rng.integers(len(extremes))]).astype(array.dtype)
    return flat.reshape(array.shape)


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
