"""The one writer of a store object: batches per tick, and a thread for what must reach the disk.

What was asked for in one tick of the event loop is one batch, in order, and one transaction; a very
large one is cut. It is committed on the loop's own thread, when nobody is in the way: WAL with `synchronous=NORMAL`
syncs nothing then. What must survive a power cut is answered when the writer thread has synced
the WAL after that commit, and many such verbs share one sync; the loop goes on committing meanwhile.

A batch for which somebody is in the way, or that takes long, is committed by the thread. As long
as one is with the thread, all later ones follow it there, so nothing overtakes.

**Why that is as durable as `synchronous=FULL`.** In WAL mode FULL does one thing that NORMAL does not: it syncs the WAL
after the last frame of a commit (https://www.sqlite.org/pragma.html#pragma_synchronous; `sqlite3WalFrames`). Here the
thread does, by the same call on the same file, before the answer. What a synced frame rests on, NORMAL syncs as FULL
does:

- The WAL's entry in its directory: the first sync of each connection that may make the WAL syncs the directory, too
  (`unixSync`), and that is at the latest the sync of the header, before there is a frame.
- A WAL that is begun anew: its header has a new salt, by which no old frame counts, and is synced before the first
  frame (`sqlite3WalFrames`; SQLite's ticket ff5be73dee). A power cut leaves the old WAL or the new one.
- The file: a checkpoint syncs the WAL before it copies the first frame, and the file before it says that all are
  copied; only then is the WAL begun anew, or removed by whoever closes last (`walCheckpoint`). So a commit that is
  overtaken by a checkpoint before it is synced here is on the disk in the file.

What is different: other connections see a commit a moment before it is durable, and whatever they then commit durably
syncs it, too. And a commit whose sync fails stands; `WalFile.doubt` says what follows. The tests of power cuts play the
system calls of such processes to a disk that keeps no more than was synced.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from placet.errors import PlacetError, StoreError
from placet.stores.chain import Chain
from placet.stores.sqlite_audit import find_frontier
from placet.stores.sqlite_connection import PATIENCE, connect, patiently
from placet.stores.sqlite_transaction import Transaction
from placet.stores.sqlite_wal import Checkpointer, WalFile
from placet.values.audit import AuditEntry

AT_ONCE: Final = 128
"""Verbs and records in one commit on the loop's thread, which holds it for some milliseconds at most."""

CHECKPOINT_AFTER: Final = 300
"""Commits after which the WAL is written back: about 1,500 pages of it, one call after another."""

_log = logging.getLogger("placet")

Work: TypeAlias = Callable[..., Any]
"""What a verb does in a transaction: it takes the `Transaction`, and whatever else was given with it."""


class Verb:
    """One awaited verb of a batch: its work, if any, and whoever waits for it."""

    __slots__ = ("arguments", "durable", "error", "future", "result", "work")

    def __init__(
        self, work: Work | None, arguments: tuple[Any, ...], future: "asyncio.Future[Any]", *, durable: bool
    ) -> None:
        self.work = work
        self.arguments = arguments
        self.future = future
        self.durable = durable
        self.result: Any = None
        self.error: PlacetError | None = None

    def resolve(self) -> None:
        """Tell whoever waits. On the thread of their loop."""
        if self.future.done():
            return
        try:
            if self.error is None:
                self.future.set_result(self.result)
            else:
                self.future.set_exception(self.error)
        except RuntimeError:
            # Their loop is closed: nobody waits any more.
            return


class Queued:
    """Queued work, which nobody waits for."""

    __slots__ = ("arguments", "work")

    def __init__(self, work: Work, arguments: tuple[Any, ...]) -> None:
        self.work = work
        self.arguments = arguments


Item: TypeAlias = AuditEntry | Verb | Queued
"""What a batch holds: a queued record, an awaited verb, or queued work of another kind."""


class Batch:
    """What the thread is given: to commit and, if anything in it is durable, to sync; or to sync alone."""

    __slots__ = ("durable", "is_committed", "items", "loop")

    def __init__(
        self, items: Sequence[Item], loop: asyncio.AbstractEventLoop, *, durable: bool, is_committed: bool
    ) -> None:
        self.items = items
        self.loop = loop
        self.durable = durable
        self.is_committed = is_committed


