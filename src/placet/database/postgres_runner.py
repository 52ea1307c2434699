"""Runs named queries on PostgreSQL: the extra `postgres`."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from psycopg.postgres import types
from psycopg.pq.abc import PGresult

from placet.database.answer import Column, Fix, Rows, SqlAnswer, SqlRefusal, excerpt
from placet.database.caps import Caps
from placet.database.placeholders import counts_changes, is_select, number_values
from placet.database.postgres_pool import PostgresPool, connect, describe_dsn
from placet.database.postgres_query import Settings
from placet.database.postgres_values import decode, schema_of, type_name
from placet.database.runner import CHANGED, Ready
from placet.database.shaping import Shaper
from placet.database.sqlstate import ServerFault, explain_statement
from placet.database.wire import Message, ServerError, Wire, describe, described, parse, statement
from placet.database.wire import rows as rows_of
from placet.errors import ConfigurationError
from placet.values.json import Json

_TEXTS: Final = frozenset({"text", "varchar", "bpchar", "name"})
_TAKEN: Final = {
    "int": frozenset({"int2", "int4", "int8", "numeric", "float4", "float8", "oid"}),
    "number": frozenset({"numeric", "float4", "float8", "money"}),
    "bool": frozenset({"bool"}),
    "date": frozenset({"date", "timestamp", "timestamptz"}),
    "datetime": frozenset({"timestamptz"}),
    "uuid": frozenset({"uuid", *_TEXTS}),
    "text": frozenset({*_TEXTS, "json", "jsonb", "interval", "inet"}),
    "enum": _TEXTS,
    "prefix": _TEXTS,
    "contains": _TEXTS,
}
"""By kind of parameter, the built-in types that a statement may take it as. A type that is not
built in, such as an enum of the database, takes a text of any kind."""

_TYPES: Final = {
    "int": "bigint", "number": "numeric", "bool": "boolean", "date": "date", "datetime": "timestamptz", "uuid": "uuid",
}  # fmt: skip
"""How the type of a value is written, by kind of parameter; else it is a text, or an enum of the database."""

_COMMIT: Final = statement(b"COMMIT")
_NO_RIGHT: Final = "42501"
_UNTYPED: Final = frozenset({"42P18", "42P08"})
_NUMBERED: Final = re.compile(r"\$(\d+)")


class PostgresRunner:
    """Runs named queries on PostgreSQL.

    Args:
        dsn: Whereto, and as which role: for what reads, one that may only read.
        search_path: Schemas in which a bare name is looked up.
        time_zone: In which days begin.
        caps: How much one query may cost.
        writable: Whether statements may change something. Without it every transaction reads.
    """

    def __init__(
        self, dsn: str, *, search_path: tuple[str, ...] = ("public",), time_zone: str = "UTC",
        caps: Caps | None = None, writable: bool = False,
    ) -> None:  # fmt: skip
        self.caps = caps or Caps()
        self._dsn = dsn
        self._writable = writable
        self._pool = PostgresPool(dsn, self.caps)
        self._settings = Settings(search_path, time_zone, self.caps)
        self._reading = self._settings.begin()
        self._writing = self._settings.begin(read_only=False)

    async def open(self) -> None:
        """Connect.

        Raises:
            ConfigurationError: There is no connection to be had, or no such time zone.
        """
        async with await connect(self._dsn) as connection:
            await self._settings.try_out(Wire(connection))

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.close()

    async def prepare(self, sql: str, kinds: dict[str, str], *, writes: bool, rows: int | None, where: str) -> Ready:
        """Have PostgreSQL understand a statement, without running it.

        Raises:
            ConfigurationError: PostgreSQL does not understand it, or takes other types.
        """
        if writes and not self._writable:
            raise ConfigurationError(f"{where}: it writes, and the connection is one that reads")
        bare, names = number_values(sql)
        text = bare
        if is_select(sql) and not writes:
            text = f"SELECT * FROM (\n{bare}\n) AS _q LIMIT {(rows or self.caps.rows) + 1}"  # noqa: S608 - the developer's
        connection = await connect(self._dsn)
        wire = Wire(connection)
        try:
            *_, result = await wire.send(*self._reading, parse(text.encode()), describe)
            shape = described(result)
            for name, oid in zip(names, shape.parameters, strict=True):
                _check_type(name, kinds[name], oid, where)
            await self._plan(wire, text, len(names), where, writes=writes)
            labels = await _labels(wire, dict(zip(names, shape.parameters, strict=True)))
        except ServerError as error:
            fault = await self._misunderstood(wire, bare) or replace(error.fault, position=None)
            why = _explain(fault, bare, names, kinds)
            raise ConfigurationError(f"{where}: PostgreSQL does not understand it: {why}") from error
        finally:
            await connection.close()
        if not shape.columns and counts_changes(sql):
            oid = types["int8"].oid
            return Ready(text, names, ((CHANGED, "int8", schema_of(oid)),), writes, (oid,), labels)
        columns = tuple((name, type_name(oid), schema_of(oid)) for name, oid in shape.columns)
        return Ready(text, names, columns, writes, tuple(oid for _, oid in shape.columns), labels)

    async def _misunderstood(self, wire: Wire, text: str) -> ServerFault | None:
        """Return what PostgreSQL says of a statement alone, without the words that cut its answer."""
        try:
            await wire.send(statement(b"ROLLBACK"))
            await wire.send(*self._reading, parse(text.encode()))
        except ServerError as error:
            return error.fault
        return None

    async def _plan(self, wire: Wire, text: str, values: int, where: str, *, writes: bool) -> None:
        """Have a statement planned, for what is looked at no earlier: rights, and locks that a reader may not take.

        Raises:
            ConfigurationError: The login lacks a right, or the statement locks rows and reads.
        """
        try:
            (result,) = await wire.send(statement(f"EXPLAIN {text}".encode(), [None] * values))
        except ServerError as error:
            if error.fault.sqlstate != _NO_RIGHT:
                await wire.send(
                    statement(b"ROLLBACK")
                )  # it speaks of the values, and there are none yet; or of EXPLAIN
                return
            raise ConfigurationError(
                f"{where}: the login {describe_dsn(self._dsn)} may not run it: {error.fault.message}; grant it, or use "
                "another login"
            ) from error
        if not writes and any(b"LockRows" in (line or b"") for (line,) in rows_of(result)):
            raise ConfigurationError(
                f"{where}: it locks rows, and what reads may not; leave FOR UPDATE and FOR SHARE away"
            )

    async def run(self, ready: Ready, values: dict[str, Json], *, rows: int | None = None) -> SqlAnswer:
        """Return what the statement answers, on time."""
        caps = self.caps if rows is None else replace(self.caps, rows=rows)
        if not ready.writes:
            return await self._pool.use(lambda wire: self._read(wire, ready, values, caps))
        settled: list[SqlAnswer] = []

        async def write(wire: Wire) -> SqlAnswer:
            await wire.send(*self._writing)  # for itself: a connection that was lost while idle has written nothing
            answer, is_settled = await self._write(wire, ready, values, caps)
            if is_settled:
                settled.append(answer)
            return answer

        answer = await self._pool.use(write)
        if isinstance(answer, SqlRefusal) and not settled and answer.code != "busy":
            return replace(answer, fix=Fix.OPERATOR, is_certain=False)
        return answer

    async def _read(self, wire: Wire, ready: Ready, values: dict[str, Json], caps: Caps) -> SqlAnswer:
        started = time.monotonic()
        try:
            *_, result = await wire.send(*self._reading, _ask(ready, values))
        except ServerError as error:
            if not error.fault.sqlstate or error.step < len(self._reading):
                raise  # nothing was read, and it may be asked again
            return explain_statement(error.fault)
        return _shape(ready, result, caps, started)

    async def _write(self, wire: Wire, ready: Ready, values: dict[str, Json], caps: Caps) -> tuple[SqlAnswer, bool]:
        """Return the answer, and whether the server itself has given it."""
        started = time.monotonic()
        try:
            result, _ = await wire.send(_ask(ready, values), _COMMIT)
        except ServerError as error:
            lost = not error.fault.sqlstate or error.fault.sqlstate.startswith(("57P", "08"))
            answer = explain_statement(error.fault)
            return (replace(answer, code="lost") if lost else answer), not lost
        return _shape(ready, result, caps, started), True


def _ask(ready: Ready, values: dict[str, Json]) -> Message:
    return statement(ready.sql.encode(), [_text(values[name]) for name in ready.names])


def _shape(ready: Ready, result: PGresult, caps: Caps, started: float) -> Rows:
    shaper = Shaper([Column(name, kind) for name, kind, _ in ready.columns], caps)
    if ready.columns and not result.nfields:
        shaper.take([result.command_tuples])
    for row in rows_of(result):
        if not shaper.take(decode(row, ready.oids)):
            break
    return shaper.finish((time.monotonic() - started) * 1000)


async def _labels(wire: Wire, oids: Mapping[str, int]) -> dict[str, frozenset[str]]:
    """Return what the enums have that values go into, by the values' names, as far as the role may ask."""
    own = {name: oid for name, oid in oids.items() if types.get(oid) is None}
    if not own:
        return {}
    listed = ", ".join(str(oid) for oid in own.values())
    text = f"SELECT enumtypid, enumlabel FROM pg_catalog.pg_enum WHERE enumtypid IN ({listed})"  # noqa: S608 - numbers
    try:
        (result,) = await wire.send(statement(text.encode()))
    except ServerError:
        return {}
    found: dict[int, set[str]] = {}
    for oid, label in rows_of(result):
        found.setdefault(int(oid or b"0"), set()).add((label or b"").decode())
    return {name: frozenset(found[oid]) for name, oid in own.items() if oid in found}


