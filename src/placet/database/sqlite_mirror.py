"""A database in memory that has what is open and nothing else: what it does not understand reads something else.

SQLite does not ask its authorizer about the columns that `USING` and `NATURAL JOIN` compare (`sqliteProcessJoin`
in select.c), nor about a table of which it reads others. `SELECT salary FROM payroll a FULL JOIN payroll b USING
(salary)` shows every salary and is asked about nothing (measured on 3.40). So a query that joins in these ways
must be understood here first, where there is no payroll.

What is wrong with a query is told from here too: what is hidden is not here, so it is told like what is missing.
"""

import sqlite3
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from placet.database.relation import OpenData
from placet.database.sqlite_text import Token, tokens
from placet.database.sqlite_words import shape_of

_MOST_REMEMBERED: Final = 256
_CATALOG: Final = "sqlite_"


class Mirror:
    """Says what of a text does not belong to what is open.

    Args:
        data: What is open, with its columns.
        hidden: By open relation, in lower case, its columns that are not open.
        limits: SQLite's, as of the connections that answer.
    """

    def __init__(self, data: OpenData, hidden: Mapping[str, frozenset[str]], limits: Mapping[int, int]) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._lock = threading.Lock()
        self._hidden = {name: columns for name, columns in hidden.items() if columns}
        self._hidden_columns = frozenset[str]().union(*self._hidden.values())
        for relation in data.relations:
            columns = ", ".join(_quote(column.name) for column in data.columns_of(relation))
            if columns:  # none are known before it is looked at
                self._connection.execute(f"CREATE TABLE {_quote(relation.name)} ({columns})")
        for limit, value in limits.items():
            self._connection.setlimit(limit, value)
        self._is_harmless = lru_cache(_MOST_REMEMBERED)(self._look_at_shape)

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    def is_harmless(self, sql: str) -> bool:
        """Return whether SQLite asks about all that a text reads, or what it does not ask about is open.

        Most do not join in the ways that it does not ask about. Others are looked at once for all that
        differ in their literals alone.
        """
        text = sql.lower()
        return ("using" not in text and "natural" not in text) or self._is_harmless(shape_of(sql))

    def _look_at_shape(self, shape: str) -> bool:
        return self.error_of(shape) is None and self.find_unasked(shape) is None

    def error_of(self, sql: str) -> sqlite3.Error | None:
        """Return what SQLite says of a text where only what is open is there; None when it understands it."""
        with self._lock:
            try:
                self._connection.execute(f"EXPLAIN {sql}").close()
            except sqlite3.Error as error:
                return error
        return None

    def find_unasked(self, sql: str) -> Token | None:
        """Return what SQLite would read without asking, of a text that is understood here, or None.

        That is the catalog, which is here too, and columns that are not: `USING` and `NATURAL` take them
        from whichever relation comes first.
        """
        words = tokens(sql)
        named = {word.text for word in words if word.is_name}
        for index, word in enumerate(words):
            if word.is_name and word.text.startswith(_CATALOG):
                return word
            if word.kind != "word":
                continue
            if word.text == "natural" and not named.isdisjoint(self._hidden):
                return word
            if word.text == "using":
                for name in words[index + 1 :]:
                    if name.text == ")" and name.kind == "sign":
                        break
                    if name.is_name and name.text in self._hidden_columns:
                        return name
        return None


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
