"""One transaction of the writing connection, as the verbs see it."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from placet.ports import AuditHead
from placet.stores.chain import Chain
from placet.stores.rows import AUDIT_COLUMNS
from placet.values.audit import AuditEntry

Execute: TypeAlias = Callable[..., sqlite3.Cursor]
"""`execute` of a connection or of a cursor, inside a transaction or not."""

_ADD_RECORDS: Final = f"INSERT INTO audit_record ({AUDIT_COLUMNS}) VALUES ({', '.join('?' * 12)})"  # noqa: S608 - our own words


class Transaction:
    """What has begun and is not committed; one object for one transaction after another.

    A verb reads and judges before it writes: whatever it refuses or raises has then changed
    nothing, and the transaction goes on with the next verb.

    Args:
        cursor: Of the writing connection, inside a transaction.
        chain: Of this writer. Whoever rolls back sets it back, too.
        frontier: What the first record of the chain names.
    """

    __slots__ = ("_chain", "_cursor", "_entries", "_frontier", "execute", "record")

    def __init__(self, cursor: sqlite3.Cursor, chain: Chain, frontier: Sequence[AuditHead]) -> None:
        self._cursor = cursor
        self._chain = chain
        self._frontier = frontier
        self._entries: list[AuditEntry] = []
        self.execute: Execute = cursor.execute
        self.record: Callable[[AuditEntry], None] = self._entries.append
        """Give an entry the next place in the chain."""

    def write_records(self) -> None:
        """Write what was recorded. The last thing before the commit."""
        if self._entries:
            self._cursor.executemany(_ADD_RECORDS, self._chain.rows(self._entries, self._frontier))
            self._entries.clear()

    def forget_records(self) -> None:
        """Forget what was recorded: it is rolled back."""
        self._entries.clear()
