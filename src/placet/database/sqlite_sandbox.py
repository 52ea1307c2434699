"""The sandbox over a SQLite file: read-only, authorised by table, column and function, and bounded.

| layer | what it is for |
|---|---|
| `mode=ro`, `query_only` | nothing can be written, whatever else fails |
| authorizer (`placet.database.sqlite_access`) | tables, columns and functions that are open, and nothing else |
| mirror (`placet.database.sqlite_mirror`) | what SQLite does not ask the authorizer about: columns that `USING` and `NATURAL` compare |
| tokens (`placet.database.sqlite_text`) | the kind of statement, shadowed views, searches without end |
| `setlimit` | the size of values, texts, expressions and programs |
| progress handler, `interrupt` (`placet.database.sqlite_pool`) | the time, from inside and from outside |
| `temp_store=FILE` | sorting takes 19 MB instead of memory without end, and stops on time: 3 million rows in memory sort for 1.7 s past it (measured on 3.40) |
| shaper (`placet.database.shaping`) | rows, cells and bytes |

SQLite runs inside this process, and only this process bounds it. For a hostile load, run placet
itself under limits of its own.
"""  # noqa: E501 - a table

import re
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

from placet.database.answer import Fix, SqlAnswer, SqlRefusal
from placet.database.caps import Caps
from placet.database.relation import KnownColumn, OpenData, Relation
from placet.database.sqlite_access import Access
from placet.database.sqlite_errors import explain, unknown_column, unknown_function, unknown_relation
from placet.database.sqlite_growth import measure_growth
from placet.database.sqlite_hints import opening_hint
from placet.database.sqlite_mirror import Mirror
from placet.database.sqlite_policy import LONGEST_PATTERN, MOST_MATCHES
from placet.database.sqlite_pool import SqlitePool, SqliteSession
from placet.database.sqlite_text import (
    Token,
    count_matches,
    definitions,
    depth,
    find_unbounded_search,
    fold,
    is_query,
    tokens,
)
from placet.database.sqlite_words import glance, words_of
from placet.errors import ConfigurationError

VALUE_BYTES: Final = 200_000
"""Of one value while a query runs. A cell that is larger cannot be read here."""

_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: LONGEST_PATTERN,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 32,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_VIRTUAL: Final = re.compile(r"\s*create\s+virtual\b", re.IGNORECASE)