def _explain(fault: ServerFault, text: str, names: Sequence[str], kinds: Mapping[str, str]) -> str:
    """Return what PostgreSQL says of a developer's statement, in the developer's own words."""
    said = [fault.message]
    if fault.position is not None:
        said.append(f", at {excerpt(text, fault.position - 1)!r}")
    if fault.sqlstate in _UNTYPED and (number := _NUMBERED.search(fault.message)):
        kind = kinds[names[int(number[1]) - 1]]
        said.append(f"; compare it first, or write its type there, {number[0]}::{_TYPES.get(kind, 'text')}")
    elif fault.hint:
        said.append(f"; {fault.hint}")

    def name(number: re.Match[str]) -> str:
        index = int(number[1]) - 1
        return f":{names[index]}" if 0 <= index < len(names) else number[0]

    return _NUMBERED.sub(name, "".join(said))


def _check_type(name: str, kind: str, oid: int, where: str) -> None:
    info = types.get(oid)
    if kind == "datetime" and info is not None and info.name == "timestamp":
        raise ConfigurationError(
            f"{where}: the parameter {name!r} is declared datetime, and the statement takes timestamp, which would "
            f"drop the offset from UTC; write :{name}::timestamptz where it first stands"
        )
    if info is not None and (info.array_oid == oid or info.name not in _TAKEN[kind]):
        taken = type_name(oid)
        raise ConfigurationError(f"{where}: the parameter {name!r} is declared {kind}, and the statement takes {taken}")


def _text(value: Json) -> bytes | None:
    match value:
        case None:
            return None
        case bool():
            return b"true" if value else b"false"
        case _:
            return str(value).encode()
