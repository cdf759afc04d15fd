"""A second person approves the bytes that were counted, or returns them; for other bytes the decision is void."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

import discreet
from discreet.data.files import sha256
from discreet.errors import InputError, PromiseNotKept
from discreet.release.evidence import schema
from discreet.release.reports import sign_off
from discreet.verification import decision as decisions

FRAME = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "ill": [0, 1, 0, 1, 1, 0]})


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A release with its record and evidence."""
    release = discreet.protect(FRAME, k=3, quasi=["age"], confidential=["ill"], steps=1)
    return release.write(tmp_path / "out.csv").files["release"]


@pytest.fixture
def another(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Go on as another user of the machine."""

    def become() -> None:
        monkeypatch.setattr(sign_off, "user_account", lambda: {"login": "second", "uid": 12345})

    return become


def _account(release: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(release.with_name(f"{release.name}.evidence.json").read_text("utf-8"))
    return content


def _rewrite(path: Path, change: Callable[[Any], object]) -> None:
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content))


def test_a_decision_is_on_the_bytes_that_were_counted(written: Path, another: Callable[[], None]) -> None:
    before = _account(written)
    assert before["review"]["author"]["login"]
    another()
    discreet.review(written, reviewer="A", decision="returned", remarks="k is too small")
    found = discreet.review(written, reviewer=" B ", decision="approved", remarks="yes")
    assert found
    after = _account(written)
    jsonschema.validate(after, schema("evidence"))
    review = after.pop("review")
    assert after == {key: value for key, value in before.items() if key != "review"}
    assert (review["reviewer"], review["decision"], review["comment"]) == ("B", "approved", "yes")
    assert review["sha256"] == sha256(written) == found.sha256
    assert review["counted"].startswith("passed: 2 combinations in 6 records")
    assert (review["author"], review["account"]["login"]) == (before["review"]["author"], "second")
    assert "same_person" not in review
    assert [(one["decision"], one["comment"]) for one in review["earlier"]] == [("returned", "k is too small")]
    assert not [note for note in discreet.verify(written).notes if "decision" in note]


@pytest.mark.parametrize("change", ["one more row", "one value", "gone"])
def test_other_bytes_are_not_approved_and_void_a_decision(
    written: Path, change: str, another: Callable[[], None]
) -> None:
    another()
    discreet.review(written, reviewer="B", decision="approved")
    text = written.read_text()
    if change == "gone":
        written.unlink()
    else:
        # The promise is kept all the same: these are other bytes nevertheless.
        written.write_text(
            text + text.splitlines()[1] + "\n" if change == "one more row" else text.replace("1\n", "9\n")
        )
        [note] = [note for note in discreet.verify(written).notes if "void" in note]
        assert "approved" in note
        assert any("void" in note for note in discreet.review(written).notes)
    with pytest.raises(PromiseNotKept, match="not approved"):
        discreet.review(written, reviewer="B", decision="approved")
    assert not discreet.review(written)
    assert discreet.review(written, reviewer="B", decision="returned").decision["decision"] == "returned"


def test_a_promise_that_is_not_kept_is_not_approved_whatever_the_accounts_say(written: Path) -> None:
    written.write_text(written.read_text() + "99,1\n")
    digest = sha256(written)

    def forge(account: Any) -> None:
        account["output"] |= {"sha256": digest, "records": 7}

    for name in ("out.csv.evidence.json", "out.csv.release.json"):
        _rewrite(written.with_name(name), forge)
    with pytest.raises(PromiseNotKept, match="NOT KEPT"):
        discreet.review(written, reviewer="B", decision="approved")


def test_record_and_evidence_must_promise_the_same_of_the_same_bytes(written: Path) -> None:
    record = written.with_name("out.csv.release.json")
    kept = record.read_text()
    changes: list[tuple[str, Callable[[Any], object]]] = [
        ("same", lambda said: said["promise"].update(k=1)),
        ("different bytes", lambda said: said["output"].update(sha256="0" * 64)),
        ("not verified", lambda said: said.update(verified=False)),
    ]
    for words, change in changes:
        record.write_text(kept)
        _rewrite(record, change)
        with pytest.raises(PromiseNotKept, match=words):
            discreet.review(written, reviewer="B", decision="approved")
    record.unlink()
    with pytest.raises(PromiseNotKept, match="no such file"):
        discreet.review(written, reviewer="B", decision="approved")


@pytest.mark.parametrize("name", ["out.csv", "out.csv.evidence.json", "out.csv.release.json"])
def test_links_out_of_the_folder_are_refused(written: Path, name: str) -> None:
    outside = written.parent.parent / f"outside-{written.parent.name}-{name}"
    written.with_name(name).rename(outside)
    written.with_name(name).symlink_to(outside)
    before = outside.read_bytes()
    with pytest.raises(InputError, match="a link that leads out of its folder"):
        discreet.review(written, reviewer="B", decision="approved")
    assert written.with_name(name).is_symlink()
    assert outside.read_bytes() == before


BROKEN = [
    "[]", "{", '{"review": []}', '{"review": {"earlier": {}}}', '{"review": {"remarks": 3}}', '{"output": []}',
    '{"promise": "k"}', "[" * 100_000, '{"review": {"five_safes": {"data": []}}}', '{"input": NaN}', "\0",
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_evidence_is_refused_in_our_words_and_left_as_it_is(written: Path, text: str) -> None:
    path = written.with_name("out.csv.evidence.json")
    if text.startswith("{") and text.endswith("}") and "NaN" not in text:
        text = json.dumps(_account(written) | json.loads(text))
    path.write_text(text)
    with pytest.raises(InputError, match="not the evidence of a release"):
        discreet.review(written, reviewer="A", decision="approved")
    assert path.read_text() == text
    assert any("cannot be read as the evidence" in note for note in discreet.verify(written).notes)


def test_an_evidence_that_is_too_large_is_not_read(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "MOST_BYTES", 100)
    with pytest.raises(InputError, match="too large"):
        discreet.review(written)


def test_what_is_no_decision_is_refused(written: Path) -> None:
    before = _account(written)
    for words in ({"reviewer": "A", "decision": "maybe"}, {"reviewer": " ", "decision": "approved"}):
        with pytest.raises(InputError):
            discreet.review(written, **words)
    assert _account(written) == before


def test_the_same_person_is_told_and_both_comments_are_kept(tmp_path: Path, another: Callable[[], None]) -> None:
    words = tmp_path / "sign-off.toml"
    words.write_text('author = "Anna  Author"\nreviewer = "B"\nremarks = "of the author"\n')
    release = discreet.protect(FRAME, k=3, quasi=["age"], confidential=["ill"], steps=1)
    out = release.write(tmp_path / "out.csv", sign_off=words).files["release"]
    own = discreet.review(out, reviewer="B", decision="approved").decision
    assert "same account" in own["same_person"]
    another()
    same = discreet.review(out, reviewer="anna author", decision="approved", remarks="of the reviewer")
    assert "the same name" in same.decision["same_person"]
    assert "account" not in same.decision["same_person"]
    assert any("the same name" in note for note in same.notes)
    assert (same.decision["remarks"], same.decision["comment"]) == ("of the author", "of the reviewer")
    other = discreet.review(out, reviewer="C", decision="approved").decision
    assert "same_person" not in other
    assert other["named_reviewer"] == "B"


def test_what_a_sign_off_decides_is_on_no_bytes(tmp_path: Path) -> None:
    words = tmp_path / "sign-off.toml"
    words.write_text('reviewer = "Anna"\ndecision = "approved"\n')
    release = discreet.protect(FRAME, k=3, quasi=["age"], confidential=["ill"], steps=1)
    out = release.write(tmp_path / "out.csv", sign_off=words).files["release"]
    assert any("names no bytes" in note for note in discreet.verify(out).notes)
    later = discreet.review(out, reviewer="ANNA", decision="approved").decision
    assert "the same name" in later["same_person"]
    assert [one["decision"] for one in later["earlier"]] == ["approved"]
    assert not any("names no bytes" in note for note in discreet.verify(out).notes)


def test_a_folder_of_parts_is_counted_part_by_part(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for place in range(2):
        pl.concat([FRAME] * 20).write_parquet(data / f"{place}.parquet")
    out = tmp_path / "out"
    discreet.protect_large(data, out, k=3, quasi=["age"], confidential=["ill"], steps=1)
    found = discreet.review(out, reviewer="B", decision="approved")
    assert found.sha256 == _account(out)["output"]["sha256"]
    assert discreet.verify(out).notes == ()
    [part, *_] = sorted(out.glob("*.parquet"))
    pl.read_parquet(part).reverse().write_parquet(part)  # as safe as before
    with pytest.raises(PromiseNotKept, match="SHA-256 differs"):
        discreet.review(out, reviewer="B", decision="approved")
    assert any("void" in note for note in discreet.verify(out).notes)
    outside = tmp_path / "outside.parquet"
    part.rename(outside)
    part.symlink_to(outside)
    with pytest.raises(PromiseNotKept, match="link"):
        discreet.review(out, reviewer="B", decision="approved")


def test_a_table_of_a_database_is_counted_in_it(tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    base = f"sqlite:{tmp_path / 'base.db'}#out"
    with closing(sqlite3.connect(tmp_path / "base.db")) as database, database:
        database.execute("CREATE TABLE other (a)")
    discreet.protect(FRAME, k=3, quasi=["age"], confidential=["ill"], steps=1).write(base, files=tmp_path)
    found = discreet.review(base, files=tmp_path, reviewer="B", decision="approved")
    assert found.decision["sha256"] == _account(tmp_path / "base.db.out")["output"]["sha256"]
    assert discreet.review(Path(base), files=tmp_path)  # as the command line names it
    assert not [note for note in discreet.verify(base, files=tmp_path).notes if "void" in note]
    with closing(sqlite3.connect(tmp_path / "base.db")) as database, database:
        database.execute("UPDATE out SET ill = 1 - ill")
    assert [note for note in discreet.verify(base, files=tmp_path).notes if "void" in note]
    with pytest.raises(PromiseNotKept, match="SHA-256 differs"):
        discreet.review(base, files=tmp_path, reviewer="B", decision="approved")


def test_persons_are_counted_by_the_original_that_the_evidence_names(tmp_path: Path) -> None:
    frame = FRAME.with_columns(pl.Series("who", [1, 2, 3, 4, 5, 6]))
    frame.write_csv(tmp_path / "in.csv")
    release = discreet.protect(tmp_path / "in.csv", k=3, quasi=["age"], confidential=["ill"], person="who", steps=1)
    out = release.write(tmp_path / "out.csv", row_map=tmp_path / "map.csv").files["release"]
    assert "persons" in discreet.review(out, reviewer="B", decision="approved").decision["counted"]
    (tmp_path / "map.csv").unlink()
    with pytest.raises(PromiseNotKept, match="persons not verified"):
        discreet.review(out, reviewer="B", decision="approved")


def test_a_table_and_those_it_was_split_into_are_compared(tmp_path: Path) -> None:
    cells = {
        "region": ["N", "N", "S", "S"] * 6,
        "size": ["a", "b"] * 12,
        "value": [float(i % 7 + 3) for i in range(24)],
    }
    table = discreet.primary(discreet.tabulate(pl.DataFrame(cells), by=["region", "size"], value="value"), threshold=3)
    out = discreet.suppress(table, steps=1).write(tmp_path / "table.csv")["release"]
    assert discreet.review(out, reviewer="B", decision="approved")
    assert not any("void" in note for note in discreet.verify(out).notes)
    out.write_text(out.read_text().replace("N", "M"))
    assert any("void" in note for note in discreet.verify(out).notes)
    with pytest.raises(PromiseNotKept):
        discreet.review(out, reviewer="B", decision="approved")


def test_the_internal_report_shows_the_decision_and_says_when_it_is_void(
    tmp_path: Path, another: Callable[[], None]
) -> None:
    pytest.importorskip("altair")
    release = discreet.protect(FRAME, k=3, quasi=["age"], confidential=["ill"], steps=1)
    out = release.write(tmp_path / "out.csv", report=True).files["release"]
    page = tmp_path / "out.csv.internal.html"
    before = page.read_text(encoding="utf-8")
    assert "<dt>Decision</dt><dd>open</dd>" in before
    discreet.review(out, reviewer="<b>Anna</b>", decision="approved", remarks="\\1 & more")
    after = page.read_text(encoding="utf-8")
    assert after.count("<dt>Decision</dt><dd>approved; author and reviewer have the same account") == 2
    assert "&lt;b&gt;Anna&lt;/b&gt;" in after
    assert "\\1 &amp; more" in after
    # All else stays, and a second decision takes the place of the first.
    assert all(line.startswith("<dt>") for line in before.splitlines() if line not in after)
    another()
    discreet.review(out, reviewer="Bert", decision="returned")
    again = page.read_text(encoding="utf-8")
    assert again.count("<dt>Decision</dt><dd>returned</dd>") == 2
    assert "Earlier decision" in again
    # Whoever makes it from an evidence with a decision on other bytes is told.
    _rewrite(tmp_path / "out.csv.evidence.json", lambda account: account["review"].update(sha256="0" * 64))
    discreet.report(out, output=tmp_path / "later.csv")
    assert "is void" in (tmp_path / "later.csv.internal.html").read_text(encoding="utf-8")
    page.write_text("<p>another page")
    found = discreet.review(out, reviewer="Bert", decision="approved")
    assert any("does not show the decision" in note for note in found.notes)
    assert page.read_text() == "<p>another page"


def test_a_decision_may_stand_in_a_file(written: Path, tmp_path: Path) -> None:
    config = tmp_path / "decision.toml"
    config.write_text('decision = "returned"\nreviewer = "B"\nremarks = "no"\n')
    assert discreet.review(written, config=config).decision["comment"] == "no"
    assert written.with_name("out.csv.evidence.json").stat().st_mode & 0o077 == 0
