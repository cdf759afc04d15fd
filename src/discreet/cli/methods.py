"""`discreet methods` and `discreet compile`."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from time import perf_counter

from discreet.cli.printing import show, show_json
from discreet.text import entry

HEADINGS = {
    "partition": "Records into groups (protect, refine, partition, study)",
    "grouping": "Quasi-identifiers into groups (group)",
    "suppression": "Cells to suppress (suppress, study compare)",
}


def methods(*, json: bool = False) -> int:
    """List all methods, which group records, group attributes or suppress cells, with their parameters.

    Parameters
    ----------
    json
        Print the list as JSON, with the papers the methods come from.
    """

    from discreet.methods import list_methods

    described = list_methods()
    if json:
        show_json([asdict(method) for method in described])
        return 0
    for family, members in groupby(described, lambda method: method.family):
        show(("" if family == described[0].family else "\n") + HEADINGS[family] + "\n")
        # Variants of one method share its description.
        for (summary, parameters), variants in groupby(members, lambda method: (method.summary, method.parameters)):
            *others, last = [method.name for method in variants]
            if others:
                show("\n".join(entry(f"{others[0]}, ", ", ".join([*others[1:], last]))))
            show("\n".join(entry("" if others else last, summary)))
            for parameter in parameters:
                show("\n".join(entry("", f"--param {parameter.name}={parameter.default}: {parameter.description}")))
    return 0


def compile_(*, quiet: bool = False) -> int:
    """Compile the kernels of the default searches ahead of time, for an image or a cluster.

    They are compiled on first use otherwise, which takes half a minute or so, once on each kind of processor. The
    cache is in the package's folder; in ~/.cache/discreet/kernels if that cannot be written to, or others can write
    to it; or in the folder that NUMBA_CACHE_DIR names by its whole path, if others cannot write to it.

    Parameters
    ----------
    quiet
        Print nothing.
    """

    from discreet.kernels.compiling import compiling
    from discreet.microdata.memetic.islands import rehearse_proof
    from discreet.microdata.memetic.memetic import Memetic
    from discreet.microdata.solving import warm_up
    from discreet.tables.suppression.warm_up import compile_all

    began = perf_counter()
    if not quiet:
        show("compiling kernels for this machine (once) …")
    method = Memetic()
    # Records whose optimum may be proven, many records, and so many that they are searched in blocks.
    warm_up(method, 2, 3, {100, 5_000, 10 * method.large})
    with compiling():
        rehearse_proof()
    compile_all()
    if not quiet:
        show(f"done in {perf_counter() - began:.0f} s")
    return 0
