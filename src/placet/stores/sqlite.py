"""SqliteStore: everything in one file, no server; several processes may share it.

The file must lie on a local disk: over a network file system neither its locks nor its
shared memory hold. What a verb promises at a killed process it keeps always; what it
promises at a power cut (claims with an intent, suspended runs, decisions) it keeps by a sync
on the writer thread, never on the thread of the event loop; `sqlite_writer` says why that holds.
"""

import asyncio
import os
import secrets
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final, TypeVar

from placet.errors import ConfigurationError, StoreError
from placet.ports import AuditHead, NotDecided, StoredRun
from placet.stores import sqlite_approvals, sqlite_audit, sqlite_effects, sqlite_runs
from placet.stores.chain import Chain
from placet.stores.rows import PURGED_AT_ONCE, approval_row, json_text, principal_row, read_principal
from placet.stores.selection import Selection
from placet.stores.sqlite_connection import PATIENCE, connect, prepare
from placet.stores.sqlite_transaction import Execute, Transaction
from placet.stores.sqlite_writer import Queued, SqliteWriter
from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, AuditRecord, AuditVerification
from placet.values.effect import Claim, ClaimAnswer, CommitAnswer, EffectRecord, EffectState, Lease, Statement, Take
from placet.values.principal import Principal
from placet.values.run import RunStatus

_STATE_PRINCIPAL: Final = """
    INSERT INTO principal (id, roles, attributes) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET roles = excluded.roles, attributes = excluded.attributes
    WHERE roles <> excluded.roles OR attributes <> excluded.attributes
"""
_FIND_PRINCIPAL: Final = "SELECT id, roles, attributes FROM principal WHERE id = ?"
_MARK_DEMO: Final = "INSERT INTO mark (name, value) VALUES ('demo', '1') ON CONFLICT (name) DO NOTHING"
_IS_DEMO: Final = "SELECT 1 FROM mark WHERE name = 'demo'"

_INHERITED: Final[list[object]] = []
"""Connections of the process that we were forked from. Closing them here could unlink its WAL."""

T = TypeVar("T")


def _execute(transaction: Transaction, sql: str, row: tuple[str, ...] = ()) -> None:
    transaction.execute(sql, row)


class _Open:
    """What a store has while it is open, in one process."""

    def __init__(self, path: Path, key: bytes) -> None:
        self.pid = os.getpid()
        self.writer = SqliteWriter(path, Chain(key, f"sqlite_{secrets.token_hex(8)}"))
        self.reader = connect(path, patience=1.0)

    async def close(self) -> None:
        self.reader.close()
        await self.writer.close()


