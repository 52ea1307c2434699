"""The one writer of a store object: what waits is written in one transaction, again and again.

A batch is whatever was asked for while the one before was being written, in order. Verbs that
look at rows which they cannot name beforehand (decisions, takeovers) have a transaction each.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeAlias

from psycopg import OperationalError
from psycopg.pq import TransactionStatus
from psycopg_pool import PoolTimeout

from placet.errors import PlacetError, StoreError
from placet.ports import AuditHead
from placet.stores.chain import Chain
from placet.stores.postgres_alone import AGAIN, Record
from placet.stores.postgres_batch import Batch, Before, Operation, Records, named_records, store, store_records
from placet.stores.postgres_connection import Connection, Pool
from placet.stores.postgres_guess import guess_at, remember, store_as_guessed
from placet.stores.state import State
from placet.values.audit import START, AuditEntry
from placet.values.effect import EffectRecord

LARGEST_BATCH: Final = 256
"""Verbs and records in one transaction, so that its locks fit into the server's table of locks."""

_ATTEMPTS: Final = 3

_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
"""Each query after the locks must see what was committed while they were waited for."""
_LAST_OF_CHAIN: Final = (
    "SELECT sequence, seal FROM placet.audit_record WHERE writer = %s ORDER BY sequence DESC LIMIT 1"
)

_log = logging.getLogger("placet")

Alone: TypeAlias = Callable[[Connection, Record], Awaitable[Any]]
"""A verb that has a transaction to itself. It locks what it looks at, then reads, then writes."""


