"""`discreet methods`."""

from __future__ import annotations


def methods(*, json: bool = False) -> int:
    """List the methods that group records, with their parameters and where they come from.

    Parameters
    ----------
    json
        Print the list as JSON.
    """
    from discreet.methods import describe
    from discreet.text import entry

    described = describe()
    if json:
        from dataclasses import asdict
        from json import dumps

        print(dumps([asdict(method) for method in described], indent=2, ensure_ascii=False))
        return 0
    for method in described:
        print("\n".join(entry(method.name, method.summary)))
        for parameter in method.parameters:
            told = f"--param {parameter.name}={parameter.default}: {parameter.description}"
            print("\n".join(entry("", told)))
    return 0
