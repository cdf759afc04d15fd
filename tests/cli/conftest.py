"""A small file with a canary in it, and the command line run in this process."""

from pathlib import Path

import pytest

from canary import CANARY, Command, Result
from discreet.cli.app import run


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run `discreet` with arguments; a canary in anything it prints is a failure whatever the test."""

    def call(*arguments: object) -> Result:
        status = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert CANARY not in out + err
        return Result(status, out, err)

    return call


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Forty records; the canary is a name, a town, a number, a date and a diagnosis."""
    lines = [
        "name,town,region,age,income,born,diagnosis",
        *(
            f"n{i},t{i % 4},r{i % 2},{20 + i},{1000 + 37 * i}.5,19{50 + i}-01-{1 + i % 28:02},d{i % 3}"
            for i in range(40)
        ),
    ]
    lines[7] = f"{CANARY},t1,r0,26,1200,1956-01-07,{CANARY}"
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
