"""Runs in SQLite: one owner at a time, under a lease with a fencing number."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from placet.errors import LeaseLostError, StoreError
from placet.ports import StoredRun
from placet.stores.rows import APPROVAL_COLUMNS, PURGED_AT_ONCE, RUN_COLUMNS, Row, read_run
from placet.stores.selection import conditions
from placet.stores.sqlite_transaction import Execute, Transaction
from placet.values.audit import AuditEntry, microseconds
from placet.values.effect import Lease
from placet.values.run import RunStatus

_ADD_RUN: Final = """
    INSERT INTO run (id, agent, principal_id, status, parent, owner, fence, lease_until, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING
    RETURNING number
"""
_ADD_SNAPSHOT: Final = "INSERT INTO run_snapshot (run, snapshot) VALUES (?, ?)"
_ADD_ENTRY: Final = """
    INSERT INTO run_journal (run, place, entry)
    SELECT number, (SELECT coalesce(max(place), 0) + 1 FROM run_journal WHERE run = number), ?
    FROM run WHERE id = ? AND owner = ? AND fence = ? AND status = 'running'
"""
_ADD_APPROVAL: Final = f"INSERT INTO approval ({APPROVAL_COLUMNS}) VALUES ({', '.join('?' * 22)})"  # noqa: S608 - our own words
FIND_OWNED: Final = "SELECT number, woken FROM run WHERE id = ? AND owner = ? AND fence = ? AND status = 'running'"
_END_SEGMENT: Final = """
    UPDATE run SET status = ?, owner = '', lease_until = NULL, woken = 0, updated_at = ? WHERE number = ?
"""
_CLAIM_RUN: Final = """
    UPDATE run
    SET status = 'running', owner = ?, fence = fence + 1, lease_until = ?, woken = 0, updated_at = ?
    WHERE id = ? AND (status = 'ready' OR status = 'running' AND coalesce(lease_until, 0) <= ?)
    RETURNING fence
"""
_DOUBT_EFFECTS: Final = """
    UPDATE effect INDEXED BY effect_in_doubt SET state = 'unknown'
    WHERE state IN ('running', 'unknown') AND state = 'running' AND run_id = ?
"""
_RENEW: Final = """
    UPDATE run SET lease_until = ? WHERE id = ? AND owner = ? AND fence = ? AND status = 'running' RETURNING fence
"""
_WAKE: Final = """
    UPDATE run
    SET woken = (status = 'running'), updated_at = ?, status = iif(status = 'waiting', 'ready', status)
    WHERE id = ? AND status IN ('waiting', 'running')
"""
_ENDED: Final = """
    SELECT number, id FROM run WHERE status IN ('done', 'stopped') AND updated_at < ? ORDER BY number LIMIT ?
"""
_PURGE: Final = (
    "DELETE FROM run_journal WHERE run IN (SELECT value FROM json_each(:numbers))",
    "DELETE FROM run_snapshot WHERE run IN (SELECT value FROM json_each(:numbers))",
    "DELETE FROM run WHERE number IN (SELECT value FROM json_each(:numbers))",
    """
    UPDATE approval SET arguments = '{}', preview = NULL, provenance = '{}', note = NULL
    WHERE run_id IN (SELECT value FROM json_each(:ids))
    """,
    """
    UPDATE effect SET result = NULL
    WHERE state IN ('done', 'failed') AND result IS NOT NULL AND run_id IN (SELECT value FROM json_each(:ids))
    """,
)
_FIND_RUN: Final = f"SELECT {RUN_COLUMNS}, number FROM run JOIN run_snapshot ON run = number WHERE id = ?"  # noqa: S608 - our own words
_JOURNAL: Final = "SELECT entry FROM run_journal WHERE run = ? ORDER BY place"


def open_run(transaction: Transaction, run: StoredRun, lease: Lease) -> None:
    """Store a new run, owned by its lease. A run of this id that exists stays as it is."""
    added = transaction.execute(
        _ADD_RUN,
        (
            run.id, run.agent, run.principal_id, run.status.value, run.parent, lease.owner, lease.fence,
            microseconds(lease.until), microseconds(run.created_at), microseconds(run.updated_at),
        ),
    ).fetchone()  # fmt: skip
    if added is not None:
        transaction.execute(_ADD_SNAPSHOT, (added[0], run.snapshot))
        for entry in run.journal:
            add_to_journal(transaction, lease, entry)


def add_to_journal(transaction: Transaction, lease: Lease, entry: str) -> None:
    """Store what has happened in a run; dropped when the lease no longer holds."""
    transaction.execute(_ADD_ENTRY, (entry, lease.run_id, lease.owner, lease.fence))


def suspend_run(
    transaction: Transaction, lease: Lease, snapshot: str, approvals: Sequence[Row], entries: Sequence[AuditEntry],
    at: datetime,
) -> RunStatus:  # fmt: skip
    """Store snapshot, new approvals (as rows) and records together, and give the lease back.

    Raises:
        LeaseLostError: Another worker owns the run; nothing was stored.
        StoreError: There is an approval of one of these ids already; nothing was stored.
    """
    number, woken = _own(transaction, lease)
    for row in approvals:
        if transaction.execute("SELECT 1 FROM approval WHERE id = ?", row[:1]).fetchone():
            raise StoreError(f"there is an approval {row[0]!r} already; nothing was stored")
    status = RunStatus.READY if woken else RunStatus.WAITING
    _end_segment(transaction, number, status, snapshot, at)
    for row in approvals:
        transaction.execute(_ADD_APPROVAL, row)
    for entry in entries:
        transaction.record(entry)
    return status


def close_run(
    transaction: Transaction, lease: Lease, status: RunStatus, snapshot: str, entries: Sequence[AuditEntry],
    at: datetime,
) -> None:  # fmt: skip
    """Store that a run has ended, and give the lease back."""
    number, _ = _own(transaction, lease)
    _end_segment(transaction, number, status, snapshot, at)
    for entry in entries:
        transaction.record(entry)


def claim_run(
    transaction: Transaction, run_id: str, owner: str, at: datetime, ttl: timedelta
) -> tuple[Lease, StoredRun] | None:
    """Take over a run that is ready or whose lease has run out; its running effects become unknown.

    Raises:
        StoreError: The run has no snapshot, as only a change from outside can leave it.
    """
    until, now = at + ttl, microseconds(at)
    taken = transaction.execute(_CLAIM_RUN, (owner, microseconds(until), now, run_id, now)).fetchone()
    if taken is None:
        return None
    transaction.execute(_DOUBT_EFFECTS, (run_id,))
    run = find_run(transaction.execute, run_id)
    if run is None:
        raise StoreError(f"run {run_id!r} has no snapshot; the store has been changed from outside")
    return Lease(run_id=run_id, owner=owner, fence=taken[0], until=until), run


def renew_lease(transaction: Transaction, lease: Lease, until: datetime) -> Lease | None:
    """Return the longer lease, or None when somebody else owns the run."""
    row = (microseconds(until), lease.run_id, lease.owner, lease.fence)
    if transaction.execute(_RENEW, row).fetchone() is None:
        return None
    return Lease(run_id=lease.run_id, owner=lease.owner, fence=lease.fence, until=until)


def wake_run(transaction: Transaction, run_id: str, at: datetime) -> None:
    """Make the run ready when it waits; when it is running, let it know as it suspends."""
    transaction.execute(_WAKE, (microseconds(at), run_id))


def purge_runs(transaction: Transaction, before: datetime, entry: AuditEntry) -> int:
    """Forget what some runs have said and done that ended before a time; return how many."""
    ended = transaction.execute(_ENDED, (microseconds(before), PURGED_AT_ONCE)).fetchall()
    if ended:
        numbers, ids = zip(*ended, strict=True)
        transaction.execute("PRAGMA secure_delete = ON")  # what was there is overwritten, not only let go of
        for statement in _PURGE:
            named = {"numbers": json.dumps(numbers), "ids": json.dumps(ids)}
            transaction.execute(statement, {name: value for name, value in named.items() if f":{name}" in statement})
        transaction.execute("PRAGMA secure_delete = OFF")
        transaction.record(entry)
    return len(ended)


def find_run(execute: Execute, run_id: str) -> StoredRun | None:
    """Return the run with its journal, or None."""
    row = execute(_FIND_RUN, (run_id,)).fetchone()
    if row is None:
        return None
    return read_run(row[:-1], [entry for (entry,) in execute(_JOURNAL, (row[-1],)).fetchall()])


def list_runs(
    execute: Execute, statuses: Sequence[RunStatus], principal_id: str | None, limit: int
) -> Sequence[StoredRun]:
    """Return runs, newest first, without their journals."""
    where, values = conditions(("status", statuses), ("principal_id", principal_id))
    sql = f"SELECT {RUN_COLUMNS} FROM run JOIN run_snapshot ON run = number{where} ORDER BY number DESC LIMIT ?"  # noqa: S608 - our own words
    return [read_run(row) for row in execute(sql, (*values, limit)).fetchall()]


def _own(transaction: Transaction, lease: Lease) -> tuple[int, bool]:
    row = transaction.execute(FIND_OWNED, (lease.run_id, lease.owner, lease.fence)).fetchone()
    if row is None:
        raise LeaseLostError(f"run {lease.run_id!r} is not owned by {lease.owner!r} any more; nothing was stored")
    return row[0], bool(row[1])


def _end_segment(transaction: Transaction, number: int, status: RunStatus, snapshot: str, at: datetime) -> None:
    transaction.execute(_END_SEGMENT, (status.value, microseconds(at), number))
    transaction.execute("UPDATE run_snapshot SET snapshot = ? WHERE run = ?", (snapshot, number))
    transaction.execute("DELETE FROM run_journal WHERE run = ?", (number,))
