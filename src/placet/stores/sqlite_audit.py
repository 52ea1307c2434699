"""The audit log in SQLite, as reading connections see it."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from placet.errors import StoreError
from placet.ports import AuditHead
from placet.stores.chain import known_heads, unnamed_heads
from placet.stores.rows import AUDIT_COLUMNS, read_record
from placet.stores.selection import Selection
from placet.stores.sqlite_transaction import Execute
from placet.stores.verification import Verification
from placet.values.audit import AuditEntry, AuditRecord, AuditVerification

CHUNK: Final = 500
"""How many records are read at a time."""

# From each writer to the next by the index, however many records each has.
_WRITERS: Final = """
    WITH RECURSIVE chain (writer) AS (
        SELECT min(writer) FROM audit_record
        UNION ALL
        SELECT (SELECT min(writer) FROM audit_record WHERE writer > chain.writer) FROM chain WHERE writer IS NOT NULL
    )
"""
_HEADS: Final = f"""{_WRITERS}
    SELECT record.writer, record.sequence, record.seal FROM chain JOIN audit_record AS record
    ON record.writer = chain.writer
    AND record.sequence = (SELECT max(sequence) FROM audit_record WHERE writer = chain.writer)
"""  # noqa: S608 - our own words
_BEGINNINGS: Final = f"""{_WRITERS}
    SELECT {", ".join(f"record.{column}" for column in AUDIT_COLUMNS.split(", "))}
    FROM chain JOIN audit_record AS record ON record.writer = chain.writer AND record.sequence = 1
"""  # noqa: S608 - our own words
_IN_CHAINS: Final = f"SELECT {AUDIT_COLUMNS} FROM audit_record ORDER BY writer, sequence"  # noqa: S608 - our own words


def read_after(execute: Execute, selection: Selection, number: int) -> tuple[int, Sequence[AuditRecord]]:
    """Return the next records after a number, in the order of their commits, and the number reached."""
    where, values = selection.conditions()
    joined = f"{where} AND number > ?" if where else " WHERE number > ?"
    sql = f"SELECT number, {AUDIT_COLUMNS} FROM audit_record{joined} ORDER BY number LIMIT ?"  # noqa: S608 - our own words
    rows = execute(sql, (*values, number, CHUNK)).fetchall()
    return (rows[-1][0] if rows else number), [read_record(row[1:]) for row in rows]


def read_last(execute: Execute, selection: Selection, last: int) -> Sequence[AuditRecord]:
    """Return the newest so many records, oldest first."""
    where, values = selection.conditions()
    sql = f"SELECT {AUDIT_COLUMNS} FROM audit_record{where} ORDER BY number DESC LIMIT ?"  # noqa: S608 - our own words
    rows = execute(sql, (*values, max(0, last))).fetchall()
    return [read_record(row) for row in reversed(rows)]


def find_heads(execute: Execute) -> Sequence[AuditHead]:
    """Return the last record of every chain."""
    return tuple(AuditHead(*row) for row in execute(_HEADS).fetchall())


def find_frontier(execute: Execute) -> Sequence[AuditHead]:
    """Return the heads that no WRITER record names as they stand."""
    return unnamed_heads(find_heads(execute), _beginnings(execute))


def verify(connection: sqlite3.Connection, key: bytes, heads: Sequence[AuditHead]) -> AuditVerification:
    """Look at every record of every chain, as they stood at one moment."""
    connection.execute("BEGIN")
    try:
        known = known_heads(_beginnings(connection.execute), heads)
        verification = Verification(key, known, anchored=bool(heads))
        cursor = connection.execute(_IN_CHAINS)
        while rows := cursor.fetchmany(CHUNK):
            for row in rows:
                try:
                    verification.look(read_record(row))
                except StoreError:
                    verification.look_at_unreadable(row[0], row[1])
        return verification.result()
    finally:
        connection.execute("ROLLBACK")


def _beginnings(execute: Execute) -> Iterator[AuditEntry]:
    for row in execute(_BEGINNINGS).fetchall():
        try:
            yield read_record(row).entry
        except StoreError:
            # What has been made unreadable names nothing; looking at it finds the fault.
            continue
