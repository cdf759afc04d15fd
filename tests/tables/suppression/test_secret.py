"""A secret keys the choice: nobody without it can repeat the pattern, and with it the pattern stays what it was."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from jsonschema import validate

import discreet
from discreet.cli.app import run
from discreet.errors import InputError
from discreet.release.evidence import schema
from discreet.tables.suppression.secret import TILT, open_secret
from discreet.tabular.files.formats import render
from discreet.tabular.table import Table

CODES = "pqrst"


def tied(values: dict[tuple[str, str], float] | None = None, names: tuple[str, str] = ("a", "b")) -> Table:
    """A table in which every cell is worth the same, so that many patterns cost the same; one cell is unsafe."""
    changed = values or {}
    frame = pl.DataFrame([(a, b, changed.get((a, b), 10.0)) for a in CODES for b in CODES], [*names, "v"], orient="row")
    flags = pl.DataFrame({names[0]: ["p"], names[1]: ["p"], "lpl": [2.0], "upl": [2.0]})
    return discreet.primary(discreet.tabulate(frame, by=list(names), value="v"), manual=flags)


def save(table: Table, path: Path) -> None:
    for target, content in render(table, path).items():
        target.write_bytes(content)


def secret(folder: Path, number: int) -> Path:
    path = folder / f"secret{number}"
    path.write_text(f"{number:064d}")
    path.chmod(0o600)
    return path


def pattern(table: Table, path: Path | None, **said: Any) -> frozenset[str]:
    release = discreet.suppress(table, steps=60, secret=path, **said)
    return frozenset(release.table.name(int(cell)) for cell in release.secondary)


@pytest.mark.parametrize("method", ["search", "exact", "hypercube"])
def test_other_secrets_choose_otherwise_where_patterns_tie(method: str, tmp_path: Path) -> None:
    table = tied()
    found = [pattern(table, secret(tmp_path, number), method=method) for number in range(8)]
    assert len(set(found)) > 2
    assert found[0] == pattern(table, tmp_path / "secret0", method=method, threads=1)
    # Each is as good as without a secret.
    price = dict(zip(map(table.name, range(len(table))), table.cost.tolist(), strict=True))
    usual = sum(price[one] for one in pattern(table, None, method=method))
    assert {sum(price[one] for one in names) for names in found} == {usual}


def test_the_same_secret_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        release = discreet.suppress(tied(), steps=3, secret=secret(tmp_path, 1))
        (tmp_path / name).mkdir()
        release.write(tmp_path / name / "public.csv")
    for name in ("public.csv", "public.csv.release.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_neither_values_nor_the_order_of_anything_keys_the_choice(tmp_path: Path) -> None:
    """A correction of cells, dimensions that changed places, and a code more: the factors of the others stay."""
    key = open_secret(secret(tmp_path, 3))
    table, corrected, turned = tied(), tied({("r", "s"): 10.5}), tied(names=("b", "a"))
    factors = {table.name(cell): factor for cell, factor in enumerate(key.tilt(table).tolist())}
    assert len(set(factors.values())) == len(table)
    assert all(1.0 - TILT <= factor <= 1.0 for factor in factors.values())
    assert key.tilt(corrected).tolist() == key.tilt(table).tolist()
    assert key.seed(corrected, 0) == key.seed(table, 0) == key.seed(turned, 0) != key.seed(table, 1)
    assert sorted(key.tilt(turned)) == sorted(key.tilt(table))
    frame = pl.DataFrame([(a, b, 10.0) for a in [*CODES, "u"] for b in reversed(CODES)], ["a", "b", "v"], orient="row")
    larger = discreet.tabulate(frame, by=["a", "b"], value="v")
    again = {larger.name(cell): factor for cell, factor in enumerate(key.tilt(larger).tolist())}
    assert {name: again[name] for name in factors} == factors
    assert pattern(corrected, key.path) == pattern(table, key.path)
    # Another response or other dimensions are another table.
    other = table.but(response="w")
    assert not set(key.tilt(other)) & set(factors.values())


def test_a_table_without_codes_is_keyed_by_its_numbers(tmp_path: Path) -> None:
    key, table = open_secret(secret(tmp_path, 3)), tied()
    bare = table.but(dimensions=(), codes=np.zeros((len(table), 0), np.int32))
    assert len(set(key.tilt(bare))) == len(bare)


def test_a_secret_that_is_not_there_is_made_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new"
    made = discreet.suppress(tied(), steps=3, secret=path)
    assert path.stat().st_mode & 0o777 == 0o600
    key = path.read_text().strip()
    assert len(key) == 64
    again = discreet.suppress(tied(), steps=3, secret=path)
    assert again.secondary.tolist() == made.secondary.tolist()
    for release, is_new in ((made, True), (again, False)):
        said = release.evidence["parameters"]["secret"]
        assert said == {"fingerprint": open_secret(path).fingerprint, "made": is_new}
        assert said["fingerprint"] in release.summary()
        assert ("was made just now" in " ".join(release.summary().split())) == is_new
        written = release.write(tmp_path / "public.csv", report=True, force=True)
        validate(json.loads(written["evidence"].read_text()), schema("evidence"))
        for file in written.values():
            text = file.read_text(encoding="utf-8")
            assert key not in text
            assert str(path) not in text
            internal = file in (written["evidence"], written["internal report"])
            assert internal or said["fingerprint"] not in text
    assert key not in repr(open_secret(path))
    assert path.name not in json.dumps(made.evidence["input"])


def test_without_a_secret_the_summary_says_who_can_repeat_the_choice() -> None:
    assert "can be repeated by anyone" in " ".join(discreet.suppress(tied(), steps=3).summary().split())


@pytest.mark.parametrize("what", ["readable", "link", "short", "long", "folder", "pipe", "other's", "nowhere"])
def test_a_secret_that_others_may_know_is_refused(what: str, tmp_path: Path) -> None:
    path = secret(tmp_path, 1)
    if what == "readable":
        path.chmod(0o640)
    elif what == "link":
        path = tmp_path / "link"
        path.symlink_to(tmp_path / "secret1")
    elif what in ("short", "long"):
        path.write_text("x" * (31 if what == "short" else 5000))
    elif what == "folder":
        path = tmp_path
    elif what == "pipe":
        path = tmp_path / "pipe"
        os.mkfifo(path, 0o600)
    elif what == "other's":
        if os.geteuid() != 0:
            pytest.skip("only the superuser can give a file away")
        os.chown(path, 12345, 12345)
    else:
        path = tmp_path / "no" / "where"
    with pytest.raises(InputError, match="secret"):
        discreet.suppress(tied(), steps=3, secret=path)


def test_a_tie_is_broken_and_no_more(tmp_path: Path) -> None:
    """The pattern is never more than a thousandth above the cheapest."""
    rng = np.random.default_rng(5)
    for number in range(4):
        values = {(a, b): float(rng.integers(5, 40)) for a in CODES for b in CODES}
        best = discreet.suppress(tied(values), method="exact", time=60.0).cost
        keyed = discreet.suppress(tied(values), method="exact", time=60.0, secret=secret(tmp_path, number)).cost
        assert best <= keyed <= best / (1.0 - TILT)


def test_the_command_takes_it_and_a_configuration_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.parquet"
    save(tied(), path)
    key = secret(tmp_path, 2)
    common = ["suppress", str(path), "--steps", "3", "--secret", str(key)]
    assert run([*common, "-o", str(tmp_path / "public.csv")]) == 0
    capsys.readouterr()
    found = pl.read_csv(tmp_path / "public.csv", infer_schema=False)
    meant = discreet.suppress(path, steps=3, secret=key).public()
    assert found.rows() == meant.rows()
    assert run([*common, "-o", str(key) + ".csv", "--evidence", str(key), "--force"]) == 2
    assert key.read_text() == f"{2:064d}"
    (tmp_path / "c.toml").write_text(f'secret = "{key}"\n')
    assert run(["suppress", str(path), "--config", str(tmp_path / "c.toml"), "-o", str(tmp_path / "q.csv")]) == 2
    assert not (tmp_path / "q.csv").exists()


def test_all_tables_of_a_folder_have_one_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    for name in ("one", "two"):
        save(tied(), tmp_path / "in" / f"{name}.parquet")
    monkeypatch.chdir(tmp_path)
    done = discreet.suppress_folder("in", "out", steps=3, secret="new", workers=1)
    assert set(done.values()) == {"done"}
    prints = {
        json.loads((tmp_path / "out" / f"{name}.csv.evidence.json").read_text())["parameters"]["secret"]["fingerprint"]
        for name in ("one", "two")
    }
    assert prints == {open_secret(tmp_path / "new").fingerprint}
