"""A tool in a process of its own: real processes, really killed."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from placet.errors import ConfigurationError, ToolDefinitionError
from placet.models.scripted import ScriptedModel
from placet.runtime.hooks import Hooks
from placet.runtime.sinks import ListSink
from placet.tools.context import Context
from placet.tools.parameters import Injected
from placet.tools.tool import Tool, tool
from placet.tools.toolset import Toolset
from placet.values.call import ToolResult
from placet.values.effect import EffectState
from placet.values.outcome import Stopped
from placet.wiring import Agent
from tests.runtime.conftest import CLERK, MakeAgent, Office
from tests.runtime.isolated_tools import ISOLATED, describe


@pytest.fixture
async def agent(make_agent: MakeAgent) -> AsyncIterator[Agent]:
    async with make_agent(tools=ISOLATED) as agent:
        yield agent


async def call(agent: Agent, name: str, key: str = "1", **arguments: Any) -> ToolResult:
    result = await agent.call(name, arguments, principal=CLERK, key=key)
    assert isinstance(result, ToolResult), result
    return result


def is_gone(pid: int) -> bool:
    """Return whether a process has ended: a moment is given to whoever inherits and buries it."""
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def are_gone(note: Path) -> bool:
    """Return whether all processes have ended that a note names; it names one at least."""
    pids = note.read_text().split()
    return bool(pids) and all(is_gone(int(pid)) for pid in pids)


async def test_typed_arguments_go_there_and_a_declared_result_comes_back(agent: Agent) -> None:
    result = await call(agent, "describe", day="2026-11-14", names=["Ana", "João"])

    assert (result.code, result.is_error) == ("ok", False)
    assert '"day":"14.11.2026"' in result.content
    assert '"names":"Ana,João"' in result.content
    assert f'"pid":"{os.getpid()}"' not in result.content


async def test_each_call_has_a_process_of_its_own(agent: Agent) -> None:
    results = [await call(agent, "describe", key=f"{at}", day="2026-11-14", names=[]) for at in range(3)]

    assert len({result.content for result in results}) == 3
    assert all('"calls":"1"' in result.content for result in results)


async def test_an_async_tool_knows_its_principal_and_its_key(agent: Agent) -> None:
    result = await call(agent, "whoami")

    assert result.content.startswith(f"{CLERK.id} {sorted(CLERK.roles)} call_")


async def test_dependencies_stay_in_the_parent(agent: Agent, heard: ListSink) -> None:
    result = await call(agent, "use_dependencies")

    assert result.code == "internal_error"
    assert any("stays in the parent process" in entry.body for entry in heard.entries)


@pytest.mark.parametrize("how", ["sleep", "spin", "regex", "deaf"])
async def test_what_hangs_is_dead_at_its_timeout_with_all_that_it_has_started(
    agent: Agent, tmp_path: Path, how: str
) -> None:
    note, began = tmp_path / "pids", time.monotonic()

    result = await call(agent, "hang", how=how, note=str(note))

    assert result.code == "timeout"
    assert "may_still_be_running" not in result.content
    assert time.monotonic() - began < 4
    assert are_gone(note)


async def test_a_write_that_was_killed_is_unknown(agent: Agent, tmp_path: Path) -> None:
    result = await call(agent, "write_and_hang", note=str(tmp_path / "pid"))

    (effect,) = await agent.store.list_effects(states=[EffectState.UNKNOWN])
    assert result.code == "timeout"
    assert "do not repeat it" in result.content
    assert effect.tool == "write_and_hang"


async def test_memory_is_bounded(agent: Agent, heard: ListSink) -> None:
    little, much = await call(agent, "take_memory", megabytes=20), await call(agent, "take_memory", "2", megabytes=200)

    assert little.content == f"{20 * 1024 * 1024} bytes"
    assert much.code == "internal_error"
    assert any("MemoryError" in entry.body for entry in heard.entries)


@pytest.mark.parametrize(
    ("how", "code", "state"),
    [
        ("knowing", "tool_error", EffectState.FAILED),
        ("surprise", "internal_error", EffectState.UNKNOWN),
        ("exit", "internal_error", EffectState.UNKNOWN),
        ("signal", "internal_error", EffectState.UNKNOWN),
        ("system exit", "internal_error", EffectState.UNKNOWN),
    ],
)
async def test_each_ending_there_is_an_ending_here(agent: Agent, how: str, code: str, state: EffectState) -> None:
    result = await call(agent, "fail", how=how)

    (effect,) = await agent.store.list_effects()
    assert (result.code, effect.state) == (code, state)
    assert "hunter2" not in result.content


async def test_a_fatal_error_there_ends_the_run_here(make_agent: MakeAgent) -> None:
    async with make_agent(ScriptedModel().calls("fail", how="fatal").says("x"), tools=ISOLATED) as agent:
        outcome = await agent.ask("Go", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert "vault" not in outcome.text


async def test_an_output_goes_to_the_model_and_its_data_to_the_hooks(make_agent: MakeAgent) -> None:
    seen: list[Any] = []
    hooks = Hooks(after_tool=lambda _use, _result, data: seen.append(data))

    async with make_agent(tools=ISOLATED, hooks=[hooks]) as agent:
        result = await call(agent, "give_both")

    assert (result.content, result.is_error) == ("words", True)
    assert seen == [{"rows": 3}]


async def test_a_detail_goes_to_the_audit_log_alone(agent: Agent, heard: ListSink) -> None:
    output, error = await call(agent, "give_both"), await call(agent, "fail", "2", how="knowing")

    bodies = [entry.body for entry in heard.entries]
    assert not any(word in result.content for result in (output, error) for word in ("log", "map"))
    assert any("a line of the log" in body for body in bodies)
    assert any("the map is of 1990" in body for body in bodies)
    assert not any("hunter2" in body for body in bodies)


async def test_a_result_is_cut_where_it_is_made(agent: Agent) -> None:
    result = await call(agent, "give_much")

    assert len(result.content) <= 1000
    assert result.cut_from == 100_000


async def test_a_caller_that_leaves_kills_a_read(agent: Agent, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    task = asyncio.create_task(call(agent, "hang", how="sleep", note=str(note)))
    while not note.exists() or not note.read_text():  # noqa: ASYNC110 - another process writes it
        await asyncio.sleep(0.02)

    task.cancel()
    await asyncio.wait({task})

    assert task.cancelled()
    assert await asyncio.to_thread(are_gone, note)


async def test_calls_run_side_by_side(agent: Agent) -> None:
    results = await asyncio.gather(
        *(call(agent, "describe", key=f"{at}", day="2026-11-14", names=[f"{at}"]) for at in range(6))
    )

    assert [f'"names":"{at}"' in result.content for at, result in enumerate(results)] == [True] * 6


async def test_a_closed_agent_leaves_no_process(make_agent: MakeAgent) -> None:
    async with make_agent(tools=ISOLATED) as agent:
        await call(agent, "describe", day="2026-11-14", names=[])
        children = [child.pid for child in agent.world.processes.waiting.values()]

    assert children
    assert all(is_gone(pid) for pid in children)


PARENT = """
import asyncio, sys
from placet import Agent, AgentDefinition, Principal
from placet.models.scripted import ScriptedModel
from tests.runtime.isolated_tools import ISOLATED

