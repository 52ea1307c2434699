"""Verbs that have a transaction to themselves: each arrow is one conditional statement.

They look at rows that they cannot name beforehand (the run of an approval, the effects of a
run, what has expired). Each locks what it is about to touch before it touches anything.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from psycopg import Error as DatabaseError

from placet.errors import StoreError
from placet.ports import NotDecided, StoredRun
from placet.stores.judgement import IN_DOUBT, expiry_entry, judge_decision
from placet.stores.postgres_connection import Connection, lock
from placet.stores.postgres_reads import find_approval, find_effect, find_run
from placet.stores.rows import APPROVAL_COLUMNS, PURGED_AT_ONCE, read_approval
from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, microseconds
from placet.values.decision import Reason
from placet.values.effect import AlreadyDone, CommitAnswer, Committed, Lease, NotCommitted, Statement

_CLAIM_RUN: Final = """
    UPDATE placet.run
    SET status = 'running', owner = %s, fence = fence + 1, lease_until = %s, woken = false, updated_at = %s
    WHERE id = %s AND (status = 'ready' OR status = 'running' AND coalesce(lease_until, 0) <= %s)
    RETURNING fence
"""
_DOUBT_EFFECTS: Final = """
    UPDATE placet.effect SET state = 'unknown'
    WHERE state IN ('running', 'unknown') AND state = 'running' AND run_id = %s
"""
_RUN_OF: Final = "SELECT run_id FROM placet.approval WHERE id = %s"
_DECIDE: Final = f"""
    UPDATE placet.approval
    SET status = %s, decided_by = %s, decided_at = %s, note = %s, note_for_model = %s,
        arguments = coalesce(%s, arguments), digest = coalesce(%s, digest)
    WHERE id = %s AND status = 'pending' AND expires_at > %s
    RETURNING {APPROVAL_COLUMNS}
"""  # noqa: S608 - our own words
_EXPIRE: Final = f"""
    UPDATE placet.approval SET status = 'expired' WHERE id = %s AND status = 'pending' AND expires_at <= %s
    RETURNING {APPROVAL_COLUMNS}
"""  # noqa: S608 - our own words
_LATE: Final = """
    SELECT id, run_id FROM placet.approval WHERE status = 'pending' AND expires_at <= %s ORDER BY number LIMIT 1000
"""
_VOID: Final = "UPDATE placet.approval SET status = 'void' WHERE id = %s AND status = 'approved' RETURNING id"
_WAKE: Final = """
    UPDATE placet.run
    SET woken = (status = 'running'), updated_at = %s,
        status = CASE status WHEN 'waiting' THEN 'ready' ELSE status END
    WHERE id = %s AND status IN ('waiting', 'running')
"""
AGAIN: Final = (None, "40001", "40P01", "57P01")
"""SQLSTATEs after which the same transaction may do: no connection, a lost race, a deadlock, a server that ends."""

_PATIENCE: Final = "SELECT set_config('lock_timeout', '2s', true), set_config('statement_timeout', '5s', true)"
"""All that a store writes waits for a tool's statements, so they must not wait for long themselves."""

_ENDED: Final = """
    SELECT id FROM placet.run WHERE status IN ('done', 'stopped') AND updated_at < %s ORDER BY number LIMIT %s
"""
_PURGE: Final = (
    "DELETE FROM placet.run_journal WHERE run_id = ANY(%s)",
    "DELETE FROM placet.run_snapshot WHERE run_id = ANY(%s)",
    """
    UPDATE placet.approval SET arguments = '{}', preview = NULL, provenance = '{}', note = NULL WHERE run_id = ANY(%s)
    """,
    """
    UPDATE placet.effect SET result = NULL
    WHERE state IN ('done', 'failed') AND result IS NOT NULL AND run_id = ANY(%s)
    """,
)
_PURGE_RUNS: Final = "DELETE FROM placet.run WHERE id = ANY(%s)"
_SETTLE_DONE: Final = (
    "UPDATE placet.effect SET state = 'done', result = %s WHERE key = %s AND state IN ('running', 'unknown')"
)
_MARK_DEMO: Final = "INSERT INTO placet.mark (name, value) VALUES ('demo', '1') ON CONFLICT (name) DO NOTHING"

Record: TypeAlias = Callable[[AuditEntry], None]
"""Takes a record that is stored with the transaction."""


async def claim_run(
    connection: Connection, run_id: str, owner: str, at: datetime, ttl: timedelta
) -> tuple[Lease, StoredRun] | None:
    """Take over a run that is ready or whose lease has run out; its running effects become unknown."""
    await lock(connection, f"run {run_id}")
    until, now = at + ttl, microseconds(at)
    cursor = await connection.execute(_CLAIM_RUN, (owner, microseconds(until), now, run_id, now))
    taken = await cursor.fetchone()
    if taken is None:
        return None
    await connection.execute(_DOUBT_EFFECTS, (run_id,))
    run = await find_run(connection, run_id)
    return None if run is None else (Lease(run_id=run_id, owner=owner, fence=taken[0], until=until), run)


