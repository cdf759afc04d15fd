"""The public verb `review`: a release is counted again from its bytes, and a second person approves or returns them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.configuration import TEXT, configured
from discreet.errors import DiscreetError, InputError, PromiseNotKept, one_of

DECISIONS = ("approved", "returned")
# What a later decision puts away.
DECIDED = ("reviewer", "account", "decision", "decided_on", "comment", "sha256", "same_person", "counted")


@dataclass(frozen=True)
class Review:
    """What was counted of a release just now, and what was decided; true if nothing speaks against the release.

    Parameters
    ----------
    name : str
        The release.
    promise : str
        What its record promises, in words.
    counted : str
        The verdict on the bytes, in words.
    faults : tuple of str
        What speaks against approving it.
    notes : tuple of str
        What else to know, of a decision too.
    sha256 : str
        Of the bytes that were counted: of the file, of the rows of a table of a database, or of the list of its parts.
    decision : dict
        The part `review` of the evidence.
    """

    name: str
    promise: str
    counted: str
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    sha256: str
    decision: dict[str, Any]

    def __bool__(self) -> bool:
        return not self.faults

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "kind": "review",
            "release": self.name,
            "passed": bool(self),
            "promise": self.promise,
            "counted": self.counted,
            "faults": list(self.faults),
            "notes": list(self.notes),
            "sha256": self.sha256,
            "review": self.decision,
        }

    def summary(self) -> str:
        """The same to read."""
        from discreet.text import entry

        lines = [self.name, *entry("Promise", self.promise), *entry("Counted", self.counted)]
        for fault in self.faults:
            lines += entry("Fault", fault)
        for note in self.notes:
            lines += entry("Note", note)
        if self.decision.get("decision"):
            who = f"{self.decision['decision']} by {self.decision.get('reviewer', 'nobody named')}"
            lines += entry("Decision", f"{who}, {self.decision.get('decided_on', 'no date')}")
        return "\n".join(lines)


@configured(decision=TEXT, reviewer=TEXT, remarks=TEXT)
def review(
    release: str | Path,
    *,
    decision: str | None = None,
    reviewer: str = "",
    remarks: str = "",
    evidence: str | Path | None = None,
    original: Any = None,
    row_map: Any = None,
    files: str | Path | None = None,
    config: str | Path | None = None,
) -> Review:
    """Count a release again from its bytes, and say that a second person approves it or returns it.

    What its record promises is counted in what is there now, and its SHA-256 is compared with those in its record and
    its evidence. A decision goes into the part `review` of the evidence with the SHA-256 of the release: it is void for
    other bytes, and `verify` says so. A release with any fault is not approved. Name and account of the operating
    system of author and reviewer are kept, and it is said where they are the same person. The internal report is made
    to show the decision.

    Parameters
    ----------
    release : path
        The released file, or a folder of its parts; or a table of a database, as postgresql:SCHEMA.TABLE or
        sqlite:FILE#TABLE.
    decision : {"approved", "returned"}, optional
        What is decided; without it the release is only counted.
    reviewer : str
        Who decides.
    remarks : str
        Why; the remarks of the author stay beside them.
    evidence : path, optional
        The evidence of the release; by default the file `RELEASE.evidence.json` beside it.
    original : path or frame, optional
        Where persons are promised: the original, to count them. By default the file that the evidence names, if it lies
        beside the release and is the same.
    row_map : path, optional
        With the original: the row map of the release; by default the one that the evidence names.
    files : path, optional
        Of a table of a database: the folder in which its record and evidence stand; the current one by default.
    config : path, optional
        A TOML file with decision, reviewer and remarks; what the call gives wins.

    Returns
    -------
    Review
        True if nothing speaks against the release: with `counted`, `faults`, `notes`, `sha256` and `summary()`.

    Examples
    --------
    >>> import discreet, polars as pl
    >>> frame = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "ill": [0, 1, 0, 1, 1, 0]})
    >>> written = discreet.protect(frame, k=3, quasi=["age"], confidential=["ill"]).write("out.csv")  # doctest: +SKIP
    >>> discreet.review("out.csv", decision="approved", reviewer="A. Second")  # doctest: +SKIP
    """
    from discreet.data.databases.address import is_address, parse
    from discreet.verification.decision import describe_standing, read_account
    from discreet.verification.folder import MANIFEST

    if decision is not None:
        one_of("decision", decision, DECISIONS)
        if not reviewer.strip():
            raise InputError("a decision needs the name of the reviewer")
    is_table = is_address(release)
    if files is not None and not is_table:
        raise InputError("files are of a table of a database; what belongs to a file stands beside it")
    path = Path(files or ".") / parse(release).stem if is_table else Path(release)
    beside = path.with_name(f"{path.name}.evidence.json") if evidence is None else Path(evidence)
    record = path / MANIFEST if path.is_dir() else path.with_name(f"{path.name}.release.json")
    refuse_links([*([] if is_table else [path]), record, beside])
    account = read_account(beside)
    known: dict[str, Any] = account.get("review", {})
    found = _count(str(release) if is_table else path, path, account, record, (original, row_map))
    if decision is None:
        told = (describe_standing(known, found.sha256), known.get("same_person"))
        return replace(found, notes=tuple(dict.fromkeys([*found.notes, *filter(None, told)])), decision=known)
    if decision == "approved" and not found:
        raise PromiseNotKept(f"{found.name} is not approved: {'; '.join(found.faults)}")
    decided = _decide(known, decision, (reviewer.strip(), remarks.strip()), found, record)
    notes = [note for note in found.notes if note != describe_standing(known, found.sha256)]
    notes += [decided["same_person"]] if "same_person" in decided else []
    notes += _write(beside, path.with_name(f"{path.name}.internal.html"), account | {"review": decided})
    return replace(found, notes=tuple(notes), decision=decided)


def refuse_links(paths: Iterable[Path]) -> None:
    """Refuse files of a release that are links which lead out of their folder."""
    for path in paths:
        if path.is_symlink() and path.resolve().parent != path.parent.resolve():
            raise InputError(f"{path.name} is a link that leads out of its folder; put the file itself there")


def _count(release: Any, path: Path, account: Mapping[str, Any], beside: Path, origin: tuple[Any, Any]) -> Review:
    """Count a release by its record, and compare record, evidence and bytes; whatever is wrong is a fault."""
    from discreet.data.files import read_table
    from discreet.verification.decision import digest, read_record, recorded_digest, released_files
    from discreet.verification.verify import verify

    faults: list[str] = []
    counted, promise, notes, now = "not counted", "nothing", [], ""
    try:
        record = read_record(beside)
        output = record["output"]
        if record["promise"] != account["promise"]:
            faults.append("record and evidence do not promise the same")
        if recorded_digest(output) != recorded_digest(account["output"]):
            faults.append("record and evidence are of different bytes (SHA-256)")
        if not record.get("verified"):
            faults.append("its own record says that it was not verified")
        if isinstance(release, Path):
            paths = released_files(release, output)
            refuse_links(paths)
            now = digest(release, output)
            sources: list[Any] = [release] if release.is_dir() else [*paths]
        else:
            source = read_table(release, path.parent)
            now, sources = source.sha256(), [source]
        if now != recorded_digest(output):
            faults.append("its bytes are not those that the record was written for (the SHA-256 differs)")
        person = record["promise"].get("person")
        link = _find_origin(path, account, *origin) if isinstance(person, str) else {}
        for place, one in enumerate(sources):
            verdict = verify(one, promise=record, **link)
            if not place:
                counted, promise, notes = verdict.words(), verdict.promise.words(), list(verdict.notes)
            if not verdict:
                faults.append(verdict.words())
        if isinstance(release, Path) and digest(release, output) != now:
            faults.append("it was changed while it was counted")
    except DiscreetError as error:
        faults.append(str(error))
    name = str(account["output"].get("file") or path.name)
    return Review(name, promise, counted, tuple(faults), tuple(notes), now, {})


def _find_origin(path: Path, account: Mapping[str, Any], original: Any, row_map: Any) -> dict[str, Any]:
    """The original and the row map by which persons are counted: those given, or those of the evidence if here."""
    from discreet.data.files import sha256

    if original is not None or row_map is not None:
        return {"original": original, "row_map": row_map}
    names = [account["input"].get("file"), account["output"].get("row_map")]
    if any(not isinstance(name, str) or Path(name).name != name for name in names):
        return {}
    there = [path.with_name(str(name)) for name in names]
    refuse_links(there)
    same = all(one.is_file() for one in there) and sha256(there[0]) == account["input"].get("sha256")
    return dict(zip(("original", "row_map"), there, strict=True)) if same else {}


def _decide(
    known: Mapping[str, Any], decision: str, words: tuple[str, str], found: Review, record: Path
) -> dict[str, Any]:
    """The part `review` with a decision on the bytes that were counted; earlier ones are kept as `earlier`."""
    from discreet.release.reports.sign_off import account_of, user_account

    (reviewer, remarks), review, account = words, dict(known), user_account()
    past = {key: review.pop(key) for key in DECIDED if key in review}
    author = dict(review.pop("author", {})) or (account_of(record.stat().st_uid) if record.exists() else {})
    # What a sign-off says was said by whoever wrote the release, or for him.
    is_of_author = "account" not in past and "T" not in past.get("decided_on", "") and "reviewer" in past
    if is_of_author and author.setdefault("name", past["reviewer"]) != past["reviewer"]:
        review["named_reviewer"] = past["reviewer"]
    earlier = [*review.pop("earlier", []), *([past] if "decision" in past else [])]
    same = _tell_same(author, reviewer, account)
    review |= {"author": author, "reviewer": reviewer, "account": account, "decision": decision}
    review |= {"decided_on": datetime.now(UTC).isoformat(timespec="seconds"), "counted": found.counted}
    more = {"comment": remarks, "sha256": found.sha256, "same_person": same, "earlier": earlier}
    return review | {key: value for key, value in more.items() if value}


def _tell_same(author: Mapping[str, Any], reviewer: str, account: Mapping[str, Any]) -> str:
    """That the reviewer may be no second person; nothing where name and account differ from the author's."""

    def plain(name: str) -> str:
        return " ".join(unicodedata.normalize("NFKC", name).casefold().split())

    same = ["account of the operating system"] if author.get("login") == account["login"] else []
    same += ["name"] if plain(str(author.get("name", ""))) == plain(reviewer) else []
    if not same:
        return ""
    return f"author and reviewer have the same {' and the same '.join(same)}: perhaps no second person has decided"


def _write(beside: Path, report: Path, account: Mapping[str, Any]) -> list[str]:
    """Write the evidence, and the internal report with the decision in it; what to know of the report."""
    from discreet.release.atomic import write_contents
    from discreet.release.reports.internal import renew_decision
    from discreet.text import as_json

    contents = {beside: (as_json(account) + "\n").encode()}
    notes = []
    if report.is_file():
        refuse_links([report])
        try:
            page = renew_decision(report.read_text(encoding="utf-8"), account)
        except (OSError, ValueError):
            page = None
        if page is None:
            notes.append(f"{report.name} is no internal report of ours, so it does not show the decision")
        else:
            contents[report] = page.encode()
    write_contents(contents, force=True)
    return notes