class Verb:
    """One awaited verb: its work, if any, and whoever waits for it."""

    __slots__ = ("answer", "error", "future", "work")

    def __init__(self, work: Operation | Alone | None, future: "asyncio.Future[Any]") -> None:
        self.work = work
        self.future = future
        self.answer: Any = None
        self.error: PlacetError | None = None

    @property
    def is_alone(self) -> bool:
        """Whether it has a transaction to itself."""
        return callable(self.work)

    def run(self, state: State, batch: Batch) -> None:
        """Do the work. What it raises of our own was raised before it changed anything."""
        self.answer = self.error = None
        if isinstance(self.work, Operation):
            try:
                self.answer = self.work.apply(state)
            except PlacetError as error:
                self.error = error
            batch.answered(self.work, self.answer)

    async def run_alone(self, connection: Connection, record: Record) -> None:
        """Do the work that has the transaction to itself."""
        self.answer = self.error = None
        if callable(self.work):
            try:
                self.answer = await self.work(connection, record)
            except PlacetError as error:
                self.error = error

    def resolve(self) -> None:
        """Tell whoever waits."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.answer)


Item: TypeAlias = AuditEntry | Operation | Verb


class _DoubtError(Exception):
    """The connection broke at the commit: what was sent may stand or not.

    Args:
        message: What the driver said.
        place: Sequence and seal of the last record that was sent, or None when there was none.
        is_guarded: Whether it was one statement with records, whose places guard against twice.
    """

    def __init__(self, message: str, *, place: tuple[int, str] | None, is_guarded: bool) -> None:
        super().__init__(message)
        self.place = place
        self.is_guarded = is_guarded


class PostgresWriter:
    """Writes for one store object, on the event loop in which it was opened.

    Args:
        pool: Open.
        chain: The chain of this writer, at its start.
        frontier: What the first record of the chain names.
    """

    def __init__(self, pool: Pool, chain: Chain, frontier: Sequence[AuditHead]) -> None:
        self.lost = 0
        self._pool = pool
        self._chain = chain
        self._frontier = frontier
        self._is_chain_known = True
        self._known: dict[str, EffectRecord] = {}
        self._pending: list[Item] = []
        self._taken = 0
        self._done = 0
        self._owed: StoreError | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether all that was asked for is committed."""
        return not self._pending and self._task is None

    def queue(self, item: AuditEntry | Operation) -> int:
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

    def submit(self, work: Operation | Alone | None) -> "asyncio.Future[Any]":
        """Add a verb to the batch at hand, and return its answer when it is committed."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._pending.append(Verb(work, future))
        if self._task is None:
            self._task = loop.create_task(self._write_all(), name="placet-postgres")
        return future

    # ── from batch to batch ───────────────────────────────────────────────────────────

    async def _write_all(self) -> None:
        try:
            while self._pending:
                items = self._next_batch()
                if not self._settle_debt(items):
                    await self._write_batch(items)
                self._done += len(items)
                for item in items:
                    if isinstance(item, Verb):
                        item.resolve()
        finally:
            self._task = None

    def _next_batch(self) -> Sequence[Item]:
        """Take what waits, up to a verb that has a transaction to itself."""
        end = len(self._pending)
        for place, item in enumerate(self._pending):
            if isinstance(item, Verb) and item.is_alone:
                end = max(place, 1)
                break
            if isinstance(item, Verb) and place >= LARGEST_BATCH:
                end = place + 1
                break
        items, self._pending = self._pending[:end], self._pending[end:]
        self._taken += len(items)
        return items

    def _settle_debt(self, items: Sequence[Item]) -> bool:
        """Return whether a lone verb was told that what was queued before it is lost."""
        first = items[0]
        if self._owed is None or not isinstance(first, Verb):
            return False
        first.error, self._owed = self._owed, None
        return True

    async def _write_batch(self, items: Sequence[Item]) -> None:
        try:
            await self._attempt(items)
        except (_DoubtError, OperationalError, PoolTimeout) as error:
            # The server or the way to it: no verb is to blame.
            self._fail(items, error)
        except Exception:  # noqa: BLE001 - one of them broke it; each alone shows which
            await self._write_apart(items)

    async def _write_apart(self, items: Sequence[Item]) -> None:
        """Write each verb by itself, after what was queued before it."""
        queued: list[Item] = []
        for item in items:
            queued.append(item)
            if not isinstance(item, Verb):
                continue
            if item.work is None or await self._write_alone(queued[:-1], item):
                await self._write_alone([item] if item.work else queued, item)
            queued = []
        if queued:
            await self._write_alone(queued, None)

    async def _write_alone(self, items: Sequence[Item], verb: Verb | None) -> bool:
        """Return whether a part was written; if not, its verb knows why."""
        if not items:
            return True
        try:
            await self._attempt(items)
        except Exception as error:  # noqa: BLE001 - what it was is said to whoever waits
            self._fail(items if verb is None or verb in items else [*items, verb], error)
            return False
        return True

    def _fail(self, items: Sequence[Item], error: Exception) -> None:
        verbs = [item for item in items if isinstance(item, Verb)]
        stored = "it is not known what was stored" if isinstance(error, _DoubtError) else "nothing was stored"
        message = f"the PostgreSQL store could not be written, {stored}: {error}"
        queued = len(items) - len(verbs)
        if queued:
            self.lost += queued
            _log.error("%s; lost with it: %d queued entries", message, queued)
        for verb in verbs:
            verb.error = StoreError(message)
            verb.error.__cause__ = error
        if not isinstance(items[-1], Verb):
            self._owed = StoreError(message)

    # ── one transaction ───────────────────────────────────────────────────────────────

    async def _attempt(self, items: Sequence[Item]) -> None:
        """Write all of it or nothing, again when the connection or a lock was lost before the commit."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with self._pool.connection() as connection:
                    await self._transact(connection, items, may_guess=attempt == 1)
            except _DoubtError as doubt:
                if await self._stands(doubt):
                    return
                if attempt == _ATTEMPTS or not doubt.is_guarded:
                    raise
            except OperationalError as error:
                if attempt == _ATTEMPTS or error.sqlstate not in AGAIN:
                    raise
            else:
                return

    async def _stands(self, doubt: _DoubtError) -> bool:
        """Return whether what was sent is there: its last record tells."""
        # What has cut one connection may have cut them all.
        await self._pool.check()
        async with self._pool.connection() as connection:
            await self._find_place(connection)
        return doubt.place is not None and doubt.place == (self._chain.sequence, self._chain.last)

    async def _transact(self, connection: Connection, items: Sequence[Item], *, may_guess: bool) -> None:
        if not self._is_chain_known:
            await self._find_place(connection)
        entries: list[AuditEntry] = []
        first = items[0]
        if isinstance(first, Verb) and first.is_alone:
            await connection.execute(_BEGIN)
            await first.run_alone(connection, entries.append)
            await self._commit(connection, entries)
            return
        operations = [operation for operation in map(_operation_in, items) if operation is not None]
        if may_guess and operations and await self._store_as_guessed(connection, items, operations):
            return
        batch, state = Batch(), State(entries.append)
        for operation in operations:
            batch.add(operation)
        before = await _load(connection, batch, state)
        _apply(items, batch, state, entries)
        await self._commit(connection, entries, None if before is None else (batch, before, state))
        remember(self._known, state)

    async def _store_as_guessed(
        self, connection: Connection, items: Sequence[Item], operations: Sequence[Operation]
    ) -> bool:
        """Return whether all of it was stored in one statement; if not, nothing was, and the batch looks first."""
        entries: list[AuditEntry] = []
        batch, state = Batch(), State(entries.append)
        for operation in operations:
            batch.add(operation)
        guess = guess_at(operations, self._known, batch)
        if guess is None:
            return False
        before = guess.fill(state)
        _apply(items, batch, state, entries)
        if not entries or batch.found_full:
            # Without a record nothing would tell after a lost answer whether it stands.
            return False
        sequence, last = self._chain.sequence, self._chain.last
        records = self._seal(entries)
        try:
            stored = await store_as_guessed(connection, guess, batch, before, state, records)
        except BaseException as error:
            self._is_chain_known = False
            if isinstance(error, Exception) and connection.broken:
                place = (self._chain.sequence, self._chain.last)
                raise _DoubtError(str(error), place=place, is_guarded=True) from error
            raise
        if stored:
            remember(self._known, state)
        else:
            self._chain.sequence, self._chain.last = sequence, last
        return stored

    async def _commit(
        self, connection: Connection, entries: Sequence[AuditEntry], changed: tuple[Batch, Before, State] | None = None
    ) -> None:
        records = self._seal(entries)
        is_records = connection.info.transaction_status is TransactionStatus.IDLE
        try:
            if is_records:
                # Records alone: one statement is a transaction of its own.
                await store_records(connection, records)
                return
            async with connection.pipeline():
                if changed is not None:
                    await store(connection, *changed, records)
                elif records:
                    await store_records(connection, records)
                await connection.execute("COMMIT")
        except BaseException as error:
            self._is_chain_known = False
            if isinstance(error, Exception) and connection.broken:
                place = (self._chain.sequence, self._chain.last) if records else None
                raise _DoubtError(str(error), place=place, is_guarded=is_records) from error
            raise

    def _seal(self, entries: Sequence[AuditEntry]) -> Records:
        return named_records(self._chain.rows(entries, self._frontier))

    async def _find_place(self, connection: Connection) -> None:
        """Look where the chain ends, after a commit of which nobody knows."""
        row = await (await connection.execute(_LAST_OF_CHAIN, (self._chain.writer,))).fetchone()
        self._chain.sequence, self._chain.last = row or (0, START)
        self._is_chain_known = True


async def _load(connection: Connection, batch: Batch, state: State) -> Before | None:
    """Begin, lock and load; nothing of it when the items are records alone."""
    if batch.is_empty:
        return None
    async with connection.pipeline():
        await connection.execute(_BEGIN)
        question = await batch.load(connection)
    return await question.fill(state)


def _operation_in(item: Item) -> Operation | None:
    work = item.work if isinstance(item, Verb) else item
    return work if isinstance(work, Operation) else None


def _apply(items: Sequence[Item], batch: Batch, state: State, entries: list[AuditEntry]) -> None:
    for item in items:
        if isinstance(item, AuditEntry):
            entries.append(item)
        elif isinstance(item, Operation):
            item.apply(state)
        else:
            item.run(state, batch)
