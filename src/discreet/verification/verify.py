"""The public verb `verify`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from discreet.columns import KindKeywords, PromiseKeywords, as_names, read_kinds, sort_keywords, takes
from discreet.errors import InputError, whole
from discreet.verification.confidential import Scale, parse_l, parse_t
from discreet.verification.promise import Promise, Verification, check

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import polars as pl

    from discreet.data.dataset import Dataset
    from discreet.verification.outside import TableVerification

Verdict = TypeVar("Verdict", "Verification", "TableVerification")


class VerifyKeywords(PromiseKeywords, KindKeywords, total=False):
    """The keywords of a check of microdata."""


@takes(PromiseKeywords, KindKeywords)
def verify(
    release: Any,
    *,
    promise: str | Path | Mapping[str, Any] | Promise | None = None,
    quasi: str | Sequence[str] | None = None,
    k: int | None = None,
    by: str | Sequence[str] | None = None,
    grouping: Any = None,
    original: Any = None,
    row_map: Any = None,
    memory: int | str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    executor: Executor | None = None,
    files: str | Path | None = None,
    previous_release: Any = None,
    **keywords: Unpack[VerifyKeywords],
) -> Verification | TableVerification:
    """Check that a release keeps its promise, whoever made it.

    Every combination of values of the quasi-identifiers that stands in the release is counted, within each stratum, and
    if asked for the values of confidential columns in each of them. The check shares no code with the methods that
    protect.

    Of a published table it checks what can be seen from outside: that it is the file of its record, that its marks are
    alike, that published sums add up, and that no suppressed cell follows by subtraction. It says what cannot be seen.

    Where the evidence beside the release holds a decision of a reviewer, a note says if it is void: of other bytes.

    Parameters
    ----------
    release : path or frame
        The released file, a folder of its parts, or a pandas, polars or Arrow frame.
    promise : path, mapping or Promise, optional
        The promise to check: the `.release.json` of the release. By default the one beside it; a folder has its own.
    quasi : list of str, optional
        Without a promise: the quasi-identifiers.
    k : int, optional
        Without a promise: how many records at least must share each combination of their values.
    by : list of str, optional
        Without a promise: columns whose combinations are strata, each of which must keep the promise on its own. Of a
        published table its dimensions with their hierarchies, as region@region.hrc; they are flat if not given.
    grouping : list of lists of str, Grouping or path, optional
        Instead of quasi: groups of quasi-identifiers, each of which must keep the promise on its own; what `group`
        found; or a TOML file with `groups = [["a", "b"], ["c"]]`.
    original : path or frame, optional
        The original, which has the column of persons; where a promise speaks of persons they are not verified without,
        unless another tool has released that column.
    row_map : path or frame, optional
        The row map that was written with the release; needed with the original.
    memory : int or str, optional
        A file that would not fit into so much memory, as 8GB, is recounted in parts; half of what is free by default.
    workers : int, optional
        Processes that recount a release in parts side by side; 1 by default.
    cluster : str, optional
        The address of a Dask scheduler whose workers recount it instead, as tls://host:8786; they must see the folder.
    executor : concurrent.futures.Executor, optional
        Whatever else does that work; its workers must see the folder.
    files : path, optional
        Of a table of a database: the folder in which its record stands; the current one by default.
    previous_release : path or frame, optional
        An earlier release of (some of) the same respondents: a note tells how many records, linked by values that both
        release unchanged, stand in classes that have fewer than k in common. Nothing is promised of that, so the
        verdict stays the same.
    person : str
        Without a promise: the column of the original that says whose a record is, where persons have several; each
        combination must have at least k persons.
    household : str
        Without a promise: the column of the release that numbers households; at least k of them must look alike, all
        members taken together.
    **keywords
        What else is promised, and of what type the confidential columns are: see PromiseKeywords and KindKeywords.

    Returns
    -------
    Verification or TableVerification
        True if the promise is kept, of a table as far as that can be seen; with the counts, and `words()` to read.

    Examples
    --------
    >>> import polars as pl, discreet
    >>> frame = pl.DataFrame({"age": [30, 30, 41, 41], "town": ["A", "A", "B", "C"], "ill": [1, 1, 0, 1]})
    >>> bool(discreet.verify(frame, quasi=["age"], k=2))
    True
    >>> print(discreet.verify(frame, quasi=["age", "town"], k=2).words())
    NOT KEPT: 2 combinations of age, town have fewer than 2 records (2 records exposed; the rarest stands once)
    >>> bool(discreet.verify(frame, quasi=["age"], k=2, l={"ill": 2}))
    False
    """
    from discreet.data.checks import check_path, check_readable
    from discreet.data.databases.address import is_address
    from discreet.data.dataset import accept
    from discreet.data.files import read_recorded, read_table
    from discreet.data.files.parts import exceeds
    from discreet.data.memory import parse_size

    memory = None if memory is None else parse_size(memory)
    further, kinds = sort_keywords(verify, keywords, PromiseKeywords, KindKeywords)
    is_table = is_address(release) or getattr(release, "database", None) is not None
    if isinstance(release, str | Path) and not is_table:
        check_path(release)
    if is_table:
        release = read_table(release, files)
    elif files is not None:
        raise InputError("files are of a table of a database; the record of a file stands beside it")
    if promise is None and all(one is None for one in (quasi, k, grouping, *further.values())):
        promise = _find_record(release)
    record = _table_record(promise)
    if record is not None:
        from discreet.verification.outside import check_publication

        if any(one is not None for one in (quasi, k, grouping, original, row_map, *further.values(), *kinds.values())):
            raise InputError("a table has no quasi-identifiers; leave out quasi, k, grouping and what else is of them")
        if previous_release is not None:
            raise InputError("what two releases of a table tell together is found by `discreet audit`; ask there")
        if not isinstance(release, str | Path):
            raise InputError("a published table is checked as it was written: name its file")
        check_readable(Path(release))
        return _note_decision(check_publication(Path(release), record, by), Path(release))
    if promise is not None and any(one is not None for one in kinds.values()):
        raise InputError("a promise says of what type its columns are; leave out numeric, nominal, ordinal and date")
    if isinstance(release, str | Path) and (Path(release).is_dir() or exceeds(Path(release), memory)):
        if (original is None) != (row_map is None):
            raise InputError("persons are found by the original and the row map together; name both")
        if previous_release is not None:
            raise InputError("a release in parts cannot be compared with an earlier one; leave out previous_release")
        if any(one is not None for one in kinds.values()):
            raise InputError(
                "of a release in parts types are those of its promise; leave out numeric, nominal and so on"
            )
        where = {"workers": workers, "cluster": cluster, "executor": executor}
        origin = None if original is None else (original, row_map)
        verdict = _verify_parts(Path(release), promise, quasi, k, by, grouping, further, where, origin)
        return _note_decision(verdict, Path(release))
    if any(one is not None for one in (workers, cluster, executor)):
        raise InputError("workers and clusters recount a folder, or a file larger than memory; leave them out")
    promised, output = _promise(promise, quasi, k, by, grouping, further)
    dataset = accept(read_recorded(Path(release), output) if output and isinstance(release, str | Path) else release)
    if promise is None:
        promised = promised.with_scales(_scales(dataset, promised, kinds))
    persons = _persons(dataset, promised, original, row_map)
    verdict = check(dataset.frame, promised, persons=persons, decimal=dataset.decimal)
    if output and dataset.source and output.get("sha256") != dataset.source.sha256():
        what = "has not the very rows" if dataset.source.database else "is not the very file"
        note = f"{dataset.name} {what} that the record was written for (its SHA-256 differs)"
        verdict = replace(verdict, notes=(note,))
    if dataset.source:
        verdict = _note_decision(verdict, dataset.source.path, dataset.source.digest)
    if previous_release is not None:
        note = _compare(dataset, promised, previous_release)
        verdict = replace(verdict, notes=(*verdict.notes, note))
    return verdict


def _note_decision(verdict: Verdict, release: Path, now: str = "") -> Verdict:
    """A verdict with what to know of a decision that stands in the evidence beside the release."""
    from discreet.verification.decision import note_decision

    return replace(verdict, notes=(*verdict.notes, *note_decision(release, now)))


def _verify_parts(
    release: Path,
    promise: Any,
    quasi: str | Sequence[str] | None,
    k: int | None,
    by: str | Sequence[str] | None,
    grouping: Any,
    further: Mapping[str, Any],
    where: Mapping[str, Any],
    origin: tuple[Any, Any] | None,
) -> Verification:
    """Recount a release that is a folder, by its own record if nothing else is said; or a file larger than memory."""
    from discreet.executors import open_pool
    from discreet.verification.folder import read_manifest, verify_folder

    if release.is_dir() and not any(one is not None for one in (promise, quasi, k, by, grouping, *further.values())):
        promise = read_manifest(release)
    promised, output = _promise(promise, quasi, k, by, grouping, further)
    if promise is None and promised.held:
        raise InputError("of a release in parts l can be verified by its promise only, which says how values are read")
    if origin is not None:
        if promised.person is None:
            raise InputError("the promise does not speak of persons; leave out the original and the row map")
        if not all(isinstance(one, str | Path) for one in origin):
            raise InputError("of a release in parts the original and the row map are named by their files or folders")
    # Workers of a cluster see the folder, and so what stands beside it.
    is_here = where["cluster"] is None and where["executor"] is None
    with (
        TemporaryDirectory(prefix=".recount-", dir=None if is_here else release.absolute().parent) as room,
        open_pool(
            whole("workers", where["workers"] or 1, 1),
            cluster=where["cluster"],
            executor=where["executor"],
            shared=Path(room),
        ) as pool,
    ):
        return verify_folder(release, promised, output, origin=origin, room=Path(room), pool=pool)


def _compare(dataset: Dataset, promise: Promise, previous_release: Any) -> str:
    """What an earlier release and this one tell together."""
    from discreet.verification.previous import intersect, read_previous, together

    previous = read_previous(previous_release)
    assert previous is not None
    known = (*promise.columns(), promise.household)
    unchanged = [name for name in dataset.frame.columns if name not in known]
    found = intersect(previous, dataset.frame, dataset, promise.columns(), unchanged, promise.k)
    return together(found)


def _scales(dataset: Dataset, promise: Promise, kinds: Mapping[str, Any]) -> dict[str, Scale]:
    """How the confidential columns are read: as declared, else as what the values are."""
    from discreet.data.attributes import read_confidential
    from discreet.data.roles import Declaration

    said = {name: (kind, more) for name, kind, more in read_kinds(**kinds)}
    scales = {}
    for name in dict.fromkeys(one.column for one in promise.held):
        if name not in dataset.frame.columns:
            raise InputError(f"{dataset.name}: there is no column '{name}', of which l or t was asked for")
        kind, more = said.get(name, (None, None))
        order, form = more if kind == "ordinal" else None, more if kind == "date" else None
        attribute = read_confidential(dataset, Declaration(name, "confidential", kind, order, form=form))
        # A column without values has one alone, the missing one.
        scales[name] = Scale() if attribute is None else Scale.of(attribute)
    return scales


def _persons(dataset: Dataset, promise: Promise, original: Any, row_map: Any) -> pl.Series | None:
    """Whose each row of the release is, by the original and the row map; None if that is not known."""
    from discreet.data.rows import read_persons

    if original is None and row_map is None:
        released = promise.person in dataset.frame.columns
        return read_persons(dataset, promise.person) if released and promise.person is not None else None
    if promise.person is None:
        raise InputError(
            "the promise does not speak of persons; leave out the original and the row map, or name person"
        )
    if original is None or row_map is None:
        raise InputError("to count persons both the original and the row map of the release are needed")
    import numpy as np

    from discreet.data.dataset import accept
    from discreet.data.rows import read_row_map

    given = accept(original, "the original")
    rows = read_row_map(row_map, given, dataset)
    return read_persons(given, promise.person)[np.argsort(rows)]


def _find_record(release: Any) -> Path | None:
    """The record that stands beside a released file, or among the files of a table of a database."""
    path = getattr(release, "path", release)
    if not isinstance(path, str | Path) or Path(path).is_dir():
        return None
    beside = Path(f"{path}.release.json")
    return beside if beside.is_file() else None


def _table_record(promise: Any) -> Mapping[str, Any] | None:
    """The record of a published table, if that is what is to be checked."""
    if not isinstance(promise, str | Path | Mapping):
        return None
    content = promise if isinstance(promise, Mapping) else _record(Path(promise))
    inner = content.get("promise")
    is_table = isinstance(inner, Mapping) and inner.get("kind") == "cell-suppression"
    return content if is_table else None


def _promise(
    promise: str | Path | Mapping[str, Any] | Promise | None,
    quasi: str | Sequence[str] | None,
    k: int | None,
    by: str | Sequence[str] | None,
    grouping: Any,
    further: Mapping[str, Any],
) -> tuple[Promise, Mapping[str, Any] | None]:
    """The promise to check, and what the record says of the file it was given for."""
    from discreet.data.groupings import list_groups

    if promise is not None:
        if any(one is not None for one in (quasi, k, by, grouping, *further.values())):
            raise InputError(
                "give either a promise, or quasi (or a grouping), k, by and what else is promised; not both"
            )
        if isinstance(promise, Promise):
            return promise, None
        if not isinstance(promise, str | Path | Mapping):
            raise InputError("promise must be the path of a record, or its content")
        content = promise if isinstance(promise, Mapping) else _record(Path(promise))
        output = content.get("output")
        inner = content.get("promise", content)
        promised = Promise.from_dict(inner if isinstance(inner, Mapping) else {})
        return promised, output if isinstance(output, Mapping) else None
    if k is None:
        raise InputError("say what to check: a promise, or quasi and k; there is no .release.json beside the release")
    if (quasi is None) == (grouping is None):
        raise InputError("give the quasi-identifiers either as quasi or as a grouping")
    groups = [as_names("quasi", quasi)] if grouping is None else list_groups(grouping)
    person, household = further.get("person"), further.get("household")
    for keyword, name in (("person", person), ("household", household)):
        if not isinstance(name, str | None):
            raise InputError(f"{keyword} must be the name of a column")
    diverse, close = parse_l(further.get("l")), parse_t(further.get("t"))
    strata = tuple(as_names("by", by))
    return Promise(k, tuple(map(tuple, groups)), strata, diverse, close, person, household), None


def _record(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path}: not a record of a release (cannot be read as JSON)") from None
    if not isinstance(content, dict) or "promise" not in content:
        raise InputError(f"{path}: not a record of a release (it has no promise)")
    return content
