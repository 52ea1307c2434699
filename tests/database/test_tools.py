"""The tools of a database, called through the gate as any other."""

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from placet.agent.definition import AgentDefinition
from placet.database.caps import Caps
from placet.database.named import NamedQueries
from placet.database.postgres_sandbox import PostgresSandbox
from placet.database.query_file import read_queries
from placet.database.sqlite_runner import SqliteRunner
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.database.tools import query_tools, sandbox_tools
from placet.errors import ConfigurationError
from placet.models.scripted import ScriptedModel
from placet.stores.memory import MemoryStore
from placet.tools.tool import Tool
from placet.values.approval import Approval
from placet.values.call import ToolResult
from placet.values.outcome import Refused, Waiting
from placet.values.principal import Principal
from placet.wiring import Agent
from tests.database.conftest import open_sandbox
from tests.database.sqlite_shop import RELATIONS, make_shop
from tests.postgres_server import PostgresServer

ANALYST: Final = Principal("a1", roles={"analyst"})
CUSTOMER: Final = Principal("7", roles={"customer"}, attributes={"customer": 7})
BOSS: Final = Principal("b1", roles={"boss"})

CLUJ: Final = (
    "SELECT round(avg(o.total), 2) AS value FROM orders o JOIN counties c ON c.code = o.county_code"
    " WHERE c.name = 'Cluj' AND strftime('%w', o.ordered_at) = '2'"
)
QUERIES: Final = """
-- name: get_order
-- Say how far an order is.
-- param: order_id int >= 1
-- bind: customer principal.attributes.customer int
-- returns: one
-- roles: customer
-- limit: 5/minute
-- answer.ro: comanda {order_id}: {status}
SELECT id AS order_id, status, total FROM orders WHERE id = :order_id AND customer_id = :customer;

-- name: list_orders
-- List orders.
-- bind: customer principal.id int
-- roles: customer
SELECT id, status FROM orders WHERE customer_id = :customer ORDER BY id;

-- name: cancel_order
-- Cancel an order.
-- effect: write
-- param: order_id int
-- roles: customer
-- authorise: is_customer
-- approval: by_boss
UPDATE orders SET status = 'cancelled' WHERE id = :order_id RETURNING id, status;

-- name: add_county
-- Add a county.
-- effect: write
-- param: code text 1..2
-- roles: customer
-- waiver: a test
INSERT INTO counties VALUES (:code, 'new');
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_shop(tmp_path / "shop.db", 300)


@pytest.fixture
async def tools(shop: Path) -> AsyncIterator[tuple[Tool, ...]]:
    sandbox = SqliteSandbox(shop, RELATIONS)
    statements = read_queries(QUERIES)
    reads, writes = SqliteRunner(shop), SqliteRunner(shop, writable=True)
    async with NamedQueries(statements, reads=reads, writes=writes) as queries:
        yield (
            *sandbox_tools(sandbox, roles={"analyst"}, subject="orders"),
            *query_tools(
                queries,
                authorise={"is_customer": lambda principal, _resource, _arguments: "customer" in principal.attributes},
                approval={"by_boss": Approval.always(approvers={"boss"})},
            ),
        )
    await sandbox.close()


@pytest.fixture
async def agent(tools: tuple[Tool, ...]) -> AsyncIterator[Agent]:
    definition = AgentDefinition(name="shop", prompt="You help.")
    store = MemoryStore(key=b"k" * 32)
    async with Agent(
        definition, model=ScriptedModel().says("ok"), tools=tools, store=store, secret=b"s" * 32
    ) as opened:
        yield opened


def told(result: ToolResult | Waiting | Refused) -> Any:
    assert isinstance(result, ToolResult), result
    return json.loads(result.content)


async def test_an_analyst_asks_and_is_answered(agent: Agent) -> None:
    result = await agent.call("ask_data", {"sql": CLUJ}, principal=ANALYST)

    answer = told(result)
    assert [column["name"] for column in answer["columns"]] == ["value"]
    assert (answer["row_count"], answer["truncated"]) == (1, False)
    assert isinstance(answer["rows"][0][0], float)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT password FROM users", "unknown_relation"),
        ("SELECT secret_note FROM orders", "unknown_column"),
        ("COMMIT; DROP TABLE orders", "not_a_query"),
        ("SELECT totl FROM orders", "unknown_column"),
    ],
)
async def test_a_query_that_is_refused_is_an_error_that_teaches(agent: Agent, sql: str, code: str) -> None:
    result = await agent.call("ask_data", {"sql": sql}, principal=ANALYST)

    assert isinstance(result, ToolResult)
    assert result.is_error
    assert told(result)["code"] == code
    assert "detail" not in told(result)


async def test_nobody_else_sees_the_sandbox(agent: Agent) -> None:
    result = await agent.call("ask_data", {"sql": "SELECT 1"}, principal=CUSTOMER)

    assert isinstance(result, ToolResult)
    assert result.is_error
    assert result.code == "unknown_tool"


async def test_what_there_is_is_told_from_the_plan(agent: Agent) -> None:
    whole = told(await agent.call("describe_data", {}, principal=ANALYST))
    one = told(await agent.call("describe_data", {"relation": "counties"}, principal=ANALYST))

    assert [relation["name"] for relation in whole["relations"]] == ["orders", "counties", "masked_users"]
    assert [column["name"] for column in one["relations"][0]["columns"]] == ["code", "name"]
    assert "password" not in json.dumps(whole)


async def test_a_named_query_is_a_typed_tool(tools: tuple[Tool, ...]) -> None:
    order, orders = (next(tool for tool in tools if tool.name == name) for name in ("get_order", "list_orders"))

    assert order.spec.input_schema["properties"] == {
        "order_id": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1}
    }
    assert order.spec.output_schema is not None
    assert set(dict(order.spec.output_schema)["properties"]) == {"order_id", "status", "total"}  # type: ignore[arg-type]  # an object
    listed: Any = orders.spec.output_schema
    row = listed["properties"]["rows"]["items"]["prefixItems"]
    assert [column["description"] for column in row] == ["id", "status"]
    assert orders.spec.roles == frozenset({"customer"})


async def test_a_named_query_answers_for_the_one_who_asks(agent: Agent) -> None:
    mine = told(await agent.call("get_order", {"order_id": 8}, principal=CUSTOMER))
    others = await agent.call("get_order", {"order_id": 9}, principal=CUSTOMER)
    listed = told(await agent.call("list_orders", {}, principal=CUSTOMER))

    assert (mine["order_id"], set(mine)) == (8, {"order_id", "status", "total"})
    assert isinstance(others, ToolResult)
    assert others.is_error
    assert told(others)["code"] == "not_found"
    assert [row[0] for row in listed["rows"]] == [8, 105, 202, 299]


HIDING: Final = """
-- name: list_names
-- List.
-- roles: customer
-- redact: name, code
-- param: code text? 1..2
SELECT name, code FROM counties WHERE code = :code OR :code IS NULL;

