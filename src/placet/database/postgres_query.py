"""One query on one connection: the layers between `BEGIN READ ONLY` and `ROLLBACK`.

```text
BEGIN READ ONLY, set_config(…)   a snapshot is taken: before it SET TRANSACTION READ WRITE would be accepted
Parse, Describe                  of the text as it is: columns, and positions in the asker's own words
── round trip
EXPLAIN                          of the wrapped text: its cost, before anything runs
── round trip
DECLARE, FETCH                   the wrapper cuts rows and cells on the server
── round trip
```
"""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from psycopg.sql import Identifier, Literal

from placet.database.answer import Column, Fix, SqlAnswer, SqlRefusal
from placet.database.caps import Caps
from placet.database.postgres_values import decode, is_short, type_name
from placet.database.shaping import Shaper
from placet.database.wire import Message, ServerError, Wire, rows, statement
from placet.errors import ConfigurationError

_FETCH_CHARACTERS: Final = 2_000_000
"""That one FETCH may bring, so that a wide answer comes in parts."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds in each transaction, whatever the role and the database have set.

    Attributes:
        search_path: Schemas in which a bare name is looked up.
        time_zone: In which days begin.
        caps: For the time-outs.
    """

    search_path: tuple[str, ...]
    time_zone: str
    caps: Caps

    def begin(self, *, read_only: bool = True) -> tuple[Message, Message]:
        """Return the messages that begin a transaction.

        The second takes a snapshot, so that no `SET TRANSACTION READ WRITE` is accepted after it.
        """
        milliseconds = int(self.caps.timeout.total_seconds() * 1000)
        # pg_temp comes last by name: unnamed it would come first, and shadow every relation.
        path = ", ".join(Identifier(schema).as_string(None) for schema in (*self.search_path, "pg_temp"))
        settings = {
            "statement_timeout": str(milliseconds),
            "lock_timeout": "500",
            "idle_in_transaction_session_timeout": str(milliseconds + 2_000),
            "search_path": path,
            "TimeZone": self.time_zone,
            "DateStyle": "ISO, YMD",
            "IntervalStyle": "postgres",
            "client_min_messages": "error",  # a query may give a notice for each of a million rows
            "standard_conforming_strings": "on",  # or backslashes would end strings elsewhere than in the parser
            "cursor_tuple_fraction": "1",  # so that what is explained is what is run
            "client_connection_check_interval": "500",
            "work_mem": "16MB",
            "max_parallel_workers_per_gather": "0",  # each would have as much memory again
            "jit": "off",  # the time is short, and compiling is not interrupted
        }
        calls = ", ".join(
            f"set_config({Literal(name).as_string(None)}, {Literal(value).as_string(None)}, true)"
            for name, value in settings.items()
        )
        mode = "READ ONLY" if read_only else "READ WRITE"
        return statement(f"BEGIN TRANSACTION {mode}".encode()), statement(f"SELECT {calls}".encode())

    async def try_out(self, wire: Wire) -> None:
        """Have the server take them once, so that what it does not know is said when the application starts.

        Raises:
            ConfigurationError: There is one that it does not take.
        """
        try:
            await wire.send(*self.begin())
        except ServerError as error:
            raise ConfigurationError(
                f"the server does not take what each query begins with: {error.fault.message}; correct `time_zone`, "
                "or ask a PostgreSQL of 14 and later"
            ) from error
        finally:
            with suppress(ServerError):  # that the connection is lost is said above, or by whoever uses it next
                await wire.send(statement(b"ROLLBACK"))  # for itself: after a fault nothing of one trip is looked at


_AGGREGATING: Final = frozenset({"Aggregate", "WindowAgg"})
_ROW_BYTES: Final = 32
"""Of a row that is kept, besides its values."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A query inside the words that cut its answer.

    Attributes:
        text: The whole.
        oids: The type of each column, as it comes: a column that is cut comes as text, oid 0.
        columns: As the asker calls them.
        fetch: Rows that one FETCH may bring.
    """

    text: bytes
    oids: tuple[int, ...]
    columns: tuple[Column, ...]
    fetch: int


