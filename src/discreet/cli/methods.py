"""`discreet methods`."""

from __future__ import annotations

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

    from discreet.methods import describe
    from discreet.text import entry

    described = describe()
    if json:
        from dataclasses import asdict
        from json import dumps

        print(dumps([asdict(method) for method in described], indent=2, ensure_ascii=False))
        return 0
    for family, members in groupby(described, lambda method: method.family):
        print(("" if family == described[0].family else "\n") + HEADINGS[family], end="\n\n")
        # Variants of one method share its description.
        for (summary, parameters), variants in groupby(members, lambda method: (method.summary, method.parameters)):
            *others, last = [method.name for method in variants]
            if others:
                print("\n".join(entry(f"{others[0]}, ", ", ".join([*others[1:], last]))))
            print("\n".join(entry("" if others else last, summary)))
            for parameter in parameters:
                print("\n".join(entry("", f"--param {parameter.name}={parameter.default}: {parameter.description}")))
    return 0
