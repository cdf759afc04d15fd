"""Reports from files and to files: a release with what stands beside it is read, and both reports appear or none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from discreet.columns import as_names, resolve
from discreet.configuration import Config, load
from discreet.data.dataset import Dataset, accept
from discreet.data.files import read_recorded, sha256
from discreet.data.files.source import Source
from discreet.data.roles import Declarations
from discreet.errors import InputError
from discreet.measures.pair import align, leave_out
from discreet.release.atomic import AtomicFiles, spare
from discreet.release.evidence import evidence as account_of
from discreet.release.reports.figures import figures
from discreet.release.reports.internal import internal_page
from discreet.release.reports.look import Look, look
from discreet.release.reports.public import public_page
from discreet.release.reports.sign_off import read_sign_off
from discreet.release.reports.subject import Subject
from discreet.release.reports.tables import TableSubject, read_table_subject
from discreet.verification.outside import KIND
from discreet.verification.promise import Promise


def report_files(release: Path) -> dict[str, Path]:
    """The reports of a release, by what they are."""
    return {
        "report": release.with_name(release.name + ".report.html"),
        "internal report": release.with_name(release.name + ".internal.html"),
    }


def released_name(report: str | Path) -> str:
    """The release that a report is named after."""
    return Path(report).name.removesuffix(".html").removesuffix(".report").removesuffix(".internal")


PAGES = {"report": public_page, "internal report": internal_page}


def render_reports(
    subject: Subject,
    tell: Callable[[str, float], None],
    kinds: Iterable[str] = PAGES,
    looked: Look | None = None,
) -> dict[str, str]:
    """The text of both reports, or of one of them; the data is looked at once, or was looked at before."""
    seen = look(subject, tell) if looked is None else looked
    return {kind: PAGES[kind](subject, seen).render() for kind in kinds}


def render_figures(subject: Subject, tell: Callable[[str, float], None]) -> dict[str, str]:
    """The figures behind the charts, as the text of a JSON file."""
    return {"figures": json.dumps(figures(look(subject, tell)), ensure_ascii=False, indent=1) + "\n"}


def write_reports(
    subject: Subject, files: Mapping[str, Path], *, force: bool, tell: Callable[[str, float], None]
) -> dict[str, Path]:
    """Write both reports, or one of them; whole or not at all."""
    return write_pages(lambda: render_reports(subject, tell, files), files, force=force)


def write_pages(render: Callable[[], Mapping[str, str]], files: Mapping[str, Path], *, force: bool) -> dict[str, Path]:
    """Render reports and write those that are asked for; whole or not at all."""
    with AtomicFiles(files.values(), force=force) as atomic:
        pages = render()
        for kind, path in files.items():
            atomic.temporary(path).write_text(pages[kind], encoding="utf-8")
    return dict(files)


def is_table(release: Path) -> bool:
    """Whether the record beside a release says that it is a table."""
    record = _read_json(_beside(release, ".release.json"), "a record of a release") or {}
    promise = record.get("promise")
    return isinstance(promise, dict) and promise.get("kind") == KIND


def read_table(release: Path, *, original: Any, evidence: Path | None, sign_off: str | Path | None) -> TableSubject:
    """Read a release of a table with its record, and the internal table where it is at hand."""
    record = _read_json(_beside(release, ".release.json"), "a record of a release") or {}
    found = _find_evidence(release, evidence, sha256(release))
    if record["output"].get("sha256") != sha256(release):
        raise _other_file(release)
    account = found or account_of("table", parameters={}, measures={}, given={}, notes=[]) | {
        name: record[name] for name in ("promise", "output")
    } | {"verification": {"passed": bool(record.get("verified"))}}  # fmt: skip
    review = _add_sign_off(account, sign_off)
    absent = {} if found else {"evidence": "the evidence of the release is not at hand (--evidence)"}
    return read_table_subject(release, original, dict(account) | review, absent)


def read_subject(
    release: Path,
    *,
    source: Source | None,
    original: Any,
    key: str | None,
    row_map: Any,
    evidence: Path | None,
    sign_off: str | Path | None,
    study: Path | None,
    roles: Mapping[str, Any],
    types: Mapping[str, Any],
    config: str | Path | None,
    tell: Callable[[str, float], None],
) -> Subject:
    """Read a release of microdata, whoever made it, with what is known of it; a table of a database was read before."""
    tell("reading", 0.0)
    said = load(config)
    record = _read_json(_beside(release, ".release.json"), "a record of a release")
    digest = sha256(release) if source is None else source.sha256()
    account = _find_evidence(release, evidence, digest)
    known = account or record or {}
    output = known.get("output") or {}
    absent = {}
    data = source or (read_recorded(release, output) if output else release)
    released = accept(data, "the release", **({} if output or source else said.reading))
    if record and record["output"].get("sha256") != digest:
        raise _other_file(release)
    promise = Promise.from_dict(known["promise"]) if known.get("promise") else None
    before = None if original is None else accept(original, "the original", **said.reading)
    declared = _declare(released, before, known, promise, said, roles, types)
    rows = places = None
    if before is None:
        absent["original"] = "the original was not given (--original)"
    else:
        try:
            rows, _ = align(before, released, declared.names("quasi"), key=key, row_map=row_map)
            before, places = leave_out(before, original, rows)
            if len(places) < len(rows):
                absent["removed"] = before.notes[-1]
            rows = rows[places]
        except InputError:
            if key is not None or row_map is not None:
                raise
            before = None
            absent["rows"] = "the rows of the release cannot be brought beside the original without --row-map or --key"
    if not account:
        absent["evidence"] = "the evidence of the release is not at hand (--evidence)"
    if not record and not account:
        absent["record"] = "the release came without a record of what it promises"
    whole = dict(account or _unknown(record or {}, released))
    whole |= _add_sign_off(whole, sign_off)
    if study is not None:
        whole["alternatives"] = [*whole.get("alternatives", []), *read_study(study)]
    return Subject(release.name, whole, released, declared, promise, before, rows, absent, places)


def _add_sign_off(account: Mapping[str, Any], sign_off: str | Path | None) -> dict[str, Any]:
    """The part `review` of an account with what a sign-off says beside it; nothing without a sign-off."""
    if sign_off is None:
        return {}
    said = read_sign_off(sign_off)
    known = account.get("review", {})
    name = {"name": said.pop("author")} if "author" in said else {}
    return {"review": known | said | {"author": known.get("author", {}) | name}}


def _other_file(release: Path) -> InputError:
    return InputError(
        f"{release}: this is not the file that {release.name}.release.json was written for (its SHA-256 differs); "
        "take the file and its record from the same place"
    )


def read_study(folder: Path) -> list[dict[str, Any]]:
    """The releases of a study of loss and risk, as `alternatives` of the evidence."""
    try:
        runs = pl.read_parquet(folder / "runs.parquet", columns=["method", "k", "il", "dld", "score"])
    except (OSError, pl.exceptions.PolarsError):
        raise InputError(f"{folder}: not the folder of a study of loss and risk (no runs.parquet with both)") from None
    return [
        {"name": f"{run['method']}, k = {run['k']}"} | {name: run[name] for name in ("il", "dld", "score")}
        for run in runs.iter_rows(named=True)
    ]


def _beside(release: Path, suffix: str) -> Path | None:
    path = release.with_name(release.name + suffix)
    return path if path.exists() else None


def _find_evidence(release: Path, named: Path | None, digest: str | None) -> dict[str, Any] | None:
    """The evidence that was named, or the one beside the release if it speaks of this very file."""
    found = _read_json(named or _beside(release, ".evidence.json"), "the evidence of a release")
    if found is None:
        return None
    fits = (found.get("output") or {}).get("sha256") == digest
    if not fits and named is not None:
        raise InputError(f"{named}: this is the evidence of another file than {release.name} (its SHA-256 differs)")
    return found if fits else None


def _read_json(path: Path | None, what: str) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path}: not {what} (cannot be read as JSON)") from None
    if not isinstance(content, dict) or "promise" not in content or not isinstance(content.get("output"), dict):
        raise InputError(f"{path}: not {what}")
    return content


def _unknown(record: Mapping[str, Any], released: Dataset) -> dict[str, Any]:
    """The account of a release of which only the record is known, or nothing."""
    found = account_of("microdata", parameters={}, measures={}, given={}, notes=[])
    found |= {name: record[name] for name in ("version", "promise", "output") if name in record}
    return found | {"search": {"method": record["method"]} if record else None, "records": released.frame.height}


def _declare(
    released: Dataset,
    before: Dataset | None,
    known: Mapping[str, Any],
    promise: Promise | None,
    said: Config,
    roles: Mapping[str, Any],
    types: Mapping[str, Any],
) -> Declarations:
    """What the columns are: as the call says, else the configuration, else evidence or record; the rest is held."""
    names = [*released.frame.columns]
    if before is not None:
        names = [*before.frame.columns, *(name for name in names if name not in before.frame.columns)]
    columns: dict[str, Mapping[str, Any]] = known.get("parameters", {}).get("columns", {})
    details = {name: _detail(how) | said.details.get(name, {}) for name, how in columns.items() if name in names}
    details |= {name: how for name, how in said.details.items() if name not in details and name in names}
    quasi = as_names("quasi", roles.get("quasi")) or list(said.roles.get("quasi", []))
    if not quasi and promise is not None:
        quasi = [name for group in promise.groups for name in group]
    if not quasi:
        raise InputError("name the quasi-identifiers (--quasi): neither record nor evidence says what they are")
    by = [] if promise is None else list(promise.by)
    dropped = [name for name in names if name not in released.frame.columns]
    held = as_names("confidential", roles.get("confidential"))
    settled: dict[str, Any] = {"quasi": quasi, "by": by, "ignore": dropped, "confidential": [*held, "rest"]}
    if set(quasi) & {"all", "rest"}:
        settled["confidential"] = held
    kept = Config(details=details, values=said.values)
    return resolve(names, kept, hint=released.hint, **settled, **types)


def _detail(how: Mapping[str, Any]) -> dict[str, Any]:
    """What evidence says of a column, as a declaration says it."""
    known = {"kind": how.get("type"), "order": tuple(how["order"]) if "order" in how else None}
    known |= {name: how.get(name) for name in ("aggregate", "digits")}
    return {name: value for name, value in known.items() if value is not None}


def check_free(files: Mapping[str, Path], read: Mapping[str, Path | None], *, force: bool) -> None:
    """Refuse files that are there already, or that were read, before the work begins."""
    AtomicFiles(files.values(), force=force)
    spare(files.values(), dict(read))
