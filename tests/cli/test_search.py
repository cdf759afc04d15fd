"""A search on the command line: kept in a file, taken up again, ended by hand."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import polars as pl
import pytest

from canary import Command
from discreet.cli.progress import Reporter
from discreet.kernels.compiling import announce_compiling
from discreet.listening import Listener, heard_by

ROLES = ["--quasi", "town,age,income,born", "--confidential", "diagnosis", "--identifier", "name", "--by", "region"]
LONG = ["--time", "600", "--measures", "none"]
PLAIN = ["--quasi", "x,y,z", "--confidential", "w"]

# The command line as it is, but for a word on standard output when a search is under way, which nobody can see from
# outside; and on demand it holds the epoch until the first signal has been noticed, since two at once may count as one.
WATCHED = """
import signal, sys, time
from discreet.cli import main
from discreet.cli.progress import Reporter
from discreet.kernels.compiling import announce_compiling
from discreet.listening import Listener, heard_by

# A process started in the background of a script would ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
told, hold = [], sys.argv.pop(1) == "hold"

def listen(self, stage, fraction):
    if stage == "grouping" and fraction > 0 and not told:
        told.append(print("searching", flush=True))
        while hold and not signal.getsignal(signal.SIGINT).caught:
            time.sleep(0.01)
        if hold:
            print("noticed", flush=True)
            time.sleep(600)

Reporter.__call__ = listen
main()
"""


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    """Interrupts are heard, also where the tests run in the background of a script, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """So many records that a search of them does not end by itself for long."""
    path = tmp_path / "large.csv"
    names = {"x": 7919, "y": 104_729, "z": 1_299_709, "w": 31}
    pl.DataFrame({name: [i * step % 5003 for i in range(5000)] for name, step in names.items()}).write_csv(path)
    return path


