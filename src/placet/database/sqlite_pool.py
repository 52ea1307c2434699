"""Connections to one SQLite file, each used by one thread at a time, and never longer than allowed.

SQLite blocks the thread that asks, so every question goes to a thread of a pool of its own. The
time is kept three times: by SQLite's progress handler, by an interrupt from outside, and by the
one who waits, who is answered even when SQLite is deaf to both.
"""

import asyncio
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from placet.database.answer import Column, Fix, Rows, SqlAnswer, SqlRefusal
from placet.database.caps import Caps
from placet.database.permits import Permits
from placet.database.shaping import Shaper
from placet.database.sqlite_access import Access
from placet.errors import ConfigurationError

_OPCODES: Final = 10_000
"""Of SQLite's machine between two looks at the clock, a fraction of a millisecond. A look takes the interpreter's
lock, which is why there are few: with one every 1,000 a query takes 1.5 % longer. What goes on within
one opcode is ended by the interrupt, which SQLite looks for at every jump."""

_CELLS_AT_ONCE: Final = 200
"""That are fetched before they are looked at: as many as one row may have, so no more memory than for one."""
_ANSWERS_REMEMBERED: Final = 256
"""Whose columns are."""
_NO_UNICODE: Final = "Could not decode to UTF-8"

GRACE: Final = 0.3
"""Seconds past the time until the one who waits is answered without the database."""

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]
Dress: TypeAlias = Callable[[sqlite3.Connection], Access | None]
"""Makes a new connection what its user needs, and returns what authorises it, if anything does."""
Work: TypeAlias = Callable[["SqliteSession"], SqlAnswer]


