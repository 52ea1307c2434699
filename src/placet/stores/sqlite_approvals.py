"""Approvals in SQLite: each arrow of their status is one conditional statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from placet.ports import NotDecided
from placet.stores.judgement import expiry_entry, judge_decision
from placet.stores.rows import APPROVAL_COLUMNS, read_approval
from placet.stores.selection import conditions
from placet.stores.sqlite_runs import wake_run
from placet.stores.sqlite_transaction import Execute, Transaction
from placet.values.approval import ApprovalDecision, ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, microseconds
from placet.values.decision import Reason

FIND_APPROVAL: Final = f"SELECT {APPROVAL_COLUMNS} FROM approval WHERE id = ?"  # noqa: S608 - our own words
_FIND_BY_TOKEN: Final = f"SELECT {APPROVAL_COLUMNS} FROM approval WHERE token_hash = ?"  # noqa: S608 - our own words
_DECIDE: Final = f"""
    UPDATE approval
    SET status = ?, decided_by = ?, decided_at = ?, note = ?, note_for_model = ?,
        arguments = coalesce(?, arguments), digest = coalesce(?, digest)
    WHERE id = ? AND status = 'pending' AND expires_at > ?
    RETURNING {APPROVAL_COLUMNS}
"""  # noqa: S608 - our own words
_EXPIRE: Final = f"""
    UPDATE approval SET status = 'expired' WHERE id = ? AND status = 'pending' RETURNING {APPROVAL_COLUMNS}
"""  # noqa: S608 - our own words
_LATE: Final = "SELECT id FROM approval WHERE status = 'pending' AND expires_at <= ? ORDER BY number"
_VOID: Final = "UPDATE approval SET status = 'void' WHERE id = ? AND status = 'approved' RETURNING id"


def decide_approval(
    transaction: Transaction, decision: ApprovalDecision, arguments: str | None, entry: AuditEntry
) -> ApprovalRequest | NotDecided:
    """Take a person's yes or no, once, and make the run that waits ready.

    Args:
        transaction: In which it is taken.
        decision: What the person said.
        arguments: The edited arguments in their canonical text, or None.
        entry: What is recorded when it is taken.
    """
    status = ApprovalStatus.APPROVED if decision.yes else ApprovalStatus.REJECTED
    now = microseconds(decision.at)
    taken = transaction.execute(
        _DECIDE,
        (
            status.value, decision.by, now, decision.note, int(decision.note_for_model), arguments, decision.digest,
            decision.approval_id, now,
        ),
    ).fetchone()  # fmt: skip
    if taken is not None:
        request = read_approval(taken)
        wake_run(transaction, request.run_id, decision.at)
        transaction.record(entry)
        return request
    known = find_approval(transaction.execute, decision.approval_id, None)
    if known is None:
        return NotDecided(Reason.NOT_FOUND)
    if known.status is ApprovalStatus.PENDING:
        _expire(transaction, known.id, decision.at)
    return judge_decision(known, decision) or NotDecided(Reason.APPROVAL_USED, known.status)


def expire_approvals(transaction: Transaction, at: datetime) -> Sequence[ApprovalRequest]:
    """Mark what waits past its expiry as expired, record it, make its run ready; return it."""
    late = transaction.execute(_LATE, (microseconds(at),)).fetchall()
    return [_expire(transaction, approval_id, at) for (approval_id,) in late]


def void_approval(transaction: Transaction, approval_id: str, entry: AuditEntry) -> None:
    """Mark an approved request as void and record it; any other stays as it is."""
    if transaction.execute(_VOID, (approval_id,)).fetchone() is not None:
        transaction.record(entry)


def find_approval(execute: Execute, approval_id: str | None, token_hash: str | None) -> ApprovalRequest | None:
    """Return the request with this id, or with this token's hash, or None."""
    found = execute(FIND_APPROVAL, (approval_id,)) if approval_id else execute(_FIND_BY_TOKEN, (token_hash,))
    row = found.fetchone()
    return None if row is None else read_approval(row)


def list_approvals(
    execute: Execute, run_id: str | None, statuses: Sequence[ApprovalStatus], limit: int
) -> Sequence[ApprovalRequest]:
    """Return requests, oldest first, without the hashes of their tokens."""
    where, values = conditions(("run_id", run_id), ("status", statuses))
    columns = APPROVAL_COLUMNS.replace("token_hash", "''", 1)
    sql = f"SELECT {columns} FROM approval{where} ORDER BY number LIMIT ?"  # noqa: S608 - our own words
    return [read_approval(row) for row in execute(sql, (*values, limit)).fetchall()]


def _expire(transaction: Transaction, approval_id: str, at: datetime) -> ApprovalRequest:
    expired = read_approval(transaction.execute(_EXPIRE, (approval_id,)).fetchone())
    wake_run(transaction, expired.run_id, at)
    transaction.record(expiry_entry(expired, at))
    return expired
