"""One transaction of the writing connection, as the verbs see it."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from placet.ports import AuditHead
from placet.stores.chain import Chain, writer_entry
from placet.stores.rows import AUDIT_COLUMNS, storable
from placet.values.audit import AuditEntry, microseconds

Execute: TypeAlias = Callable[..., sqlite3.Cursor]
"""`execute` of a connection or of a cursor, inside a transaction or not."""

_ADD_RECORDS: Final = f"INSERT INTO audit_record ({AUDIT_COLUMNS}) VALUES ({', '.join('?' * 12)})"  # noqa: S608 - our own words


class Transaction:
    """What has begun and is not committed.

    A verb reads and judges before it writes: whatever it refuses or raises has then changed
    nothing, and the transaction goes on with the next verb.

    Args:
        cursor: Of the writing connection, inside a transaction.
        chain: Of this writer. Whoever rolls back sets it back, too.
        frontier: What the first record of the chain names.
    """

    __slots__ = ("_chain", "_cursor", "_frontier", "_rows", "execute")

    def __init__(self, cursor: sqlite3.Cursor, chain: Chain, frontier: Sequence[AuditHead]) -> None:
        self._cursor = cursor
        self._chain = chain
        self._frontier = frontier
        self._rows: list[tuple[Any, ...]] = []
        self.execute = cursor.execute

    def record(self, entry: AuditEntry) -> None:
        """Give an entry the next place in the chain."""
        chain = self._chain
        if not chain.sequence:
            self._place(writer_entry(entry.at, self._frontier))
        self._place(storable(entry))

    def _place(self, entry: AuditEntry) -> None:
        mark = self._chain.place(entry)
        self._rows.append(
            (
                self._chain.writer, self._chain.sequence, microseconds(entry.at), entry.kind.value, entry.run_id,
                entry.call_key, entry.principal_id, entry.tool, entry.decision, entry.rule, entry.body, mark,
            )
        )  # fmt: skip

    def write_records(self) -> None:
        """Write the records placed so far. The last thing before the commit."""
        if self._rows:
            self._cursor.executemany(_ADD_RECORDS, self._rows)
            self._rows.clear()
