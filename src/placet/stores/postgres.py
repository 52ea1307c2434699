"""PostgresStore: one database that several machines share.

Everything that a verb promises is committed when it returns, and as durable as the server's
`synchronous_commit` makes it. Whoever takes something takes the advisory locks of all that it
touches first, in one order, so that writers can wait for each other but never in a circle.

It needs the extra `postgres`. The tables lie in the schema `placet`; a role that may make it
is needed once, at the first opening after an upgrade.
"""

import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TypeVar

from placet.errors import ConfigurationError, StoreError
from placet.ports import AuditHead, NotDecided, StoredRun
from placet.stores import postgres_alone, postgres_connection, postgres_reads
from placet.stores.chain import Chain
from placet.stores.postgres_batch import Operation
from placet.stores.postgres_connection import Connection, Pool, make_pool, mapped, migrate
from placet.stores.postgres_reads import Usage, find_usages
from placet.stores.postgres_runs import RunReader
from placet.stores.postgres_together import Together
from placet.stores.postgres_writer import PostgresWriter
from placet.stores.rows import PURGED_AT_ONCE, approval_row, json_text, principal_row
from placet.stores.selection import Selection
from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, AuditRecord, AuditVerification
from placet.values.effect import Claim, ClaimAnswer, CommitAnswer, EffectRecord, EffectState, Lease, Statement, Take
from placet.values.principal import Principal
from placet.values.run import RunStatus

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Open:
    """What a store has while it is open, in one process."""

    pid: int
    pool: Pool
    writer: PostgresWriter
    runs: RunReader
    usages: Together[Usage, Sequence[Decimal]]


