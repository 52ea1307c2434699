"""What is read from PostgreSQL, one question a function."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Final, TypeAlias

from psycopg.rows import TupleRow

from placet.errors import StoreError
from placet.ports import AuditHead, StoredRun
from placet.stores.chain import known_heads, unnamed_heads
from placet.stores.postgres_connection import Connection
from placet.stores.rows import (
    APPROVAL_COLUMNS,
    AUDIT_COLUMNS,
    EFFECT_COLUMNS,
    MILLION,
    RUN_COLUMNS,
    read_approval,
    read_effect,
    read_principal,
    read_record,
    read_run,
    span,
)
from placet.stores.selection import Selection, conditions
from placet.stores.verification import Verification
from placet.values.approval import ApprovalRequest, ApprovalStatus
from placet.values.audit import AuditEntry, AuditRecord, AuditVerification, microseconds
from placet.values.effect import EffectRecord, EffectState, Take
from placet.values.principal import Principal
from placet.values.run import RunStatus

CHUNK: Final = 500
"""How many records are read at a time."""

_RUN_TABLES: Final = "placet.run JOIN placet.run_snapshot ON run_snapshot.run_id = run.id"
_USED: Final = """
    SELECT used FROM unnest(%s::text[], %s::bigint[], %s::bigint[]) WITH ORDINALITY AS wanted (key, per, since, place),
    LATERAL (
        SELECT coalesce(sum(amount), 0) AS used FROM placet.taken
        WHERE taken.key = wanted.key AND taken.per = wanted.per AND at > since
    ) AS window_then
    ORDER BY place
"""
# `LATERAL` with `OFFSET 0` looks up one run after the other, by the index, however small the tables were when this was
# planned. One statement shows one moment: a snapshot with the journal that belongs to it.
_RUNS: Final = f"""
    SELECT found.* FROM unnest(%s::text[]) AS wanted (id), LATERAL (
        SELECT {RUN_COLUMNS}, ARRAY(SELECT entry FROM placet.run_journal WHERE run_id = run.id ORDER BY number)
        FROM {_RUN_TABLES} WHERE run.id = wanted.id OFFSET 0
    ) AS found
"""  # noqa: S608 - our own words

# From each writer to the next by the index, however many records each has.
_WRITERS: Final = """
    WITH RECURSIVE chain (writer) AS (
        SELECT min(writer) FROM placet.audit_record
        UNION ALL
        SELECT (SELECT min(writer) FROM placet.audit_record WHERE writer > chain.writer)
        FROM chain WHERE writer IS NOT NULL
    )
"""
_HEADS: Final = f"""{_WRITERS}
    SELECT record.writer, record.sequence, record.seal FROM chain JOIN placet.audit_record AS record
    ON record.writer = chain.writer
    AND record.sequence = (SELECT max(sequence) FROM placet.audit_record WHERE writer = chain.writer)
"""  # noqa: S608 - our own words
_BEGINNINGS: Final = f"""{_WRITERS}
    SELECT {", ".join(f"record.{column}" for column in AUDIT_COLUMNS.split(", "))}
    FROM chain JOIN placet.audit_record AS record ON record.writer = chain.writer AND record.sequence = 1
"""  # noqa: S608 - our own words

_IN_CHAINS: Final = f"SELECT {AUDIT_COLUMNS} FROM placet.audit_record ORDER BY writer, sequence"  # noqa: S608 - our own words


async def find_run(connection: Connection, run_id: str) -> StoredRun | None:
    """Return the run with its journal, or None."""
    (run,) = await find_runs(connection, (run_id,))
    return run


async def find_runs(connection: Connection, run_ids: Sequence[str]) -> Sequence[StoredRun | None]:
    """Return for each id the run with its journal, or None."""
    rows = await _ask(connection, _RUNS, (list(set(run_ids)),))
    found = {row[0]: read_run(row[:-1], row[-1]) for row in rows}
    return [found.get(run_id) for run_id in run_ids]


async def list_runs(
    connection: Connection, statuses: Sequence[RunStatus], principal_id: str | None, limit: int
) -> Sequence[StoredRun]:
    """Return runs, newest first, without their journals."""
    where, values = conditions(("status", statuses), ("principal_id", principal_id), mark="%s")
    sql = f"SELECT {RUN_COLUMNS} FROM {_RUN_TABLES}{where} ORDER BY number DESC LIMIT %s"  # noqa: S608 - our own words
    return [read_run(row) for row in await _ask(connection, sql, (*values, limit))]


async def find_approval(
    connection: Connection, approval_id: str | None, token_hash: str | None
) -> ApprovalRequest | None:
    """Return the request with this id, or with this token's hash, or None."""
    column, value = ("token_hash", token_hash) if approval_id is None else ("id", approval_id)
    rows = await _ask(connection, f"SELECT {APPROVAL_COLUMNS} FROM placet.approval WHERE {column} = %s", (value,))  # noqa: S608 - our own words
    return read_approval(rows[0]) if rows else None


