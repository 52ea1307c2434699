"""Connections to one SQLite file: how they are opened, and how the schema moves forward."""

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

from placet.errors import StoreError, StoreVersionError
from placet.stores.local_disk import network_file_system
from placet.stores.migrations import migrations

PATIENCE: Final = 10.0
"""Seconds that a thread waits for another process's transaction. The event loop never waits."""

_OURS: Final = 0x706C6374
"""`application_id` of a placet store: "plct"."""

T = TypeVar("T")


def connect(path: Path, *, patience: float = 0.0, writes: bool = False) -> sqlite3.Connection:
    """Return a connection that begins and commits only when told to.

    Several threads may use it, one at a time.

    Args:
        path: The file. Its folder exists.
        patience: Seconds to wait for a lock before giving up as busy.
        writes: Whether it may write.

    Raises:
        sqlite3.Error: It cannot be opened.
    """
    connection = sqlite3.connect(
        path, timeout=patience, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        connection.execute("PRAGMA wal_autocheckpoint=0")
        if not writes:
            connection.execute("PRAGMA query_only=ON")
    except BaseException:
        connection.close()
        raise
    return connection


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection stood in the way, so that trying again may do."""
    # Extended codes carry the primary one in their low byte.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def patiently(attempt: Callable[[], T]) -> T:
    """Return what an attempt returns once nothing stands in its way. Blocks its thread.

    SQLite's own busy handler sleeps up to 100 ms at a time and is not asked in every case;
    short sleeps of random length share one writer's place fairly.

    Raises:
        sqlite3.Error: It failed, or was busy all the time.
    """
    end = time.monotonic() + PATIENCE
    longest = 0.001
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= end:
                raise
        time.sleep(random.uniform(0.0002, longest))  # noqa: S311 - spreads the load, guards nothing
        longest = min(longest * 1.5, 0.02)


def is_placets(path: Path) -> bool:
    """Return whether a file is a store of placet's. It is read through SQLite, whose locks another way would drop."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("PRAGMA application_id").fetchone() == (_OURS,))
    except sqlite3.Error:
        return False


def prepare(path: Path) -> None:
    """Make the file if there is none, and move its schema forward. Blocks its thread.

    Safe when several processes do it at once: one of them migrates, the others find it done.

    Raises:
        StoreVersionError: The file was written by a newer placet; nothing was touched.
        StoreError: The file cannot be opened, lies on a network file system, or is no store of placet's.
    """
    network = network_file_system(path)
    if network is not None:
        raise StoreError(
            f"the store {str(path)!r} lies on a network file system ({network}), where SQLite's locks do not hold; "
            "put it on a local disk, or let several machines share a PostgreSQL store"
        )
    try:
        # SQLite gives its side files the permissions of the file: nobody else reads what is in them.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        with closing(connect(path, writes=True)) as connection:
            patiently(lambda: _check_at_once(connection, path))
            patiently(lambda: connection.execute("PRAGMA journal_mode=WAL").fetchone())
            connection.execute("PRAGMA synchronous=FULL")
            patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                _migrate(connection, path)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"the store {str(path)!r} cannot be opened: {error}") from error


def _check(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the schema, 0 for a new file."""
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if owner != _OURS and (owner or version or tables):
        raise StoreError(f"{str(path)!r} is a database of something else; give placet a file of its own")
    newest = migrations("sqlite")[-1].version
    if version > newest:
        raise StoreVersionError(
            f"the store {str(path)!r} has schema {version}, and this placet knows up to {newest}; upgrade placet"
        )
    return int(version)


def _check_at_once(connection: sqlite3.Connection, path: Path) -> None:
    """Check what the file is at one moment: another process may be making it just now."""
    connection.execute("BEGIN")
    try:
        _check(connection, path)
    finally:
        connection.execute("ROLLBACK")


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    version = _check(connection, path)
    for migration in migrations("sqlite"):
        if migration.version > version:
            for statement in _statements(migration.sql):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={migration.version:d}")
    if version == 0:
        connection.execute(f"PRAGMA application_id={_OURS:d}")


def _statements(sql: str) -> Iterator[str]:
    """Split a script; `executescript` would commit on its own."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement
