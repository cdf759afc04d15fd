"""Whatever becomes of what is printed, the exit status says what was decided."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.cli import app, printing
from discreet.cli.app import run
from discreet.errors import PLACED, InputError

PROGRAM = [sys.executable, "-m", "discreet"]
REDIRECTIONS = {
    "closed pipe": "| true; exit ${PIPESTATUS[0]}",
    "full output": "> /dev/full",
    "closed output": ">&-",
    "closed errors": "2>&-",
    "closed both": ">&- 2>&-",
    "full both": "> /dev/full 2> /dev/full",
}


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "τ-bad.csv"
    path.write_text("τ,b\n1,2\n1,2\n3,4\n", encoding="utf-8")
    return path


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_not_kept_stays_1_whatever_becomes_of_the_streams(bad: Path) -> None:
    script = "".join(
        f"( {' '.join(PROGRAM)} verify $FILE --quasi τ --k 2 {how} ); echo $?\n" for how in REDIRECTIONS.values()
    )
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "FILE": str(bad), "PYTHONOPTIMIZE": "2", "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stdout.splitlines() if not line.startswith(("Promise", "Verified"))]
    assert told == ["1"] * len(REDIRECTIONS), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("could not be written (No space left") == 1
    # With errors closed, the result is where it belongs and nothing else is.
    assert r"NOT KEPT: 1 combination of \u03c4" in done.stdout


class Full:
    """A stream that lacks letters, or has no room left."""

    encoding = "ascii"

    def __init__(self, room: int) -> None:
        self.room, self.text = room, ""

    def write(self, text: str) -> int:
        text.encode(self.encoding)
        if len(self.text) + len(text) > self.room:
            raise OSError(28, "No space left on device")
        self.text += text
        return len(text)

    def flush(self) -> None: ...

    def fileno(self) -> int:
        raise ValueError


def test_json_is_whole_in_an_encoding_without_its_letters(bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Full(10**6)
    monkeypatch.setattr(sys, "stdout", stream)
    assert run(["verify", str(bad), "--quasi", "τ", "--k", "2", "--json", "--quiet"]) == 1
    assert json.loads(stream.text)["promise"]["groups"] == [["τ"]]


def test_printing_ends_quietly_when_somebody_interrupts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck(Full):
        def write(self, text: str) -> int:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stderr", Stuck(0))
    printing.tell("the release was written")


@pytest.mark.parametrize(
    ("fault", "status"), [(KeyboardInterrupt(), 130), (MemoryError(), 1), (ZeroDivisionError("42 is a value"), 1)]
)
@pytest.mark.parametrize("placed", [[], [Path("out.csv")]])
def test_nothing_was_written_is_said_only_where_it_is_true(
    fault: BaseException,
    status: int,
    placed: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_arguments: list[str]) -> None:
        PLACED.extend(placed)
        raise fault

    monkeypatch.setattr(app, "app", fail)
    assert run(["protect"]) == status
    said = capsys.readouterr().err
    assert ("nothing was written" in said) == (not placed)
    assert ("written before that: out.csv" in said) == bool(placed)
    assert "42" not in said


class PanicException(BaseException):
    pass


def test_a_panic_of_a_library_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_arguments: list[str]) -> None:
        raise PanicException("Anna Canary")

    monkeypatch.setattr(app, "app", fail)
    assert run([]) == 1
    assert "Canary" not in capsys.readouterr().err


def test_errors_have_a_code_that_programs_can_rely_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, code, status in (
        (["verify", str(tmp_path / "nix.csv"), "--k", "2", "--quasi", "a"], "input", 2),
        (["verify", "--nonsense"], "usage", 2),
    ):
        assert run([*arguments, "--json"]) == status
        told = json.loads(capsys.readouterr().out)
        assert (told["schema"], told["code"], told["status"]) == ("discreet/error/1", code, status)
        assert told["message"]


def test_names_from_a_file_do_not_reach_the_terminal_as_orders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "names.csv"
    path.write_text("a\x1b]0;owned\x07,b\x9b31m\n1,2\n1,2\n3,4\n", encoding="utf-8")
    for more in (
        ["--quasi", "all"],
        ["--quasi", "nix"],
        ["--quasi", "a\x1b]0;owned\x07"],
        ["--json", "--quasi", "a\x1b]0;owned\x07"],
    ):
        run(["verify", str(path), "--k", "2", *more])
        run(["protect", str(path), "--k", "2", "--method", "mdav", "-o", str(tmp_path / "out.csv"), "--force", *more])
        captured = capsys.readouterr()
        assert not set(captured.out + captured.err) & {"\x1b", "\x07", "\x9b"}
    assert "\x1b" not in str(InputError("column a\x1b[31m"))
