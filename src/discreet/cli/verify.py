"""`discreet verify`."""

from __future__ import annotations

import sys
from pathlib import Path

from discreet.cli.options import DETECT, Columns, Groups, Reading, documented_by
from discreet.verification.verify import verify as verb


@documented_by(verb)
def verify(
    release: Path,
    /,
    *,
    promise: Path | None = None,
    quasi: Columns = None,
    k: int | None = None,
    by: Columns = None,
    grouping: Groups = None,
    quiet: bool = False,
    json: bool = False,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    release
        The released file.
    promise
        The promise to check: the OUTPUT.release.json that was written beside the release.
    grouping
        Instead of quasi: groups of quasi-identifiers, each of which must keep the promise on its own, as 'a,b;c' or in
        a TOML file with groups = [["a", "b"], ["c"]].
    quiet
        Print nothing but errors.
    json
        Print promise and verdict as JSON to standard output.
    """
    from discreet.cli.progress import Reporter

    with Reporter(quiet=quiet) as report:
        report("verifying", 0.0)
        # Where nothing is said of the reading, the record of the release knows best.
        source = release if reading == DETECT else reading.read(release)
        verdict = verb(source, promise=promise, quasi=quasi, k=k, by=by, grouping=grouping)
    if json:
        from discreet.data.files import format_of, sha256
        from discreet.release.evidence import as_json, evidence

        given = {"file": release.name, "format": format_of(release), "sha256": sha256(release)}
        account = evidence(
            "verification",
            parameters={"promise": promise.name if promise else None},
            measures={},
            given=given | {"records": verdict.records, "columns": None, "dialect": None},
            promise=verdict.promise.as_dict(),
            verification=verdict.as_dict(),
            notes=verdict.notes,
        )
        print(as_json(account))
    if not quiet or not verdict:
        print(f"Promise     {verdict.promise.words()}", file=sys.stderr)
        print(f"Verified    {release.name} {verdict.words()}", file=sys.stderr)
        for note in verdict.notes:
            print(f"Note        {note}", file=sys.stderr)
    return 0 if verdict else 1
