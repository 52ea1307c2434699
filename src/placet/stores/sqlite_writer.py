"""The one writer of a store object: batches per tick, and a thread for what must reach the disk.

What was asked for in one tick of the event loop is one batch, in order. A batch that need not
survive a power cut is committed on the loop's own thread, when nobody is in the way: WAL with
`synchronous=NORMAL` syncs nothing then. Every other batch goes to the writer thread, which puts
all that waits for it into one transaction, so that many durable verbs share one sync. As long
as a batch is with the thread, all later ones follow it there, so nothing overtakes.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeAlias

from placet.errors import PlacetError, StoreError
from placet.stores.chain import Chain
from placet.stores.sqlite_audit import find_frontier
from placet.stores.sqlite_connection import PATIENCE, connect, patiently
from placet.stores.sqlite_transaction import Transaction
from placet.values.audit import AuditEntry

CHECKPOINT_AFTER: Final = 300
"""Commits after which the thread checkpoints: about 1,000 pages of the WAL."""

_CHECKPOINTED: Final = "UPDATE mark SET value = value + 1 WHERE name = 'checkpoints'"

_log = logging.getLogger("placet")

Work: TypeAlias = Callable[[Transaction], Any]


class Verb:
    """One awaited verb of a batch: its work, if any, and whoever waits for it."""

    __slots__ = ("error", "future", "result", "work")

    def __init__(self, work: Work | None, future: "asyncio.Future[Any]") -> None:
        self.work = work
        self.future = future
        self.result: Any = None
        self.error: PlacetError | None = None

    def run(self, transaction: Transaction) -> None:
        """Do the work. What it raises of our own was raised before it wrote anything."""
        if self.work is not None:
            try:
                self.result = self.work(transaction)
            except PlacetError as error:
                self.error = error

    def resolve(self) -> None:
        """Tell whoever waits. On the thread of their loop."""
        if self.future.done() or self.future.get_loop().is_closed():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


Item: TypeAlias = AuditEntry | Verb | Work
"""What a batch holds: a queued record, an awaited verb, or queued work of another kind."""


@dataclass(frozen=True, slots=True)
class _Batch:
    items: Sequence[Item]
    durable: bool
    loop: asyncio.AbstractEventLoop = field(repr=False)


class _Job(Enum):
    CHECKPOINT = "checkpoint"
    STOP = "stop"


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
        self._frontier = find_frontier(self._connection.execute)
        self._connection.execute("PRAGMA busy_timeout=0")
        self._beside = connect(path, writes=True)
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[_Batch | _Job] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="placet-sqlite", daemon=True)
        self._pending: list[Item] = []
        self._durable = False
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

    def queue(self, item: AuditEntry | Work) -> int:
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

    def submit(self, work: Work | None, *, durable: bool = False) -> "asyncio.Future[Any]":
        """Add a verb to the batch at hand, and return its result when it is committed.

        Args:
            work: What it does, or None to wait for what was queued.
            durable: Whether it must survive a power cut.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._pending.append(Verb(work, future))
        if durable:
            self._durable = True
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
            self._jobs.put(_Job.STOP)
            await asyncio.to_thread(self._thread.join)

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        items, self._pending = self._pending, []
        durable, self._durable = self._durable, False
        self._scheduled = None
        self._taken += len(items)
        if durable or self._handed or not self._lock.acquire(blocking=False):
            self._hand_over(_Batch(items, durable, loop))
            return
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
            self._commit(items)
        except Exception:  # noqa: BLE001 - whatever it was, the thread has the time to try again and to say why
            self._hand_over(_Batch(items, durable, loop))
            return
        finally:
            self._lock.release()
        self._finish(items)
        if self._commits >= CHECKPOINT_AFTER:
            self._commits = 0
            self._jobs.put(_Job.CHECKPOINT)

    def _hand_over(self, batch: _Batch) -> None:
        self._handed += 1
        self._jobs.put(batch)

    def _deliver(self, batch: _Batch) -> None:
        self._handed -= 1
        self._finish(batch.items)

    def _finish(self, items: Sequence[Item]) -> None:
        self._done += len(items)
        for item in items:
            if isinstance(item, Verb):
                item.resolve()

    # ── on either thread, holding the lock ────────────────────────────────────────────

    def _commit(self, items: Sequence[Item]) -> None:
        """Do and commit all of it, or nothing, in the transaction that has begun."""
        chain = self._chain
        sequence, last = chain.sequence, chain.last
        transaction = Transaction(self._cursor, chain, self._frontier)
        try:
            for item in items:
                if isinstance(item, AuditEntry):
                    transaction.record(item)
                elif isinstance(item, Verb):
                    item.run(transaction)
                else:
                    item(transaction)
            transaction.write_records()
            self._cursor.execute("COMMIT")
        except BaseException:
            chain.sequence, chain.last = sequence, last
            if self._connection.in_transaction:
                self._cursor.execute("ROLLBACK")
            raise
        self._commits += 1

    # ── on the writer thread ──────────────────────────────────────────────────────────

    def _work(self) -> None:
        working = True
        while working:
            jobs = self._wait()
            batches = [job for job in jobs if isinstance(job, _Batch)]
            if batches:
                with self._lock:
                    self._commit_together(batches)
                for batch in batches:
                    self._report(batch)
            working = _Job.STOP not in jobs
            if not working or _Job.CHECKPOINT in jobs or self._commits >= CHECKPOINT_AFTER:
                self._checkpoint()
        self._beside.close()
        self._connection.close()

    def _wait(self) -> Sequence[_Batch | _Job]:
        jobs = [self._jobs.get()]
        while not self._jobs.empty():
            jobs.append(self._jobs.get())
        return jobs

    def _commit_together(self, batches: Sequence[_Batch]) -> None:
        items = [item for batch in batches for item in batch.items]
        durable = any(batch.durable for batch in batches)
        try:
            if durable:
                self._cursor.execute("PRAGMA synchronous=FULL")
            if not self._begin(items):
                return
            try:
                self._commit(items)
            except Exception:  # noqa: BLE001 - one of them broke it; each alone shows which
                self._commit_apart(items)
        finally:
            if durable:
                self._cursor.execute("PRAGMA synchronous=NORMAL")

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

    def _report(self, batch: _Batch) -> None:
        try:
            batch.loop.call_soon_threadsafe(self._deliver, batch)
        except RuntimeError:
            # Their loop is closed: nobody waits any more.
            self._deliver(batch)

    def _checkpoint(self) -> None:
        """Write the WAL back into the file: most of it beside the writers, the rest alone.

        Whoever writes first after that syncs the WAL's new header, even under
        `synchronous=NORMAL`; so this thread does, and the loop's never.
        """
        self._commits = 0
        try:
            self._beside.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            with self._lock:
                self._cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                patiently(lambda: self._cursor.execute(_CHECKPOINTED))
        except sqlite3.Error as error:
            _log.warning("the WAL of %r could not be written back, it is tried again: %s", str(self._path), error)
