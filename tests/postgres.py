"""A PostgreSQL server of the tests' own: on a socket in a temporary folder, as a user who is not root."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi

# Nothing of a release may stand in the log, which has every statement.
_SETTINGS = "-c listen_addresses='' -c fsync=off -c log_statement=all -c shared_buffers=32MB"


class Server:
    """A server and its log.

    Parameters
    ----------
    programs : Path
        The folder of PostgreSQL's own programs.
    """

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        # Not below pytest's folder, which no other user may enter; and a socket's path must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="discreet-pg-"))
        self.log = self.folder / "log"
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self._run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        other = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
        words = [*other, str(self.programs / program), "-D", str(self.folder / "data"), *arguments]
        # Into no pipe: the server would keep it open.
        subprocess.run(words, check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        self._run("pg_ctl", "-w", "-s", "-l", str(self.log), "-o", f"-k {self.folder} {_SETTINGS}", "start")

    def kill(self) -> None:
        """Stop at once, as a crash would: nobody says goodbye."""
        self._run("pg_ctl", "-w", "-s", "-m", "immediate", "stop")

    def remove(self) -> None:
        self._run("pg_ctl", "-w", "-s", "-m", "fast", "stop")
        shutil.rmtree(self.folder)

    def sql(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements in one transaction; the rows of the last one."""
        rows: list[tuple[Any, ...]] = []
        with (
            adbc_driver_postgresql.dbapi.connect(f"postgresql://postgres@/postgres?host={self.folder}") as connection,
            connection.cursor() as cursor,
        ):
            for statement in statements:
                cursor.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
            connection.commit()
        return rows