class PostgresStore:
    """Remembers all that placet needs to, in PostgreSQL.

    It belongs to the event loop in which it is opened. After a fork the child opens a store of
    its own.

    Args:
        url: `postgresql://user:password@host/database`, or whatever libpq takes.
        key: The audit key, from outside the store.
        pool_size: Connections at most; one of them writes.

    Raises:
        ConfigurationError: The URL cannot be read, or the key is shorter than 16 bytes.
    """

    def __init__(self, url: str, *, key: bytes, pool_size: int = 4) -> None:
        if len(key) < 16:
            raise ConfigurationError("the audit key must have at least 16 bytes: secrets.token_bytes(32)")
        if pool_size < 2:
            raise ConfigurationError(f"a pool of {pool_size} cannot read while it writes; give it at least 2")
        make_pool(url, pool_size)
        self._url = url
        self._key = key
        self._pool_size = pool_size
        self._open: _Open | None = None
        self._runs_queued = 0
        self._principals_queued = 0

    @property
    def lost(self) -> int:
        """How many queued entries could not be written. Each loss was logged and raised by a verb."""
        return self._open.writer.lost if self._open else 0

    async def open(self) -> None:
        """Connect, and migrate the schema forward.

        Raises:
            StoreVersionError: It was written by a newer placet.
            StoreError: It cannot be opened.
        """
        if self._open is not None and self._open.pid == os.getpid():
            return
        pool = make_pool(self._url, self._pool_size)
        try:
            with mapped("opened"):
                await pool.open(wait=True, timeout=postgres_connection.PATIENCE)
                async with pool.connection() as connection:
                    await migrate(connection)
                    frontier = await postgres_reads.find_frontier(connection)
        except BaseException:
            await pool.close()
            raise
        writer = PostgresWriter(pool, Chain(self._key, f"postgres_{secrets.token_hex(8)}"), frontier)
        self._open = _Open(os.getpid(), pool, writer, RunReader(pool, writer), Together(pool, find_usages))
        self._runs_queued = self._principals_queued = 0

    async def close(self) -> None:
        """Commit what is queued and disconnect.

        Raises:
            StoreError: What was queued could not be written. It is disconnected nevertheless.
        """
        if self._open is None:
            return
        now, self._open = self._now(), None
        try:
            await now.writer.submit(None)
        finally:
            await now.pool.close()

    def _now(self) -> _Open:
        """Return what is open in this process."""
        if self._open is None:
            raise StoreError("the PostgreSQL store is not open: await store.open()")
        if self._open.pid != os.getpid():
            raise StoreError("the PostgreSQL store was opened before a fork: await store.open() in the child")
        return self._open

    async def _read(self, query: Callable[[Connection], Awaitable[T]], after: int = 0) -> T:
        """Return what a question finds.

        Args:
            query: The question.
            after: The ticket of what was queued and would change the answer.
        """
        now = self._now()
        if not now.writer.has_done(after):
            await now.writer.submit(None)
        with mapped("read"):
            async with now.pool.connection() as connection:
                return await query(connection)

    async def _read_log(self, query: Callable[[Connection], Awaitable[T]]) -> T:
        """Return what a question to the audit log finds, after all that was asked for before."""
        now = self._now()
        if not now.writer.is_idle:
            await now.writer.submit(None)
        return await self._read(query)

    # ── runs ──────────────────────────────────────────────────────────────────────────

    def open_run(self, run: StoredRun, lease: Lease) -> None:
        """Queue a new run, owned by its lease. A run of this id that exists stays as it is."""
        self._queue_in(
            run.id,
            Operation(
                apply=lambda state: state.open_run(run, lease), runs=(run.id,), opens=run.id, can_be_guessed=True
            ),
        )

    def journal(self, lease: Lease, entry: str) -> None:
        """Queue what has happened in a run; dropped when the lease no longer holds."""
        self._queue_in(
            lease.run_id,
            Operation(
                apply=lambda state: state.add_to_journal(lease, entry),
                runs=(lease.run_id,),
                lease=lease,
                can_be_guessed=True,
            ),
        )

    def _queue_in(self, run_id: str, operation: Operation) -> None:
        now = self._now()
        self._runs_queued = now.writer.queue(operation)
        now.runs.note(run_id, self._runs_queued)

    async def suspend_run(
        self, lease: Lease, snapshot: str, approvals: Sequence[ApprovalRequest], entries: Sequence[AuditEntry],
        at: datetime,
    ) -> RunStatus:  # fmt: skip
        """Store snapshot, new approvals and records together, and give the lease back.

        Returns:
            `WAITING`; or `READY` when a request of the run was decided while it was running.

        Raises:
            LeaseLostError: Somebody else owns the run; nothing was stored.
            StoreError: Nothing was stored.
        """
        for request in approvals:
            # What is no JSON is found before anything is asked for.
            approval_row(request)
        status: RunStatus = await self._now().writer.submit(
            Operation(
                apply=lambda state: state.suspend_run(lease, snapshot, approvals, entries, at),
                runs=(lease.run_id,),
                approvals=tuple(request.id for request in approvals),
            )
        )
        return status

    async def close_run(
        self, lease: Lease, status: RunStatus, snapshot: str, entries: Sequence[AuditEntry], at: datetime
    ) -> None:
        """Store that a run has ended, and give the lease back.

        Raises:
            LeaseLostError: Somebody else owns the run; nothing was stored.
            StoreError: Nothing was stored.
        """
        await self._now().writer.submit(
            Operation(
                apply=lambda state: state.close_run(lease, status, snapshot, entries, at),
                runs=(lease.run_id,),
                lease=lease,
                can_be_guessed=True,
            )
        )

    async def claim_run(self, run_id: str, owner: str, at: datetime, ttl: timedelta) -> tuple[Lease, StoredRun] | None:
        """Take over a run that is ready or whose lease has run out; its running effects become unknown.

        Raises:
            StoreError: Nothing was taken.
        """
        claimed: tuple[Lease, StoredRun] | None = await self._now().writer.submit(
            lambda connection, _: postgres_alone.claim_run(connection, run_id, owner, at, ttl)
        )
        return claimed

    async def renew_lease(self, lease: Lease, until: datetime) -> Lease | None:
        """Return the longer lease, or None when somebody else owns the run.

        Raises:
            StoreError: The lease is what it was.
        """
        renewed: Lease | None = await self._now().writer.submit(
            Operation(apply=lambda state: state.renew_lease(lease, until), runs=(lease.run_id,))
        )
        return renewed

    async def load_run(self, run_id: str) -> StoredRun | None:
        """Return the run with its journal, or None.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._now().runs.find(run_id)

    async def list_runs(
        self, *, statuses: Sequence[RunStatus] = (), principal_id: str | None = None, limit: int = 100
    ) -> Sequence[StoredRun]:
        """Return runs, newest first, without their journals.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(
            lambda connection: postgres_reads.list_runs(connection, statuses, principal_id, limit), self._runs_queued
        )

    async def purge_runs(self, before: datetime, entry: AuditEntry) -> int:
        """Forget what runs have said and done that ended before a time; return how many.

        Raises:
            StoreError: The step that failed has forgotten nothing; those before it have.
        """
        purged = 0
        while True:
            step: int = await self._now().writer.submit(
                lambda connection, record: postgres_alone.purge_runs(connection, record, before, entry)
            )
            purged += step
            if step < PURGED_AT_ONCE:
                return purged

    # ── approvals ─────────────────────────────────────────────────────────────────────

    async def decide_approval(self, decision: ApprovalDecision, entry: AuditEntry) -> ApprovalRequest | NotDecided:
        """Take a person's yes or no, once, and make the run that waits ready.

        Raises:
            StoreError: Nothing was decided.
        """
        arguments = None if decision.arguments is None else json_text(dict(decision.arguments))
        answer: ApprovalRequest | NotDecided = await self._now().writer.submit(
            lambda connection, record: postgres_alone.decide_approval(connection, record, decision, arguments, entry)
        )
        return answer

    async def find_approval(self, *, id: str | None = None, token_hash: str | None = None) -> ApprovalRequest | None:  # noqa: A002 - the port's word
        """Return the request with this id, or with this token's hash, or None.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(lambda connection: postgres_reads.find_approval(connection, id, token_hash))

    async def list_approvals(
        self, *, run_id: str | None = None, statuses: Sequence[ApprovalStatus] = (), limit: int = 100
    ) -> Sequence[ApprovalRequest]:
        """Return requests, oldest first, without the hashes of their tokens.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(lambda connection: postgres_reads.list_approvals(connection, run_id, statuses, limit))

    async def expire_approvals(self, at: datetime) -> Sequence[ApprovalRequest]:
        """Mark what waits past its expiry as expired, record it, make its run ready; return it.

        Raises:
            StoreError: Nothing was marked.
        """
        expired: Sequence[ApprovalRequest] = await self._now().writer.submit(
            lambda connection, record: postgres_alone.expire_approvals(connection, record, at)
        )
        return expired

    async def void_approval(self, approval_id: str, entry: AuditEntry) -> None:
        """Mark an approved request as void and record it; any other stays as it is.

        Raises:
            StoreError: The request is what it was.
        """
        await self._now().writer.submit(
            lambda connection, record: postgres_alone.void_approval(connection, record, approval_id, entry)
        )

    # ── effects and limits ────────────────────────────────────────────────────────────

    def claim(self, claim: Claim) -> Awaitable[ClaimAnswer]:
        """Take all that a call needs, or nothing.

        Raises:
            StoreError: Nothing was taken.
        """
        return self._now().writer.submit(
            Operation(apply=lambda state: state.claim(claim), claim=claim, lease=claim.lease, can_be_guessed=True)
        )

    def settle(self, key: str, state: EffectState, result: str | None, entry: AuditEntry) -> Awaitable[None]:
        """Store how an effect ended, with its record.

        Raises:
            StoreError: There is no such effect, or the state is no end; nothing was stored.
        """
        return self._now().writer.submit(
            Operation(apply=lambda now: now.settle(key, state, result, entry), effects=(key,), can_be_guessed=True)
        )

    @property
    def takes_statements(self) -> bool:
        """Yes: in the words of PostgreSQL, with `%s` or `%(name)s`."""
        return True

    async def commit_effect(
        self, key: str, result: str, statements: Sequence[Statement], entry: AuditEntry
    ) -> CommitAnswer:
        """Carry out what a tool writes, settle its effect and record it, in one transaction.

        Raises:
            StoreError: There is no such effect, nothing was stored, or nobody knows; the ledger tells.
        """
        answer: CommitAnswer = await self._now().writer.submit(
            lambda connection, record: postgres_alone.commit_effect(connection, record, key, result, statements, entry)
        )
        return answer

    async def find_effect(self, key: str) -> EffectRecord | None:
        """Return the effect of this key, or None.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(lambda connection: postgres_reads.find_effect(connection, key))

    async def list_effects(
        self, *, states: Sequence[EffectState] = (), run_id: str | None = None, limit: int = 100
    ) -> Sequence[EffectRecord]:
        """Return effects, oldest first.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(lambda connection: postgres_reads.list_effects(connection, states, run_id, limit))

    async def usage(self, takes: Sequence[Take], at: datetime) -> Sequence[Decimal]:
        """Return how much of each window is used at a time.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._now().usages.ask((takes, at))

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
            for record in await self._read_log(lambda it: postgres_reads.read_last(it, selection, last)):
                yield record
            return
        number = 0
        while True:
            after = number
            number, records = await self._read_log(lambda it: postgres_reads.read_after(it, selection, after))  # noqa: B023 - awaited before it changes
            if not records:
                return
            for record in records:
                yield record

    async def verify(self, heads: Sequence[AuditHead] = ()) -> AuditVerification:
        """Look at every record of every chain; with heads from outside, a cut tail shows too.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read_log(lambda connection: postgres_reads.verify(connection, self._key, heads))

    async def heads(self) -> Sequence[AuditHead]:
        """Return the last record of every chain.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read_log(postgres_reads.find_heads)

    # ── the rest ──────────────────────────────────────────────────────────────────────

    def state_principal(self, principal: Principal) -> None:
        """Queue what the host application says of a principal.

        Raises:
            StoreError: Its attributes are no JSON, or the store is not open.
        """
        row = principal_row(principal)
        self._principals_queued = self._now().writer.queue(Operation(principal=row, can_be_guessed=True))

    async def find_principal(self, principal_id: str) -> Principal | None:
        """Return what was last said of a principal, or None.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(
            lambda connection: postgres_reads.find_principal(connection, principal_id), self._principals_queued
        )

    async def is_demo(self) -> bool:
        """Return whether the store is marked as a demo.

        Raises:
            StoreError: The store cannot be read.
        """
        return await self._read(postgres_reads.is_demo)

    async def mark_demo(self) -> None:
        """Mark the store as a demo, for good.

        Raises:
            StoreError: It is not marked.
        """
        await self._now().writer.submit(lambda connection, _: postgres_alone.mark_demo(connection))
