"""A tool that writes in the store's own transaction: its effect and the ledger stand together or not at all."""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.errors import ConfigurationError, StoreError, ToolDefinitionError, ToolError
from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.runtime.sinks import ListSink
from placet.stores.sqlite import SqliteStore
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.output import ToolOutput
from placet.tools.tool import tool
from placet.values.audit import AuditEntry
from placet.values.call import ToolResult
from placet.values.effect import CommitAnswer, EffectState, Statement
from placet.values.principal import Principal
from placet.wiring import Agent
from tests.runtime.conftest import CLERK, SECRET, MakeAgent, Office

PICK = "UPDATE stock SET amount = amount - :amount WHERE item = :item AND amount >= :amount"


@tool(effect="write", roles={"support"}, waiver="a test", survival="transaction", timeout=1)
async def pick(context: Context[Any], item: str, amount: int, then: str = "") -> str | ToolOutput:
    """Take something from the stock, and write down who did."""
    assert context.transaction is not None
    context.transaction.add(PICK, {"item": item, "amount": amount}, rows=1, otherwise="there is not enough of it")
    context.transaction.add("INSERT INTO picked VALUES (?, ?)", (context.principal.id, item))
    match then:
        case "raise":
            raise OSError("connection reset")
        case "say":
            raise ToolError("not today")
        case "hang":
            await asyncio.sleep(60)
        case "complain":
            return ToolOutput("the shelf is locked", is_error=True)
    return "picked"


class Shop:
    """A store's file with tables of a shop in it."""

    def __init__(self, path: Path, heard: ListSink) -> None:
        self.path, self.heard = path, heard

    def agent(self, *, wrapped: Any = None, **options: Any) -> Agent:
        store: Store = SqliteStore(self.path, key=b"k" * 32)
        given = {
            "tools": [pick],
            "secret": SECRET,
            "audit": [self.heard],
            "model": ScriptedModel().says("ok"),
            **options,
        }
        return Agent(AgentDefinition(name="shop"), store=wrapped(store) if wrapped else store, **given)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    @property
    def left(self) -> tuple[int, int]:
        """What is left of the pens, and how many lines say who took some."""
        return self.ask("SELECT (SELECT amount FROM stock), (SELECT count(*) FROM picked)")[0]


@pytest.fixture
async def shop(tmp_path: Path, heard: ListSink) -> Shop:
    shop = Shop(tmp_path / "shop.db", heard)
    async with shop.agent():
        pass
    shop.ask("CREATE TABLE stock (item TEXT PRIMARY KEY, amount INTEGER NOT NULL)")
    shop.ask("CREATE TABLE picked (who TEXT, item TEXT)")
    shop.ask("INSERT INTO stock VALUES ('pen', 10)")
    return shop


async def call(agent: Agent, key: str = "1", principal: Principal = CLERK, **arguments: Any) -> ToolResult:
    result = await agent.call("pick", {"item": "pen", "amount": 3, **arguments}, principal=principal, key=key)
    assert isinstance(result, ToolResult), result
    return result


async def test_what_was_added_is_written_when_the_tool_returns(shop: Shop) -> None:
    async with shop.agent() as agent:
        result = await call(agent)
        (effect,) = await agent.store.list_effects()

    assert (result.code, result.content) == ("ok", "picked")
    assert effect.state is EffectState.DONE
    assert shop.left == (7, 1)


async def test_a_repeated_key_writes_once(shop: Shop) -> None:
    async with shop.agent() as agent:
        results = [await call(agent, "1") for _ in range(3)]

    assert [result.content for result in results] == ["picked"] * 3
    assert shop.left == (7, 1)


@pytest.mark.parametrize(
    ("then", "code"),
    [("raise", "internal_error"), ("say", "tool_error"), ("hang", "timeout"), ("complain", "tool_error")],
)
async def test_a_tool_that_does_not_end_well_has_certainly_done_nothing(shop: Shop, then: str, code: str) -> None:
    async with shop.agent() as agent:
        result = await call(agent, then=then)
        (effect,) = await agent.store.list_effects()

    assert (result.is_error, result.code) == (True, code)
    assert "not known" not in result.content
    assert effect.state is EffectState.FAILED
    assert shop.left == (10, 0)


async def test_a_condition_that_fails_undoes_all_and_is_told_to_the_model(shop: Shop) -> None:
    async with shop.agent() as agent:
        result = await call(agent, amount=11)
        again = await call(agent, "2", amount=4)

    assert (result.code, result.content) == ("tool_error", "there is not enough of it")
    assert again.code == "ok"
    assert shop.left == (6, 1)


