"""The shop's database: short reads where they are asked, long ones and writes on threads of their own.

A look-up by key takes some ten microseconds, less than handing it to a thread and back
would; it is done inline. A search through all customers takes milliseconds, and a commit
waits for the disk: neither may hold up the event loop. `tests/test_database.py` has the laws,
`README.md` the figures.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from shop.errors import ConflictError, ShopDataError

T = TypeVar("T")
Row: TypeAlias = sqlite3.Row
Clock: TypeAlias = Callable[[], datetime]

BUSY_SECONDS: Final = 3.0
"""How long a statement waits for another process. Below the five seconds that a tool has."""

_TIME: Final = "%Y-%m-%d %H:%M:%S"


def utc_now() -> datetime:
    """Return the time, aware and in UTC."""
    return datetime.now(UTC)


def to_text(at: datetime) -> str:
    """Return a time as the tables hold it."""
    return at.astimezone(UTC).strftime(_TIME)


def to_time(text: str) -> datetime:
    """Return the aware time that the tables hold as a text."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class ShopDatabase:
    """One open shop: a connection that reads, one that searches and one that writes.

    Args:
        path: The file, made by `shop.generate`.
        now: The clock that writes are stamped with.

    Raises:
        ShopDataError: There is no shop in that file.
    """

    def __init__(self, path: str | Path, now: Clock = utc_now) -> None:
        self.path = Path(path)
        self.now = now
        if not self.path.is_file():
            raise ShopDataError(f"there is no shop at {str(self.path)!r}; make it with: python -m shop.generate")
        self._reader = _connect(self.path, writes=False)
        self._searcher = _connect(self.path, writes=False)
        self._writer = _connect(self.path, writes=True)
        self._search_thread = ThreadPoolExecutor(1, "shop-search")
        self._write_thread = ThreadPoolExecutor(1, "shop-write")

    def read(self, sql: str, *parameters: Any) -> list[Row]:
        """Return the rows of a short query, here and now. For look-ups by an index.

        Raises:
            ShopDataError: The database cannot be read.
        """
        return _rows(self._reader, sql, parameters)

    async def search(self, sql: str, *parameters: Any) -> list[Row]:
        """Return the rows of a query that may look at a whole table, without holding up the loop.

        Raises:
            ShopDataError: The database cannot be read.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._search_thread, _rows, self._searcher, sql, parameters)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `work` returns, done in one transaction: all of it or nothing.

        Args:
            work: Runs on the writer's thread, and may run only statements. What it raises
                rolls back and comes out here.

        Raises:
            ConflictError: Another process held the database for too long.
            ShopDataError: The database cannot be written.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._write_thread, _transaction, self._writer, work)

    def close(self) -> None:
        """Finish what has begun and close the file."""
        for thread in (self._search_thread, self._write_thread):
            thread.shutdown()
        for connection in (self._reader, self._searcher, self._writer):
            connection.close()


def _connect(path: Path, *, writes: bool) -> sqlite3.Connection:
    # Each connection is used by one thread at a time, but not by the one that opened it.
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        if not writes:
            connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT 1 FROM orders LIMIT 1")
    except sqlite3.Error as error:
        connection.close()
        raise ShopDataError(f"{str(path)!r} holds no shop ({error}); make it with: python -m shop.generate") from error
    return connection


def _rows(connection: sqlite3.Connection, sql: str, parameters: tuple[Any, ...]) -> list[Row]:
    try:
        return connection.execute(sql, parameters).fetchall()
    except sqlite3.Error as error:
        raise ShopDataError(f"the shop's database could not be read: {error}") from error


def _transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        raise ConflictError("the shop is busy; nothing was changed, try again") from error
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):
            raise ShopDataError(f"the shop's database could not be written: {error}") from error
        raise
    return result