@contextmanager
def watched(*arguments: object, hold: bool = False) -> Iterator["subprocess.Popen[str]"]:
    """A command in a process of its own, once it is searching; it does not outlive the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHED, "hold" if hold else "go", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "searching\n"
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_the_search_and_the_release_is_written(
    command: Command, large: Path, tmp_path: Path, number: signal.Signals
) -> None:
    out, kept = tmp_path / "out.csv", tmp_path / "search.npz"
    with watched("protect", large, "-o", out, "--k", 4, *PLAIN, *LONG, "--checkpoint", kept) as process:
        process.send_signal(number)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "(interrupted)" in err
    evidence = json.loads((tmp_path / "out.csv.evidence.json").read_text())
    assert evidence["search"]["stopped"] == "interrupted"
    assert evidence["verification"]["passed"]
    assert command("verify", out, "--promise", f"{out}.release.json").status == 0
    # What was kept goes on from there.
    steps = evidence["search"]["steps"] + 2
    call = ["protect", large, "-o", out, "--k", 4, *PLAIN, "--steps", steps, "--measures", "none", "--force", "--json"]
    resumed = command(*call, "--checkpoint", kept)
    assert resumed.status == 0, resumed.err
    again = json.loads(resumed.out)
    assert (again["search"]["steps"], again["search"]["stopped"]) == (steps, "steps")
    assert again["measures"]["partition_il"] <= evidence["measures"]["partition_il"] * (1 + 1e-9)
    written = out.read_bytes()
    whole = json.loads(command(*call).out)
    assert whole["measures"]["partition_il"] == again["measures"]["partition_il"]
    assert out.read_bytes() == written


def test_a_second_signal_ends_everything(large: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    with watched("protect", large, "-o", out, "--k", 4, *PLAIN, *LONG, hold=True) as process:
        assert process.stdout is not None
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "noticed\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "interrupted; nothing was written" in err
    assert list(tmp_path.iterdir()) == [large]


def test_refine_can_be_ended_as_well(command: Command, large: Path, tmp_path: Path) -> None:
    made, out = tmp_path / "made.csv", tmp_path / "out.csv"
    kept = ["--order", "kept", "--measures", "none"]
    assert command("protect", large, "-o", made, "--k", 4, *PLAIN, "--method", "mdav", *kept).status == 0
    with watched("refine", large, made, "-o", out, *PLAIN, *LONG) as process:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert json.loads((tmp_path / "out.csv.evidence.json").read_text())["search"]["stopped"] == "interrupted"


def listening(monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    """Interrupt when a stage is heard of for the first time."""
    heard: list[str] = []

    def listen(_self: Reporter, now: str, _fraction: float) -> None:
        if now.split()[0] == stage and not heard:
            heard.append(now)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Reporter, "__call__", listen)


@pytest.mark.parametrize("stage", ["reading", "compiling", "verifying", "measuring", "writing"])
def test_an_interrupt_before_or_after_the_search_leaves_nothing(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    listening(monkeypatch, stage)
    result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 4, *ROLES, "--steps", 3)
    assert result.status == 130
    assert "interrupted; nothing was written" in result.err
    assert list(tmp_path.iterdir()) == [survey]


def test_a_checkpoint_is_written_at_the_end_and_gone_on_from(command: Command, survey: Path, tmp_path: Path) -> None:
    kept = tmp_path / "search.npz"
    outs = [tmp_path / f"{name}.csv" for name in ("half", "resumed", "whole")]
    for out, steps, more in (
        (outs[0], 5, ["--checkpoint", kept]),
        (outs[1], 11, ["--checkpoint", kept]),
        (outs[2], 11, []),
    ):
        call = ["protect", survey, "-o", out, "--k", 4, *ROLES, "--steps", steps, "--measures", "none", *more]
        result = command(*call)
        assert result.status == 0, result.err
    assert outs[1].read_bytes() == outs[2].read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o600
    before = kept.read_bytes()
    refused = command("protect", survey, "-o", outs[0], "--k", 5, *ROLES, "--checkpoint", kept, "--force")
    assert refused.status == 2
    assert f"{kept}: the checkpoint was made with k = 4, this run has k = 5" in refused.err
    assert kept.read_bytes() == before


def test_a_checkpoint_is_no_place_for_a_release(command: Command, survey: Path, tmp_path: Path) -> None:
    kept = tmp_path / "out.csv"
    kept.write_bytes(b"kept")
    result = command("protect", survey, "-o", kept, "--k", 4, *ROLES, "--checkpoint", kept, "--force")
    assert result.status == 2
    assert kept.read_bytes() == b"kept"


def test_the_same_steps_give_the_same_file_on_any_number_of_threads(
    command: Command, survey: Path, tmp_path: Path
) -> None:
    for threads in (1, 2):
        out = tmp_path / f"{threads}.csv"
        result = command(
            "protect", survey, "-o", out, "--k", 4, *ROLES, "--steps", 8, "--threads", threads, "--measures", "none"
        )
        assert result.status == 0, result.err
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


def test_that_kernels_are_compiled_is_said_when_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[str] = []

    class Ear:
        def stage(self, name: str, _fraction: float) -> None:
            heard.append(name)

    with heard_by(cast("Listener", Ear())), Reporter() as report:
        report("compiling", 0.0)
        assert capsys.readouterr().err == ""
        announce_compiling("")
        announce_compiling("")
    assert heard == ["preparing", "compiling"]
    assert capsys.readouterr().err == "compiling kernels for this machine (once) …\n"
    with Reporter() as report:
        report("compiling", 0.0)
        announce_compiling("here: it belongs to another user")
    assert "in each process: there is no cache for them (here: it belongs" in capsys.readouterr().err
    announce_compiling("")
    assert capsys.readouterr().err == ""


def test_the_options_of_a_search_reach_it(command: Command, survey: Path, tmp_path: Path) -> None:
    call = ["protect", survey, "-o", tmp_path / "out.csv", "--k", 4, *ROLES, "--measures", "none", "--json"]
    result = command(*call, "--steps", 6, "--seed", 3, "--param", "islands=3", "--param", "regions=no,heat=0.5")
    search = json.loads(result.out)["search"]
    assert (search["steps"], search["seed"], search["method"]) == (6, 3, "memetic")
    assert (search["params"]["islands"], search["params"]["regions"], search["params"]["heat"]) == (3, False, 0.5)
    assert "6 steps in" in result.err
    short = command(*call, "--time", "1e-6", "--force")
    assert short.status == 0, short.err
    assert json.loads(short.out)["search"]["stopped"] == "time"
    assert pl.read_csv(tmp_path / "out.csv").height == 40


def test_a_bound_is_proven_where_it_is_asked_for(command: Command, survey: Path, tmp_path: Path) -> None:
    call = ["protect", survey, "-o", tmp_path / "out.csv", "--k", 4, *ROLES, "--steps", 20, "--measures", "none"]
    result = command(*call, "--bound", "--json")
    assert result.status == 0, result.err
    evidence = json.loads(result.out)
    assert 0 <= evidence["bound"]["value"] <= evidence["measures"]["partition_il"] * (1 + 1e-9)


def test_several_seeds_by_options_and_by_a_configuration(command: Command, tmp_path: Path) -> None:
    pl.DataFrame({"x": range(40), "y": [i * i % 17 for i in range(40)]}).write_csv(tmp_path / "in.csv")
    (tmp_path / "how.toml").write_text('k = 3\nsteps = 3\nseeds = 2\nquasi = ["x", "y"]\n')
    done = command("protect", tmp_path / "in.csv", "--config", tmp_path / "how.toml", "-o", tmp_path / "a.csv")
    assert done.status == 0, done.err
    assert "of 2 searches" in done.err
    words = ["--k", "3", "--steps", "3", "--quasi", "x,y", "--seeds", "2", "--workers", "2"]
    done = command("protect", tmp_path / "in.csv", *words, "-o", tmp_path / "b.csv")
    assert done.status == 0, done.err
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
