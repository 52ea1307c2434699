"""Transaction: what a tool writes in the store's own transaction, together with the ledger."""

from collections.abc import Mapping, Sequence
from typing import Any

from placet.errors import ToolDefinitionError
from placet.values.effect import Statement


class Transaction:
    """What one call writes. Nothing of it is done until the tool has returned, and then all of it or nothing.

    The statements run in the store's database, in the order in which they were added, in the
    same transaction in which the ledger is told that the call is done. So after a crash the
    call may simply run again: either both stand or neither does.
    """

    __slots__ = ("_is_closed", "_statements")

    def __init__(self) -> None:
        self._statements: list[Statement] = []
        self._is_closed = False

    @property
    def statements(self) -> Sequence[Statement]:
        """What was added so far."""
        return tuple(self._statements)

    def add(
        self,
        sql: str,
        parameters: Mapping[str, Any] | Sequence[Any] = (),
        *,
        rows: int | None = None,
        otherwise: str | None = None,
    ) -> None:
        """Add a statement.

        Args:
            sql: One statement that writes, in the words of the store's database: placeholders are
                `?` or `:name` in SQLite, `%s` or `%(name)s` in PostgreSQL.
            parameters: Its values.
            rows: How many rows it must change; with another number nothing is done.
            otherwise: What the model is told then.

        Raises:
            ToolDefinitionError: It writes nothing, or the call has ended.
        """
        if self._is_closed:
            raise ToolDefinitionError("the call has ended; what is added to its transaction now would be lost")
        statement = Statement(sql, parameters, rows)
        if otherwise is not None:
            statement = Statement(sql, parameters, rows, otherwise)
        self._statements.append(statement)

    def close(self) -> Sequence[Statement]:
        """Return what was added, and take no more."""
        self._is_closed = True
        return self.statements
