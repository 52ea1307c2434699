"""What a query may reach in SQLite: an authorizer over the tables, columns and functions that are open."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from placet.database.sqlite_policy import FUNCTIONS, TABLES_OF_A_VALUE

_DENIED: Final = sqlite3.SQLITE_DENY
_ALLOWED: Final = sqlite3.SQLITE_OK
_ALWAYS: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})


class Access:
    """Answers SQLite's questions about one connection's queries, and remembers what it denied.

    Whatever is not on a list is denied, new actions of a new SQLite included
    (https://www.sqlite.org/c3ref/set_authorizer.html).

    Args:
        columns: Open columns by table, all in lower case.
        views: Open views, and the views inside them: their bodies may read what the asker may not.
            SQLite names a `WITH` as the source of a read in the same way, so a query must not
            give one of these names to a `WITH`.
        hidden: Tables and views that are not open.
        functions: Further functions that are granted.
    """

    def __init__(
        self, columns: Mapping[str, frozenset[str]], views: frozenset[str], hidden: frozenset[str],
        functions: Iterable[str] = (),
    ) -> None:  # fmt: skip
        self._columns = columns
        self._views = views
        self._hidden = hidden
        self._functions = FUNCTIONS | frozenset(name.lower() for name in functions)
        self._with: frozenset[str] = frozenset()
        self.denied: tuple[int, str, str] | None = None

    def begin(self, names_of_with: frozenset[str]) -> None:
        """Forget the last query; the next one defines these names itself."""
        self._with = names_of_with
        self.denied = None

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, source: str | None
    ) -> int:
        """Return whether SQLite may do this."""
        try:
            if action in _ALWAYS or self._may(action, first or "", second or "", database, source):
                return _ALLOWED
        except Exception:  # noqa: BLE001 - whatever broke, deny
            return _DENIED
        if self.denied is None:
            self.denied = (action, first or "", second or "")
        return _DENIED

    def _may(self, action: int, first: str, second: str, database: str | None, source: str | None) -> bool:
        inside_view = source is not None and source.lower() in self._views
        if action == sqlite3.SQLITE_FUNCTION:
            return inside_view or second.lower() in self._functions
        if action != sqlite3.SQLITE_READ:
            return False
        if inside_view:
            return True
        table, column = first.lower(), second.lower()
        if table in TABLES_OF_A_VALUE:
            return True
        if not column and table in self._with:  # a row of the query's own WITH is counted
            return table not in self._hidden
        columns = self._columns.get(table)
        return columns is not None and database in (None, "main") and (not column or column in columns)