def wrap(query: str, described: Sequence[tuple[str, int]], caps: Caps) -> Wrapped | SqlRefusal:
    """Return the query with its rows and cells cut, or why it cannot be."""
    if not described:
        return SqlRefusal(code="no_columns", message="the query selects no column", fix=Fix.SQL)
    if len(described) > caps.columns:
        message = f"the query selects {len(described)} columns; at most {caps.columns} are shown"
        return SqlRefusal(code="too_large", message=message, fix=Fix.NARROW)
    names = [f"c{number}" for number in range(1, len(described) + 1)]
    cut = [
        name if is_short(oid) else f"left({name}::text, {caps.cell_characters + 1})"
        for name, (_, oid) in zip(names, described, strict=True)
    ]
    # The line feed keeps a comment at the end from swallowing the bracket.
    source = f"(\n{query}\n) AS _q({', '.join(names)})"
    text = f"SELECT {', '.join(cut)} FROM {source} LIMIT {caps.rows + 1}"  # noqa: S608 - one statement, guarded
    widths = [64 if is_short(oid) else caps.cell_characters for _, oid in described]
    return Wrapped(
        text.encode(),
        tuple(oid if is_short(oid) else 0 for _, oid in described),
        tuple(Column(name, type_name(oid)) for name, oid in described),
        max(1, min(caps.rows + 1, _FETCH_CHARACTERS // sum(widths))),
    )


async def estimate(wire: Wire, wrapped: Wrapped, caps: Caps, *, collects: bool) -> float | SqlRefusal:
    """Return the planner's cost of a query, or that it is too much.

    EXPLAIN evaluates constants, so it must not see what the guard has not passed.

    Args:
        wire: To the server.
        wrapped: The query.
        caps: What it may cost.
        collects: Whether it has an aggregate that keeps all that it reads.

    Raises:
        ServerError: The server refuses it.
    """
    (result,) = await wire.send(statement(b"EXPLAIN (FORMAT JSON) " + wrapped.text))
    plan: dict[str, Any] = json.loads(rows(result)[0][0] or b"[{}]")[0]["Plan"]
    cost = float(plan["Total Cost"])
    whole = plan["Plans"][0] if plan["Node Type"] == "Limit" else plan
    if cost > caps.cost or float(whole["Plan Rows"]) > caps.estimated_rows:
        return SqlRefusal(
            code="too_large",
            message="the query would read or return far too much",
            fix=Fix.NARROW,
            hint="join on keys instead of crossing, filter before joining, aggregate",
        )
    if collects and most_collected(plan) > caps.collected_bytes:
        return SqlRefusal(
            code="too_large",
            message="the query would collect far too many rows in one place",
            fix=Fix.NARROW,
            hint="count or sum them, or collect fewer: what is collected is cut to one cell anyway",
        )
    return cost


def most_collected(plan: Mapping[str, Any]) -> float:
    """Return the bytes that the planner expects to go into the aggregate that reads most."""
    parts: Sequence[Mapping[str, Any]] = plan.get("Plans", ())
    most = max((most_collected(part) for part in parts), default=0.0)
    if plan["Node Type"] not in _AGGREGATING or not parts:
        return most
    return max(most, float(parts[0]["Plan Rows"]) * (float(parts[0]["Plan Width"]) + _ROW_BYTES))


async def fetch(wire: Wire, wrapped: Wrapped, caps: Caps, started: float, cost: float | None = None) -> SqlAnswer:
    """Return the rows of a query.

    Raises:
        ServerError: The server refuses it.
    """
    declare = statement(b"DECLARE _c NO SCROLL CURSOR WITHOUT HOLD FOR " + wrapped.text)
    more = statement(b"FETCH FORWARD %d FROM _c" % wrapped.fetch)
    shaper = Shaper(wrapped.columns, caps)
    _, result = await wire.send(declare, more)
    while all(shaper.take(decode(row, wrapped.oids)) for row in rows(result)) and result.ntuples == wrapped.fetch:
        (result,) = await wire.send(more)
    return shaper.finish((time.monotonic() - started) * 1000, cost)
