"""A tool that ends the run: what has its intent stored is seen through, the rest is cancelled and awaited."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.errors import FatalToolError
from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.runtime.sinks import ListSink
from placet.tools.context import Context
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval
from placet.values.audit import AuditKind
from placet.values.effect import EffectState
from placet.values.message import ToolMessage
from placet.values.outcome import Stopped, Waiting
from placet.values.run import StopReason
from tests.runtime.conftest import BOSS, CLERK, MakeAgent, Office
from tests.runtime.doors import ask_inner


@tool(effect="write", roles={"support"}, waiver="a test")
async def slow_write(context: Context[Office]) -> str:
    """Write slowly."""
    await asyncio.sleep(0.1)
    context.deps.done.append(("written",))
    return "written"


@tool(effect="read", roles={"support"})
async def slow_read(context: Context[Office]) -> str:
    """Read slowly."""
    try:
        await asyncio.sleep(3)
    finally:
        context.deps.done.append(("read ended",))
    return "read"


@tool(effect="read", roles={"support"})
async def end_it() -> str:
    """End the run."""
    await asyncio.sleep(0.02)
    raise FatalToolError("the vault is open")


async def test_a_fatal_tool_ends_the_run_and_a_siblings_stored_intent_is_awaited(
    make_agent: MakeAgent, office: Office, heard: ListSink
) -> None:
    model = ScriptedModel().calls_all([("slow_write", {}), ("slow_read", {}), ("end_it", {})]).says("never")
    agent = make_agent(model, tools=[slow_write, slow_read, end_it])

    outcome = await agent.ask("Do it all", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.FATAL
    assert office.done == [("read ended",), ("written",)]
    last = outcome.history[-1]
    assert isinstance(last, ToolMessage)
    assert [result.code for result in last.results] == ["ok", "cancelled", "cancelled"]
    written = [entry.kind for entry in heard.entries if entry.tool == "slow_write"]
    assert written == [AuditKind.INTENT, AuditKind.OUTCOME]
    assert "vault" not in repr(outcome)
    assert any("vault" in entry.body for entry in heard.entries)
    assert len(model.requests) == 1


async def by_loop(make_agent: MakeAgent, model: ScriptedModel) -> object:
    return await make_agent(model.calls("end_it").says("never"), tools=[end_it]).ask("Go", principal=CLERK)


async def by_stream(make_agent: MakeAgent, model: ScriptedModel) -> object:
    agent = make_agent(model.calls("end_it").says("never"), tools=[end_it])
    return [event async for event in agent.stream("Go", principal=CLERK)]


async def by_call(make_agent: MakeAgent, model: ScriptedModel) -> object:
    return await make_agent(model, tools=[end_it]).call("end_it", {}, principal=CLERK)


async def by_call_with_a_key(make_agent: MakeAgent, model: ScriptedModel) -> object:
    return await make_agent(model, tools=[end_it]).tools.execute("end_it", {}, CLERK, key="k1")


async def by_nested_run(make_agent: MakeAgent, model: ScriptedModel) -> object:
    inner = make_agent(model.calls("end_it").says("never"), definition=AgentDefinition(name="inner"), tools=[end_it])
    outer_model = ScriptedModel().calls("ask_inner").says("never")
    outcome = await make_agent(outer_model, tools=[ask_inner()], agents=[inner]).ask("Go", principal=CLERK)
    return outcome, outer_model.requests


async def test_a_nested_run_that_a_fatal_tool_has_ended_is_a_value_for_the_tool_that_started_it(
    make_agent: MakeAgent,
) -> None:
    seen: list[object] = []

    @tool(effect="read", roles={"support"}, timeout=30)
    async def ask(context: Context[Office]) -> str:
        """Ask the inner agent."""
        outcome = await context.runtime.run("inner", "Go")
        seen.append(outcome)
        raise FatalToolError("and so is this run")

    inner_model = ScriptedModel().calls("end_it").says("never")
    inner = make_agent(inner_model, definition=AgentDefinition(name="inner"), tools=[end_it])
    outer = make_agent(ScriptedModel().calls("ask").says("never"), tools=[ask], agents=[inner])

    outcome = await outer.ask("Go", principal=CLERK)

    (nested,) = seen
    assert isinstance(nested, Stopped)
    assert isinstance(outcome, Stopped)
    assert (nested.reason, outcome.reason) == (StopReason.FATAL, StopReason.FATAL)


async def by_approval(make_agent: MakeAgent, model: ScriptedModel) -> object:
    asking = tool(
        effect="read",
        roles={"support"},
        name="end_it",
        description="End.",
        approval=Approval.always(approvers={"finance"}),
    )(end_it_at_once)
    agent = make_agent(model.calls("end_it").says("never"), tools=[asking])
    waiting = await agent.ask("Go", principal=CLERK)
    assert isinstance(waiting, Waiting)
    return await agent.approve(waiting.approvals[0].token, by=BOSS)


async def end_it_at_once() -> str:
    raise FatalToolError("the vault is open")


@pytest.mark.parametrize("door", [by_loop, by_stream, by_call, by_call_with_a_key, by_nested_run, by_approval])
async def test_what_a_fatal_error_says_is_in_the_audit_log_alone(
    make_agent: MakeAgent, heard: ListSink, door: Callable[[MakeAgent, ScriptedModel], Awaitable[object]]
) -> None:
    model = ScriptedModel()

    told = await door(make_agent, model)

    assert "vault" not in repr(told)
    assert "vault" not in repr(model.requests)
    assert len(model.requests) <= 1
    assert [entry.tool for entry in heard.entries if "vault" in entry.body] == ["end_it"]


@tool(effect="write", roles={"support"}, waiver="a test", name="slow_write")
def slow_write_in_a_thread(context: Context[Office]) -> str:
    """Write slowly, and hold up a thread."""
    time.sleep(0.1)
    context.deps.done.append(("written",))
    return "written"


@pytest.mark.parametrize("write", [slow_write, slow_write_in_a_thread], ids=["async", "sync"])
@pytest.mark.parametrize("why", ["a sibling is fatal", "the caller leaves"])
async def test_a_stored_intent_is_awaited_wherever_its_code_runs(
    make_agent: MakeAgent, office: Office, store: Store, write: Tool, why: str
) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [("slow_write", {}), ("end_it", {})]
    model = ScriptedModel().calls_all(calls if why == "a sibling is fatal" else calls[:1]).says("never")
    asking = asyncio.create_task(make_agent(model, tools=[write, end_it]).ask("Do it", principal=CLERK))
    await asyncio.sleep(0.03)
    if why == "the caller leaves":
        asking.cancel()
    await asyncio.wait({asking})

    (effect,) = await store.list_effects()
    assert office.done == [("written",)]
    assert effect.state is EffectState.DONE
    assert asking.cancelled() is (why == "the caller leaves")


async def test_a_stored_intent_is_awaited_no_longer_than_its_timeout(make_agent: MakeAgent, store: Store) -> None:
    @tool(effect="write", roles={"support"}, waiver="a test", timeout=0.05)
    async def never_written() -> str:
        """Wait for ever."""
        await asyncio.Event().wait()
        return "never"

    model = ScriptedModel().calls_all([("never_written", {}), ("end_it", {})]).says("never")
    agent = make_agent(model, tools=[never_written, end_it])
    async with asyncio.timeout(2):
        outcome = await agent.ask("Do it", principal=CLERK)

    (effect,) = await store.list_effects()
    assert isinstance(outcome, Stopped)
    assert effect.state is EffectState.UNKNOWN
