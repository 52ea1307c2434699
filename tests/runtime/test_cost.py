"""What a call may cost, counted exactly: no clock is asked, so that no busy machine can fail it."""

import gc
import sys
from pathlib import Path
from types import FrameType

import pytest

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.stores.memory import MemoryStore
from placet.stores.sqlite import SqliteStore
from placet.tools.tool import tool
from placet.values.limits import Budget
from placet.values.principal import Principal
from placet.wiring import Agent

CLERK = Principal("s1", roles={"support"})
BUDGET = Budget(turns=1000, calls=1000)


@tool(effect="read", roles={"support"})
async def count_units(product: str) -> int:
    """Return how many units of a product there are."""
    return len(product)


async def python_calls(store: Store, turns: int, more_tools: int = 0) -> int:
    """Return how many Python functions a run of so many turns calls on the loop's thread, one call a turn."""
    model = ScriptedModel(cycle=True)
    for _ in range(turns):
        model.calls("count_units", product="rice")
    model.says("done")
    tools = [count_units, *(tool(effect="read", roles={"support"}, name=f"t{n}")(_other) for n in range(more_tools))]
    counted = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal counted
        counted += event == "call"

    definition = AgentDefinition(name="stock", prompt="You count.", budget=BUDGET)
    async with Agent(definition, tools=tools, model=model, store=store, secret=b"s" * 32) as agent:
        await agent.ask("how many?", principal=CLERK)
        gc.collect()
        gc.disable()  # what others have left behind is not counted
        sys.setprofile(count)
        try:
            await agent.ask("how many?", principal=CLERK)
        finally:
            sys.setprofile(None)
            gc.enable()
    return counted


async def _other(product: str) -> int:
    """Return something else."""
    return len(product)


@pytest.mark.parametrize(("kind", "most"), [("memory", 175), ("sqlite", 225)])
async def test_one_more_call_takes_at_most_so_many_python_functions(kind: str, most: int, tmp_path: Path) -> None:
    def store(name: str) -> Store:
        return SqliteStore(tmp_path / name, key=b"k" * 32) if kind == "sqlite" else MemoryStore(key=b"k" * 32)

    short, long = await python_calls(store("a"), 10), await python_calls(store("b"), 60)

    assert (long - short) / 50 <= most


async def test_a_call_takes_no_more_of_them_after_many_turns_or_among_many_tools() -> None:
    def store() -> Store:
        return MemoryStore(key=b"k" * 32)

    early = await python_calls(store(), 20) - await python_calls(store(), 10)
    late = await python_calls(store(), 410) - await python_calls(store(), 400)
    among_many = await python_calls(store(), 20, 300) - await python_calls(store(), 10, 300)

    assert late == pytest.approx(early, rel=0.02)
    assert among_many == pytest.approx(early, rel=0.02)
