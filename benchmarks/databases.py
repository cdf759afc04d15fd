"""Out of PostgreSQL, protected and back in, against the same from Parquet to Parquet: time and memory.

libpq's environment (PGHOST, PGUSER, …) leads to a server, in which the schema discreet_benchmark is made and dropped.
Every run is a process of its own, from the start of Python to the verified release; the two kinds take turns, and of
each the best counts. Memory is the peak of our process.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

import adbc_driver_postgresql.dbapi
import numpy as np
import polars as pl
from benchmarks.common import ROOT, clocked, verdict

import discreet

K, COLUMNS = 5, 10
# The bars: the time out of and into PostgreSQL as a multiple of that of Parquet, and megabytes.
MOST_TIME, MOST_MEMORY = 1.3, 2_000
SCHEMA = "discreet_benchmark"


def make(records: int) -> pl.DataFrame:
    """Numbers with three causes in common."""
    rng = np.random.default_rng(0)
    causes = rng.normal(size=(records, 3))
    mixed = causes @ rng.normal(size=(3, COLUMNS)) + rng.normal(size=(records, COLUMNS))
    return pl.DataFrame(mixed.round(3), schema=[f"x{i}" for i in range(COLUMNS)])


def execute(*statements: str) -> None:
    """Run statements on the server."""
    with adbc_driver_postgresql.dbapi.connect("postgresql://") as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        connection.commit()


def run(source: str, target: str) -> None:
    """Protect and write; print seconds of clock and processor, and megabytes."""
    with clocked() as spent:
        release = discreet.protect(source, quasi="all", k=K, method="tour")
        written = release.write(target, force=True)
    assert written.verification
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    print(json.dumps({"wall": spent.wall, "cpu": spent.cpu, "memory": peak}))


def compare(records: int, repeats: int) -> None:
    """Take turns, and print the best of each and their ratio."""
    frame = make(records)
    execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE", f"CREATE SCHEMA {SCHEMA}")
    with tempfile.TemporaryDirectory() as folder:
        frame.write_parquet(f"{folder}/in.parquet")
        with adbc_driver_postgresql.dbapi.connect("postgresql://") as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("given", frame.to_arrow(), mode="create", db_schema_name=SCHEMA)
            connection.commit()
        kinds = {
            "parquet": ("in.parquet", "out.parquet"),
            "postgresql": (f"postgresql:{SCHEMA}.given", f"postgresql:{SCHEMA}.released"),
        }
        # Record and evidence of a table appear in the current folder, which is not the one that Python finds us in.
        env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        found: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
        for _ in range(repeats):
            for kind, (source, target) in kinds.items():
                words = [sys.executable, "-m", "benchmarks.databases", "--run", source, target]
                done = subprocess.run(words, cwd=folder, env=env, check=True, stdout=subprocess.PIPE, text=True)
                found[kind].append(json.loads(done.stdout))
                print(kind, *(f"{name} {value:.1f}" for name, value in found[kind][-1].items()))
    execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    best = {kind: min(one["wall"] for one in runs) for kind, runs in found.items()}
    ratio, memory = best["postgresql"] / best["parquet"], max(one["memory"] for one in found["postgresql"])
    print(f"{records:,} × {COLUMNS}: {ratio:.2f} times Parquet's seconds, bar {MOST_TIME}: {verdict(ratio, MOST_TIME)}")
    print(f"memory {memory:.0f} MB, bar {MOST_MEMORY}: {verdict(memory, MOST_MEMORY)}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--run", nargs=2, metavar=("SOURCE", "TARGET"), help="one run, for a process of its own")
    given = parser.parse_args()
    if given.run:
        run(*given.run)
    else:
        compare(given.records, given.repeats)


if __name__ == "__main__":
    main()