class SqliteSandbox:
    """Answers a model's own queries to a SQLite file. An asynchronous context manager.

    Args:
        path: The file; it must exist.
        relations: What is open. A relation with columns opens these, and no others.
        functions: Further SQLite functions that are granted, by name.
        caps: How much one query may cost.

    Raises:
        ConfigurationError: There is no such file, or nothing is open.
    """

    def __init__(
        self,
        path: Path | str,
        relations: Iterable[Relation],
        *,
        functions: Iterable[str] = (),
        caps: Caps | None = None,
    ) -> None:
        self.caps = caps or Caps()
        self._data = OpenData(replace(relation, schema="") for relation in relations)
        self._functions = tuple(functions)
        self._pool = SqlitePool(path, self.caps, self._dress)
        self._columns: Mapping[str, frozenset[str]] = MappingProxyType({})
        self._views: frozenset[str] = frozenset()
        self._hidden: frozenset[str] = frozenset()
        self._mirror = Mirror(self._data, {}, _LIMITS)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def dialect(self) -> str:
        """Which SQL is spoken."""
        return "sqlite"

    @property
    def data(self) -> OpenData:
        """What is open, with its columns."""
        return self._data

    @property
    def is_open(self) -> bool:
        """Whether it has been opened."""
        return bool(self._columns)

    async def open(self) -> None:
        """Look at what is open.

        Raises:
            ConfigurationError: A relation or a column is not there, or the file is no database.
        """
        self.open_here()

    def open_here(self) -> None:
        """Look at what is open, where nothing can be awaited yet.

        Raises:
            ConfigurationError: A relation or a column is not there, or the file is no database.
        """
        connection = self._pool.connect()
        try:
            kinds = dict(
                connection.execute("SELECT lower(name), type FROM sqlite_master WHERE type IN ('table', 'view')")
            )
            columns = {relation.full_name: _describe(connection, relation, kinds) for relation in self._data.relations}
            every = {fold(name): _all_columns(connection, name) for name in columns}
            self._data = OpenData(self._data.relations, columns)
            self._columns = {
                fold(name): frozenset(fold(column.name) for column in known) for name, known in columns.items()
            }
            self._mirror.close()
            self._mirror = Mirror(
                self._data, {name: every[name] - known for name, known in self._columns.items()}, _LIMITS
            )
            self._hidden = frozenset(kinds) - frozenset(self._columns)
            opened = [name for name in self._columns if kinds[name] == "view"]
            self._views = frozenset(opened) | _views_inside(connection, opened, kinds)
        finally:
            connection.close()

    async def close(self) -> None:
        """Close the connections."""
        self._pool.close()
        self._mirror.close()

    async def query(self, sql: str) -> SqlAnswer:
        """Return the rows of one SELECT, or why there are none. Never later than the time and half a second."""
        looked = self._look_at(sql)
        if isinstance(looked, SqlRefusal):
            return looked
        return await self._pool.use(lambda session: self._fetch(session, sql, looked))

    def query_here(self, sql: str) -> SqlAnswer:
        """Return the same in this very thread, which waits.

        Nobody interrupts it from outside: SQLite itself looks at the time, and not within a function.
        """
        looked = self._look_at(sql)
        if isinstance(looked, SqlRefusal):
            return looked
        return self._pool.use_here(lambda session: self._fetch(session, sql, looked))

    def _look_at(self, sql: str) -> frozenset[str] | SqlRefusal:
        """Return what the text defines by `WITH`, or why it is not even begun."""
        if not is_query(sql):
            message = "only SELECT, WITH … SELECT and VALUES are run here; nothing can be changed"
            hint, fix = opening_hint(sql)
            return SqlRefusal(code="not_a_query", message=message, fix=fix, hint=hint)
        if len(sql) > self.caps.query_characters:
            message = f"the query is too long: at most {self.caps.query_characters} characters are read"
            return SqlRefusal(code="too_long", message=message, fix=Fix.NARROW)
        defined = glance(sql, self.caps.tokens, self.caps.depth)
        if defined is not None and defined.isdisjoint(self._views):
            return defined
        words = tokens(sql)
        if len(words) > self.caps.tokens:
            message = f"the query has {len(words)} words and signs; at most {self.caps.tokens} are read"
            return SqlRefusal(code="too_long", message=message, fix=Fix.NARROW)
        return self._look_at_words(words)

    def _look_at_words(self, words: tuple[Token, ...]) -> frozenset[str] | SqlRefusal:
        if depth(words) > self.caps.depth:  # a newer SQLite goes on as long as there is stack
            hint = "build it from WITH clauses"
            return SqlRefusal(code="too_deep", message="the query is nested too deep", fix=Fix.SQL, hint=hint)
        if count_matches(words) > MOST_MATCHES:
            message = f"more than {MOST_MATCHES} LIKE and GLOB in one query"
            return SqlRefusal(code="too_large", message=message, fix=Fix.NARROW)
        if search := find_unbounded_search(words):
            message = f"{search.text} needs the text that it looks for written out, in single quotes"
            return SqlRefusal(code="too_large", message=message, fix=Fix.SQL, position=search.position)
        names = definitions(words)
        if measure_growth(words_of(words, names)).is_too_large:
            message = "the query repeats its own parts again and again; it would become too large"
            hint = "use each name of a WITH once or twice"
            return SqlRefusal(code="too_large", message=message, fix=Fix.NARROW, hint=hint)
        if shadowed := sorted(names & self._views):
            message = f"the WITH {shadowed[0]!r} has the name of a view"
            return SqlRefusal(code="shadowed", message=message, fix=Fix.SQL, hint="call it otherwise")
        return names

    def _fetch(self, session: SqliteSession, sql: str, names: frozenset[str]) -> SqlAnswer:
        access = session.access
        if access is None:
            raise ConfigurationError("a connection of the sandbox has no authorizer")
        access.begin(names)
        try:
            return self._look_at_joins(sql) or self._read(session, access, sql, names)
        except UnicodeEncodeError:
            message = "the text holds half of a character (a lone surrogate)"
            return SqlRefusal(code="bad_character", message=message, fix=Fix.SQL)
        except MemoryError:  # a program or a value beyond the limits
            message = "the query, or a value of it, becomes too large"
            return SqlRefusal(code="too_large", message=message, fix=Fix.NARROW)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                return session.timed_out()
            return self._explain(error, sql, session, access)

    def _read(self, session: SqliteSession, access: Access, sql: str, names: frozenset[str]) -> SqlAnswer:
        try:
            return session.fetch(sql)
        except sqlite3.DatabaseError:
            if not self._counts_its_own(access, names, sql):
                raise
        access.begin(names, are_its_own=True)
        return session.fetch(sql)

    def _counts_its_own(self, access: Access, names: frozenset[str], sql: str) -> bool:
        """Return whether it was only denied the rows of a `WITH` of its own, which has the name of a hidden table."""
        if access.denied is None:
            return False
        action, table, column = access.denied
        is_count = action == sqlite3.SQLITE_READ and not column and fold(table) in names
        return is_count and self._mirror.error_of(sql) is None

    def _look_at_joins(self, sql: str) -> SqlRefusal | None:
        """Say what a query would read without SQLite asking whether it may, if anything."""
        if self._mirror.is_harmless(sql):
            return None
        if error := self._mirror.error_of(sql):
            return explain(error, sql, self._data, is_understood=False)
        found = self._mirror.find_unasked(sql)
        if found is None:
            return None
        if found.text == "natural":
            message = "NATURAL JOIN may compare columns that are not open"
            hint = "name the columns: JOIN … USING (…)"
            return SqlRefusal(code="hidden_column", message=message, fix=Fix.SQL, hint=hint, position=found.position)
        if found.text.startswith("sqlite_"):
            return unknown_relation(found.text, sql, self._data)
        return unknown_column(found.text, sql, self._data)

    def _explain(self, error: sqlite3.Error, sql: str, session: SqliteSession, access: Access) -> SqlRefusal:
        """Say what is wrong, without a difference between what is hidden and what is not there."""
        if missing := self._mirror.error_of(sql):
            return explain(missing, sql, self._data, is_understood=False)
        if access.denied is None:
            return explain(error, sql, self._data, is_understood=session.understands(sql))
        action, first, second = access.denied
        if action == sqlite3.SQLITE_READ:
            return self._explain_read(first, second, sql, tokens(sql))
        if action == sqlite3.SQLITE_FUNCTION:
            return unknown_function(second, sql)
        return SqlRefusal(code="not_a_query", message="this is not open here", fix=Fix.POLICY)

    def _explain_read(self, table: str, column: str, sql: str, words: tuple[Token, ...]) -> SqlRefusal:
        """Say what is wrong with a query that is understood where only what is open is there."""
        relation = next((known for known in self._data.relations if fold(known.name) == fold(table)), None)
        if relation is None:
            return unknown_relation(table, sql, self._data)
        if any(word.is_name and word.text == fold(column) for word in words):
            message = f"{column!r} may be the name of two things here"
            return SqlRefusal(code="ambiguous", message=message, fix=Fix.SQL, hint="call it otherwise")
        names = ", ".join(known.name for known in self._data.columns_of(relation))
        message = f"* reaches columns of {relation.name} that are not open"
        return SqlRefusal(code="hidden_column", message=message, fix=Fix.SQL, hint=f"name the columns: {names}")

    def _dress(self, connection: sqlite3.Connection) -> Access:
        for table in ("json_each", "json_tree"):  # their first use makes them, which the authorizer would not allow
            connection.execute(f"SELECT 1 FROM {table}('[]')").fetchall()  # noqa: S608 - two names of our own
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, self.caps.query_characters * 4)  # in bytes
        if sys.version_info >= (3, 12):
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        access = Access(self._columns, self._views, self._hidden, self._functions)
        connection.set_authorizer(access.answer)
        return access


