"""The analyst's questions: answered on the shop's own data, and nothing beyond what is open."""

import json
import sqlite3
from pathlib import Path

import pytest

from placet import Agent, AgentDefinition, Principal, ToolResult
from placet.testing import ScriptedModel
from shop.analysis import OPEN, analysis_tools

ANALYST = Principal("a1", roles={"analyst"})
CLUJ = """
SELECT round(avg(total) / 100.0, 2) AS average, count(*) AS orders
FROM orders
WHERE county = 'Cluj' AND strftime('%w', placed_at) = '2' AND placed_at >= date('2026-11-29', '-6 months')
"""


def content(path: Path) -> bytes:
    return path.read_bytes()


async def ask(shop_file: Path, sql: str, principal: Principal = ANALYST) -> ToolResult:
    tools = analysis_tools(shop_file)
    async with Agent(AgentDefinition(name="trial"), tools=tools, model=ScriptedModel(), store="memory:") as agent:
        result = await agent.call("ask_data", {"sql": sql}, principal=principal)
    assert isinstance(result, ToolResult)
    return result


async def test_the_average_order_from_cluj_on_tuesdays_of_six_months(shop_file: Path) -> None:
    """Valoarea medie a comenzilor din județul Cluj în zilele de marți din ultimele 6 luni."""
    with sqlite3.connect(shop_file) as plain:
        expected = plain.execute(CLUJ).fetchone()
    plain.close()

    result = await ask(shop_file, CLUJ)

    assert result.code == "ok"
    assert tuple(json.loads(result.content)["rows"][0]) == expected
    assert expected[1] > 0


async def test_what_a_column_is_said_to_hold_it_holds(shop_file: Path) -> None:
    said = OPEN[0].columns
    place, moment = said["county"].rpartition(" such as ")[2], said["placed_at"].rpartition(" as ")[2]
    shape = "".join("[0-9]" if sign.isdigit() else sign for sign in moment)

    result = await ask(
        shop_file,
        f"SELECT (SELECT count(*) FROM orders WHERE county = '{place}' AND country = 'BR'),"  # noqa: S608 - our own words
        f" (SELECT count(*) FROM orders WHERE placed_at NOT GLOB '{shape}')",
    )

    brazilian, otherwise = json.loads(result.content)["rows"][0]
    assert brazilian > 0
    assert otherwise == 0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT iban, salary FROM payroll",
        "SELECT * FROM main.payroll",
        "SELECT o.id, p.salary FROM orders o JOIN payroll p ON 1 = 1",
        "SELECT sum(total) FROM other_shop.orders",
        "WITH s AS (SELECT set_config('app.tenant', '2', true) AS x) SELECT o.id FROM s, orders o",
        "SELECT sql FROM sqlite_master",
        "SELECT email FROM customers",
        "SELECT address FROM orders",
        "SELECT 1; COMMIT; DROP TABLE orders",
        "DELETE FROM orders",
        "PRAGMA writable_schema = 1",
        "ATTACH '/tmp/evil.db' AS evil",
    ],
)
async def test_its_twin_beyond_what_is_open_is_refused_and_nothing_changes(shop_file: Path, sql: str) -> None:
    before = content(shop_file)

    result = await ask(shop_file, sql)

    assert result.is_error
    assert content(shop_file) == before


async def test_only_an_analyst_may_ask(shop_file: Path) -> None:
    assert (await ask(shop_file, "SELECT 1", Principal("s1", roles={"support"}))).code == "unknown_tool"
