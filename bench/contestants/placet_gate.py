"""placet with everything on: roles, strict arguments, gate, output schema, fence, sealed audit records.

Arguments: `memory` keeps the audit log in memory, `sqlite` in a file (WAL, NORMAL: it survives a
killed process, not a power cut), `intent` the same with a write, whose intent is stored before
and whose outcome after it (FULL).
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from pydantic import BaseModel

from bench.contestants.serving import cpu, serve
from placet import Agent, AgentDefinition, Budget, Principal, Tool, tool
from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.stores.memory import MemoryStore
from placet.stores.sqlite import SqliteStore

KIND = sys.argv[1] if len(sys.argv) > 1 else "memory"
CLERK = Principal("s1", roles={"support"})
TURNS = 1000


class Stock(BaseModel):
    """What the tool gives back."""

    product: str
    units: int


async def check_stock(product: str, limit: int) -> Stock:
    """Return how many units of a product there are."""
    return Stock(product=product, units=42 + limit)


def make_tool(name: str) -> Tool:
    if KIND == "intent":
        return tool(effect="write", roles={"support"}, waiver="a bench", name=name)(check_stock)
    return tool(effect="read", roles={"support"}, name=name)(check_stock)


TOOLS = [make_tool("check_stock")]
FOLDER = tempfile.TemporaryDirectory(prefix="placet-bench-")
_stores = 0


def make_store() -> Store:
    global _stores  # noqa: PLW0603 - a counter of this program
    _stores += 1
    if KIND == "memory":
        return MemoryStore(key=b"k" * 32)
    return SqliteStore(Path(FOLDER.name) / f"{_stores}.db", key=b"k" * 32)


def make_agent(model: ScriptedModel, tools: list[Tool] | None = None) -> Agent:
    budget = Budget(turns=TURNS, calls=TURNS * 50, parallel=50, output_bytes=10_000_000, seconds=3600)
    definition = AgentDefinition(name="bench", prompt="You answer questions about stock.", budget=budget)
    return Agent(definition, tools=tools or TOOLS, model=model, store=make_store(), secret=b"s" * 32)


def script(calls: int, times: int) -> ScriptedModel:
    model = ScriptedModel()
    for _ in range(times):
        for number in range(calls):
            # A write is never the same twice, or the ledger would rightly hold it back while it runs.
            model.calls("check_stock", product="arroz", limit=5 if KIND != "intent" else number)
        model.says("Temos 47 unidades.")
    return model


async def runs(calls: int, times: int, tools: list[Tool] | None = None) -> float:
    agent = make_agent(script(calls, times + 1), tools)
    await agent.ask("how much rice?", principal=CLERK)
    try:
        return await cpu(lambda: agent.ask("how much rice?", principal=CLERK), times)
    finally:
        await agent.close()


async def one_call() -> float:
    return await runs(1, 50)


async def next_call() -> float:
    return (await runs(50, 6) - await runs(1, 6)) / 49


async def parallel_call() -> float:
    times = 5
    model = ScriptedModel()
    for _ in range(times + 1):
        model.calls_all([("check_stock", {"product": "arroz", "limit": number}) for number in range(50)]).says("ok")
    agent = make_agent(model)
    await agent.ask("how much rice?", principal=CLERK)
    try:
        return await cpu(lambda: agent.ask("how much rice?", principal=CLERK), times) / 50
    finally:
        await agent.close()


async def turn_50() -> float:
    return (await runs(60, 3) - await runs(40, 3)) / 20


async def turn_400() -> float:
    return (await runs(410, 3) - await runs(390, 3)) / 20


async def tools_10() -> float:
    return await runs(1, 50, [*TOOLS, *[make_tool(f"t{number}") for number in range(9)]])


async def tools_1000() -> float:
    return await runs(1, 50, [*TOOLS, *[make_tool(f"t{number}") for number in range(999)]])


async def thousand_runs() -> float:
    agent = make_agent(script(3, 1000))
    try:
        return await cpu(lambda: asyncio.gather(*[agent.ask("how much rice?", principal=CLERK) for _ in range(1000)]))
    finally:
        await agent.close()


if __name__ == "__main__":
    serve(
        {
            "one_call": one_call,
            "next_call": next_call,
            "parallel_call": parallel_call,
            "turn_50": turn_50,
            "turn_400": turn_400,
            "tools_10": tools_10,
            "tools_1000": tools_1000,
        }
    )
