"""Effects and limits in SQLite: what is taken once, taken in one transaction."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from placet.errors import StoreError
from placet.stores.judgement import IN_DOUBT, LEASE_LOST, judge_approval, judge_effect, judge_takes
from placet.stores.rows import EFFECT_COLUMNS, MILLION, millionths, read_effect, span
from placet.stores.selection import conditions
from placet.stores.sqlite_approvals import find_approval
from placet.stores.sqlite_runs import FIND_OWNED
from placet.stores.sqlite_transaction import Execute, Transaction
from placet.values.audit import AuditEntry, microseconds
from placet.values.effect import (
    AlreadyDone,
    Claim,
    ClaimAnswer,
    Claimed,
    ClaimRefused,
    CommitAnswer,
    Committed,
    EffectRecord,
    EffectState,
    NotCommitted,
    Statement,
    Take,
)

_FIND_EFFECT: Final = f"SELECT {EFFECT_COLUMNS} FROM effect WHERE key = ?"  # noqa: S608 - our own words
_FIND_LIKE: Final = f"""
    SELECT {EFFECT_COLUMNS} FROM effect INDEXED BY effect_in_doubt
    WHERE principal_id = ? AND tool = ? AND digest = ? AND state IN ('running', 'unknown') AND key <> ? LIMIT 1
"""  # noqa: S608 - our own words
_DOUBT: Final = "UPDATE effect SET state = 'unknown' WHERE key = ? AND state = 'running'"
_BEGIN_AT_ONCE: Final = """
    INSERT INTO effect (key, principal_id, tool, digest, run_id, state, deadline, approval_id, began_at)
    SELECT ?, ?, ?, ?, ?, 'running', ?, ?, ?
    WHERE (? IS NULL OR EXISTS (SELECT 1 FROM run WHERE id = ? AND owner = ? AND fence = ? AND status = 'running'))
        AND NOT EXISTS (
            SELECT 1 FROM effect INDEXED BY effect_in_doubt
            WHERE principal_id = ? AND tool = ? AND digest = ? AND state IN ('running', 'unknown')
        )
    ON CONFLICT (key) DO NOTHING
"""
"""Begin an effect that nothing stands in the way of. Where it begins nothing, the long way tells why."""
_BEGIN_EFFECT: Final = """
    INSERT INTO effect (key, principal_id, tool, digest, run_id, state, deadline, approval_id, began_at)
    VALUES (?, ?, ?, ?, ?, 'running', ?, ?, ?)
    ON CONFLICT (key) DO UPDATE
    SET state = 'running', deadline = excluded.deadline, run_id = excluded.run_id, result = NULL,
        approval_id = excluded.approval_id, began_at = excluded.began_at
    WHERE state = 'unknown'
"""
_SETTLE: Final = "UPDATE effect SET state = ?, result = ? WHERE key = ? AND state IN ('running', 'unknown')"
_USED: Final = "SELECT coalesce(sum(amount), 0) FROM taken WHERE key = ? AND per = ? AND at > ?"
_FORGET: Final = "DELETE FROM taken WHERE key = ? AND per = ? AND at <= ?"
_TAKE: Final = """
    INSERT INTO taken (key, per, at, amount) VALUES (?, ?, ?, ?)
    ON CONFLICT (key, per, at) DO UPDATE SET amount = amount + excluded.amount
