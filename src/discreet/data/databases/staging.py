"""Writing to a database in one transaction: a table of our own, read back, counted, and only then given its name."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

from discreet.data.databases import postgresql, sqlite
from discreet.data.databases.address import Address, quote
from discreet.data.databases.rows import digest, types_of
from discreet.data.databases.session import DatabaseError, Session, connect
from discreet.errors import InputError


@contextlib.contextmanager
def stage(address: Address, *, force: bool = False, connection: Any = None) -> Iterator[Staging]:
    """A place for a release in a database; unless it is committed, nothing is left of it.

    Parameters
    ----------
    address : Address
        The table that it will be.
    force : bool
        Whether a table of this name may be replaced.
    connection : ADBC connection, optional
        A connection whose database is used.
    """
    made = address.file is not None and connection is None and not address.file.exists()
    if made:
        _make_file(address)
    staged = None
    try:
        with connect(address, connection, called=address.name, writing=True) as session:
            kind = StagingInPostgres if address.system == "postgresql" else Staging
            staged = kind(session, force=force, connection=connection)
            staged.check()
            yield staged
    finally:
        if made and address.file is not None and not (staged and staged.is_committed):
            address.file.unlink(missing_ok=True)


def _make_file(address: Address) -> None:
    assert address.file is not None
    try:
        os.close(os.open(address.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise InputError(f"{address.file} cannot be made ({os.strerror(error.errno or 0)}); choose another") from None


class Staging:
    """A table under way, in SQLite.

    Parameters
    ----------
    session : Session
        Its transaction.
    force : bool
        Whether a table of the same name may be replaced.
    connection : ADBC connection, optional
        What the session was made from.
    """

    def __init__(self, session: Session, *, force: bool, connection: Any = None) -> None:
        self.session = session
        self.address = session.address
        self.force = force
        self.connection = connection
        self.own = self.address.beside(f"discreet_{secrets.token_hex(8)}")
        self.digest = ""
        self._schema = pl.Schema()
        self.is_committed = False

    def check(self) -> None:
        """Refuse what would fail at the end."""
        known = "SELECT type FROM sqlite_master WHERE lower(name) = lower(?)"
        found = [kind for (kind,) in self.session.rows(known, self.address.table)]
        if not found:
            return
        self._check_replacing(is_table=found == ["table"])
        depending = self.session.rows(
            "SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger') AND instr(lower(sql), lower(?1)) UNION ALL "
            "SELECT 1 FROM sqlite_master AS other JOIN pragma_foreign_key_list(other.name) AS key "
            "WHERE other.type = 'table' AND lower(key.\"table\") = lower(?1) AND lower(other.name) <> lower(?1)",
            self.address.table,
        )
        self._check_depending(bool(depending))

    def _check_replacing(self, *, is_table: bool) -> None:
        name = self.address.name
        if not is_table:
            raise InputError(f"{name} is no plain table (a view, say), so it is not replaced; choose another name")
        if not self.force:
            raise InputError(f"{name} exists already; choose another name, or replace it with --force (force=True)")

    def _check_depending(self, is_needed: bool) -> None:
        if is_needed:
            raise InputError(
                f"{self.address.name}: views, triggers or other tables depend on it, so it is not replaced; drop them "
                "first, or choose another name"
            )

    def fill(self, frame: pl.DataFrame) -> None:
        """Put rows, as `to_storable` makes them, into a new table without constraints, in their order."""
        self._schema = frame.schema
        columns = ", ".join(f"{quote(name)} {kind}" for name, kind in types_of(frame, self.address.system).items())
        self.session.run(f"CREATE TABLE {self.own.relation} ({columns})")
        rows = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        self.session.fill(self.own.table, rows, self.own.schema)

    def read_back(self) -> pl.DataFrame:
        """The rows as the database has them, in this transaction."""
        fetch: Any = postgresql.fetch if self.address.system == "postgresql" else sqlite.fetch
        frame: pl.DataFrame = fetch(self.session, self.own.relation)[0]
        # A column of nothing has no type in SQLite.
        frame = frame.with_columns(column.cast(self._schema[column.name]) for column in frame if column.is_null().all())
        self.digest = digest(frame)
        return frame

    def count(self) -> int:
        """How many rows the database counts."""
        [(rows,)] = self.session.rows(f"SELECT count(*) FROM {self.own.relation}")
        return int(rows)

    def count_rare(self, columns: Sequence[str], k: int) -> int:
        """How many combinations of values the database finds in fewer than k rows; a missing value is one."""
        keys = ", ".join(self._key(name) for name in columns)
        [(rare,)] = self.session.rows(
            f"SELECT count(*) FROM (SELECT 1 FROM {self.own.relation} GROUP BY {keys} HAVING count(*) < {int(k)}) "
            "AS rare"
        )
        return int(rare)

    def _key(self, name: str) -> str:
        return f"{quote(name)} COLLATE BINARY"

    def describe(self) -> dict[str, Any]:
        """Where the table will be, for the evidence."""
        return sqlite.describe(self.session)

    def settle(self, comment: str) -> None:
        """Give the table its name, in place of the one that had it."""
        self.check()
        self.session.run(f"DROP TABLE IF EXISTS {self.address.relation}")
        self.session.run(f"ALTER TABLE {self.own.relation} RENAME TO {quote(self.address.table)}")

    def commit(self) -> None:
        """Make it so."""
        self.session.commit()
        self.is_committed = True


# Each kind of right on a table or a column, as it stands in the catalogue.
_RIGHTS = re.compile("[A-Z ]+")


class StagingInPostgres(Staging):
    """A table under way, in PostgreSQL."""

    def check(self) -> None:
        """Refuse what would fail at the end."""
        postgresql.settle(self.session, own=True)
        [(may,)] = self.session.rows("SELECT has_schema_privilege($1::text, 'CREATE')", self.address.schema)
        if not may:
            raise DatabaseError(f"{self.address.name}: this user may not make tables in the schema; ask for the right")
        found = self.session.rows(
            "SELECT relkind::text, relrowsecurity OR relispartition OR relhassubclass, "
            "EXISTS (SELECT FROM pg_depend AS d JOIN pg_rewrite AS r ON r.oid = d.objid "
            "WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = c.oid AND r.ev_class <> c.oid) "
            "OR EXISTS (SELECT FROM pg_constraint AS f WHERE f.confrelid = c.oid AND f.conrelid <> c.oid) "
            "FROM pg_class AS c WHERE c.oid = to_regclass($1::text)",
            self.address.relation,
        )
        for kind, has_more, is_needed in found:
            self._check_replacing(is_table=kind == "r")
            self._check_depending(is_needed)
            if has_more:
                raise InputError(
                    f"{self.address.name} has row security, or is part of other tables, which a new one would lose; "
                    "drop it yourself, or choose another name"
                )

    def fill(self, frame: pl.DataFrame) -> None:
        """Put rows into a new table by COPY; what the server would have to refuse, its log would quote."""
        [(encoding,)] = self.session.rows("SELECT current_setting('server_encoding')")
        for column in frame.select(cs.string()) if encoding != "UTF8" else ():
            if column.str.contains(r"[^\x00-\x7f]").any():
                raise InputError(
                    f"{self.address.name}: the database keeps text in {encoding}, and column '{column.name}' has other "
                    "letters than English ones; use a database in UTF8"
                )
        super().fill(frame)

    def _key(self, name: str) -> str:
        return f'{quote(name)} COLLATE "C"' if self._schema[name] == pl.String else quote(name)

    def read_back(self) -> pl.DataFrame:
        """The rows as the database has them, in this transaction."""
        self.session.run("SET LOCAL work_mem = '128MB'")  # for the count
        return super().read_back()

    def describe(self) -> dict[str, Any]:
        """Where the table will be, for the evidence."""
        return postgresql.describe(self.session)

    def settle(self, comment: str) -> None:
        """Give the table its name, its comment, and the owner and the grants of the one that had the name."""
        self.check()
        rights, own = self._list_rights(self.address), self._list_rights(self.own)
        owners = self.session.rows(
            "SELECT pg_get_userbyid(relowner)::text FROM pg_class "
            "WHERE oid = to_regclass($1::text) AND relowner <> (SELECT oid FROM pg_roles WHERE rolname = current_user)",
            self.address.relation,
        )
        is_old = bool(self.session.rows("SELECT 1 WHERE to_regclass($1::text) IS NOT NULL", self.address.relation))
        if is_old:
            self.session.run(f"DROP TABLE {self.address.relation}")
        relation = self.address.relation
        self.session.run(f"ALTER TABLE {self.own.relation} RENAME TO {quote(self.address.table)}")
        text = comment.replace("'", "''")
        self.session.run(f"COMMENT ON TABLE {relation} IS '{text}'")
        if not is_old:
            return
        for role in {role for role, *_ in own}:
            self.session.run(f"REVOKE ALL ON TABLE {relation} FROM {role}")
        columns = {name for (name,) in self.session.rows(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attnum > 0", relation
        )}  # fmt: skip
        for role, right, may_grant, column in rights:
            if column is None or column in columns:
                on = "" if column is None else f" ({quote(column)})"
                self.session.run(
                    f"GRANT {right}{on} ON TABLE {relation} TO {role}{' WITH GRANT OPTION' if may_grant else ''}"
                )
        for (owner,) in owners:
            self.session.run(f"ALTER TABLE {relation} OWNER TO {quote(owner)}")

    def _list_rights(self, address: Address) -> list[tuple[str, str, bool, str | None]]:
        """Who may do what with a table or a column of it, beside its owner."""
        found = self.session.rows(
            "SELECT r.rolname::text, a.privilege_type, a.is_grantable, a.attname FROM ("
            "SELECT c.relowner, (aclexplode(c.relacl)).*, NULL::text AS attname FROM pg_class AS c "
            "WHERE c.oid = to_regclass($1::text) UNION ALL "
            "SELECT c.relowner, (aclexplode(t.attacl)).*, t.attname::text FROM pg_class AS c "
            "JOIN pg_attribute AS t ON t.attrelid = c.oid WHERE c.oid = to_regclass($1::text)"
            ") AS a LEFT JOIN pg_roles AS r ON r.oid = a.grantee WHERE a.grantee <> a.relowner",
            address.relation,
        )
        assert all(_RIGHTS.fullmatch(right) for _, right, _, _ in found)
        return [("PUBLIC" if role is None else quote(role), *further) for role, *further in found]

    def commit(self) -> None:
        """Make it so; where the connection is lost just then, find out what became of it."""
        try:
            super().commit()
        except DatabaseError:
            if not self._is_there():
                raise

    def _is_there(self) -> bool:
        try:
            with connect(self.address, self.connection, called=self.address.name) as session:
                found = session.rows("SELECT obj_description(to_regclass($1::text), 'pg_class')", self.address.relation)
                self.is_committed = any(self.digest in (said or "") for (said,) in found)
                return self.is_committed
        except DatabaseError:
            raise DatabaseError(
                f"{self.address.name}: the connection was lost while the table was put in place; whether it is there "
                "is not known. Look for it when the database is back, and begin again with --force"
            ) from None
