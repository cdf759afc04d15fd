"""`discreet inspect`, a look at microdata before anything is decided; `measure` and `verify`, a look at a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from discreet.cli.options import (
    CONSOLE,
    DETECT,
    KINDS,
    LINKAGE,
    PREVIOUS,
    PROMISES,
    TYPES,
    Coarsenings,
    Columns,
    Console,
    Groups,
    KindOptions,
    LinkageOptions,
    Names,
    PreviousOptions,
    PromiseOptions,
    Reading,
    TypeOptions,
    documented_by,
)
from discreet.cli.printing import show, show_json, tell
from discreet.cli.progress import Reporter
from discreet.measures.inspect import inspect as inspect_verb
from discreet.measures.measure import measure as measure_verb
from discreet.verification.verify import verify as verify_verb


@documented_by(inspect_verb)
def inspect(
    data: Annotated[Path, Parameter(name="INPUT")],
    /,
    *,
    quasi: Columns = None,
    types: TypeOptions = TYPES,
    config: Path | None = None,
    toml: Path | None = None,
    console: Console = CONSOLE,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    numeric
        Columns whose values are numbers, where the data would say otherwise.
    nominal
        Columns whose values are categories without order, also where they are numbers.
    ordinal
        Columns whose values are ordered categories, as 'size=small<medium<large'.
    date
        Columns whose values are dates.
    coarsen
        Columns to look at as if they were coarsened, as in `protect`: zip=prefix:2, icd=icd.hrc:2 or age=width:5.
    toml
        Also write a configuration to review, for `discreet protect --config`. Roles stand in it as comments, so that it
        is refused until you have decided on each of them.
    force
        Replace that file if it exists already.
    json
        Print what was found as JSON instead.
    """
    from discreet.release.atomic import AtomicFiles, spare

    files = [] if toml is None else [toml]
    AtomicFiles(files, force=console.force)
    spare(files, {"the input itself": data, "the configuration": config})
    with Reporter(quiet=console.quiet) as report:
        report("reading", 0.0)
        found = inspect_verb(
            reading.read(data, config=config), quasi=quasi, config=config, progress=report, **types.given()
        )
    if toml is not None:
        with AtomicFiles(files, force=console.force) as atomic:
            atomic.temporary(toml).write_text(found.toml(), encoding="utf-8")
    if console.json:
        show_json(found.as_dict())
    elif not console.quiet:
        show(found.summary())
    return 0


@documented_by(measure_verb)
def measure(
    original: Path,
    released: Annotated[Path, Parameter(name="RELEASE")],
    /,
    *,
    quasi: Columns = None,
    confidential: Columns = None,
    key: str | None = None,
    row_map: Path | None = None,
    measures: Names = None,
    types: TypeOptions = TYPES,
    hierarchy: Coarsenings = None,
    previous: PreviousOptions = PREVIOUS,
    config: Path | None = None,
    sampling_weight: Annotated[str | None, Parameter(metavar="COLUMN")] = None,
    linkage: LinkageOptions = LINKAGE,
    seed: int = 0,
    per_record: Path | None = None,
    console: Console = CONSOLE,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    original
        The microdata before protection.
    released
        The release, whoever made it.
    hierarchy
        Nominal quasi-identifiers whose loss is also told by distances in a hierarchy, as in `protect`: zip=prefix or
        icd=icd.hrc.
    per_record
        Also write an internal file with the risk of each record of the original.
    force
        Replace that file if it exists already.
    json
        Print the measures as JSON to standard output.
    """
    from discreet.data.files import check_writable_format, read_recorded, record_of, write
    from discreet.release.atomic import AtomicFiles, spare
    from discreet.release.evidence import evidence_of_measures

    if per_record:
        format_name = check_writable_format(per_record)
        AtomicFiles([per_record], force=console.force)
        read = {"the original": original, "the release": released, "the row map": row_map, "the configuration": config}
        spare([per_record], read)
        measures = [*(measures or ["fast"]), "risk"]
    with Reporter(quiet=console.quiet) as report:
        report("reading", 0.0)
        before = reading.read(original, beside=released, config=config)
        # Where nothing is said of the reading, the record of a release of ours knows best.
        record = record_of(released) if reading == DETECT else None
        after = read_recorded(released, record) if record else reading.read(released, beside=original)
        found = measure_verb(
            before,
            after,
            quasi=quasi,
            confidential=confidential,
            key=key,
            row_map=row_map,
            measures=measures or "fast",
            hierarchy=hierarchy,
            sampling_weight=sampling_weight,
            config=config,
            seed=seed,
            progress=report,
            **types.given(),
            **linkage.given(),
            **previous.given(),
        )
    if per_record:
        import polars as pl

        risks = pl.DataFrame(found.per_record).fill_nan(None)
        frame = risks.select(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("input_record"), pl.all())
        with AtomicFiles([per_record], force=console.force) as files:
            write(frame, files.temporary(per_record), format_name=format_name)
    if console.json:
        show_json(evidence_of_measures(found, before, after))
    if not console.quiet:
        (tell if console.json else show)(found.summary())
    return 0


@documented_by(verify_verb)
def verify(
    release: Path,
    /,
    *,
    promise: Path | None = None,
    quasi: Columns = None,
    k: int | None = None,
    by: Columns = None,
    grouping: Groups = None,
    promises: PromiseOptions = PROMISES,
    kinds: KindOptions = KINDS,
    original: Path | None = None,
    row_map: Path | None = None,
    memory: str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    files: Path | None = None,
    previous_release: Path | None = None,
    quiet: bool = False,
    json: bool = False,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    release
        The released file, or a folder of its parts.
    promise
        The promise to check: the OUTPUT.release.json that was written beside the release, by default; of a folder its
        release.json.
    grouping
        Instead of quasi: groups of quasi-identifiers, each of which must keep the promise on its own, as 'a,b;c' or in
        a TOML file with groups = [["a", "b"], ["c"]].
    json
        Print promise and verdict as JSON to standard output.
    """
    from discreet.data.databases.address import is_address

    with Reporter(quiet=quiet) as report:
        report("verifying", 0.0)
        # Where nothing is said of the reading, the record of the release knows best.
        source = release if reading == DETECT and not is_address(release) else reading.read(release)
        verdict = verify_verb(
            source,
            promise=promise,
            quasi=quasi,
            k=k,
            by=by,
            grouping=grouping,
            original=original,
            row_map=row_map,
            memory=memory,
            workers=workers,
            cluster=cluster,
            files=files,
            previous_release=previous_release,
            **promises.given(),
            **kinds.given(),
        )
    if json:
        from discreet.release.evidence import evidence_of_verification

        show_json(evidence_of_verification(verdict, source, promise))
    if not quiet or not verdict:
        say = tell if json else show
        say(f"Promise     {verdict.promise.words()}")
        say(f"Verified    {source.name} {verdict.words()}")
        for note in verdict.notes:
            tell(f"Note        {note}")
    return 0 if verdict else 1