class _Thread:
    """A thread that does one thing after another, and is started by the first.

    The executor of the standard library makes a future, a condition and an item for each; that
    is a third of what a short query costs. What is waited for here is the caller's own future.

    Attributes:
        thread: That does it, once there was something to do. A daemon: a query that hangs keeps no process alive.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.thread: threading.Thread | None = None

    def submit(self, work: Callable[[], None]) -> None:
        """Have something done, which raises nothing."""
        if self.thread is None:
            self.thread = threading.Thread(target=_do, args=(self._work,), name="placet-sqlite", daemon=True)
            self.thread.start()
        self._work.put(work)

    def end(self) -> None:
        """Let it end when all is done."""
        self._work.put(None)


def _do(queue: "SimpleQueue[Callable[[], None] | None]") -> None:
    while (work := queue.get()) is not None:
        work()
        del work  # what it holds is not kept until there is more


class SqliteSession:
    """One connection, used by one thread at a time.

    Attributes:
        connection: To SQLite.
        access: What authorises its queries, or None for a developer's own.
        thread: In which it is used by those who must not wait. Its own, so that the one that was
            used last, which is warm, is used next.
    """

    def __init__(self, connection: sqlite3.Connection, access: Access | None, caps: Caps) -> None:
        self.connection = connection
        self.access = access
        self.thread = _Thread()
        self._caps = caps
        self._seconds = caps.timeout.total_seconds()
        self._deadline = 0.0
        self._use = 0
        self._lock = threading.Lock()
        connection.set_progress_handler(self._is_late, _OPCODES)

    def begin(self, started: float) -> int:
        """Start the clock. Returns the number of this use, for `interrupt`."""
        self._deadline = started + self._seconds
        with self._lock:
            self._use += 1
            return self._use

    def end(self) -> None:
        """Stop the clock; what interrupts from now on interrupts nothing."""
        with self._lock:
            self._use += 1

    def close(self) -> None:
        """Close the connection; the thread ends with its work."""
        self.connection.close()
        self.thread.end()

    def interrupt(self, use: int) -> None:
        """End a use from another thread, unless it has ended."""
        with self._lock:
            if self._use == use:
                self.connection.interrupt()

    def fetch(self, sql: str, parameters: Parameters = (), caps: Caps | None = None) -> Rows | SqlRefusal:
        """Return the rows of a statement, within the caps.

        Args:
            sql: One statement.
            parameters: Its values.
            caps: Of this statement, where they are its own.

        Raises:
            sqlite3.Error: SQLite refuses it.
        """
        try:
            return self._fetch(sql, parameters, caps or self._caps)
        except sqlite3.OperationalError as error:
            if self.connection.text_factory is not str or not str(error).startswith(_NO_UNICODE):
                raise
        self.connection.text_factory = decode
        try:
            return self._fetch(sql, parameters, caps or self._caps)
        finally:
            self.connection.text_factory = str

    def understands(self, sql: str) -> bool:
        """Return whether SQLite makes a program of a statement without values, which is not run."""
        try:
            self.connection.execute(f"EXPLAIN {sql}").close()
        except sqlite3.Error:
            return False
        return True

    def _fetch(self, sql: str, parameters: Parameters, caps: Caps) -> Rows | SqlRefusal:
        started = time.monotonic()
        cursor = self.connection.execute(sql, parameters)
        try:
            described = cursor.description or ()
            if self.access is not None and len(described) > caps.columns:
                message = f"the query selects {len(described)} columns; at most {caps.columns} are shown"
                return SqlRefusal(code="too_large", message=message, fix=Fix.NARROW)
            names = tuple([column[0] for column in described])
            if self.access is not None and sum(map(len, names)) > caps.query_characters:  # `*` repeats them
                message = "the names of its columns are too long; call them otherwise by AS"
                return SqlRefusal(code="too_large", message=message, fix=Fix.SQL)
            shaper = Shaper(_columns(names), caps)
            many = max(1, _CELLS_AT_ONCE // max(1, len(described)))
            while rows := cursor.fetchmany(min(many, shaper.wanted)):
                if not shaper.take_many(rows) or len(rows) < many:
                    break
        finally:
            cursor.close()
        if self._is_late():
            return self.timed_out()
        return shaper.finish((time.monotonic() - started) * 1000)

    def timed_out(self) -> SqlRefusal:
        """Return that the time was up."""
        return timed_out(self._caps)

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline


@lru_cache(_ANSWERS_REMEMBERED)
def _columns(names: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(name) for name in names)


def timed_out(caps: Caps) -> SqlRefusal:
    """Return that the time was up, and what makes a query quicker."""
    return SqlRefusal(
        code="timeout",
        message=f"the query was stopped after {caps.timeout.total_seconds():g} s",
        fix=Fix.NARROW,
        hint="ask for a shorter period, aggregate before joining, filter on an indexed column",
    )


class SqlitePool:
    """Connections and threads to one file.

    Args:
        path: The file; it must exist.
        caps: How many connections, and how long each use may take.
        dress: Makes each new connection what it must be.
        writable: Whether it may be written.

    Raises:
        ConfigurationError: There is no such file.
    """

    def __init__(self, path: Path | str, caps: Caps, dress: Dress, *, writable: bool = False) -> None:
        self._path = Path(path)
        if not self._path.is_file():
            raise ConfigurationError(f"there is no database file {str(path)!r}; make it before it is opened")
        self._caps = caps
        self._seconds = caps.timeout.total_seconds()
        self._dress = dress
        self._mode = "rw" if writable else "ro"
        self._idle: deque[SqliteSession] = deque()
        self._permits = Permits(caps.connections)
        self._is_closed = False

    def connect(self) -> sqlite3.Connection:
        """Return a new connection, as bare as it may be.

        Raises:
            ConfigurationError: The file is no database.
        """
        uri = f"file:{quote(str(self._path.absolute()))}?mode={self._mode}"
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=1.0)
            connection.text_factory = str if self._mode == "ro" else decode  # what is written is not tried twice
            for pragma in ("trusted_schema = 0", "temp_store = 1", "cache_size = -8000", "cell_size_check = 1"):
                connection.execute(f"PRAGMA {pragma}")
            if self._mode == "ro":
                connection.execute("PRAGMA query_only = 1")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise ConfigurationError(f"{str(self._path)!r} cannot be read as a SQLite database: {error}") from error
        return connection

    async def use(self, work: Work) -> SqlAnswer:
        """Return what a piece of work answers, in a thread, on time."""
        if not await self._permits.take(self._caps.wait.total_seconds()):
            message = "too many queries are running"
            return SqlRefusal(code="busy", message=message, fix=Fix.WAIT, hint="ask the same again")
        try:
            session = self._take()
        except BaseException:
            self._permits.give()
            raise
        return await self._ask(session, work)

    def use_here(self, work: Work) -> SqlAnswer:
        """Return what a piece of work answers, in this very thread."""
        session = self._take()
        session.begin(time.monotonic())
        return self._work(session, work)

    def close(self) -> None:
        """Close what is idle; what is in use is closed when it ends."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()

    def _take(self) -> SqliteSession:
        try:
            return self._idle.pop()
        except IndexError:
            connection = self.connect()
            return SqliteSession(connection, self._dress(connection), self._caps)

    def _work(self, session: SqliteSession, work: Work) -> SqlAnswer:
        try:
            return work(session)
        except Exception as error:  # noqa: BLE001 - whatever broke, there is no answer
            detail = f"{type(error).__name__}: {error}"
            return SqlRefusal(code="internal", message="the database failed", fix=Fix.OPERATOR, detail=detail)
        finally:
            session.end()
            if self._is_closed:
                session.close()
            else:
                self._idle.append(session)

    async def _ask(self, session: SqliteSession, work: Work) -> SqlAnswer:
        """Return what is answered in the session's thread: one hop there, one back, and nothing else that waits."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[SqlAnswer] = loop.create_future()
        use = session.begin(time.monotonic())
        timer: asyncio.TimerHandle

        def run() -> None:
            answer = self._work(session, work)
            self._permits.give()
            with suppress(RuntimeError):  # the loop is closed, so nobody waits
                loop.call_soon_threadsafe(_answer, answered, answer)

        def is_late() -> None:
            nonlocal timer
            session.interrupt(use)
            timer = loop.call_later(GRACE, _answer_late, answered, self._caps)

        timer = loop.call_later(self._seconds, is_late)
        session.thread.submit(run)
        try:
            return await answered
        finally:
            timer.cancel()
            session.interrupt(use)  # nothing, when it has ended


def _answer_late(answered: "asyncio.Future[SqlAnswer]", caps: Caps) -> None:
    _answer(answered, timed_out(caps))


def _answer(answered: "asyncio.Future[SqlAnswer]", answer: SqlAnswer) -> None:
    if not answered.done():
        answered.set_result(answer)


def decode(text: bytes) -> str:
    """Return a text, with a sign in the place of what is no Unicode."""
    return text.decode(errors="replace")