class SqliteWriter:
    """Writes for one store object, on the loop's thread or on its own.

    All methods are for the thread of the event loop. Opening it blocks for some milliseconds.

    Args:
        path: The file, prepared.
        chain: The chain of this writer, at its start.

    Raises:
        sqlite3.Error: The file cannot be opened.
    """

    def __init__(self, path: Path, chain: Chain) -> None:
        self.lost = 0
        self._path = path
        self._chain = chain
        # Somebody may be writing back the WAL just now; once open, only the thread waits.
        self._connection = connect(path, writes=True, patience=PATIENCE)
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._cursor = self._connection.cursor()
        self._transaction = Transaction(self._cursor, chain, find_frontier(self._connection.execute))
        self._connection.execute("PRAGMA busy_timeout=0")
        self._lock = threading.Lock()
        self._wal = WalFile(self._connection, self._lock)
        self._checkpointer = Checkpointer(path, self._connection, self._lock, self._wal)
        self._jobs: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="placet-sqlite", daemon=True)
        self._pending: list[Item] = []
        # The first commit syncs the header of a new WAL, even under `synchronous=NORMAL`.
        self._for_thread = True
        self._scheduled: asyncio.AbstractEventLoop | None = None
        self._handed = 0
        self._taken = 0
        self._done = 0
        self._commits = 0
        self._thread.start()

    # ── on the loop's thread ──────────────────────────────────────────────────────────

    @property
    def is_idle(self) -> bool:
        """Whether all that was asked for is committed."""
        return not self._pending and not self._handed

    def queue(self, item: AuditEntry | Queued) -> int:
        """Add to the batch at hand; committed with the next awaited verb.

        Returns:
            A ticket: `has_done` tells with it whether that has come.
        """
        self._pending.append(item)
        return self._taken + len(self._pending)

    def has_done(self, ticket: int) -> bool:
        """Return whether what was queued is committed, or lost."""
        return self._done >= ticket

    def append(self, entries: Sequence[AuditEntry]) -> "asyncio.Future[None]":
        """Add records to the batch at hand, and return when they are committed."""
        self._pending.extend(entries)
        return self.submit(None)

    def submit(
        self, work: Work | None, *arguments: Any, durable: bool = False, takes_long: bool = False
    ) -> "asyncio.Future[Any]":
        """Add a verb to the batch at hand, and return its result when it is committed.

        Args:
            work: What it does, or None to wait for what was queued.
            arguments: What the work is given after the transaction.
            durable: Whether it must survive a power cut.
            takes_long: Whether it is too much for the thread of the event loop.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._pending.append(Verb(work, arguments, future, durable=durable))
        if takes_long:
            self._for_thread = True
        if self._scheduled is not loop:
            self._scheduled = loop
            loop.call_soon(self._flush, loop)
        return future

    async def close(self) -> None:
        """Commit what is queued, write the WAL back and close.

        Raises:
            StoreError: What was queued could not be written. It is closed nevertheless.
        """
        try:
            await self.submit(None)
        finally:
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        self._scheduled = None
        items, self._pending = self._pending, []
        if self._for_thread or self._handed or not (self._checkpointer.is_idle and self._lock.acquire(blocking=False)):
            self._taken += len(items)
            self._hand_over(items, loop)
            return
        if len(items) > AT_ONCE:
            items = self._cut(items, loop)
        self._taken += len(items)
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
            self._commit(items)
        except Exception:  # noqa: BLE001 - whatever it was, the thread has the time to try again and to say why
            self._hand_over(items, loop)
            return
        finally:
            self._lock.release()
        self._done += len(items)
        durable: list[Item] = []
        for item in items:
            if type(item) is Verb:
                if item.durable:
                    durable.append(item)
                else:
                    item.resolve()
        if durable:
            self._jobs.put(Batch(durable, loop, durable=True, is_committed=True))

    def _cut(self, items: list[Item], loop: asyncio.AbstractEventLoop) -> list[Item]:
        """Return what comes first, up to a verb: what was queued stays with its verb. The rest waits for its turn."""
        for place in range(AT_ONCE - 1, len(items) - 1):
            if type(items[place]) is Verb:
                self._pending = items[place + 1 :]
                self._scheduled = loop
                loop.call_soon(self._flush, loop)
                return items[: place + 1]
        return items

    def _hand_over(self, items: Sequence[Item], loop: asyncio.AbstractEventLoop) -> None:
        self._for_thread = False
        self._handed += 1
        durable = any(isinstance(item, Verb) and item.durable for item in items)
        self._jobs.put(Batch(items, loop, durable=durable, is_committed=False))

    def _deliver(self, batches: Sequence[Batch]) -> None:
        for batch in batches:
            if not batch.is_committed:
                self._handed -= 1
                self._done += len(batch.items)
            for item in batch.items:
                if type(item) is Verb:
                    item.resolve()

    # ── on either thread, holding the lock ────────────────────────────────────────────

    def _commit(self, items: Sequence[Item]) -> None:
        """Do and commit all of it, or nothing, in the transaction that has begun."""
        chain, transaction = self._chain, self._transaction
        sequence, last = chain.sequence, chain.last
        try:
            for item in items:
                if isinstance(item, AuditEntry):
                    transaction.record(item)
                elif isinstance(item, Queued):
                    item.work(transaction, *item.arguments)
                else:
                    item.error = None
                    if item.work is not None:
                        # What it raises of our own was raised before it wrote anything.
                        try:
                            item.result = item.work(transaction, *item.arguments)
                        except PlacetError as error:
                            item.error = error
            transaction.write_records()
            self._cursor.execute("COMMIT")
        except BaseException:
            chain.sequence, chain.last = sequence, last
            transaction.forget_records()
            if self._connection.in_transaction:
                self._cursor.execute("ROLLBACK")
            raise
        self._commits += 1
        if self._commits == CHECKPOINT_AFTER:
            self._commits = 0
            self._checkpointer.write_back()

    # ── on the writer thread ──────────────────────────────────────────────────────────

    def _work(self) -> None:
        working = True
        while working:
            jobs = self._wait()
            batches = [job for job in jobs if job is not None]
            waiting = [batch for batch in batches if not batch.is_committed]
            if waiting:
                with self._lock:
                    self._commit_together(waiting)
            if any(batch.durable for batch in batches):
                self._sync(batches)
            if batches:
                self._report(batches)
            working = None not in jobs
        self._checkpointer.close()
        self._wal.close()
        self._connection.close()

    def _wait(self) -> Sequence[Batch | None]:
        jobs = [self._jobs.get()]
        while not self._jobs.empty():
            jobs.append(self._jobs.get())
        return jobs

    def _sync(self, batches: Sequence[Batch]) -> None:
        """Sync what is committed. A verb whose commit may not survive a power cut is told so."""
        try:
            self._wal.sync()
        except (OSError, sqlite3.Error) as error:
            message = f"the store {str(self._path)!r} could not be synced, it is not known what is kept: {error}"
            _log.error("%s", message)
            for batch in batches:
                for item in batch.items:
                    if isinstance(item, Verb) and item.durable and item.error is None:
                        item.error = StoreError(message)
                        item.error.__cause__ = error

    def _commit_together(self, batches: Sequence[Batch]) -> None:
        items = [item for batch in batches for item in batch.items]
        if not self._begin(items):
            return
        try:
            self._commit(items)
        except Exception:  # noqa: BLE001 - one of them broke it; each alone shows which
            self._commit_apart(items)

    def _commit_apart(self, items: Sequence[Item]) -> None:
        """Commit each verb by itself, after what was queued before it."""
        queued: list[Item] = []
        for item in items:
            queued.append(item)
            if not isinstance(item, Verb):
                continue
            if item.work is None or self._commit_alone(queued[:-1], item):
                self._commit_alone([item] if item.work else queued, item)
            queued = []
        if queued:
            self._commit_alone(queued, None)

    def _commit_alone(self, items: Sequence[Item], verb: Verb | None) -> bool:
        """Return whether a part was committed; if not, its verb knows why."""
        if not items:
            return True
        if verb is not None:
            verb.error = None
        if not self._begin([*items, verb] if verb is not None else items):
            return False
        try:
            self._commit(items)
        except Exception as error:  # noqa: BLE001 - what it was is said to whoever waits
            self._fail([*items, verb] if verb is not None else items, error)
            return False
        return True

    def _begin(self, items: Sequence[Item]) -> bool:
        try:
            patiently(lambda: self._cursor.execute("BEGIN IMMEDIATE"))
        except sqlite3.Error as error:
            self._fail(items, error)
            return False
        return True

    def _fail(self, items: Sequence[Item], error: Exception) -> None:
        queued = [item for item in items if not isinstance(item, Verb)]
        message = f"the store {str(self._path)!r} could not be written, nothing was stored: {error}"
        if queued:
            self.lost += len(queued)
            _log.error("%s; lost with it: %d queued entries", message, len(queued))
        for item in items:
            if isinstance(item, Verb):
                item.error = StoreError(message)
                item.error.__cause__ = error

    def _report(self, batches: Sequence[Batch]) -> None:
        for loop in dict.fromkeys(batch.loop for batch in batches):
            theirs = [batch for batch in batches if batch.loop is loop]
            try:
                loop.call_soon_threadsafe(self._deliver, theirs)
            except RuntimeError:
                # Their loop is closed: nobody waits any more.
                self._deliver(theirs)
