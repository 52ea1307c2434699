"""The world outside placet: a database of its own, in which every effect is a row."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path


class Outside:
    """What the tools work on: effects and the times their code was begun, each a row that is there at once.

    Args:
        path: A SQLite file beside the store and apart from it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def make(self) -> None:
        """Make the tables."""
        with closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE begun (who TEXT, tool TEXT, key TEXT)")
            connection.execute("CREATE TABLE effect (who TEXT, tool TEXT, key TEXT, seen TEXT UNIQUE)")

    def begin(self, who: str, tool: str, key: str) -> None:
        """Note that a tool's own code has begun."""
        with closing(self._connect()) as connection:
            connection.execute("INSERT INTO begun VALUES (?, ?, ?)", (who, tool, key))

    def have_effect(self, who: str, tool: str, key: str, *, once_each_key: bool) -> None:
        """Do what the tool is for; where the other side takes idempotency keys, a second time is no effect."""
        seen = f"{tool} {key}" if once_each_key else None
        with closing(self._connect()) as connection:
            connection.execute("INSERT OR IGNORE INTO effect VALUES (?, ?, ?, ?)", (who, tool, key, seen))

    def begun(self, who: str) -> list[tuple[str, str]]:
        """Return tool and key of each beginning."""
        return self._rows("SELECT tool, key FROM begun WHERE who = ? ORDER BY rowid", [who])

    def effects(self, who: str) -> list[tuple[str, str]]:
        """Return tool and key of each effect."""
        return self._rows("SELECT tool, key FROM effect WHERE who = ? ORDER BY rowid", [who])

    def _rows(self, sql: str, values: Iterable[str]) -> list[tuple[str, str]]:
        with closing(self._connect()) as connection:
            return [(tool, key) for tool, key in connection.execute(sql, tuple(values))]

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")  # a killed process loses nothing by it
        return connection
