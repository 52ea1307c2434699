"""What other frameworks' sandboxes have let through, or refused wrongly: `tests/cases/public-failures.jsonl`."""

import json
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
import pytest

from placet.agent.definition import AgentDefinition
from placet.database.sandbox import SqlSandbox
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.database.tools import sandbox_tools
from placet.models.scripted import ScriptedModel
from placet.stores.memory import MemoryStore
from placet.values.audit import AuditKind
from placet.values.call import ToolResult
from placet.values.principal import Principal
from placet.wiring import Agent
from tests.database.conftest import open_sandbox
from tests.database.sandbox_cases import CASES
from tests.database.sqlite_shop import RELATIONS, make_shop
from tests.postgres_server import PostgresServer

ANALYST: Final = Principal("a1", roles={"analyst"})


@dataclass(frozen=True, slots=True)
class Failure:
    id: str
    dialect: str
    statement: str
    is_allowed: bool


def load_failures() -> list[Failure]:
    lines = (CASES / "public-failures.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["kind"] == "sql"]
    return [
        Failure(case["id"], case["input"]["dialect"], case["input"]["statement"], case["expect"].startswith("allowed"))
        for case in cases
    ]


FAILURES: Final = load_failures()


@pytest.fixture(params=FAILURES, ids=lambda failure: failure.id)
async def failure(request: pytest.FixtureRequest) -> Failure:
    found: Failure = request.param
    return found


@pytest.fixture
async def sandbox(failure: Failure, server: PostgresServer, tmp_path: Path) -> AsyncIterator[SqlSandbox]:
    made: SqlSandbox
    if failure.dialect == "sqlite":
        made = SqliteSandbox(make_shop(tmp_path / "shop.db", 20), RELATIONS)
    else:
        made = open_sandbox(server)
    async with made:
        yield made


def contents(server: PostgresServer, tmp_path: Path) -> list[object]:
    with psycopg.connect(server.dsn()) as connection:
        orders = connection.execute("SELECT count(*), sum(total), min(status) FROM core.orders").fetchall()
        tables = connection.execute("SELECT count(*) FROM pg_class WHERE relnamespace::regnamespace::text !~ '^pg_'")
        found: list[object] = [orders, tables.fetchall()]
    if (tmp_path / "shop.db").exists():
        with sqlite3.connect(tmp_path / "shop.db") as database:
            found.append(list(database.iterdump()))
        database.close()
    return found


def test_all_of_the_kind_are_tried() -> None:
    assert len(FAILURES) == 11


async def test_the_failure_is_none_here(
    failure: Failure, sandbox: SqlSandbox, server: PostgresServer, tmp_path: Path
) -> None:
    before = contents(server, tmp_path)
    store = MemoryStore(key=b"k" * 32)
    definition = AgentDefinition(name="shop", prompt="You help.")
    model = ScriptedModel().says("ok")
    tools = sandbox_tools(sandbox, roles={"analyst"})
    async with Agent(definition, model=model, tools=tools, store=store, secret=b"s" * 32) as agent:
        result = await agent.call("ask_data", {"sql": failure.statement}, principal=ANALYST)
        kept = [record async for record in store.read(tool="ask_data")]

    assert isinstance(result, ToolResult)
    assert result.is_error is not failure.is_allowed, result
    assert contents(server, tmp_path) == before
    assert AuditKind.CALL in [record.entry.kind for record in kept]
