"""The skill, through the same gate as every other call."""

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from placet import Agent, AgentDefinition, Principal, ToolResult
from placet.database.query_file import load_queries
from placet.database.sqlite_runner import SqliteRunner
from placet.skills.skill import load_skill
from placet.testing import ScriptedModel
from placet.values.json import Json

SKILL = Path(__file__).resolve().parent.parent
ANALYST = Principal("a1", {"analyst"})


class Office:
    def __init__(self, path: Path) -> None:
        self.runner = SqliteRunner(path)


@pytest.fixture
def figures(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT);
        CREATE TABLE stock (sku TEXT, warehouse TEXT, available INTEGER);
        INSERT INTO orders (status) VALUES ('paid'), ('paid'), ('pending');
        INSERT INTO stock VALUES ('RICE', 'Cluj-Napoca', 2), ('RICE', 'São Paulo', 1), ('TEA', 'São Paulo', 9);
        """
    )
    connection.close()
    return path


def call(figures: Path, **arguments: Json) -> ToolResult:
    tool = load_skill(SKILL).tool

    async def ask() -> ToolResult:
        definition = AgentDefinition(name="trial")
        deps = Office(figures)
        async with Agent(definition, tools=[tool], model=ScriptedModel(), store="memory:", deps=deps) as agent:
            result = await agent.call("query_database", arguments, principal=ANALYST)
            assert isinstance(result, ToolResult)
            await deps.runner.close()
            return result

    return asyncio.run(ask())


def test_a_named_query_answers_with_rows_and_their_count(figures: Path) -> None:
    told = json.loads(call(figures, query="orders_by_status").content)

    assert told == {"rows": [{"name": "paid", "value": 2}, {"name": "pending", "value": 1}], "count": 2}


def test_the_limit_is_bound(figures: Path) -> None:
    told = json.loads(call(figures, query="low_stock", limit=1).content)

    assert told == {"rows": [{"name": "RICE", "value": 3}], "count": 1}


def test_a_table_that_is_missing_is_a_code_and_a_hint(figures: Path) -> None:
    result = call(figures, query="best_products")

    assert (result.code, result.is_error) == ("tool_error", True)
    assert json.loads(result.content) == {"code": "42P01", "hint": "42P01: the table does not exist, check the name"}


def test_a_column_that_is_missing_has_a_code_of_its_own(figures: Path) -> None:
    connection = sqlite3.connect(figures)
    connection.execute("ALTER TABLE orders RENAME COLUMN status TO state")
    connection.close()

    assert json.loads(call(figures, query="orders_by_status").content)["code"] == "42703"


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "SELECT * FROM orders"},
        {"query": "orders_by_status; DROP TABLE orders"},
        {"query": "orders_by_status", "sql": "SELECT 1"},
        {"query": "orders_by_status", "limit": "1; DROP TABLE orders"},
        {"query": "orders_by_status", "limit": 0},
    ],
)
def test_sql_from_the_model_is_no_argument(figures: Path, arguments: dict[str, Json]) -> None:
    assert call(figures, **arguments).code == "invalid_arguments"


def test_the_file_and_the_schema_name_the_same_questions() -> None:
    properties: Any = load_skill(SKILL).tool.spec.input_schema["properties"]

    assert [one.name for one in load_queries(SKILL / "queries.sql")] == properties["query"]["enum"]