async def test_what_the_database_says_reaches_the_audit_log_alone(shop: Shop) -> None:
    shop.ask("DROP TABLE picked")
    async with shop.agent() as agent:
        result = await call(agent)
    shop.ask("CREATE TABLE picked (who TEXT, item TEXT)")

    assert result.code == "internal_error"
    assert "nothing was done" in result.content
    assert "no such table" not in result.content
    reference = result.content.split("reference ")[1].split(")")[0]
    assert any(reference in entry.body and "no such table: picked" in entry.body for entry in shop.heard.entries)
    assert shop.left == (10, 0)


class Stopping:
    """A store of a worker that is stopped just before the commit, and may go on later."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.reached, self.go_on = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit_effect(
        self, key: str, result: str, statements: list[Statement], entry: AuditEntry
    ) -> CommitAnswer:
        self.reached.set()
        await self.go_on.wait()
        return await self._store.commit_effect(key, result, statements, entry)


async def test_of_a_frozen_worker_and_its_heir_one_writes(shop: Shop) -> None:
    """The heir runs the call again, as nothing was committed; the frozen one wakes and is told what was done."""
    clock, made = FrozenClock(), list[Stopping]()

    def stop(store: Store) -> Any:
        made.append(Stopping(store))
        return made[0]

    async with shop.agent(wrapped=stop, clock=clock) as frozen, shop.agent(clock=clock) as heir:
        sleeping = asyncio.create_task(frozen.call("pick", {"item": "pen", "amount": 3}, principal=CLERK, key="1"))
        await made[0].reached.wait()
        clock.move(3600)
        result = await call(heir)
        made[0].go_on.set()
        late = await sleeping
        (effect,) = await heir.store.list_effects()

    assert result.content == "picked"
    assert late == result
    assert effect.state is EffectState.DONE
    assert shop.left == (7, 1)


class Breaking:
    """A store whose first commits come back without an answer."""

    def __init__(self, store: Store, *, times: int = 1) -> None:
        self._store, self._left = store, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit_effect(self, *arguments: Any) -> CommitAnswer:
        answer = await self._store.commit_effect(*arguments)
        self._left -= 1
        if self._left >= 0:
            raise StoreError("the connection broke at the commit")
        return answer


async def test_when_nobody_knows_whether_it_was_committed_the_ledger_tells(shop: Shop) -> None:
    async with shop.agent(wrapped=Breaking) as agent:
        result = await call(agent)

    assert result.content == "picked"
    assert shop.left == (7, 1)


async def test_when_nothing_can_be_known_it_is_said_so(shop: Shop) -> None:
    async with shop.agent(wrapped=partial(Breaking, times=2)) as agent:
        result = await call(agent)

    assert result.code == "effect_unknown"
    assert shop.left == (7, 1)


def test_a_store_without_a_database_is_refused(make_agent: MakeAgent) -> None:
    with pytest.raises(ConfigurationError, match="has no database to write in"):
        make_agent(tools=[pick])


def test_a_nested_agent_is_looked_at_too(make_agent: MakeAgent, shop: Shop) -> None:
    with pytest.raises(ConfigurationError, match="has no database to write in"):
        make_agent(agents=[shop.agent()])


def test_so_is_one_that_is_nested_in_it(make_agent: MakeAgent, shop: Shop) -> None:
    with pytest.raises(ConfigurationError, match="has no database to write in"):
        make_agent(agents=[shop.agent(tools=[], agents=[shop.agent()])])


@pytest.mark.parametrize("sql", ["COMMIT", "", "  ", "SELECT 1", "PRAGMA journal_mode", "ATTACH 'x' AS y", "BEGIN"])
def test_a_statement_that_does_not_write_is_refused(sql: str) -> None:
    with pytest.raises(ToolDefinitionError, match="transaction writes"):
        Statement(sql)


async def test_what_is_added_after_the_end_is_refused(shop: Shop) -> None:
    kept: list[Context[Any]] = []

    @tool(effect="write", roles={"support"}, waiver="a test", survival="transaction")
    async def keep(context: Context[Office]) -> str:
        """Keep the context."""
        kept.append(context)
        return "kept"

    async with shop.agent(tools=[keep]) as agent:
        await agent.call("keep", {}, principal=CLERK, key="1")

    assert kept[0].transaction is not None
    with pytest.raises(ToolDefinitionError, match="has ended"):
        kept[0].transaction.add("DELETE FROM stock")
