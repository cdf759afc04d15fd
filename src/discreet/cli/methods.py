"""`discreet methods`."""

from __future__ import annotations


def methods(*, json: bool = False) -> int:
    """List the methods that group records, with their parameters and where they come from.

    Parameters
    ----------
    json
        Print the list as JSON.
    """
    from discreet.microdata.registry import describe

    entries = describe()
    if json:
        from dataclasses import asdict
        from json import dumps

        print(dumps([asdict(entry) for entry in entries], indent=2, ensure_ascii=False))
        return 0
    for entry in entries:
        print(f"{entry.name:<12}{entry.summary}")
        for parameter in entry.parameters:
            print(f"{'':<12}--param {parameter.name}={parameter.default}: {parameter.description}")
    return 0
