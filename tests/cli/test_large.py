"""`discreet protect` and `verify` of data in parts: a folder, a pattern, or one file that does not fit into memory."""

import json
from pathlib import Path

import polars as pl
import pytest

from canary import CANARY, Command
from microdata.large.registers import count_smallest, read_parts, register, write_parts

WHAT = ["--k", "3", "--quasi", "age,income", "--confidential", "diagnosis", "--ignore", "rest", "--method", "tour"]
SMALL = ["--block-records", "200", "--workers", "1"]


def test_a_file_that_does_not_fit_is_protected_in_parts(command: Command, tmp_path: Path) -> None:
    register(700).write_csv(tmp_path / "in.csv")
    done = command("protect", tmp_path / "in.csv", "-o", tmp_path / "out", *WHAT, *SMALL, "--memory", "1MB")
    assert done.status == 0, done.err
    assert count_smallest(read_parts(tmp_path / "out"), ["age", "income"]) >= 3
    whole = tmp_path / "whole.parquet"
    read_parts(tmp_path / "out").write_parquet(whole)
    promise = tmp_path / "out" / "release.json"
    for released in (tmp_path / "out", whole):
        checked = command("verify", released, "--promise", promise, "--memory", "1KB")
        assert checked.status == 0, checked.err
        assert "700 records" in checked.out


def test_a_pattern_names_files(command: Command, tmp_path: Path) -> None:
    data = write_parts(register(700), tmp_path / "in")
    done = command("protect", data / "in-[01].parquet", "-o", tmp_path / "out", *WHAT, *SMALL, "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["output"]["records"] == 350
    assert CANARY not in done.err
    assert CANARY not in done.out


@pytest.mark.parametrize("asked", [["--order", "kept"], ["--bound"], ["--measures", "dld"], ["--dry-run"]])
def test_what_needs_all_records_at_once_is_refused(command: Command, tmp_path: Path, asked: list[str]) -> None:
    data = write_parts(register(300), tmp_path / "in")
    done = command("protect", data, "-o", tmp_path / "out", *WHAT, *asked)
    assert done.status == 2
    assert "not for data in parts or larger than memory" in done.err
    assert not (tmp_path / "out").exists()


def test_households_weights_and_groups_are_for_parts_too(command: Command, tmp_path: Path) -> None:
    frame = register(600).with_columns(house=pl.int_range(600) // 2, weight=pl.int_range(600) % 5 + 1)
    data = write_parts(frame, tmp_path / "in")
    further = ["--household", "house", "--sampling-weight", "weight", "--grouping", "age;income"]
    done = command("protect", data, "-o", tmp_path / "out", *WHAT, *SMALL, *further, "--row-map", tmp_path / "rows")
    assert done.status == 0, done.err
    assert "300 households of 2 members" in done.err
    assert len(list((tmp_path / "rows").iterdir())) == len(list((tmp_path / "out").iterdir())) - 1
    assert command("verify", tmp_path / "out").status == 0


def test_a_folder_without_its_record_is_no_release(command: Command, tmp_path: Path) -> None:
    done = command("verify", write_parts(pl.DataFrame({"a": [1, 1]}), tmp_path / "in", 1))
    assert done.status == 2
    assert "it is no release, or one that was never sealed" in done.err
