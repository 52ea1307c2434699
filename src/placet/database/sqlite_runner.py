"""Runs named queries on a SQLite file."""

import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from placet.database.answer import Column, Fix, Rows, SqlAnswer, SqlRefusal
from placet.database.caps import Caps
from placet.database.parameters import LARGEST_INT, MATCHING
from placet.database.placeholders import counts_changes, gives_back, is_select, placeholders, written_otherwise
from placet.database.runner import CHANGED, Ready
from placet.database.sqlite_errors import explain_statement
from placet.database.sqlite_pool import SqlitePool, SqliteSession
from placet.errors import ConfigurationError
from placet.values.json import Json, JsonObject

_ANY: JsonObject = {"type": ["string", "number", "integer", "null"]}
"""SQLite's columns have no types of their own."""


class SqliteRunner:
    """Runs named queries on a SQLite file.

    SQLite compares times as texts, so a `datetime` is bound in UTC and in SQLite's own form, that of `datetime()`
    and `CURRENT_TIMESTAMP`: `2025-06-30 12:00:00`. A column that holds another form is compared by `datetime(column)`.

    Args:
        path: The file; it must exist.
        caps: How much one query may cost.
        writable: Whether statements may change something. Without it the file is opened read-only.

    Raises:
        ConfigurationError: There is no such file.
    """

    def __init__(self, path: Path | str, *, caps: Caps | None = None, writable: bool = False) -> None:
        self.caps = caps or Caps()
        self._writable = writable
        self._pool = SqlitePool(path, self.caps, lambda _: None, writable=writable)

    async def open(self) -> None:
        """Look whether the file is a database.

        Raises:
            ConfigurationError: It is none.
        """
        self._pool.connect().close()

    async def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    async def prepare(self, sql: str, kinds: dict[str, str], *, writes: bool, rows: int | None, where: str) -> Ready:
        """Have SQLite understand a statement, without running it.

        Raises:
            ConfigurationError: SQLite does not understand it.
        """
        if writes and not self._writable:
            raise ConfigurationError(f"{where}: it writes, and the file is opened to be read")
        for place in placeholders(sql, where):
            if kinds.get(place.name) in MATCHING and not place.is_escaped and not place.is_asked_for_null:
                raise ConfigurationError(f"{where}: SQLite has no escape of its own: LIKE :{place.name} ESCAPE '\\'")
        if odd := written_otherwise(sql):
            raise ConfigurationError(f"{where}: a value is written as :name, not as {odd!r}")
        text = sql if writes or not is_select(sql) else _capped(sql, rows or self.caps.rows)
        nothing = dict.fromkeys(kinds)
        connection = self._pool.connect()
        try:
            connection.execute(f"EXPLAIN {text}", nothing).fetchall()
            columns: tuple[str, ...] = ()
            if counts_changes(sql) and not is_select(sql) and not gives_back(sql):
                return Ready(text, tuple(kinds), ((CHANGED, None, {"type": "integer"}),), writes, kinds=dict(kinds))
            if is_select(sql):
                cursor = connection.execute(f"SELECT * FROM (\n{sql}\n) LIMIT 0", nothing)  # noqa: S608 - the developer's
                columns = tuple(column[0] for column in cursor.description)
        except sqlite3.Error as error:
            why = _misunderstood(connection, sql, nothing) or error
            raise ConfigurationError(f"{where}: SQLite does not understand it: {why}") from error
        finally:
            connection.close()
        return Ready(text, tuple(kinds), tuple((name, None, _ANY) for name in columns), writes, kinds=dict(kinds))

    async def run(self, ready: Ready, values: dict[str, Json], *, rows: int | None = None) -> SqlAnswer:
        """Return what the statement answers, on time."""
        caps = self.caps if rows is None else replace(self.caps, rows=rows)
        settled = threading.Event()

        def work(session: SqliteSession) -> SqlAnswer:
            answer = _run(session, ready, values, caps)
            settled.set()
            return answer

        answer = await self._pool.use(work)
        if ready.writes and isinstance(answer, SqlRefusal) and answer.fix is not Fix.WAIT and not settled.is_set():
            return replace(answer, fix=Fix.OPERATOR, is_certain=False)
        return answer


def _misunderstood(connection: sqlite3.Connection, sql: str, nothing: Mapping[str, None]) -> sqlite3.Error | None:
    """Return what SQLite says of a statement alone, without the words that cut its answer."""
    try:
        connection.execute(f"EXPLAIN {sql}", nothing)
    except sqlite3.Error as error:
        return error
    return None


def _bound(value: Json, kind: str) -> Json:
    """Return a value as SQLite compares it."""
    if kind == "datetime" and value is not None:
        moment = datetime.fromisoformat(str(value))
        return (moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment).isoformat(sep=" ")
    if isinstance(value, int) and not -LARGEST_INT - 1 <= value <= LARGEST_INT:
        return float(value)
    return value


def _capped(sql: str, rows: int) -> str:
    return f"SELECT * FROM (\n{sql}\n) LIMIT {rows + 1}"  # noqa: S608 - the developer's


def _run(session: SqliteSession, ready: Ready, values: dict[str, Json], caps: Caps) -> SqlAnswer:
    connection = session.connection
    try:
        if ready.writes:
            connection.execute("BEGIN IMMEDIATE")
        bound = {name: _bound(values[name], ready.kinds.get(name, "")) for name in ready.names}
        answer = session.fetch(ready.sql, bound, caps)
        if isinstance(answer, Rows) and [name for name, _, _ in ready.columns] == [CHANGED] and not answer.columns:
            (changed,) = connection.execute("SELECT changes()").fetchone()
            answer = replace(answer, columns=(Column(CHANGED),), rows=((changed,),))
        if ready.writes:
            connection.execute("ROLLBACK" if isinstance(answer, SqlRefusal) else "COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
            return session.timed_out()
        return explain_statement(error)
    return answer