class SqliteStore:
    """Remembers all that placet needs to, in one SQLite file.

    It belongs to one event loop at a time. After a fork the child opens the file anew, with
    a chain of its own; what the parent had queued stays the parent's.

    Args:
        path: The file, on a local disk. It is made when there is none, readable by its owner alone.
        key: The audit key, from outside the store.

    Raises:
        ConfigurationError: The path is no file's, or the key is shorter than 16 bytes.
    """

    def __init__(self, path: str | os.PathLike[str], *, key: bytes) -> None:
        if not os.fspath(path) or os.fspath(path).startswith((":memory:", "file:")):
            raise ConfigurationError(f"{os.fspath(path)!r} is no path of a file; for a store in memory use MemoryStore")
        if len(key) < 16:
            raise ConfigurationError("the audit key must have at least 16 bytes: secrets.token_bytes(32)")
        self._path = Path(path)
        self._key = key
        self._open: _Open | None = None
        self._runs_queued = 0
        self._principals_queued = 0

    @property
    def lost(self) -> int:
        """How many queued entries could not be written. Each loss was logged and raised by a verb."""
        return self._open.writer.lost if self._open else 0

    async def open(self) -> None:
        """Open the file, and migrate it forward.

        Raises:
            StoreVersionError: It was written by a newer placet.
            StoreError: It cannot be opened, or is no store of placet's.
        """
        if self._open is None:
            self._open = await asyncio.to_thread(self._begin)
            self._runs_queued = self._principals_queued = 0

    async def close(self) -> None:
        """Commit what is queued and close the file.

        Raises:
            StoreError: What was queued could not be written. The file is closed nevertheless.
        """
        if self._open is not None:
            now = self._now()
            self._open = None
            await now.close()

    def _begin(self) -> _Open:
        prepare(self._path)
        try:
            return _Open(self._path, self._key)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"the store {str(self._path)!r} cannot be opened: {error}") from error

    def _now(self) -> _Open:
        """Return what is open in this process."""
        now = self._open
        if now is None:
            raise StoreError(f"the store {str(self._path)!r} is not open: await store.open()")
        if now.pid != os.getpid():
            _INHERITED.append(now)
            now = self._open = self._begin()
            self._runs_queued = self._principals_queued = 0
        return now

    async def _read(self, query: Callable[[Execute], T], after: int = 0) -> T:
        """Return what a query by an index finds.

        Args:
            query: The query.
            after: The ticket of what was queued and would change the answer.
        """
        now = self._now()
        if not now.writer.has_done(after):
            await now.writer.submit(None)
        try:
            return query(now.reader.execute)
        except (sqlite3.Error, UnicodeError) as error:
            raise StoreError(f"the store {str(self._path)!r} could not be read: {error}") from error

    async def _scan(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Return what a query finds that may look at whole tables, on a thread and a connection of its own."""

        def scan() -> T:
            try:
                with closing(connect(self._path, patience=PATIENCE)) as connection:
                    return query(connection)
            except (sqlite3.Error, UnicodeError) as error:
                raise StoreError(f"the store {str(self._path)!r} could not be read: {error}") from error

        now = self._now()
        if not now.writer.is_idle:
            await now.writer.submit(None)
        return await asyncio.to_thread(scan)

    # ── runs ──────────────────────────────────────────────────────────────────────────

    def open_run(self, run: StoredRun, lease: Lease) -> None:
        """Queue a new run, owned by its lease. A run of this id that exists stays as it is."""
        self._runs_queued = self._now().writer.queue(Queued(sqlite_runs.open_run, (run, lease)))

    def journal(self, lease: Lease, entry: str) -> None:
        """Queue what has happened in a run; dropped when the lease no longer holds."""
        self._runs_queued = self._now().writer.queue(Queued(sqlite_runs.add_to_journal, (lease, entry)))

    async def suspend_run(
        self, lease: Lease, snapshot: str, approvals: Sequence[ApprovalRequest], entries: Sequence[AuditEntry],
        at: datetime,
    ) -> RunStatus:  # fmt: skip
        """Store snapshot, new approvals and records together, and give the lease back. Durable.

        Returns:
            `WAITING`; or `READY` when a request of the run was decided while it was running.

        Raises:
            LeaseLostError: Somebody else owns the run; nothing was stored.
            StoreError: Nothing was stored.
        """
        rows = [approval_row(request) for request in approvals]
        status: RunStatus = await self._now().writer.submit(
            sqlite_runs.suspend_run, lease, snapshot, rows, entries, at, durable=True
        )
        return status

    async def close_run(
        self, lease: Lease, status: RunStatus, snapshot: str, entries: Sequence[AuditEntry], at: datetime
    ) -> None:
        """Store that a run has ended, and give the lease back.

        After a power cut it may have to be closed again: whoever resumes the run finds in the ledger what it did.

        Raises:
            LeaseLostError: Somebody else owns the run; nothing was stored.
            StoreError: Nothing was stored.
        """
        await self._now().writer.submit(sqlite_runs.close_run, lease, status, snapshot, entries, at)

    async def claim_run(self, run_id: str, owner: str, at: datetime, ttl: timedelta) -> tuple[Lease, StoredRun] | None:
        """Take over a run that is ready or whose lease has run out; its running effects become unknown.

        Raises:
            StoreError: Nothing was taken.
        """
        claimed: tuple[Lease, StoredRun] | None = await self._now().writer.submit(
            sqlite_runs.claim_run, run_id, owner, at, ttl
        )
        return claimed

    async def renew_lease(self, lease: Lease, until: datetime) -> Lease | None:
        """Return the longer lease, or None when somebody else owns the run.

        Raises:
            StoreError: The lease is what it was.
        """
        renewed: Lease | None = await self._now().writer.submit(sqlite_runs.renew_lease, lease, until)
        return renewed

    async def load_run(self, run_id: str) -> StoredRun | None:
        """Return the run with its journal, or None.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(lambda execute: sqlite_runs.find_run(execute, run_id), self._runs_queued)

    async def list_runs(
        self, *, statuses: Sequence[RunStatus] = (), principal_id: str | None = None, limit: int = 100
    ) -> Sequence[StoredRun]:
        """Return runs, newest first, without their journals.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._scan(lambda it: sqlite_runs.list_runs(it.execute, statuses, principal_id, limit))

    async def purge_runs(self, before: datetime, entry: AuditEntry) -> int:
        """Forget what runs have said and done that ended before a time; return how many.

        Raises:
            StoreError: The step that failed has forgotten nothing; those before it have.
        """
        purged = 0
        while True:
            step: int = await self._now().writer.submit(
                sqlite_runs.purge_runs, before, entry, durable=True, takes_long=True
            )
            purged += step
            if step < PURGED_AT_ONCE:
                return purged

    # ── approvals ─────────────────────────────────────────────────────────────────────

    async def decide_approval(self, decision: ApprovalDecision, entry: AuditEntry) -> ApprovalRequest | NotDecided:
        """Take a person's yes or no, once, and make the run that waits ready. Durable.

        Raises:
            StoreError: Nothing was decided.
        """
        arguments = None if decision.arguments is None else json_text(dict(decision.arguments))
        answer: ApprovalRequest | NotDecided = await self._now().writer.submit(
            sqlite_approvals.decide_approval, decision, arguments, entry, durable=True
        )
        return answer

    async def find_approval(self, *, id: str | None = None, token_hash: str | None = None) -> ApprovalRequest | None:  # noqa: A002 - the port's word
        """Return the request with this id, or with this token's hash, or None.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(lambda execute: sqlite_approvals.find_approval(execute, id, token_hash))

    async def list_approvals(
        self, *, run_id: str | None = None, statuses: Sequence[ApprovalStatus] = (), limit: int = 100
    ) -> Sequence[ApprovalRequest]:
        """Return requests, oldest first, without the hashes of their tokens.

        Raises:
            StoreError: The store cannot be read.
        """
        if run_id is None:
            return await self._scan(lambda it: sqlite_approvals.list_approvals(it.execute, None, statuses, limit))
        return await self._read(lambda execute: sqlite_approvals.list_approvals(execute, run_id, statuses, limit))

    async def expire_approvals(self, at: datetime) -> Sequence[ApprovalRequest]:
        """Mark what waits past its expiry as expired, record it, make its run ready; return it.

        Raises:
            StoreError: Nothing was marked.
        """
        expired: Sequence[ApprovalRequest] = await self._now().writer.submit(sqlite_approvals.expire_approvals, at)
        return expired

    async def void_approval(self, approval_id: str, entry: AuditEntry) -> None:
        """Mark an approved request as void and record it; any other stays as it is. Durable.

        Raises:
            StoreError: The request is what it was.
        """
        await self._now().writer.submit(sqlite_approvals.void_approval, approval_id, entry, durable=True)

    # ── effects and limits ────────────────────────────────────────────────────────────

    def claim(self, claim: Claim) -> Awaitable[ClaimAnswer]:
        """Take all that a call needs, or nothing. Durable when it carries an intent.

        Raises:
            StoreError: Nothing was taken; or the disk has refused to keep what was taken.
        """
        return self._now().writer.submit(sqlite_effects.claim, claim, durable=claim.intent is not None)

    def settle(self, key: str, state: EffectState, result: str | None, entry: AuditEntry) -> Awaitable[None]:
        """Store how an effect ended, with its record.

        Raises:
            StoreError: There is no such effect, or the state is no end; nothing was stored.
        """
        if state is EffectState.RUNNING:
            raise StoreError(f"the effect {key!r} cannot be settled as {state.value!r}: that is no end")
        return self._now().writer.submit(sqlite_effects.settle, key, state, result, entry)

    @property
    def takes_statements(self) -> bool:
        """Yes: in the words of SQLite, with `?` or `:name`."""
        return True

    async def commit_effect(
        self, key: str, result: str, statements: Sequence[Statement], entry: AuditEntry
    ) -> CommitAnswer:
        """Carry out what a tool writes, settle its effect and record it, in one transaction. Durable.

        Raises:
            StoreError: There is no such effect, or nothing could be written; nothing was stored.
        """
        answer: CommitAnswer = await self._now().writer.submit(
            sqlite_effects.commit, key, result, statements, entry, durable=True, takes_long=True
        )
        return answer

    async def find_effect(self, key: str) -> EffectRecord | None:
        """Return the effect of this key, or None.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(lambda execute: sqlite_effects.find_effect(execute, key))

    async def list_effects(
        self, *, states: Sequence[EffectState] = (), run_id: str | None = None, limit: int = 100
    ) -> Sequence[EffectRecord]:
        """Return effects, oldest first.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._scan(lambda it: sqlite_effects.list_effects(it.execute, states, run_id, limit))

    async def usage(self, takes: Sequence[Take], at: datetime) -> Sequence[Decimal]:
        """Return how much of each window is used at a time.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(lambda execute: [sqlite_effects.used(execute, take, at) for take in takes])

    # ── the audit log ─────────────────────────────────────────────────────────────────

    def queue(self, entry: AuditEntry) -> None:
        """Add a record, committed at the latest with the next awaited verb, in order."""
        self._now().writer.queue(entry)

    async def append(self, *entries: AuditEntry) -> None:
        """Add records; committed on return. Calls of one tick of the loop share a commit.

        Raises:
            StoreError: Nothing was added.
        """
        await self._now().writer.append(entries)

    async def read(
        self, *, run_id: str | None = None, principal_id: str | None = None, tool: str | None = None,
        last: int | None = None,
    ) -> AsyncIterator[AuditRecord]:  # fmt: skip
        """Return records in the order of their commits; with `last`, the newest so many of them.

        Raises:
            StoreError: The store cannot be read.
        """
        selection = Selection(run_id, principal_id, tool)
        if last is not None:
            for record in await self._scan(lambda it: sqlite_audit.read_last(it.execute, selection, last)):
                yield record
            return
        number = 0
        while True:
            after = number
            number, records = await self._scan(lambda it: sqlite_audit.read_after(it.execute, selection, after))  # noqa: B023 - awaited before it changes
            if not records:
                return
            for record in records:
                yield record

    async def verify(self, heads: Sequence[AuditHead] = ()) -> AuditVerification:
        """Look at every record of every chain; with heads from outside, a cut tail shows too.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._scan(lambda connection: sqlite_audit.verify(connection, self._key, heads))

    async def heads(self) -> Sequence[AuditHead]:
        """Return the last record of every chain.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._scan(lambda connection: sqlite_audit.find_heads(connection.execute))

    # ── the rest ──────────────────────────────────────────────────────────────────────

    def state_principal(self, principal: Principal) -> None:
        """Queue what the host application says of a principal.

        Raises:
            StoreError: Its attributes are no JSON, or the store is not open.
        """
        row = principal_row(principal)
        self._principals_queued = self._now().writer.queue(Queued(_execute, (_STATE_PRINCIPAL, row)))

    async def find_principal(self, principal_id: str) -> Principal | None:
        """Return what was last said of a principal, or None.

        Raises:
            StoreError: The store cannot be read.
        """
        row = await self._read(
            lambda execute: execute(_FIND_PRINCIPAL, (principal_id,)).fetchone(), self._principals_queued
        )
        return None if row is None else read_principal(row)

    async def is_demo(self) -> bool:
        """Return whether the store is marked as a demo.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(lambda execute: execute(_IS_DEMO).fetchone() is not None)

    async def mark_demo(self) -> None:
        """Mark the store as a demo, for good.

        Raises:
            StoreError: It is not marked.
        """
        await self._now().writer.submit(_execute, _MARK_DEMO, durable=True)
