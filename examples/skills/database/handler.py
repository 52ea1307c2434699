"""The code of the skill: the model names a question, and the statement is ours."""

import re
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from placet import Context, ToolOutput
from placet.database.answer import Rows, SqlRefusal
from placet.database.named import Caller, NamedQueries
from placet.database.query_file import load_queries
from placet.errors import ConfigurationError

from .shapes import Failure, Found, Office, Question, Row

STATEMENTS: Final = load_queries(Path(__file__).with_name("queries.sql"))

_HINTS: Final = {
    "42P01": "the table does not exist, check the name",
    "42703": "the column does not exist, check the name",
    "42501": "the database does not allow it",
    "57014": "it took too long; ask for less",
    "55P03": "the database is busy; try again",
    "58000": "the database failed; tell an operator",
}
_SAID: Final = (
    ("42P01", re.compile(r"no such table|relation .* does not exist")),
    ("42703", re.compile(r"no such column|column .* does not exist")),
)
_CODES: Final = {"timeout": "57014", "busy": "55P03", "not_permitted": "42501"}


async def execute(
    query: Annotated[Question, Field(description="Which of the prepared questions.")],
    context: Context[Office],
    limit: Annotated[int, Field(ge=1, le=50, description="How many rows at most.")] = 10,
) -> Found | ToolOutput:
    """Answer a prepared question about the shop's figures: orders by status, best products, what is low on stock."""
    prepared = NamedQueries([one for one in STATEMENTS if one.name == query], reads=context.deps.runner)
    try:
        await prepared.open()
    except ConfigurationError as error:  # the database does not understand our own statement
        return _failure(_code(str(error)))
    answer = await prepared.find(query).run({"limit": limit}, Caller(context.principal))
    if isinstance(answer, SqlRefusal):
        return _failure(answer.sqlstate or _CODES.get(answer.code) or _code(answer.detail or ""))
    return _rows(answer)


def _rows(answer: Rows) -> Found:
    rows = [Row.model_validate({"name": name, "value": value}) for name, value in answer.rows]
    return Found(rows=rows, count=len(rows))


def _code(said: str) -> str:
    """Return the code of what a database without codes says."""
    return next((code for code, form in _SAID if form.search(said)), "58000")


def _failure(code: str) -> ToolOutput:
    return ToolOutput(Failure(code=code, hint=f"{code}: {_HINTS.get(code, _HINTS['58000'])}"), is_error=True)
