"""`discreet report` and `--report`: both files or none, from files written before, and of another tool's release."""

import json
import re
from pathlib import Path

import jsonschema
import polars as pl
import pytest
from markupsafe import Markup

from canary import Command
from discreet.data.toml import read
from discreet.release import charts
from discreet.release.evidence import schema
from discreet.release.reports import drawings
from reporting import spell, survey


@pytest.fixture(autouse=True)
def _draw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawings, "svg", spell)


def test_reports_are_written_with_the_release_or_not_at_all(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey(1200).write_csv(tmp_path / "in.csv")
    options = [
        "--quasi",
        "age,income,town",
        "--confidential",
        "ill",
        "--identifier",
        "id",
        "--k",
        5,
        "--method",
        "mdav",
    ]
    sign_off = tmp_path / "sign.toml"
    sign_off.write_text('recipient = "The <University>"\nreview_date = 2031-05-17\n[five_safes]\npeople = "trained"\n')
    done = command(
        "protect", tmp_path / "in.csv", *options, "-o", tmp_path / "out.csv", "--report", "--sign-off", sign_off
    )
    assert done.status == 0
    internal = (tmp_path / "out.csv.internal.html").read_text(encoding="utf-8")
    assert "The &lt;University&gt;" in internal
    assert "2031-05-17" in internal
    account = json.loads((tmp_path / "out.csv.evidence.json").read_text(encoding="utf-8"))
    jsonschema.validate(account, schema("evidence"))
    assert account["review"]["five_safes"] == {"people": "trained"}
    record = (tmp_path / "out.csv.release.json").read_text(encoding="utf-8")
    public = (tmp_path / "out.csv.report.html").read_text(encoding="utf-8")
    assert "University" not in record + public
    assert account["output"]["sha256"] in public
    assert account["input"]["sha256"] not in public
    assert account["input"]["sha256"] in internal
    for kind in ("report", "internal"):
        assert (tmp_path / f"out.csv.{kind}.html").stat().st_mode & 0o777 == 0o600
    # Written later from the files they say the same, but for what stands in the row map.
    again = command("report", tmp_path / "out.csv", "--output", tmp_path / "later.csv")
    assert again.status == 0
    later = (tmp_path / "later.csv.internal.html").read_text(encoding="utf-8")
    assert "the original was not given" in later
    assert (tmp_path / "later.csv.report.html").read_text(encoding="utf-8") == public
    # A study of loss and risk stands beside it.
    (tmp_path / "study").mkdir()
    runs = {"k": [3, 9], "method": ["mdav", "tour"], "il": [4.5, 61.25], "dld": [20.0, 3.125], "score": [None, 1.0]}
    pl.DataFrame(runs).write_parquet(tmp_path / "study" / "runs.parquet")
    again = command("report", tmp_path / "out.csv", "--output", tmp_path / "study.csv", "--study", tmp_path / "study")
    assert again.status == 0
    page = (tmp_path / "study.csv.internal.html").read_text(encoding="utf-8")
    assert "tour, k = 9" in page
    assert "61.25 %" in page
    wrong = command("report", tmp_path / "out.csv", "--output", tmp_path / "no.csv", "--study", tmp_path)
    assert wrong.status == 2
    # Without a library to draw with nothing is begun.
    monkeypatch.setattr(charts, "find_spec", lambda _name: None)
    refused = command("protect", tmp_path / "in.csv", *options, "-o", tmp_path / "none.csv", "--report")
    assert refused.status == 2
    assert "extra 'report'" in refused.err
    assert not list(tmp_path.glob("none*"))
    assert command("report", tmp_path / "out.csv", "--output", tmp_path / "none.csv").status == 2


def test_the_report_tells_how_to_repeat_the_release(tmp_path: Path, command: Command) -> None:
    survey(200).write_csv(tmp_path / "in.csv")
    options = ["--quasi", "age,income,town", "--confidential", "ill", "--identifier", "id", "--k", 5, "--steps", 2]
    more = ["--aggregate", "age=median", "--weight", "income=2", "--seed", 3]
    assert command("protect", tmp_path / "in.csv", *options, *more, "-o", tmp_path / "out.csv", "--report").status == 0
    page = (tmp_path / "out.csv.internal.html").read_text(encoding="utf-8")
    toml = re.findall(r"<pre><code>(.*?)</code></pre>", page, flags=re.DOTALL)[-1]
    (tmp_path / "repeat.toml").write_text(Markup(toml).unescape(), encoding="utf-8")
    assert read(tmp_path / "repeat.toml")["seed"] == 3
    again = command("protect", tmp_path / "in.csv", "--config", tmp_path / "repeat.toml", "-o", tmp_path / "again.csv")
    assert again.status == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_a_release_of_another_tool(tmp_path: Path, command: Command) -> None:
    frame = survey(90)
    frame.write_csv(tmp_path / "in.csv")
    other = frame.with_columns(age=(pl.col("age") // 20) * 20, income=pl.lit(5.0), town=pl.lit("Oak"))
    other.sample(fraction=1.0, shuffle=True, seed=1).write_csv(tmp_path / "other.csv")
    arguments = ["report", tmp_path / "other.csv", "--quasi", "age,income,town", "--original", tmp_path / "in.csv"]
    assert command(*arguments, "--key", "id").status == 0
    internal = (tmp_path / "other.csv.internal.html").read_text(encoding="utf-8")
    assert "came without a promise" in internal
    assert "Which columns make records unique" in internal
    assert "evidence of the release is not at hand" in internal
    assert command(*arguments, "--force").status == 0
    internal = (tmp_path / "other.csv.internal.html").read_text(encoding="utf-8")
    assert "without --row-map or --key" in internal
    assert "Which columns make records unique" not in internal
    assert command("report", tmp_path / "other.csv", "--force").status == 2