async def list_approvals(
    connection: Connection, run_id: str | None, statuses: Sequence[ApprovalStatus], limit: int
) -> Sequence[ApprovalRequest]:
    """Return requests, oldest first, without the hashes of their tokens."""
    where, values = conditions(("run_id", run_id), ("status", statuses), mark="%s")
    names = APPROVAL_COLUMNS.replace("token_hash", "''", 1)
    sql = f"SELECT {names} FROM placet.approval{where} ORDER BY number LIMIT %s"  # noqa: S608 - our own words
    return [read_approval(row) for row in await _ask(connection, sql, (*values, limit))]


async def find_effect(connection: Connection, key: str) -> EffectRecord | None:
    """Return the effect of this key, or None."""
    rows = await _ask(connection, f"SELECT {EFFECT_COLUMNS} FROM placet.effect WHERE key = %s", (key,))  # noqa: S608 - our own words
    return read_effect(rows[0]) if rows else None


async def list_effects(
    connection: Connection, states: Sequence[EffectState], run_id: str | None, limit: int
) -> Sequence[EffectRecord]:
    """Return effects, oldest first."""
    where, values = conditions(("state", states), ("run_id", run_id), mark="%s")
    sql = f"SELECT {EFFECT_COLUMNS} FROM placet.effect{where} ORDER BY began_at, key LIMIT %s"  # noqa: S608 - our own words
    return [read_effect(row) for row in await _ask(connection, sql, (*values, limit))]


Usage: TypeAlias = tuple[Sequence[Take], datetime]
"""A question how much of some windows is used at a time."""


async def find_usages(connection: Connection, questions: Sequence[Usage]) -> Sequence[Sequence[Decimal]]:
    """Return for each question how much of each window is used."""
    windows = [
        (take.key, span(take.per), microseconds(at) - span(take.per)) for takes, at in questions for take in takes
    ]
    if not windows:
        return [() for _ in questions]
    rows = iter(await _ask(connection, _USED, tuple(map(list, zip(*windows, strict=True)))))
    return [[Decimal(amount) / MILLION for (amount,) in islice(rows, len(takes))] for takes, _ in questions]


async def find_principal(connection: Connection, principal_id: str) -> Principal | None:
    """Return what was last said of a principal, or None."""
    sql = "SELECT id, roles, attributes FROM placet.principal WHERE id = %s"
    rows = await _ask(connection, sql, (principal_id,))
    return read_principal(rows[0]) if rows else None


async def is_demo(connection: Connection) -> bool:
    """Return whether the store is marked as a demo."""
    return bool(await _ask(connection, "SELECT 1 FROM placet.mark WHERE name = 'demo'", ()))


# ── audit records ─────────────────────────────────────────────────────────────────────


async def read_after(connection: Connection, selection: Selection, number: int) -> tuple[int, Sequence[AuditRecord]]:
    """Return the next records after a number, and the number reached."""
    where, values = selection.conditions("%s")
    joined = f"{where} AND number > %s" if where else " WHERE number > %s"
    sql = f"SELECT number, {AUDIT_COLUMNS} FROM placet.audit_record{joined} ORDER BY number LIMIT {CHUNK}"  # noqa: S608 - our own words
    rows = await _ask(connection, sql, (*values, number))
    return (rows[-1][0] if rows else number), [read_record(row[1:]) for row in rows]


async def read_last(connection: Connection, selection: Selection, last: int) -> Sequence[AuditRecord]:
    """Return the newest so many records, oldest first."""
    where, values = selection.conditions("%s")
    sql = f"SELECT {AUDIT_COLUMNS} FROM placet.audit_record{where} ORDER BY number DESC LIMIT %s"  # noqa: S608 - our own words
    return [read_record(row) for row in reversed(await _ask(connection, sql, (*values, max(0, last))))]


async def find_heads(connection: Connection) -> Sequence[AuditHead]:
    """Return the last record of every chain."""
    return tuple(AuditHead(*row) for row in await _ask(connection, _HEADS, ()))


async def find_beginnings(connection: Connection) -> Sequence[AuditEntry]:
    """Return the first record of every chain, as far as it can be read."""
    entries: list[AuditEntry] = []
    for row in await _ask(connection, _BEGINNINGS, ()):
        # What has been made unreadable names nothing; looking at it finds the fault.
        with suppress(StoreError):
            entries.append(read_record(row).entry)
    return entries


async def find_frontier(connection: Connection) -> Sequence[AuditHead]:
    """Return the heads that no WRITER record names as they stand."""
    return unnamed_heads(await find_heads(connection), await find_beginnings(connection))


async def verify(connection: Connection, key: bytes, heads: Sequence[AuditHead]) -> AuditVerification:
    """Look at every record of every chain, as they stood at one moment; beside the event loop."""
    async with connection.transaction(), connection.cursor("placet_verify") as cursor:
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        verification = Verification(key, known_heads(await find_beginnings(connection), heads), anchored=bool(heads))
        await cursor.execute(_IN_CHAINS)
        while rows := await cursor.fetchmany(CHUNK):
            await asyncio.to_thread(_look, verification, rows)
        return verification.result()


def _look(verification: Verification, rows: Sequence[TupleRow]) -> None:
    for row in rows:
        try:
            verification.look(read_record(row))
        except StoreError:
            verification.look_at_unreadable(row[0], row[1])


async def _ask(connection: Connection, sql: str, values: tuple[Any, ...]) -> Sequence[TupleRow]:
    return await (await connection.execute(sql.encode(), values or None)).fetchall()
