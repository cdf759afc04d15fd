"""`discreet methods`."""

from __future__ import annotations

from discreet.cli.printing import show, show_json

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
    from itertools import groupby

    from discreet.methods import list_methods
    from discreet.text import entry

    described = list_methods()
    if json:
        from dataclasses import asdict

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