-- name: get_name
-- Get.
-- roles: customer
-- redact: name
-- returns: one
SELECT name FROM counties LIMIT 1;

-- name: add_name
-- Add.
-- roles: customer
-- redact: name
-- effect: write
-- waiver: a test
INSERT INTO counties VALUES ('ZZ', 'hunter') RETURNING name;

-- name: find_name
-- Find.
-- roles: customer
-- redact: code
-- param: code text
SELECT count(*) AS counties FROM counties WHERE code = :code;

-- name: list_keys
-- List.
-- roles: customer
SELECT code AS api_key FROM counties;
"""


async def test_a_redacted_column_stands_in_no_log(shop: Path) -> None:
    queries = NamedQueries(read_queries(HIDING), reads=SqliteRunner(shop), writes=SqliteRunner(shop, writable=True))
    await queries.open()
    definition = AgentDefinition(name="shop", prompt="You help.")
    async with Agent(definition, tools=query_tools(queries), model=ScriptedModel(), store="memory:") as agent:
        calls = {
            "list_names": {"code": "CJ"},
            "get_name": {},
            "add_name": {},
            "list_keys": {},
            "find_name": {"code": "CJ"},
        }
        answers = [await agent.call(name, arguments, principal=CUSTOMER, key=name) for name, arguments in calls.items()]
        bodies = [record.entry.body async for record in agent.store.read()]
    await queries.close()

    assert ["Cluj" in str(answers[0]), "name" in told(answers[1]), "hunter" in str(answers[2])] == [True] * 3
    for word in ("Cluj", "CJ", "hunter", *map(str, told(answers[1]).values())):
        assert word not in str(bodies)
    assert "counties" in bodies[-1]


async def test_one_row_is_that_row_or_none(shop: Path) -> None:
    words = "-- name: q\n-- Ask.\n-- roles: customer\n-- returns: one\n-- param: most int\n{}".format
    statements = read_queries(words("SELECT id FROM orders WHERE id <= :most"))
    queries = NamedQueries(statements, reads=SqliteRunner(shop))
    await queries.open()
    definition = AgentDefinition(name="shop", prompt="You help.")
    async with Agent(definition, tools=query_tools(queries), model=ScriptedModel(), store="memory:") as agent:
        none, one, several = [told(await agent.call("q", {"most": most}, principal=CUSTOMER)) for most in (0, 1, 2)]
    await queries.close()

    assert (none["code"], one, several["code"], several["fix"]) == ("not_found", {"id": 1}, "several", "narrow")


@pytest.mark.parametrize("name", ["json", "copy", "schema", "model_config", "model_dump", "class"])
async def test_a_column_may_be_called_as_it_pleases(shop: Path, name: str) -> None:
    text = (
        f"-- name: q\n-- Ask.\n-- roles: customer\n-- returns: one\n-- answer.en: it is {{{name}}}\nSELECT 5 AS {name}"
    )
    queries = NamedQueries(read_queries(text), reads=SqliteRunner(shop))
    await queries.open()
    definition = AgentDefinition(name="shop", prompt="You help.")
    async with Agent(definition, tools=query_tools(queries), model=ScriptedModel(), store="memory:") as agent:
        assert told(await agent.call("q", {}, principal=CUSTOMER)) == {name: 5}
    await queries.close()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("-- answer.en: {nothing}", "names 'nothing'"),
        ("-- progress.en: looking for {nothing}", "names 'nothing'"),
        ("-- limit: 3 of price/day", "price"),
    ],
)
async def test_what_can_be_no_tool_is_said_with_file_and_line(shop: Path, words: str, problem: str) -> None:
    statements = read_queries(f"\n-- name: q\n-- Ask.\n-- roles: customer\n{words}\nSELECT 1 AS one", "shop.sql")
    async with NamedQueries(statements, reads=SqliteRunner(shop)) as queries:
        with pytest.raises(ConfigurationError, match=rf"^shop\.sql:2 \(q\): .*{problem}"):
            query_tools(queries)


async def test_what_the_runtime_binds_is_refused_as_an_argument(agent: Agent) -> None:
    result = await agent.call("get_order", {"order_id": 9, "customer": 8}, principal=CUSTOMER)

    assert isinstance(result, ToolResult)
    assert result.code == "invalid_arguments"


async def test_a_write_waits_for_its_approval_and_is_done_once(agent: Agent, shop: Path) -> None:
    waiting = await agent.call("cancel_order", {"order_id": 8}, principal=CUSTOMER, key="1")
    assert isinstance(waiting, Waiting)
    with sqlite3.connect(shop) as database:
        before = database.execute("SELECT status FROM orders WHERE id = 8").fetchone()
    await agent.approve(waiting.approvals[0].id, by=BOSS)
    after = database.execute("SELECT status FROM orders WHERE id = 8").fetchone()
    database.close()

    assert before != ("cancelled",)
    assert after == ("cancelled",)


async def test_a_write_that_conflicts_says_that_nothing_was_done(agent: Agent) -> None:
    first = await agent.call("add_county", {"code": "XX"}, principal=CUSTOMER, key="1")
    second = await agent.call("add_county", {"code": "XX"}, principal=CUSTOMER, key="2")

    assert isinstance(first, ToolResult)
    assert isinstance(second, ToolResult)
    assert (first.is_error, second.is_error, second.code) == (False, True, "tool_error")
    assert told(second)["code"] == "conflict"
    assert told(second)["fix"] == "sql"


async def test_what_the_model_may_not_read_of_a_refusal_stands_in_the_audit_log(agent: Agent) -> None:
    nobody = Principal("8", roles={"customer"})
    hidden = told(await agent.call("get_order", {"order_id": 1}, principal=nobody))
    for key in ("1", "2"):
        await agent.call("add_county", {"code": "YY"}, principal=CUSTOMER, key=key)

    bodies = [json.loads(record.entry.body) async for record in agent.store.read()]
    details = [body["detail"] for body in bodies if "detail" in body]
    assert "attributes" not in str(hidden)
    assert details == [
        "principal.attributes.customer cannot be bound to 'customer': there is none",
        "IntegrityError: UNIQUE constraint failed: counties.code",
    ]


async def test_a_file_that_names_what_is_not_given_is_refused(shop: Path) -> None:
    statements = read_queries(QUERIES)
    queries = NamedQueries(statements, reads=SqliteRunner(shop), writes=SqliteRunner(shop, writable=True))
    with pytest.raises(ConfigurationError, match="not open"):
        query_tools(queries)
    async with queries:
        with pytest.raises(ConfigurationError, match="'is_customer'"):
            query_tools(queries)


async def test_the_sandbox_over_postgres_is_the_same_tool(server: PostgresServer) -> None:
    sandbox: PostgresSandbox = open_sandbox(server, Caps())
    store = MemoryStore(key=b"k" * 32)
    ask = (
        "SELECT round(avg(o.total), 2) AS value FROM orders o JOIN counties c ON c.code = o.county_code"
        " WHERE c.name = 'Cluj' AND extract(isodow FROM o.ordered_at) = 2"
        " AND o.ordered_at >= timestamptz '2025-06-30' - interval '6 months'"
    )
    definition = AgentDefinition(name="shop", prompt="You help.")
    options: dict[str, Any] = {"store": store, "secret": b"s" * 32, "model": ScriptedModel().says("ok")}
    async with Agent(definition, tools=sandbox_tools(sandbox, roles={"analyst"}), **options) as agent:
        answer = told(await agent.call("ask_data", {"sql": ask}, principal=ANALYST))
        payroll = told(await agent.call("ask_data", {"sql": "SELECT * FROM hr.payroll"}, principal=ANALYST))
        described = told(await agent.call("describe_data", {"relation": "orders"}, principal=ANALYST))
    await sandbox.close()

    assert answer["columns"] == [{"name": "value", "type": "numeric"}]
    assert answer["row_count"] == 1
    assert payroll["code"] == "unknown_relation"
    assert {"name": "total", "type": "numeric"} in described["relations"][0]["columns"]