async def main():
    agent = Agent(AgentDefinition(name="a"), model=ScriptedModel().says("x"), tools=ISOLATED, store="memory:")
    async with agent:
        await agent.call("hang", {"how": sys.argv[1], "note": sys.argv[2]}, principal=Principal("c"), key="1")

asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["sleep", "spin"])
def test_a_parent_that_is_killed_takes_its_children_along(tmp_path: Path, how: str) -> None:
    note = tmp_path / "pids"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, how, str(note)], cwd=Path(__file__).parents[2])  # noqa: S603
    while not note.exists() or len(note.read_text().split()) < 2:
        assert parent.poll() is None
        time.sleep(0.01)

    parent.send_signal(signal.SIGKILL)
    parent.wait()

    assert are_gone(note)


def test_what_another_process_could_not_find_does_not_build() -> None:
    def local(name: str) -> str:
        """Say the name."""
        return name

    with pytest.raises(ToolDefinitionError, match="top level of a module"):
        tool(effect="read", roles={"a"}, isolation="process")(local)


def test_what_stays_here_cannot_be_taken_there() -> None:
    def injected(name: str, office: Injected[Office]) -> str:
        """Say the name."""
        return name

    injected.__qualname__ = "injected"
    with pytest.raises(ToolDefinitionError, match=r"takes 'office' \(injected\)"):
        tool(effect="read", roles={"a"}, isolation="process")(injected)


def _plain(name: str, _context: Context[Any]) -> str:
    """Say the name."""
    return name


def test_a_tool_that_its_module_does_not_hold_is_refused_by_the_agent(make_agent: MakeAgent) -> None:
    built = tool(effect="read", roles={"support"}, isolation="process")(_plain)
    assert isinstance(built, Tool)

    with pytest.raises(ConfigurationError, match="is another thing for whoever imports it"):
        make_agent(tools=[built])


async def test_a_tool_under_another_name_is_found_at_home(make_agent: MakeAgent) -> None:
    async with make_agent(tools=Toolset([describe]).prefix("my_")) as agent:
        result = await call(agent, "my_describe", day="2026-11-14", names=[])

    assert result.code == "ok"


async def test_a_write_is_seen_through_although_its_caller_leaves(agent: Agent, tmp_path: Path) -> None:
    await call(agent, "describe", day="2026-11-14", names=[])
    note = tmp_path / "note"
    calling = asyncio.create_task(call(agent, "write_slowly", note=str(note)))
    while not await agent.store.list_effects():  # noqa: ASYNC110 - a store tells nobody
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    calling.cancel()
    await asyncio.wait({calling})

    (effect,) = await agent.store.list_effects()
    assert note.read_text() == "written"
    assert effect.state is EffectState.DONE
