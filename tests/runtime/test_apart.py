"""One agent object, many runs at the same time: nothing of one is seen in another, whichever door and kind of tool."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.tools.context import Context
from placet.tools.parameters import State
from placet.tools.tool import tool
from placet.values.call import ToolResult
from placet.values.event import RunEnded
from placet.values.message import ToolMessage
from placet.values.outcome import Answer, Outcome
from placet.values.principal import EVERYONE, Principal
from placet.wiring import Agent
from placet.workflow import AgentStage, Parallel, Workflow
from tests.runtime.conftest import MakeAgent

RUNS = 200
REQUEST: ContextVar[str] = ContextVar("request", default="none")
"""Set by whoever asks, as a web framework does."""
LEFT: ContextVar[str] = ContextVar("left", default="nothing")
"""Set by a tool: nobody else may find it."""


def look_around(context: Context[Any]) -> str:
    found, mine = LEFT.get(), context.principal.id
    LEFT.set(mine)
    return f"{REQUEST.get()} {mine} {found}"


@tool(effect="read", roles={EVERYONE}, timeout=60)
def look_in_a_thread(context: Context[Any]) -> str:
    """Say what is seen here."""
    said = look_around(context)
    time.sleep(0.0005)
    return f"{said} {LEFT.get()}"


@tool(effect="read", roles={EVERYONE}, timeout=60)
async def look_on_the_loop(context: Context[Any]) -> str:
    """Say what is seen here."""
    said = look_around(context)
    await asyncio.sleep(0)
    return f"{said} {LEFT.get()}"


@tool(effect="write", roles={EVERYONE}, waiver="a test", timeout=60)
def write_in_a_thread(context: Context[Any]) -> str:
    """Say what is seen here, as a write."""
    said = look_around(context)
    time.sleep(0.0005)
    return f"{said} {LEFT.get()}"


LOOKING = [look_in_a_thread, look_on_the_loop, write_in_a_thread]


@pytest.fixture
def agent(make_agent: MakeAgent) -> Agent:
    script = ScriptedModel(per_run=True)
    for _ in range(2):  # side by side, and one after the other
        script = script.calls_all([(one.name, {}) for one in LOOKING])
    return make_agent(script.says("ok"), tools=LOOKING)


def contents(outcome: Outcome) -> Sequence[str]:
    assert isinstance(outcome, Answer), outcome
    results: list[ToolResult] = [
        one for said in outcome.history if isinstance(said, ToolMessage) for one in said.results
    ]
    return [result.content for result in results]


def expected(number: int) -> list[str]:
    return [f"r{number} p{number} nothing p{number}"] * 2 * len(LOOKING)


async def by_asking(agent: Agent, number: int) -> Outcome:
    return await agent.ask("Look", principal=Principal(f"p{number}"))


async def by_streaming(agent: Agent, number: int) -> Outcome:
    *_, last = [event async for event in agent.stream("Look", principal=Principal(f"p{number}"))]
    assert isinstance(last, RunEnded)
    return last.outcome


@pytest.mark.parametrize("door", [by_asking, by_streaming])
async def test_two_hundred_runs_see_their_own_principal_and_their_own_variables(
    agent: Agent, door: Callable[[Agent, int], Awaitable[Outcome]]
) -> None:
    async def one(number: int) -> Sequence[str]:
        REQUEST.set(f"r{number}")
        said = contents(await door(agent, number))
        assert (REQUEST.get(), LEFT.get()) == (f"r{number}", "nothing")
        return said

    said = await asyncio.gather(*[one(number) for number in range(RUNS)])

    assert said == [expected(number) for number in range(RUNS)]


async def test_two_hundred_direct_calls_see_their_own_too(agent: Agent) -> None:
    async def one(number: int) -> str:
        REQUEST.set(f"r{number}")
        name = LOOKING[number % len(LOOKING)].name
        result = await agent.call(name, {}, principal=Principal(f"p{number}"), key="k")
        assert isinstance(result, ToolResult), result
        return result.content

    said = await asyncio.gather(*[one(number) for number in range(RUNS)])

    assert said == [f"r{number} p{number} nothing p{number}" for number in range(RUNS)]


@pytest.mark.parametrize("kept", ["memory", "a file"])
def test_two_hundred_threads_without_a_loop_see_their_own_too(make_agent: MakeAgent, kept: str, tmp_path: Path) -> None:
    script = ScriptedModel(per_run=True).calls_all([(one.name, {}) for one in LOOKING])
    options: dict[str, Any] = {"store": f"sqlite:///{tmp_path / 'placet.db'}"} if kept == "a file" else {}
    agent = make_agent(script.says("ok"), tools=LOOKING, **options)
    together = threading.Barrier(20)

    def one(number: int) -> Sequence[str]:
        REQUEST.set(f"r{number}")
        together.wait()
        return contents(agent.ask_sync("Look", principal=Principal(f"p{number}")))

    with ThreadPoolExecutor(20) as threads:
        said = list(threads.map(one, range(RUNS)))
    agent.close_sync()

    assert said == [expected(number)[: len(LOOKING)] for number in range(RUNS)]


class Diary(BaseModel):
    question: str = ""
    seen: list[str] = []
    left: str = ""
    right: str = ""


@tool(effect="read", roles={EVERYONE}, timeout=60)
def write_it_down(context: Context[Any], diary: State[Diary]) -> str:
    """Write down what is seen here."""
    time.sleep(0.0005)
    diary.seen.append(f"{REQUEST.get()} {context.principal.id} {LEFT.get()}")
    LEFT.set(context.principal.id)
    return "written"


async def test_two_hundred_workflows_work_on_their_own_state_in_branches_and_threads(make_agent: MakeAgent) -> None:
    def writer(name: str) -> AgentStage:
        model = ScriptedModel(per_run=True).calls("write_it_down").says(name)
        agent = make_agent(model, tools=[write_it_down], definition=AgentDefinition(name=name))
        return AgentStage(agent, into=name)

    def merge(state: Diary, states: Sequence[Diary]) -> Diary:
        left, right = states
        return Diary(question=state.question, seen=left.seen + right.seen, left=left.left, right=right.right)

    stages = [Parallel([writer("left"), writer("right")], merge=merge)]
    flow = Workflow("flow", state=Diary, stages=stages, store="memory:")

    async def one(number: int) -> Diary:
        REQUEST.set(f"r{number}")
        outcome = await flow.ask(f"q{number}", principal=Principal(f"p{number}"))
        assert isinstance(outcome, Answer)
        assert isinstance(outcome.output, Diary)
        return outcome.output

    found = await asyncio.gather(*[one(number) for number in range(RUNS)])
    await flow.close()

    assert found == [
        Diary(question=f"q{number}", seen=[f"r{number} p{number} nothing"] * 2, left="left", right="right")
        for number in range(RUNS)
    ]
