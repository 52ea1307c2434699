"""What a query may reach in SQLite: an authorizer over the tables, columns and functions that are open."""

import sqlite3
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from placet.database.sqlite_policy import FUNCTIONS, TABLES_OF_A_VALUE
from placet.database.sqlite_text import fold

_DENIED: Final = sqlite3.SQLITE_DENY
_ALLOWED: Final = sqlite3.SQLITE_OK
_ALWAYS: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
_FUNCTION: Final = sqlite3.SQLITE_FUNCTION
_READ: Final = sqlite3.SQLITE_READ
_MOST_REMEMBERED: Final = 1_000
_LONGEST_REMEMBERED: Final = 100
"""Characters of a source's name, which a query may choose."""


class Access:
    """Answers SQLite's questions about one connection's queries, and remembers what it denied.

    Whatever is not on a list is denied, new actions of a new SQLite included
    (https://www.sqlite.org/c3ref/set_authorizer.html).

    Every word of a question is asked anew when a text is prepared, so answers are remembered,
    question by question. That is safe, because nothing it depends on changes while a connection
    lives: what is open, which views there are, and the functions are fixed when it is made. When an answer
    depends on the query itself (the names of its `WITH`), or is a denial, which must be noted, all are
    forgotten before the next query. A text that is asked again word for word is not prepared again (the driver
    keeps its statement), so nothing is asked then; the answer would be the same, for the names of its
    `WITH` are those of the text. When the schema has changed, SQLite itself prepares it again, and asks.

    Args:
        columns: Open columns by table, all in lower case.
        views: Open views, and the views inside them: their bodies may read what the asker may not.
            SQLite names a `WITH` as the source of a read in the same way, so a query must not
            give one of these names to a `WITH`.
        hidden: Tables and views that are not open.
        functions: Further functions that are granted.

    Attributes:
        answer: What SQLite calls. No code of ours runs for a question whose answer is remembered.
        denied: What was denied first of this query: the action, and its two names.
    """

    def __init__(
        self, columns: Mapping[str, frozenset[str]], views: frozenset[str], hidden: frozenset[str],
        functions: Iterable[str] = (),
    ) -> None:  # fmt: skip
        self._columns = columns
        self._views = views
        self._hidden = hidden
        self._functions = FUNCTIONS | frozenset(fold(name) for name in functions)
        self._with: frozenset[str] = frozenset()
        self._are_its_own = False
        self._is_of_query = False
        self.answer = lru_cache(_MOST_REMEMBERED)(self._answer)
        self.denied: tuple[int, str, str] | None = None

    def begin(self, names_of_with: frozenset[str], *, are_its_own: bool = False) -> None:
        """Forget the last query; the next one defines these names itself.

        Args:
            names_of_with: That it defines.
            are_its_own: Whether it is known that these names mean nothing else in it.
        """
        if self._is_of_query:
            self.answer.cache_clear()
            self._is_of_query = False
        self._with = names_of_with
        self._are_its_own = are_its_own
        self.denied = None

    def _answer(
        self, action: int, first: str | None, second: str | None, database: str | None, source: str | None
    ) -> int:
        """Return whether SQLite may do this: an action, two names, the database, and the view or `WITH` that asks."""
        try:
            if self._may(action, first or "", second or "", database, source):
                self._is_of_query |= len(source or "") > _LONGEST_REMEMBERED
                return _ALLOWED
            self._is_of_query = True
            if action == _READ and not second and database is None and self._is_its_own(fold(first or "")):
                return _ALLOWED
            if self.denied is None:
                self.denied = (action, first or "", second or "")
        except Exception:  # noqa: BLE001 - whatever broke, deny
            self._is_of_query = True
        return _DENIED

    def _is_its_own(self, table: str) -> bool:
        """Return whether it is the query's own `WITH`, whose rows may be counted."""
        if table not in self._with or table.startswith("sqlite_"):
            return False
        return self._are_its_own or table not in self._hidden

    def _may(self, action: int, first: str, second: str, database: str | None, source: str | None) -> bool:
        inside_view = source is not None and fold(source) in self._views
        if action == _FUNCTION:
            return inside_view or fold(second) in self._functions
        if action != _READ:
            return action in _ALWAYS
        if inside_view:
            return True
        table, column = fold(first), fold(second)
        if table in TABLES_OF_A_VALUE:
            return True
        columns = self._columns.get(table)
        return columns is not None and database in (None, "main") and (not column or column in columns)