async def purge_runs(connection: Connection, record: Record, before: datetime, entry: AuditEntry) -> int:
    """Forget what some runs have said and done that ended before a time; return how many."""
    cursor = await connection.execute(_ENDED, (microseconds(before), PURGED_AT_ONCE))
    ids = [run_id for (run_id,) in await cursor.fetchall()]
    if not ids:
        return 0
    await lock(connection, *(f"run {run_id}" for run_id in ids))
    for statement in _PURGE:
        await connection.execute(statement, (ids,))
    gone = (await connection.execute(_PURGE_RUNS, (ids,))).rowcount
    if gone:
        record(entry)
    return gone


async def decide_approval(
    connection: Connection, record: Record, decision: ApprovalDecision, arguments: str | None, entry: AuditEntry
) -> ApprovalRequest | NotDecided:
    """Take a person's yes or no, once, and make the run that waits ready.

    Args:
        connection: In a transaction.
        record: Takes what is recorded.
        decision: What the person said.
        arguments: The edited arguments in their canonical text, or None.
        entry: What is recorded when it is taken.
    """
    run_of = await (await connection.execute(_RUN_OF, (decision.approval_id,))).fetchone()
    if run_of is None:
        return NotDecided(Reason.NOT_FOUND)
    await lock(connection, f"approval {decision.approval_id}", f"run {run_of[0]}")
    status = ApprovalStatus.APPROVED if decision.yes else ApprovalStatus.REJECTED
    now = microseconds(decision.at)
    cursor = await connection.execute(
        _DECIDE,
        (
            status.value, decision.by, now, decision.note, int(decision.note_for_model), arguments, decision.digest,
            decision.approval_id, now,
        ),
    )  # fmt: skip
    taken = await cursor.fetchone()
    if taken is not None:
        await connection.execute(_WAKE, (now, run_of[0]))
        record(entry)
        return read_approval(taken)
    await _expire(connection, record, decision.approval_id, decision.at)
    known = await find_approval(connection, decision.approval_id, None)
    refused = None if known is None else judge_decision(known, decision)
    return refused or NotDecided(Reason.NOT_FOUND)


async def expire_approvals(connection: Connection, record: Record, at: datetime) -> Sequence[ApprovalRequest]:
    """Mark what waits past its expiry as expired, record it, make its run ready; return it."""
    late = await (await connection.execute(_LATE, (microseconds(at),))).fetchall()
    await lock(connection, *(f"approval {row[0]}" for row in late), *(f"run {row[1]}" for row in late))
    expired = [await _expire(connection, record, approval_id, at) for approval_id, _ in late]
    return [request for request in expired if request is not None]


async def void_approval(connection: Connection, record: Record, approval_id: str, entry: AuditEntry) -> None:
    """Mark an approved request as void and record it; any other stays as it is."""
    await lock(connection, f"approval {approval_id}")
    if await (await connection.execute(_VOID, (approval_id,))).fetchone() is not None:
        record(entry)


async def commit_effect(
    connection: Connection,
    record: Record,
    key: str,
    result: str,
    statements: Sequence[Statement],
    entry: AuditEntry,
) -> CommitAnswer:
    """Carry out what a tool writes, and settle its effect as done; or nothing of it.

    Raises:
        StoreError: There is no such effect; nothing was stored.
    """
    await lock(connection, f"effect {key}")
    known = await find_effect(connection, key)
    if known is None:
        raise StoreError(f"the effect {key!r} cannot be settled: there is none; nothing was stored")
    if known.state not in IN_DOUBT:
        return AlreadyDone(known)
    await connection.execute("SAVEPOINT tool")
    await connection.execute(_PATIENCE)
    refused = await _write(connection, statements)
    if refused is not None:
        await connection.execute("ROLLBACK TO SAVEPOINT tool")
        return refused
    await connection.execute(_SETTLE_DONE, (result, key))
    record(entry)
    return Committed()


async def _write(connection: Connection, statements: Sequence[Statement]) -> NotCommitted | None:
    for statement in statements:
        try:
            # `binary` asks for the extended protocol, in which one text is one statement.
            cursor = await connection.execute(statement.sql.encode(), statement.parameters or None, binary=True)
            changed = cursor.rowcount
        except DatabaseError as error:
            if error.sqlstate in AGAIN:  # the whole may be tried again
                raise
            return NotCommitted(detail=f"{error.sqlstate}: {error} in {statement.sql!r}")
        if statement.rows is not None and changed != statement.rows:
            detail = f"{changed} rows instead of {statement.rows} in {statement.sql!r}"
            return NotCommitted(statement.otherwise, detail)
    return None


async def mark_demo(connection: Connection) -> None:
    """Mark the store as a demo."""
    await connection.execute(_MARK_DEMO)


async def _expire(connection: Connection, record: Record, approval_id: str, at: datetime) -> ApprovalRequest | None:
    row = await (await connection.execute(_EXPIRE, (approval_id, microseconds(at)))).fetchone()
    if row is None:
        return None
    expired = read_approval(row)
    await connection.execute(_WAKE, (microseconds(at), expired.run_id))
    record(expiry_entry(expired, at))
    return expired
