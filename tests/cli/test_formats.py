"""Files of every format go through `protect`, and come out in their own family with labels."""

from collections import Counter
from pathlib import Path

import openpyxl
import polars as pl
import pyreadstat
import pytest

from canary import Command

FRAME = pl.DataFrame(
    {
        "sex": [1.0, 2.0] * 10,
        "age": [float(20 + 3 * i) for i in range(20)],
        "town": [f"t{i % 3}" for i in range(20)],
        "score": [float(i * i) for i in range(20)],
        "ill": [float(i % 4) for i in range(20)],
    }
)
ROLES = ["--quasi", "sex,age,town,score", "--confidential", "ill", "--k", "4"]
LABELS = {"sex": {1.0: "male", 2.0: "female"}, "ill": {0.0: "no", 1.0: "a", 2.0: "b", 3.0: "c"}}
NAMES: list[str | None] = ["Sex", "Age in years", "Town", "Score", "Illness"]


@pytest.mark.parametrize("suffix", ["sav", "zsav", "dta"])
def test_labels_are_kept_on_the_way_out(command: Command, tmp_path: Path, suffix: str) -> None:
    source, out = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    if suffix == "dta":
        pyreadstat.write_dta(FRAME, source, column_labels=NAMES, variable_value_labels=LABELS)
    else:
        pyreadstat.write_sav(
            FRAME, source, column_labels=NAMES, variable_value_labels=LABELS, compress=suffix == "zsav"
        )
    result = command("protect", source, "-o", out, *ROLES)
    assert result.status == 0, result.err
    assert "taken as nominal" in result.err
    frame, meta = (pyreadstat.read_dta if suffix == "dta" else pyreadstat.read_sav)(out, output_format="polars")
    assert meta.column_labels == NAMES
    assert meta.variable_value_labels == LABELS
    assert min(Counter(frame.select("sex", "age", "town", "score").rows()).values()) >= 4
    assert set(frame["sex"]) <= {1.0, 2.0}
    assert sorted(frame["ill"]) == sorted(FRAME["ill"])


def test_sas_transport_and_excel(command: Command, tmp_path: Path) -> None:
    pyreadstat.write_xport(FRAME, tmp_path / "in.xpt", column_labels=NAMES, table_name="T")
    assert command("protect", tmp_path / "in.xpt", "-o", tmp_path / "out.xpt", *ROLES).status == 0
    frame, meta = pyreadstat.read_xport(tmp_path / "out.xpt", output_format="polars")
    assert meta.column_labels == NAMES
    assert min(Counter(frame.select("sex", "age", "town", "score").rows()).values()) >= 4
    assert command("protect", tmp_path / "out.xpt", "-o", tmp_path / "out.xlsx", *ROLES).status == 0
    rows = list(openpyxl.load_workbook(tmp_path / "out.xlsx").active.iter_rows(values_only=True))
    assert rows[0] == ("sex", "age", "town", "score", "ill")
    assert len(rows) == 21
    assert command("protect", tmp_path / "out.xlsx", "-o", tmp_path / "out.csv", *ROLES).status == 0


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow", "tsv"])
def test_columnar_and_tabbed_files(command: Command, tmp_path: Path, suffix: str) -> None:
    FRAME.write_parquet(tmp_path / "in.parquet")
    out = tmp_path / f"out.{suffix}"
    assert command("protect", tmp_path / "in.parquet", "-o", out, *ROLES).status == 0
    assert command("verify", out, "--promise", f"{out}.release.json").status == 0


def test_a_european_file_comes_out_in_its_own_dialect(command: Command, tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    lines = [f"Köln;{20 + i};{i},5;{i % 3}" for i in range(12)]
    source.write_bytes("\r\n".join(["Straße;Alter;Größe;krank", *lines, ""]).encode("cp1252"))
    roles = ["--quasi", "Straße,Alter,Größe", "--confidential", "krank", "--k", "3"]
    result = command("protect", source, "-o", out, *roles)
    assert result.status == 0, result.err
    assert "cp1252" in result.err
    text = out.read_bytes().decode("cp1252")
    assert text.splitlines()[0] == "Straße;Alter;Größe;krank"
    assert text.splitlines()[1].startswith("Köln;21;1,5;")
    assert command("verify", out, "--promise", f"{out}.release.json").status == 0


def test_a_file_without_a_header(command: Command, tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("".join(f"{i},{i * i},{i % 2}\n" for i in range(12)))
    roles = ["--quasi", "column_2", "--confidential", "column_3", "--ignore", "column_1", "--k", "3", "--header", "no"]
    assert command("protect", source, "-o", out, *roles).status == 0
    assert len(out.read_text().splitlines()) == 12


def test_codes_of_missing_values_stay_in_confidential_columns_of_spss(command: Command, tmp_path: Path) -> None:
    frame = FRAME.with_columns(
        ill=pl.Series([99.0, 98.0, 1.0, 2.0] * 5), score=pl.Series([99.0] * 5 + [1.0, 2.0, 3.0] * 5)
    )
    labels = {"ill": {1.0: "a", 2.0: "b", 98.0: "unknown", 99.0: "refused"}}
    pyreadstat.write_sav(
        frame, tmp_path / "in.sav", variable_value_labels=labels, missing_ranges={"ill": [98, 99], "score": [99]}
    )
    assert command("protect", tmp_path / "in.sav", "-o", tmp_path / "out.sav", *ROLES).status == 0
    raw, about = pyreadstat.read_sav(tmp_path / "out.sav", user_missing=True, output_format="polars")
    assert sorted(raw["ill"]) == sorted(frame["ill"])
    assert about.variable_value_labels["ill"] == labels["ill"]
    assert all(str(code) in str(about.missing_ranges["ill"]) for code in (98, 99))
    assert raw["score"].null_count() == 5
    # Where codes cannot be declared to be missing they are missing.
    assert command("protect", tmp_path / "in.sav", "-o", tmp_path / "out.parquet", *ROLES).status == 0
    assert pl.read_parquet(tmp_path / "out.parquet")["ill"].null_count() == 10