"""
_IS_KNOWN: Final = "SELECT 1 FROM effect WHERE key = ?"
_USE_APPROVAL: Final = "UPDATE approval SET status = 'used' WHERE id = ? AND status = 'approved'"
_CLAIMED: Final = Claimed()


def claim(transaction: Transaction, wanted: Claim) -> ClaimAnswer:
    """Take all that a call needs, or nothing."""
    execute = transaction.execute
    refused: ClaimAnswer | None = None
    if wanted.approval_id is not None:
        refused = _judge_approval(execute, wanted)
    if refused is None and wanted.takes:
        refused = judge_takes(wanted.takes, lambda take: used(execute, take, wanted.at))
    now = microseconds(wanted.at)
    if refused is not None or wanted.effect is None or not _begin_at_once(execute, wanted, wanted.effect, now):
        # The order in which refusals are told: the lease, the effect, the approval, the windows.
        if not _holds_lease(execute, wanted):
            return LEASE_LOST
        refused = _judge_effect(execute, wanted) or refused
        if refused is not None:
            return refused
        if wanted.effect is not None:
            _begin_again(execute, wanted.effect, now)
    if wanted.approval_id is not None:
        execute(_USE_APPROVAL, (wanted.approval_id,))
    for take in wanted.takes:
        execute(_FORGET, (take.key, span(take.per), now - span(take.per)))
        execute(_TAKE, (take.key, span(take.per), now, millionths(take.amount)))
    if wanted.intent is not None:
        transaction.record(wanted.intent)
    return _CLAIMED


def _begin_at_once(execute: Execute, wanted: Claim, effect: EffectRecord, now: int) -> bool:
    """Return whether the effect has begun in one statement, under its lease, with no other in its way."""
    lease, deadline = wanted.lease, microseconds(effect.deadline)
    run_id, owner, fence = (None, None, None) if lease is None else (lease.run_id, lease.owner, lease.fence)
    principal_id, tool, digest = effect.principal_id, effect.tool, effect.digest
    row = (
        effect.key, principal_id, tool, digest, effect.run_id, deadline, effect.approval_id, now,
        run_id, run_id, owner, fence, principal_id, tool, digest,
    )  # fmt: skip
    return execute(_BEGIN_AT_ONCE, row).rowcount == 1


def _begin_again(execute: Execute, effect: EffectRecord, now: int) -> None:
    execute(
        _BEGIN_EFFECT,
        (
            effect.key, effect.principal_id, effect.tool, effect.digest, effect.run_id, microseconds(effect.deadline),
            effect.approval_id, now,
        ),
    )  # fmt: skip


def _holds_lease(execute: Execute, wanted: Claim) -> bool:
    lease = wanted.lease
    return lease is None or execute(FIND_OWNED, (lease.run_id, lease.owner, lease.fence)).fetchone() is not None


def settle(transaction: Transaction, key: str, state: EffectState, result: str | None, entry: AuditEntry) -> None:
    """Store how an effect ended, with its record. One that is done or failed stays as it is.

    Raises:
        StoreError: There is no such effect; nothing was stored.
    """
    execute = transaction.execute
    if execute(_SETTLE, (state._value_, result, key)).rowcount == 0 and execute(_IS_KNOWN, (key,)).fetchone() is None:
        raise StoreError(f"the effect {key!r} cannot be settled: there is none; nothing was stored")
    transaction.record(entry)


def commit(
    transaction: Transaction, key: str, result: str, statements: Sequence[Statement], entry: AuditEntry
) -> CommitAnswer:
    """Carry out what a tool writes, and settle its effect as done; or nothing of it.

    Raises:
        StoreError: There is no such effect; nothing was stored.
    """
    execute = transaction.execute
    known = find_effect(execute, key)
    if known is None:
        raise StoreError(f"the effect {key!r} cannot be settled: there is none; nothing was stored")
    if known.state not in IN_DOUBT:
        return AlreadyDone(known)
    execute("SAVEPOINT tool")
    refused = _write(execute, statements)
    if refused is not None:
        execute("ROLLBACK TO tool")
    execute("RELEASE tool")
    if refused is not None:
        return refused
    execute(_SETTLE, (EffectState.DONE.value, result, key))
    transaction.record(entry)
    return Committed()


def _write(execute: Execute, statements: Sequence[Statement]) -> NotCommitted | None:
    for statement in statements:
        try:
            changed = execute(statement.sql, statement.parameters).rowcount
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            return NotCommitted(detail=f"{type(error).__name__}: {error} in {statement.sql!r}")
        if statement.rows is not None and changed != statement.rows:
            detail = f"{changed} rows instead of {statement.rows} in {statement.sql!r}"
            return NotCommitted(statement.otherwise, detail)
    return None


def find_effect(execute: Execute, key: str) -> EffectRecord | None:
    """Return the effect of this key, or None."""
    row = execute(_FIND_EFFECT, (key,)).fetchone()
    return None if row is None else read_effect(row)


def list_effects(
    execute: Execute, states: Sequence[EffectState], run_id: str | None, limit: int
) -> Sequence[EffectRecord]:
    """Return effects, oldest first."""
    where, values = conditions(("state", states), ("run_id", run_id))
    sql = f"SELECT {EFFECT_COLUMNS} FROM effect{where} ORDER BY began_at, key LIMIT ?"  # noqa: S608 - our own words
    return [read_effect(row) for row in execute(sql, (*values, limit)).fetchall()]


def used(execute: Execute, take: Take, at: datetime) -> Decimal:
    """Return how much of a window is used at a time."""
    per = span(take.per)
    (amount,) = execute(_USED, (take.key, per, microseconds(at) - per)).fetchone()
    return Decimal(amount) / MILLION


def _judge_effect(execute: Execute, wanted: Claim) -> ClaimAnswer | None:
    effect = wanted.effect
    if effect is None:
        return None
    known = _find_in_time(execute, wanted, _FIND_EFFECT, (effect.key,))
    like = _find_in_time(
        execute, wanted, _FIND_LIKE, (effect.principal_id, effect.tool, effect.digest, effect.key)
    )  # fmt: skip
    return judge_effect(wanted, known, like)


def _find_in_time(execute: Execute, wanted: Claim, sql: str, values: tuple[str, ...]) -> EffectRecord | None:
    """Return the row; a running one past its deadline is turned into unknown first."""
    row = execute(sql, values).fetchone()
    if row is None:
        return None
    effect = read_effect(row)
    if effect.state_at(wanted.at) is not effect.state:
        execute(_DOUBT, (effect.key,))
    return effect


def _judge_approval(execute: Execute, wanted: Claim) -> ClaimRefused | None:
    return judge_approval(wanted, find_approval(execute, wanted.approval_id, None))
