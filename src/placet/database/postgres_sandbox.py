"""The sandbox over PostgreSQL: a role of its own, a guard, and a transaction that reads.

| layer | what it is for |
|---|---|
| own login role (`placet.database.audit`) | the boundary: files, hidden tables, statistics |
| extended protocol (`placet.database.wire`) | one statement |
| guard (`placet.database.guard`) | locks, settings, NOTIFY, catalogs, sizes made out of numbers |
| `BEGIN READ ONLY`, `ROLLBACK` (`placet.database.postgres_query`) | writes; settings of the session |
| `statement_timeout`, watchdog (`placet.database.postgres_pool`) | the time |
| wrapper, EXPLAIN | rows and cells on the server; the cost |
| shaper (`placet.database.shaping`) | bytes |
| `DISCARD ALL` | what outlives a transaction |

The extra `postgres`.
"""

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Self

from placet.database.answer import SqlAnswer, SqlRefusal
from placet.database.audit import audit_role, load_dotted, load_shadowed, load_views
from placet.database.caps import Caps
from placet.database.describing import describe_relation
from placet.database.facts import SqlParser
from placet.database.finding import Finding, say
from placet.database.guard import Guard, Passed
from placet.database.libpg import PostgastParser
from placet.database.plan import SandboxPlan
from placet.database.policy import DOTTED, Policy
from placet.database.postgres_check import look_at_views
from placet.database.postgres_pool import PostgresPool, connect
from placet.database.postgres_query import Settings, estimate, fetch, wrap
from placet.database.relation import OpenData, Relation
from placet.database.sqlstate import explain, explain_result
from placet.database.wire import ServerError, Wire, describe, described, parse
from placet.errors import ConfigurationError


class PostgresSandbox:
    """Answers a model's own queries to PostgreSQL. An asynchronous context manager.

    Args:
        dsn: Whereto, and as which role: one of its own, that may read what is open and nothing else.
        relations: What is open. A relation without a schema is in `public`.
        functions: Functions of your own that are granted, as `schema.name`.
        search_path: Where a bare name is looked up; without one, in the schemas of the relations.
        time_zone: In which days begin.
        caps: How much one query may cost.
        audit_dsn: A login that may read the catalog, when the role itself may not.
        insecure: Start in spite of what the audit finds.
        parser: Reads queries.
        plan: What the views are made of, where a plan says it: they are looked at as `placet sql check` does.

    Raises:
        ConfigurationError: Nothing is open.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self, dsn: str, relations: Iterable[Relation], *, functions: Iterable[str] = (),
        search_path: tuple[str, ...] | None = None, time_zone: str = "UTC", caps: Caps | None = None,
        audit_dsn: str | None = None, insecure: bool = False, parser: SqlParser | None = None,
        plan: SandboxPlan | None = None,
    ) -> None:  # fmt: skip
        self.caps = caps or Caps()
        self.findings: list[Finding] = []
        placed = [relation if relation.schema else replace(relation, schema="public") for relation in relations]
        self._data = OpenData(placed, search_path=search_path)
        self._functions = frozenset(functions)
        self._settings = Settings(self._data.search_path, time_zone, self.caps)
        self._begin = self._settings.begin()
        self._dsn = dsn
        self._audit_dsn = audit_dsn or dsn
        self._insecure = insecure
        self._plan = plan
        self._parser = parser or PostgastParser()
        self._pool = PostgresPool(dsn, self.caps)
        self._guard: Guard | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def dialect(self) -> str:
        """Which SQL is spoken."""
        return "postgres"

    @property
    def data(self) -> OpenData:
        """What is open, with its columns."""
        return self._data

    @property
    def is_open(self) -> bool:
        """Whether it has been opened."""
        return self._guard is not None

    async def open(self) -> None:
        """Audit the role, look at what is open, and connect.

        Raises:
            ConfigurationError: The role may do too much, a view is another than its plan says, a relation or
                the time zone is not there, or there is no connection to be had.
        """
        async with await connect(self._dsn) as connection:
            role = connection.info.user
            wire = Wire(connection)
            await self._settings.try_out(wire)
            columns = {relation.full_name: await describe_relation(wire, relation) for relation in self._data.relations}
        async with await connect(self._audit_dsn) as connection:
            self.findings = await audit_role(connection, role, self._data.relations, self._functions)
            if self._plan is not None:
                self.findings += look_at_views(self._plan, columns, await load_views(connection))
            dotted = await load_dotted(connection, role, self._data.search_path)
            shadowed = await load_shadowed(connection, role, self._data.relations, self._data.search_path)
        severe = [finding for finding in self.findings if finding.is_severe]
        if severe and not self._insecure:
            raise ConfigurationError(f"the role {role!r} may do too much for a model, or see too much:\n{say(severe)}")
        self._data = OpenData(self._data.relations, columns, self._data.search_path, shadowed)
        policy = Policy(functions=self._functions, dotted=DOTTED | dotted)
        self._guard = Guard(self._parser, self._data, policy, self.caps)

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.close()

    async def query(self, sql: str) -> SqlAnswer:
        """Return the rows of one SELECT, or why there are none. Never later than the time and half a second.

        Raises:
            ConfigurationError: The sandbox is not open.
        """
        if self._guard is None:
            raise ConfigurationError("the sandbox is not open; await its open(), or use it as a context manager")
        passed = self._guard.check(sql)
        if isinstance(passed, SqlRefusal):
            return passed
        return await self._pool.use(lambda wire: self._run(wire, sql, passed))

    async def _run(self, wire: Wire, sql: str, passed: Passed) -> SqlAnswer:
        started = time.monotonic()
        is_described = False
        try:
            *_, shape = await wire.send(*self._begin, parse(passed.statement.encode()), describe)
            is_described = True
            wrapped = wrap(passed.statement, described(shape).columns, self.caps)
            if isinstance(wrapped, SqlRefusal):
                return wrapped
            cost = await estimate(wire, wrapped, self.caps, collects=passed.collects)
            if isinstance(cost, SqlRefusal):
                return cost
            return await fetch(wire, wrapped, self.caps, started, cost)
        except ServerError as error:
            if is_described:
                return explain_result(error.fault, sql, self._data)
            if error.step < len(self._begin):
                raise  # it has not begun
            return explain(error.fault, sql, self._data, passed.relations)