def _describe(connection: sqlite3.Connection, relation: Relation, kinds: Mapping[str, str]) -> tuple[KnownColumn, ...]:
    if fold(relation.name) not in kinds:
        raise ConfigurationError(f"there is no relation {relation.name!r} in the database, so it cannot be opened")
    made = connection.execute("SELECT sql FROM sqlite_master WHERE lower(name) = ?", (fold(relation.name),)).fetchone()
    if made and _VIRTUAL.match(made[0] or ""):
        raise ConfigurationError(
            f"the relation {relation.name!r} is a virtual table, which reads tables of its own; open a table instead"
        )
    found = {
        name: KnownColumn(name, kind or "any", relation.columns.get(name, ""))
        for name, kind in connection.execute("SELECT name, type FROM pragma_table_xinfo(?)", (relation.name,))
    }
    if missing := [name for name in relation.columns if name not in found]:
        raise ConfigurationError(f"the relation {relation.name!r} has no column {missing[0]!r}; it has {list(found)}")
    return tuple(found[name] for name in (relation.columns or found))


def _all_columns(connection: sqlite3.Connection, relation: str) -> frozenset[str]:
    found = connection.execute("SELECT name FROM pragma_table_xinfo(?)", (relation,))
    return frozenset(fold(name) for (name,) in found)


def _views_inside(connection: sqlite3.Connection, views: Iterable[str], kinds: Mapping[str, str]) -> frozenset[str]:
    """Return the views that these views read, however deep: SQLite names the innermost as the source."""
    found: set[str] = set()

    def note(_action: int, _first: str | None, _second: str | None, _database: str | None, source: str | None) -> int:
        if source and kinds.get(fold(source)) == "view":
            found.add(fold(source))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    for view in views:
        quoted = view.replace('"', '""')
        connection.execute(f'SELECT * FROM "{quoted}" LIMIT 0').fetchall()  # noqa: S608 - quoted, from the database
    return frozenset(found)
