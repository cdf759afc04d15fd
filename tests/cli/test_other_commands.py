"""`methods`, `example`, `verify` and the shell round them."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from canary import CANARY, Command
from discreet._version import __version__
from discreet.cli.app import WALK, app
from discreet.methods import FAMILIES, names


def test_methods_lists_every_method(command: Command) -> None:
    result = command("methods")
    assert result.status == 0
    assert all(name in result.out for family in FAMILIES for name in names(family))
    listed = json.loads(command("methods", "--json").out)
    assert {entry["family"] for entry in listed} == set(FAMILIES)
    assert [entry["name"] for entry in listed] == [name for family in FAMILIES for name in names(family)]
    assert all(entry["summary"] and entry["reference"] for entry in listed)


@pytest.mark.parametrize("name", ["companies", "survey", "sme"])
def test_an_example_can_be_protected_as_it_is_declared(command: Command, tmp_path: Path, name: str) -> None:
    assert command("example", name, tmp_path / "new").status == 0
    folder = tmp_path / "new"
    out = folder / "out.csv"
    made = command("protect", folder / f"{name}.csv", "--config", folder / f"{name}.toml", "--k", 3, "-o", out)
    assert made.status == 0, made.err
    assert command("verify", out, "--promise", folder / "out.csv.release.json").status == 0
    again = command("example", name, folder)
    assert again.status == 2
    assert "exist" in again.err
    assert command("example", name, folder, "--force").status == 0


def test_the_same_seed_gives_the_same_example(command: Command, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        command("example", "survey", tmp_path / folder, "--records", 100, "--seed", 5)
    first, second = ((tmp_path / folder / "survey.csv").read_bytes() for folder in ("a", "b"))
    assert first == second


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.csv", "--quasi", "a", "--k", "2"], "nothing.csv"),
        (["file.csv"], "say what to check"),
        (["file.csv", "--quasi", "b", "--k", "2"], "'b' of the promise is not in the release"),
        (["file.csv", "--promise", "file.csv"], "not a record of a release"),
        (["file.csv", "--grouping", "none.toml", "--k", "2"], "none.toml: there is no such file"),
    ],
)
def test_what_cannot_be_verified_is_an_error(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file.csv").write_text(f"a\n{CANARY}\n{CANARY}\n")
    result = command("verify", *arguments)
    assert result.status == 2
    assert said in result.err


def test_the_record_beside_a_release_is_what_is_checked(command: Command, tmp_path: Path) -> None:
    data, release = tmp_path / "file.csv", tmp_path / "release.csv"
    data.write_text("a,b\n" + "".join(f"{i},{i % 2}\n" for i in range(12)))
    assert command("protect", data, "--quasi", "a", "--confidential", "b", "--k", 3, "-o", release).status == 0
    assert command("verify", release).status == 0
    release.write_text(release.read_text().replace("\n", "\n99,1\n", 1))
    assert command("verify", release).status == 1


def test_a_grouping_file(command: Command, tmp_path: Path) -> None:
    data, grouping = tmp_path / "file.csv", tmp_path / "grouping.toml"
    data.write_text("a,b,c\n1,1,x\n1,2,x\n2,1,x\n2,2,x\n")
    grouping.write_text('groups = [["a"], ["b", "c"]]\n')
    assert command("verify", data, "--grouping", grouping, "--k", 2).status == 0
    grouping.write_text('groups = [["a", "b"]]\n')
    assert command("verify", data, "--grouping", grouping, "--k", 2).status == 1


def test_version_and_module_entry() -> None:
    done = subprocess.run([sys.executable, "-m", "discreet", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == __version__


def test_a_reader_that_leaves_is_no_fault() -> None:
    done = subprocess.run(
        f"{sys.executable} -m discreet methods | head -n 1", shell=True, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_compile_fills_the_cache(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it compiles is what the default searches warm up with."""
    from discreet.microdata import solving
    from discreet.tables.suppression import warm_up

    called = []
    monkeypatch.setattr(solving, "warm_up", lambda *_args: called.append("microdata"))
    monkeypatch.setattr(warm_up, "compile_all", lambda: called.append("tables"))
    assert "compiling kernels for this machine" in command("compile").out
    assert called == ["microdata", "tables"]
    assert command("compile", "--quiet").out == ""


@pytest.mark.parametrize("line", [line for steps in WALK.values() for _, line in steps])
def test_the_example_of_each_command_can_be_typed(line: str) -> None:
    words = shlex.split(line.removeprefix('eval "$(').removesuffix(')"'))
    assert words[0] == "discreet"
    app.parse_args(words[1:], print_error=False, exit_on_error=False)


def test_help_is_in_the_order_of_the_walk_and_marks_what_is_required(command: Command) -> None:
    told = command("--help").out
    places = [told.index(title) for title in WALK]
    assert places == sorted(places)
    assert all(f"│ {word} " in told for word in ("inspect", "protect", "tabulate", "suppress", "methods"))
    words = " ".join(command("protect", "--help").out.replace("│", " ").split())
    assert "and OUTPUT.evidence.json, which is internal. Of data in parts" in words
    assert "of its name in the current folder. [required]" in words
    assert "Required, here or in the configuration." in words
    assert "Example: discreet protect survey.csv" in words


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_can_complete_commands(command: Command, shell: str) -> None:
    script = command("completion", shell).out
    assert "protect" in script
    assert "--row-map" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)
