"""Tools over a database: named queries, the sandbox, and what there is."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Final, NotRequired
from weakref import WeakValueDictionary

from pydantic import Field
from pydantic_core import to_json
from typing_extensions import TypedDict

from placet.database.answer import Fix, Rows, SqlAnswer, SqlRefusal
from placet.database.caps import Caps
from placet.database.describe import describe_data
from placet.database.named import Caller, NamedQueries, NamedQuery
from placet.database.sandbox import SqlSandbox
from placet.errors import ConfigurationError, PlacetError, ToolError
from placet.redaction.keys import Secrecy, secrecy
from placet.tools.context import Context
from placet.tools.output import ToolOutput
from placet.tools.tool import Options, Tool
from placet.values.approval import ApprovalRule
from placet.values.json import JsonObject
from placet.values.tool import Authorise, Effect

ASK: Final = "ask_data"
DESCRIBE: Final = "describe_data"

_ENVELOPE_BYTES: Final = 20_000
"""Of an answer besides its cells: names of columns, brackets, advice."""
_TYPES: Final[Mapping[str, Any]] = {"integer": int | None, "boolean": bool | None, "string": str | None}
_PATIENCE: Final = 1.0
"""Seconds by which a tool outlasts its query, which answers for itself."""


class ShownColumn(TypedDict):
    """One column of an answer."""

    name: str
    type: NotRequired[str]


class ShownRows(TypedDict):
    """What a query has found: one row is one array, in the order of the columns."""

    columns: list[ShownColumn]
    rows: list[list[Any]]
    row_count: int
    truncated: bool
    elapsed_ms: float
    advice: NotRequired[str]


def sandbox_tools(
    sandbox: SqlSandbox,
    *,
    roles: Collection[str],
    subject: str = "the data",
    names: tuple[str, str] = (ASK, DESCRIBE),
    limit: str = "30/minute",
) -> tuple[Tool, Tool]:
    """Return the tools of a sandbox: one that asks, and one that says what there is.

    A sandbox that is not open yet is opened by the first call; open it when the application
    starts, so that what is wrong is said there.

    Args:
        sandbox: Answers the queries.
        roles: Who may ask.
        subject: What the data is about, for the model: `"orders and customers of the shop"`.
        names: Of the two tools.
        limit: How often each principal may ask.
    """
    ask, describe = names
    caps = sandbox.caps
    relations = ", ".join(sandbox.data.names)
    opener = _Opener(sandbox)
    turns = _Turns()

    async def ask_data(arguments: dict[str, Any], context: Context[Any]) -> ShownRows | ToolOutput:
        await opener.open()
        async with turns.of(context.run_id or context.principal.id):
            told: ShownRows | ToolOutput = _tell(await sandbox.query(str(arguments["sql"])))
        return told

    async def describe_open_data(arguments: dict[str, Any], _: Context[Any]) -> dict[str, Any]:
        await opener.open()
        relation = arguments.get("relation")
        return dict(describe_data(sandbox.data, sandbox.dialect, None if relation is None else str(relation)))

    shared = Options(roles=roles, limit=limit, timeout=_timeout(caps), writable_output=True)
    return (
        Tool.define(
            name=ask,
            description=(
                f"Answer a question about {subject} by one SELECT statement ({sandbox.dialect}) over these relations: "
                f"{relations}. Call {describe} first for their columns. Aggregate in SQL: at most {caps.rows} rows are "
                "shown. When a query is refused, the answer says what would help."
            ),
            parameters={
                "type": "object",
                "properties": {
                    "sql": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": caps.query_characters,
                        "description": "One SELECT. Values stand in it as they are, texts in single quotes.",
                    }
                },
                "required": ["sql"],
                "additionalProperties": False,
            },
            effect=Effect.READ,
            handler=ask_data,
            **(shared | Options(max_result_bytes=caps.answer_bytes + _ENVELOPE_BYTES)),
        ),
        Tool.define(
            name=describe,
            description=f"Say which relations and columns there are about {subject}. Call it before {ask}.",
            parameters={
                "type": "object",
                "properties": {
                    "relation": {"type": "string", "maxLength": 200, "description": "One of them alone."},
                },
                "additionalProperties": False,
            },
            effect=Effect.READ,
            handler=describe_open_data,
            **shared,
        ),
    )


def query_tools(
    queries: NamedQueries,
    *,
    authorise: Mapping[str, Authorise] | None = None,
    approval: Mapping[str, ApprovalRule] | None = None,
) -> tuple[Tool, ...]:
    """Return one tool for each named query. The queries are open, so that their results are known.

    Args:
        queries: What the files say, understood by their database.
        authorise: By the name that stands in a file, the function.
        approval: By the name that stands in a file, the rule.

    Raises:
        ConfigurationError: The queries are not open, a file names what is not given, or one of them can be no tool.
    """
    if not queries.queries:
        raise ConfigurationError("the named queries are not open; await their open() before their tools are made")
    return tuple(_query_tool(query, authorise or {}, approval or {}) for query in queries.queries)


def _query_tool(query: NamedQuery, authorise: Mapping[str, Authorise], approval: Mapping[str, ApprovalRule]) -> Tool:
    statement = query.statement
    for word, name, known in (
        ("authorise", statement.authorise, authorise),
        ("approval", statement.approval, approval),
    ):
        if name is not None and name not in known:
            raise ConfigurationError(
                f"{statement.where}: {word} {name!r} is not given to query_tools; it has {list(known)}"
            )

    async def run(arguments: dict[str, Any], context: Context[Any]) -> Any:
        caller = Caller(context.principal, context.language, context.idempotency_key, context.run_id)
        answer = await query.run(arguments, caller)
        if isinstance(answer, SqlRefusal) and statement.effect is not Effect.READ:
            raise _failure(answer, statement.name)
        if statement.returns_one and isinstance(answer, Rows):
            return _tell_one(answer)
        return _tell(answer)

    try:
        return Tool.define(
            name=statement.name,
            description=statement.description,
            parameters=query.input_schema(),
            effect=statement.effect,
            handler=run,
            returns=_returns(query),
            roles=statement.roles,
            timeout=_timeout(query.caps),
            limit=statement.limits,
            authorise=None if statement.authorise is None else authorise[statement.authorise],
            approval=None if statement.approval is None else approval[statement.approval],
            waiver=statement.waiver,
            redact=_kept_out(query),
            writable_output=True,
            max_result_bytes=query.caps.answer_bytes + _ENVELOPE_BYTES,
            progress=statement.progress,
            answer=statement.answer,
        )
    except ConfigurationError as error:
        raise ConfigurationError(f"{statement.where}: {error}") from error


def _kept_out(query: NamedQuery) -> frozenset[str]:
    """Return what of arguments and answers is kept out of logs.

    A cell in a row has no name. So all rows go with one of a column that is named, or that is called as secrets are.
    """
    redact, arguments = query.statement.redact, {parameter.name for parameter in query.statement.parameters}
    columns = {name for name, _, _ in query.columns if name in redact or secrecy(name) is not Secrecy.OPEN}
    if query.statement.returns_one or not (columns or redact - arguments):
        return redact
    return (redact & arguments) | {"rows"}


def _tell(answer: SqlAnswer) -> Any:
    if isinstance(answer, SqlRefusal):
        return ToolOutput(dict(answer.as_json()), is_error=True, data={"detail": answer.detail}, detail=answer.detail)
    return dict(answer.as_json())


def _tell_one(answer: Rows) -> Any:
    match answer.rows:
        case (row,):
            return {column.name: value for column, value in zip(answer.columns, row, strict=True)}
        case ():
            told = {"code": "not_found", "message": "there is none", "fix": Fix.SQL, "hint": "check the values"}
        case _:
            told = {"code": "several", "message": "there are several", "fix": Fix.NARROW, "hint": "say more of the one"}
    return ToolOutput(told, is_error=True)


def _failure(answer: SqlRefusal, name: str) -> PlacetError:
    """Return what a write raises: a `ToolError` says that nothing was done, any other that nobody knows.

    The model reads the refusal of a write in the shape of every other one.
    """
    if answer.is_certain:
        return ToolError(to_json(answer.as_json()).decode(), detail=answer.detail)
    return PlacetError(f"nobody has seen how {name!r} ended: {answer.message} {answer.detail or ''}")


def _returns(query: NamedQuery) -> Any:
    """Return the type of what a query gives back, of which its output schema is made."""
    made: Any = TypedDict  # its fields are known when it runs, and no name of a column is one of its own
    if query.statement.returns_one:
        return made(query.statement.name, {name: _type_of(schema) for name, _, schema in query.columns})
    kinds = tuple(_type_of(schema, name) for name, _, schema in query.columns)
    row: Any = tuple[kinds] if kinds else list[Any]  # type: ignore[valid-type]  # its columns are known when it runs
    return made(query.statement.name, {**ShownRows.__annotations__, "rows": list[row]})


def _type_of(schema: JsonObject, name: str = "") -> Any:
    """Return the type of a column's values, described by what they are and, in a row that is an array, by its name."""
    said = ": ".join(filter(None, (name, str(schema.get("description", "")))))
    kind: Any = _TYPES.get(str(schema["type"]), int | float | str | None)
    return Annotated[kind, Field(description=said)] if said else kind


def _timeout(caps: Caps) -> float:
    return caps.timeout.total_seconds() + caps.wait.total_seconds() + _PATIENCE


class _Opener:
    """Opens a sandbox once, however many ask at the same time."""

    def __init__(self, sandbox: SqlSandbox) -> None:
        self._sandbox = sandbox
        self._lock = asyncio.Lock()

    async def open(self) -> None:
        if not self._sandbox.is_open:
            async with self._lock:
                if not self._sandbox.is_open:
                    await self._sandbox.open()


class _Turns:
    """Lets one conversation ask one question at a time, so that none takes all the connections."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, conversation: str) -> asyncio.Lock:
        lock = self._locks.get(conversation)
        if lock is None:
            lock = self._locks[conversation] = asyncio.Lock()
        return lock
