"""The public verb `verify`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError
from discreet.verification.promise import Promise, Verification, check

if TYPE_CHECKING:
    from discreet.verification.outside import TableVerification


def verify(
    release: Any,
    *,
    promise: str | Path | Mapping[str, Any] | Promise | None = None,
    quasi: str | Sequence[str] | None = None,
    k: int | None = None,
    by: str | Sequence[str] | None = None,
    grouping: Any = None,
) -> Verification | TableVerification:
    """Check that a release keeps its promise, whoever made it.

    Every combination of values of the quasi-identifiers that stands in the release is counted, within each stratum.
    The check shares no code with the methods that protect.

    Of a published table it checks what can be seen from outside: that it is the file of its record, that its marks are
    alike, that published sums add up, and that no suppressed cell follows by subtraction. It says what cannot be seen.

    Parameters
    ----------
    release : path or frame
        The released file, or a pandas, polars or Arrow frame.
    promise : path, mapping or Promise, optional
        The promise to check: the `.release.json` that was written beside the release.
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

    Returns
    -------
    Verification or TableVerification
        True if the promise is kept, of a table as far as that can be seen; with the counts, and `words()` to read.

    Examples
    --------
    >>> import polars as pl, discreet
    >>> frame = pl.DataFrame({"age": [30, 30, 41, 41], "town": ["A", "A", "B", "C"]})
    >>> bool(discreet.verify(frame, quasi=["age"], k=2))
    True
    >>> print(discreet.verify(frame, quasi=["age", "town"], k=2).words())
    NOT KEPT: 2 combinations of age, town have fewer than 2 records (2 records exposed; the rarest stands once)
    """
    from discreet.data.checks import check_readable
    from discreet.data.dataset import accept
    from discreet.data.files import read_recorded

    record = _table_record(promise)
    if record is not None:
        from discreet.verification.outside import check_publication

        if quasi is not None or k is not None or grouping is not None:
            raise InputError("a table has no quasi-identifiers; leave out quasi, k and grouping")
        if not isinstance(release, str | Path):
            raise InputError("a published table is checked as it was written: name its file")
        check_readable(Path(release))
        return check_publication(Path(release), record, by)
    promised, output = _promise(promise, quasi, k, by, grouping)
    dataset = accept(read_recorded(Path(release), output) if output and isinstance(release, str | Path) else release)
    verdict = check(dataset.frame, promised)
    from discreet.data.files import sha256

    if output and dataset.source and output.get("sha256") != sha256(dataset.source.path):
        note = f"{dataset.name} is not the very file that the record was written for (its SHA-256 differs)"
        verdict = replace(verdict, notes=(note,))
    return verdict


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
) -> tuple[Promise, Mapping[str, Any] | None]:
    """The promise to check, and what the record says of the file it was given for."""
    from discreet.columns import as_names
    from discreet.data.groupings import list_groups

    if promise is not None:
        if quasi is not None or k is not None or by is not None or grouping is not None:
            raise InputError("give either a promise, or quasi (or a grouping), k and by; not both")
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
        raise InputError("say what to check: a promise, or quasi and k")
    if (quasi is None) == (grouping is None):
        raise InputError("give the quasi-identifiers either as quasi or as a grouping")
    groups = [as_names("quasi", quasi)] if grouping is None else list_groups(grouping)
    return Promise(k, tuple(tuple(group) for group in groups), tuple(as_names("by", by))), None


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
