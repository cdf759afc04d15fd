"""Make the example reports that the manual links to, in docs/examples: `python tools/reports.py`.

All are of data that this package makes and that is about nobody. A new example is one entry in EXAMPLES.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from discreet.cli.app import run

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "examples"
SIGN_OFF = """recipient = "University of Testing, Institute of Social Research"
purpose = "Teaching: hours worked by occupation and education"
reviewer = "Data protection officer"
decision = "released"
decided_on = 2026-11-16
review_date = 2028-11-16

[five_safes]
projects = "Teaching and methods, no decisions about persons"
people = "Anybody: a public use file"
settings = "No restriction"
data = "k = 5 over all quasi-identifiers; identifiers left out"
outputs = "Not checked"
"""
GROUPS = "region,urban,sex,birth_date,weight;household_size,education,occupation,marital;income,wealth"
PROTECT = ["protect", "survey.csv", "--config", "survey.toml", "--k", "5", "--steps", "10", "--seed", "0", "--report"]
# The commands of each example; the last one writes the reports of a release of the example's name.
EXAMPLES = {
    "survey": [["example", "survey", "."], [*PROTECT, "--sign-off", "sign-off.toml", "-o", "survey-release.csv"]],
    "companies": [
        ["example", "companies", "."],
        [
            "tabulate",
            "companies.csv",
            "--by",
            "district@region.hrc",
            "--by",
            "size_class",
            "--value",
            "turnover",
            "--holding",
            "holding",
            "-o",
            "turnover.parquet",
        ],
        ["primary", "turnover.parquet", "--p", "10", "--threshold", "3", "-o", "flagged.parquet"],
        ["suppress", "flagged.parquet", "--steps", "20", "--report", "-o", "companies-table.csv"],
    ],
    "grouped": [["example", "survey", "."], [*PROTECT, "--grouping", GROUPS, "-o", "grouped-release.csv"]],
}


def place(word: str, folder: str) -> str:
    """A word of a command with its file in a folder."""
    if word == ".":
        return folder
    dimension, at, file = word.rpartition("@")
    found = file.endswith((".csv", ".toml", ".parquet", ".hrc"))
    return f"{dimension}{at}{Path(folder, file)}" if found else word


def main() -> int:
    """Run the commands of all examples and keep the reports."""
    FOLDER.mkdir(exist_ok=True)
    for name, commands in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as made:
            Path(made, "sign-off.toml").write_text(SIGN_OFF, encoding="utf-8")
            for command in commands:
                if status := run([place(word, made) for word in command]):
                    return status
            for report in Path(made).glob("*.html"):
                kind = "internal" if ".internal." in report.name else "public"
                shutil.copyfile(report, FOLDER / f"{name}-{kind}.html")
                print(FOLDER / f"{name}-{kind}.html", report.stat().st_size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
