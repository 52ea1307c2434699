"""PostgreSQL's protocol, as narrow as the sandbox needs it: the extra `postgres`.

Every text goes through the extended protocol, in which one message holds one statement
(https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY). psycopg's
own `execute` uses the simple protocol as long as there are no parameters, and that one takes as
many statements as the text has. Messages that need not wait for each other go out together
(libpq's pipeline mode), so that a query costs three round trips and not eight.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from psycopg import AsyncConnection, OperationalError
from psycopg.abc import PQGen
from psycopg.generators import fetch_many, send
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from placet.database.sqlstate import ServerFault

Message: TypeAlias = Callable[[PGconn], None]
"""Something that is sent. It has one result."""

_LONGEST_WORDS: Final = 10_000
"""Bytes that are kept of what the server says: a value that it quotes may have hundreds of megabytes."""
_FINE: Final = frozenset({ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK})


class ServerError(Exception):
    """The server has refused.

    Attributes:
        fault: Why.
        step: Which of the messages, from 0.
    """

    def __init__(self, fault: ServerFault, step: int = 0) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.step = step


@dataclass(frozen=True, slots=True)
class Described:
    """What a statement takes and returns, as the server has understood it.

    Attributes:
        columns: Name and type oid of each.
        parameters: Type oid of each.
    """

    columns: tuple[tuple[str, int], ...]
    parameters: tuple[int, ...]


def statement(sql: bytes, values: Sequence[bytes | None] = ()) -> Message:
    """Return the message that runs one statement, whatever its text is.

    Args:
        sql: One statement, with `$1` where values stand.
        values: As texts. The server gives them the types that it has described.
    """
    return lambda libpq: libpq.send_query_params(sql, list(values))


def parse(sql: bytes) -> Message:
    """Return the message that has a statement understood. Nothing is planned or run."""
    return lambda libpq: libpq.send_prepare(b"", sql)


def describe(libpq: PGconn) -> None:
    """Ask what the statement that was parsed takes and returns."""
    libpq.send_describe_prepared(b"")


class Wire:
    """One connection, in pipeline mode from its first use on."""

    def __init__(self, connection: "AsyncConnection[tuple[Any, ...]]") -> None:
        self._connection = connection
        self._libpq = connection.pgconn

    async def send(self, *messages: Message) -> list[PGresult]:
        """Send messages in one round trip, and return their results.

        Raises:
            ServerError: The server refuses one, and has not looked at those after it; or the
                connection is lost.
        """
        try:
            self._libpq.enter_pipeline_mode()
            for message in messages:
                message(self._libpq)
            self._libpq.pipeline_sync()
            results = await self._connection.wait(_exchange(self._libpq, len(messages)))
        except OperationalError as error:
            raise ServerError(ServerFault("", detail=str(error))) from error
        for step, result in enumerate(results):
            if result.status not in _FINE:
                raise ServerError(_fault(result), step)
        return results


def described(result: PGresult) -> Described:
    """Return what the result of `describe` says."""
    columns = tuple(
        ((result.fname(index) or b"").decode(errors="replace"), result.ftype(index)) for index in range(result.nfields)
    )
    return Described(columns, tuple(result.param_type(index) for index in range(result.nparams)))


def rows(result: PGresult) -> list[list[bytes | None]]:
    """Return the values of a result, as the texts that the server has sent."""
    columns = range(result.nfields)
    return [[result.get_value(row, column) for column in columns] for row in range(result.ntuples)]


def _exchange(libpq: PGconn, count: int) -> PQGen[list[PGresult]]:
    yield from send(libpq)
    results: list[PGresult] = []
    for _ in range(count + 1):  # the last one is the answer to the sync
        found: list[PGresult] = yield from fetch_many(libpq)
        results.extend(found[:1])
    return results[:count]


def _fault(result: PGresult) -> ServerFault:
    def field(name: DiagnosticField) -> str:
        return _shorten(result.error_field(name) or b"").decode(errors="replace")

    position = field(DiagnosticField.STATEMENT_POSITION)
    detail = " ".join(filter(None, (field(DiagnosticField.MESSAGE_DETAIL), field(DiagnosticField.CONTEXT))))
    return ServerFault(
        sqlstate=field(DiagnosticField.SQLSTATE) or "XX000",
        message=field(DiagnosticField.MESSAGE_PRIMARY),
        hint=field(DiagnosticField.MESSAGE_HINT) or None,
        position=int(position) if position.isdigit() else None,
        detail=detail,
    )


def _shorten(words: bytes) -> bytes:
    """Leave out the middle of what is too long, so that what stands around a value is still there."""
    if len(words) <= _LONGEST_WORDS:
        return words
    return words[: _LONGEST_WORDS // 2] + "…".encode() + words[-_LONGEST_WORDS // 2 :]
