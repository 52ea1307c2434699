"""Named queries: discrete questions, described by their database before the first one is asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, Self

from placet.database.answer import Fix, SqlAnswer, SqlRefusal
from placet.database.caps import Caps
from placet.database.parameters import Parameter
from placet.database.placeholders import fill_variants, placeholders
from placet.database.runner import QueryRunner, Ready
from placet.database.statement import Bind, Statement
from placet.errors import ConfigurationError
from placet.values.json import Json, JsonObject
from placet.values.principal import Principal
from placet.values.tool import Effect

_ATTRIBUTES: Final = "principal.attributes."
_ADVICE: Final = {
    "aggregate, or filter; a larger LIMIT shows no more": "ask for less by the arguments",
    ": select a part of them": "",
}
"""What `placet.database.shaping` says to whoever writes a statement, and what instead to whoever only fills it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a query runs: where its bound values come from.

    Attributes:
        principal: With today's roles.
        language: Of the person.
        idempotency_key: The same whenever a call is tried again.
        run_id: The run, or empty.
    """

    principal: Principal
    language: str = "en"
    idempotency_key: str = ""
    run_id: str = ""

    def value(self, source: str) -> Json:
        """Return what stands at a source, or None."""
        match source:
            case "principal.id":
                return self.principal.id
            case "language":
                return self.language or None
            case "idempotency_key":
                return self.idempotency_key or None
            case "run_id":
                return self.run_id or None
            case _:
                return self.principal.attributes.get(source.removeprefix(_ATTRIBUTES))


class NamedQuery:
    """One named query that its database has understood.

    Attributes:
        statement: What its file says.
    """

    def __init__(self, statement: Statement, runner: QueryRunner, ready: Mapping[tuple[str, ...], Ready]) -> None:
        self.statement = statement
        self._runner = runner
        self._ready = ready

    @property
    def caps(self) -> Caps:
        """How much it may cost."""
        return self._runner.caps

    @property
    def columns(self) -> tuple[tuple[str, str | None, JsonObject], ...]:
        """Name, type and JSON Schema of each column."""
        return next(iter(self._ready.values())).columns

    def input_schema(self) -> JsonObject:
        """Return the JSON Schema of what the model sends. Nothing that the runtime binds is in it."""
        parameters = self.statement.parameters
        return {
            "type": "object",
            "properties": {parameter.name: parameter.schema() for parameter in parameters},
            "required": [parameter.name for parameter in parameters if parameter.is_required],
            "additionalProperties": False,
        }

    async def run(self, arguments: Mapping[str, Json], caller: Caller) -> SqlAnswer:
        """Return what the query answers.

        Args:
            arguments: What the model has sent.
            caller: On whose behalf.
        """
        try:
            values = dict(_accept(self.statement.parameters, arguments))
        except ValueError as error:
            return SqlRefusal(code="bad_argument", message=str(error), fix=Fix.SQL)
        for bind in self.statement.binds:
            value = _bind(bind, caller)
            if isinstance(value, SqlRefusal):
                return value
            values[bind.parameter.name] = value
        chosen = tuple(str(values.pop(name)) for name in self.statement.variants)
        return _advise(await self._runner.run(self._ready[chosen], values, rows=self._rows))

    @property
    def _rows(self) -> int | None:
        """How many are shown: where one is read, a second one too, for it is not that one then."""
        if not self.statement.returns_one:
            return self.statement.rows
        return 2 if self.statement.effect is Effect.READ else 1


class NamedQueries:
    """Named queries over one database. An asynchronous context manager.

    Args:
        statements: What the files say (`placet.database.query_file.load_queries`).
        reads: Runs those that read.
        writes: Runs those that write, with a login of their own.

    Raises:
        ConfigurationError: A query writes, and nobody runs it.
    """

    def __init__(
        self, statements: Sequence[Statement], *, reads: QueryRunner, writes: QueryRunner | None = None
    ) -> None:
        self._statements = tuple(statements)
        self._reads = reads
        self._writes = writes
        self.queries: tuple[NamedQuery, ...] = ()
        writing = [statement for statement in self._statements if statement.effect is not Effect.READ]
        if writing and writes is None:
            raise ConfigurationError(f"{writing[0].where}: it writes, and no runner for writes is given")

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Connect, and have every query understood, each of its variants too.

        Raises:
            ConfigurationError: There is no connection, or the database does not understand one.
                The message names file, line and query, on a line for each that is broken.
        """
        for runner in self._runners():
            await runner.open()
        queries: list[NamedQuery] = []
        broken: list[ConfigurationError] = []
        for statement in self._statements:
            try:
                queries.append(await self._prepare(statement))
            except ConfigurationError as error:
                broken.append(error)
        if broken:
            raise ConfigurationError("\n".join(map(str, broken))) from broken[0]
        self.queries = tuple(queries)

    async def close(self) -> None:
        """Close the connections."""
        for runner in self._runners():
            await runner.close()

    def find(self, name: str) -> NamedQuery:
        """Return the query of this name.

        Raises:
            ConfigurationError: There is none, or they are not open.
        """
        found = next((query for query in self.queries if query.statement.name == name), None)
        if found is None:
            raise ConfigurationError(f"there is no open query {name!r}; there are {self.names}")
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Of the queries that are open."""
        return tuple(query.statement.name for query in self.queries)

    def _runners(self) -> Iterator[QueryRunner]:
        yield self._reads
        if self._writes is not None and self._writes is not self._reads:
            yield self._writes

    async def _prepare(self, statement: Statement) -> NamedQuery:
        writes = statement.effect is not Effect.READ
        runner = self._writes if writes and self._writes is not None else self._reads
        declared = {parameter.name: parameter.kind for parameter in statement.parameters}
        declared |= {bind.parameter.name: bind.parameter.kind for bind in statement.binds}
        ready: dict[tuple[str, ...], Ready] = {}
        for choices in product(*(texts.items() for texts in statement.variants.values())):
            texts = dict(zip(statement.variants, (text for _, text in choices), strict=True))
            sql = fill_variants(statement.sql, texts)
            used = {place.name for place in placeholders(sql, statement.where)}
            ready[tuple(choice for choice, _ in choices)] = await runner.prepare(
                sql,
                {name: kind for name, kind in declared.items() if name in used},
                writes=writes,
                rows=1 if statement.returns_one else statement.rows,
                where=statement.where,
            )
        _check_columns(statement, ready)
        _check_labels(statement, ready.values())
        return NamedQuery(statement, runner, ready)


def _advise(answer: SqlAnswer) -> SqlAnswer:
    """Return an answer whose advice speaks of arguments: whoever asks has not written the statement."""
    if isinstance(answer, SqlRefusal) or answer.advice is None:
        return answer
    said = answer.advice
    for advice, instead in _ADVICE.items():
        said = said.replace(advice, instead)
    return replace(answer, advice=said)


def _check_columns(statement: Statement, ready: Mapping[tuple[str, ...], Ready]) -> None:
    shapes = {tuple(name for name, _, _ in one.columns) for one in ready.values()}
    if len(shapes) > 1:
        raise ConfigurationError(f"{statement.where}: its variants give different columns")
    names = next(iter(shapes))
    if statement.returns_one and not names:
        raise ConfigurationError(
            f"{statement.where}: it returns one row, and its database names no column of it; leave `returns` away"
        )
    if statement.returns_one and len(set(names)) != len(names):
        raise ConfigurationError(f"{statement.where}: it returns one row, so its columns need names of their own")
    if statement.returns_one and (odd := [name for name in names if not name.isidentifier() or name.startswith("_")]):
        raise ConfigurationError(f"{statement.where}: {odd[0]!r} is no name of a field; write AS and a plain word")
    unknown = sorted(statement.redact - set(names) - {parameter.name for parameter in statement.parameters})
    if unknown and (names or statement.effect is Effect.READ):  # SQLite does not name what a write gives back
        raise ConfigurationError(f"{statement.where}: nothing is called {unknown[0]!r}, so it cannot be redacted")


def _check_labels(statement: Statement, ready: Iterable[Ready]) -> None:
    """Refuse a choice that the database's enum does not have: it would fail when it is chosen."""
    for one in ready:
        for parameter in (*statement.parameters, *(bind.parameter for bind in statement.binds)):
            labels = one.labels.get(parameter.name, frozenset(parameter.choices))
            if missing := [choice for choice in parameter.choices if choice not in labels]:
                raise ConfigurationError(
                    f"{statement.where}: {parameter.name!r} may be {missing[0]!r}, and the enum of the database has "
                    f"no such value; it has {', '.join(sorted(labels))}"
                )


def _accept(parameters: Sequence[Parameter], arguments: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    known = {parameter.name for parameter in parameters}
    if unknown := sorted(arguments.keys() - known):
        raise ValueError(f"there is no argument {unknown[0]!r}; there are {', '.join(sorted(known))}")
    for parameter in parameters:
        if parameter.name in arguments:
            yield parameter.name, parameter.accept(arguments[parameter.name])
        elif parameter.is_required:
            raise ValueError(f"{parameter.name} is missing")
        else:
            yield parameter.name, None if parameter.default is None else parameter.accept(parameter.default)


def _bind(bind: Bind, caller: Caller) -> "Json | SqlRefusal":
    """Return a bound value. Without one there is no answer: a filter that is left out would open everything."""
    value = caller.value(bind.source)
    parameter = bind.parameter
    problem = "there is none"
    if value is not None:
        try:
            return parameter.accept(int(value) if parameter.kind == "int" and isinstance(value, str) else value)
        except ValueError as error:
            problem = str(error)
    detail = f"{bind.source} cannot be bound to {parameter.name!r}: {problem}"
    return SqlRefusal(code="not_permitted", message="this is not open to you", fix=Fix.POLICY, detail=detail)
