"""Connections of one role to one PostgreSQL database, each cleaned before it is used again.

After each use the transaction is rolled back, and `DISCARD ALL` drops what outlives it: advisory
locks, cursors, LISTEN, settings. The time is kept by the server (`statement_timeout`) and by the
one who waits: past it the query is cancelled, then the connection is closed, and the answer is
given in any case.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

from psycopg import AsyncConnection, Error
from psycopg.conninfo import conninfo_to_dict

from placet.database.answer import Fix, SqlAnswer, SqlRefusal
from placet.database.caps import Caps
from placet.database.permits import Permits
from placet.database.wire import ServerError, Wire, statement
from placet.errors import ConfigurationError

Connection: TypeAlias = "AsyncConnection[tuple[Any, ...]]"
Work: TypeAlias = Callable[[Wire], Awaitable[SqlAnswer]]

GRACE: Final = 0.15
"""Seconds past the time until the server is asked to stop."""
CANCEL: Final = 0.15
"""Seconds that asking may take, and as many that stopping may take."""
CLEAN: Final = 2.0
"""Seconds that cleaning a connection may take; longer, and it is closed."""
CONNECT_SECONDS: Final = 10
_NO_ADDRESS: Final = (
    "what is given is no address of a PostgreSQL database; write postgresql://role@host/database, odd characters as "
    "%40, or host=… user=… dbname=…"
)

_ROLLBACK: Final = statement(b"ROLLBACK")
_DISCARD: Final = statement(b"DISCARD ALL")

OPTIONS: Final[dict[str, Any]] = {
    "autocommit": True,  # transactions are begun and ended in words of our own
    "prepare_threshold": None,  # DISCARD ALL drops prepared statements, and psycopg would not know
    "client_encoding": "utf8",
    "application_name": "placet",
    "connect_timeout": CONNECT_SECONDS,
}


async def connect(dsn: str) -> Connection:
    """Return a connection of its own.

    Raises:
        ConfigurationError: There is none to be had; says why, without the password.
    """
    try:
        conninfo_to_dict(dsn)
    except Error:
        raise ConfigurationError(_NO_ADDRESS) from None  # what libpq says of it quotes it, with its password
    try:
        return await AsyncConnection.connect(dsn, **OPTIONS)
    except Error as error:
        raise ConfigurationError(f"cannot connect to {describe_dsn(dsn)}: {str(error).strip()}") from error


def describe_dsn(dsn: str) -> str:
    """Return whereto and as whom a text connects, without its password."""
    known = conninfo_to_dict(dsn)
    shown = ("user", "host", "hostaddr", "port", "dbname")
    return " ".join(f"{name}={known[name]}" for name in shown if known.get(name)) or "the default database"


class PostgresPool:
    """At most so many connections, opened when they are needed.

    Args:
        dsn: Whereto, and as which role.
        caps: How many, and how long each use may take.
    """

    def __init__(self, dsn: str, caps: Caps) -> None:
        self._caps = caps
        self._dsn = dsn
        self._permits = Permits(caps.connections)
        self._idle: list[Connection] = []
        self._cleaning: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def close(self) -> None:
        """Close the connections, when what cleans them has ended."""
        self._is_closed = True
        await asyncio.gather(*self._cleaning)
        while self._idle:
            await self._idle.pop().close()

    async def use(self, work: Work) -> SqlAnswer:
        """Return what a piece of work answers, on time.

        Args:
            work: Explains its own faults. A `ServerError` that escapes it says that it has not
                begun: a connection that was lost while nobody used it is replaced, once.
        """
        if not await self._permits.take(self._caps.wait.total_seconds()):
            return _busy("too many queries are running")
        try:
            answer = await self._use_idle(work)
            return answer or await self._use_new(work)
        finally:
            self._permits.give()

    async def _use_idle(self, work: Work) -> SqlAnswer | None:
        """Return the answer, or None when no connection is idle, or the one that was is lost."""
        while self._idle:
            connection = self._idle.pop()
            if connection.closed:
                continue
            with suppress(ServerError):
                return await self._use(connection, work)
        return None

    async def _use_new(self, work: Work) -> SqlAnswer:
        try:
            return await self._use(await connect(self._dsn), work)
        except ConfigurationError as error:
            return _busy("the database is away", str(error))
        except ServerError as error:
            return _busy("the connection was lost", str(error.fault))

    async def _use(self, connection: Connection, work: Work) -> SqlAnswer:
        task = asyncio.ensure_future(work(Wire(connection)))
        try:
            await self._watch(connection, task)
            return task.result() if task.done() else late(self._caps)
        finally:
            if task.done():
                self._clean_later(connection)
            else:  # deaf, or nobody waits any more
                await connection.close()
                task.cancel()
                task.add_done_callback(_look_away)

    async def _watch(self, connection: Connection, task: "asyncio.Future[SqlAnswer]") -> None:
        seconds = self._caps.timeout.total_seconds()
        done, _ = await asyncio.wait({task}, timeout=seconds + GRACE)
        if not done:
            with suppress(Error):
                await connection.cancel_safe(timeout=CANCEL)
            await asyncio.wait({task}, timeout=CANCEL)

    def _clean_later(self, connection: Connection) -> None:
        """Clean a connection beside the caller, who has its answer."""
        cleaning = asyncio.ensure_future(self._clean(connection))
        self._cleaning.add(cleaning)
        cleaning.add_done_callback(self._cleaning.discard)

    async def _clean(self, connection: Connection) -> None:
        wire = Wire(connection)
        try:
            async with asyncio.timeout(CLEAN):
                await wire.send(_ROLLBACK)
                await wire.send(_DISCARD)  # for itself: it runs in no transaction, and in no pipeline
        except (ServerError, TimeoutError):
            await connection.close()
        if self._is_closed:
            await connection.close()
        elif not connection.closed:
            self._idle.append(connection)


def late(caps: Caps) -> SqlRefusal:
    """Return that the time was up."""
    return SqlRefusal(
        code="timeout",
        message=f"the query was stopped after {caps.timeout.total_seconds():g} s",
        fix=Fix.NARROW,
        hint="ask for a shorter period, aggregate before joining, filter on an indexed column",
    )


def _busy(message: str, detail: str | None = None) -> SqlRefusal:
    return SqlRefusal(code="busy", message=message, fix=Fix.WAIT, hint="ask the same again", detail=detail)


def _look_away(task: "asyncio.Future[SqlAnswer]") -> None:
    if not task.cancelled():
        task.exception()
