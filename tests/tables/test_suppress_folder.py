"""Many tables: each as it would be on its own, whoever works on it; one that is refused does not hold up the others."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import discreet
from discreet.cli.app import run
from discreet.examples import contributors
from discreet.release.atomic import write_table


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Three tables with unsafe cells."""
    folder = tmp_path / "tables"
    folder.mkdir()
    for number in range(3):
        frame, _ = contributors("6x4", sensitive=0.1, zeros=0.1, seed=number + 1)
        table = discreet.primary(
            discreet.tabulate(frame, by=dict.fromkeys(frame.columns[:-1]), value="value", complete=True), p=15
        )
        write_table(table, folder / f"t{number}.parquet")
    return folder


def test_a_folder_of_tables_is_protected_table_by_table(tmp_path: Path, tables: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        found = discreet.suppress_folder(tables, tmp_path / "out", executor=executor, steps=3)
    assert found == dict.fromkeys(["t0.parquet", "t1.parquet", "t2.parquet"], "done")
    discreet.suppress(tables / "t1.parquet", steps=3, threads=1).write(tmp_path / "alone.csv")
    assert (tmp_path / "alone.csv").read_bytes() == (tmp_path / "out" / "t1.csv").read_bytes()
    assert set(discreet.suppress_folder(tables, tmp_path / "out", workers=1, steps=3).values()) == {"kept"}


def test_a_table_that_is_refused_does_not_hold_up_the_others(
    tmp_path: Path, tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tables / "t1.parquet").write_bytes(b"no table")
    words = ["suppress", tables, "-o", tmp_path / "out", "--steps", 3, "--workers", 1]
    assert run([str(word) for word in words]) == 1
    assert "t1.parquet" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "out").glob("*.csv")) == ["t0.csv", "t2.csv"]
