"""Connections to PostgreSQL: a pool, the schema, and the locks that everything is taken under."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, Final, TypeAlias

from psycopg import AsyncConnection, Error
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from placet.errors import ConfigurationError, StoreError, StoreVersionError
from placet.stores.migrations import migrations

Connection: TypeAlias = AsyncConnection[TupleRow]
Pool: TypeAlias = AsyncConnectionPool[Connection]

PATIENCE: Final = 10.0
"""Seconds to wait for a connection."""

_LOCK: Final = "SELECT pg_advisory_xact_lock(key) FROM unnest(%b::bigint[]) AS key"
# The catalogue itself: what `to_regclass` remembers may be older than a lock that was waited for.
_IS_KNOWN: Final = "SELECT count(*) FROM pg_tables WHERE schemaname = 'placet' AND tablename = 'schema_version'"
_CONFIGURE: Final = """
    SELECT set_config('lock_timeout', '10s', false), set_config('idle_in_transaction_session_timeout', '10s', false),
           set_config('client_encoding', 'UTF8', false),
           set_config('default_transaction_isolation', 'read committed', false),
           set_config('default_transaction_read_only', 'off', false)
"""
"""Statements that are transactions of their own look at what stands once their locks are held, too."""


def make_pool(url: str, size: int) -> Pool:
    """Return a pool that is not open yet, of connections that begin and commit only when told to.

    Raises:
        ConfigurationError: The URL is none that PostgreSQL knows.
    """
    try:
        conninfo_to_dict(url)
    except Error:  # libpq quotes what it cannot read, with its password
        raise ConfigurationError("the URL of a PostgreSQL store cannot be read; check its form") from None
    return AsyncConnectionPool(
        url,
        kwargs={"autocommit": True, "application_name": "placet"},
        min_size=1,
        max_size=size,
        timeout=PATIENCE,
        configure=_configure,
        open=False,
    )


async def _configure(connection: Connection) -> None:
    # A worker that hangs inside a transaction must not hold up the others for ever.
    await connection.execute(_CONFIGURE)


@contextmanager
def mapped(doing: str) -> Generator[None]:
    """Map what the driver raises.

    Raises:
        StoreError: The driver failed. Its message holds no password.
    """
    try:
        yield
    except (Error, PoolTimeout, PoolClosed, TooManyRequests, OSError, UnicodeError) as error:
        raise StoreError(f"the PostgreSQL store could not be {doing}: {error}") from error


def lock_keys(names: Iterable[str]) -> list[int]:
    """Return the keys of advisory locks, in the one order in which everybody takes them.

    Whoever takes all that it needs before it touches a row, in this order, can wait for
    another but never in a circle.
    """
    return sorted({int.from_bytes(blake2b(_name(name), digest_size=8).digest(), signed=True) for name in names})


def _name(name: str) -> bytes:
    return b"placet " + name.encode("utf-8", "surrogatepass")


async def lock(connection: Connection, *names: str) -> None:
    """Lock what a transaction is about to look at, until it ends."""
    await connection.execute(_LOCK, (lock_keys(names),))


async def migrate(connection: Connection) -> None:
    """Move the schema `placet` forward, in one transaction.

    A schema that is up to date is only looked at, so that the role needs no right to make tables.

    Raises:
        StoreVersionError: It was written by a newer placet; nothing was touched.
        Error: The database refuses.
    """
    steps = migrations("postgres")
    version = await _version(connection)
    if version > steps[-1].version:
        raise StoreVersionError(
            f"the schema placet has version {version}, and this placet knows up to {steps[-1].version}; upgrade placet"
        )
    if version == steps[-1].version:
        return
    async with connection.transaction():
        await lock(connection, "schema")
        version = await _version(connection)
        if version == 0:
            await connection.execute("CREATE SCHEMA IF NOT EXISTS placet")
            await connection.execute("CREATE TABLE placet.schema_version (version integer NOT NULL)")
            await connection.execute("INSERT INTO placet.schema_version VALUES (0)")
        for step in steps:
            if step.version > version:
                await connection.execute(step.sql.encode())
                await connection.execute("UPDATE placet.schema_version SET version = %s", (step.version,))


async def _version(connection: Connection) -> int:
    (known,) = await fetch_one(connection, _IS_KNOWN)
    if not known:
        return 0
    (version,) = await fetch_one(connection, "SELECT version FROM placet.schema_version")
    return int(version)


async def fetch_one(connection: Connection, sql: str, values: tuple[Any, ...] = ()) -> TupleRow:
    """Return the one row of a question that always has one."""
    row = await (await connection.execute(sql.encode(), values or None)).fetchone()
    assert row is not None, sql  # noqa: S101 - the questions are ours: each has a row
    return row
