"""Every way in: each takes one call through placet and returns what became of it.

A law that holds of a call is tried through all of them, so that a new door inherits the laws.
"""

import asyncio
import dataclasses
import itertools
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import BaseModel

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.models.text_protocol import TextProtocolModel
from placet.ports import ModelAnswer, ModelRequest
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval
from placet.values.call import ToolResult
from placet.values.event import RunEnded
from placet.values.message import ToolMessage, Transcript
from placet.values.outcome import Answer, Outcome, Stopped, Waiting
from placet.values.principal import EVERYONE, Principal
from placet.wiring import Agent
from placet.workflow import AgentStage, Parallel, Workflow
from placet.workflow.stages import Stage
from tests.runtime.conftest import BOSS, SECRET, TOOLS, MakeAgent

Door = Callable[[MakeAgent, str, Mapping[str, Any], Principal], Awaitable[ToolResult]]

_keys = itertools.count()


def last_result(outcome: Outcome) -> ToolResult:
    assert isinstance(outcome, Answer | Stopped), outcome
    return results_of(outcome.history)[-1]


def results_of(transcript: Transcript) -> list[ToolResult]:
    return [result for message in transcript if isinstance(message, ToolMessage) for result in message.results]


async def digests_kept_by(agent: Agent) -> set[str]:
    """The digests of arguments that its store has, of what was asked and of what was done."""
    asked, done = await agent.store.list_approvals(), await agent.store.list_effects()
    return {request.digest for request in asked} | {effect.digest for effect in done}


async def loop(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    agent = make_agent(ScriptedModel().calls_all([(name, dict(arguments))]).says("ok"))
    return last_result(await agent.ask("Please", principal=principal))


async def stream(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    agent = make_agent(ScriptedModel().calls_all([(name, dict(arguments))]).says("ok"))
    events = [event async for event in agent.stream("Please", principal=principal)]
    assert isinstance(events[-1], RunEnded)
    return last_result(events[-1].outcome)


async def batch(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    agent = make_agent(ScriptedModel().calls_all([("nothing", {}), (name, dict(arguments))]).says("ok"))
    return last_result(await agent.ask("Please", principal=principal))


async def direct(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    result = await make_agent().call(name, arguments, principal=principal, key=f"key-{next(_keys)}")
    assert isinstance(result, ToolResult), result
    return result


async def toolset(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    result = await make_agent().tools.execute(name, arguments, principal, key=f"key-{next(_keys)}")
    assert isinstance(result, ToolResult), result
    return result


async def text(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    """Only a tool that is open to the principal is a call in the text protocol; any other reply is text."""
    said = ScriptedModel().says(json.dumps({"action": name, **arguments})).says("ok")
    outcome = await make_agent(TextProtocolModel(said)).ask("Please", principal=principal)
    assert isinstance(outcome, Answer)
    if not results_of(outcome.history):
        return await loop(make_agent, name, arguments, principal)
    return last_result(outcome)


async def resumed(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    """The call comes in the segment that a person's decision has started."""
    elsewhere = make_agent(ScriptedModel().calls_all([(name, dict(arguments))]).says("ok"))
    asking = make_agent(ScriptedModel().calls("ask_first"))
    waiting = await asking.ask("Please", principal=principal)
    assert isinstance(waiting, Waiting), waiting
    return last_result(await elsewhere.approve(waiting.approvals[0].id, by=BOSS))


async def nested(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    """The call comes from an agent that a tool of another agent has asked."""
    model = ScriptedModel().calls_all([(name, dict(arguments))]).says("ok")
    inner = make_agent(model, definition=AgentDefinition(name="inner"))
    outer = make_agent(ScriptedModel().calls("ask_inner").says("ok"), tools=[ask_inner()], agents=[inner])
    await outer.ask("Please", principal=principal)
    return results_of(model.requests[-1].transcript)[-1]


async def takeover(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    """The call comes from a run whose first worker has died."""
    clock = FrozenClock()
    asked = asyncio.Event()

    async def never(_: ModelRequest) -> ModelAnswer:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    dying = make_agent(ScriptedModel().does(never), clock=clock)
    run_id = dying.world.ids.new("run")
    task = asyncio.create_task(dying._ask("Please", principal, (), None, None, run_id=run_id))
    await asked.wait()
    clock.move(3600)
    heir = make_agent(ScriptedModel().calls_all([(name, dict(arguments))]).says("ok"), clock=clock)
    try:
        return last_result(await heir.resume(run_id))
    finally:
        task.cancel()
        await asyncio.wait({task})


class Said(BaseModel):
    """The state of the workflow: what its stage has said."""

    words: str = ""


async def workflow(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    """The call comes from the agent of a workflow's stage."""
    model = ScriptedModel().calls_all([(name, dict(arguments))]).says("ok")
    inner = make_agent(model, definition=AgentDefinition(name="inner"))
    await _flow(inner, AgentStage(inner, into="words")).ask("Please", principal=principal)
    return results_of(model.requests[-1].transcript)[-1]


async def deep(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    """The call comes from a branch of a workflow that is a tool of another agent."""
    model = ScriptedModel().calls_all([(name, dict(arguments))]).says("ok")
    inner = make_agent(model, definition=AgentDefinition(name="inner"))
    flow = _flow(inner, Parallel([AgentStage(inner, into="words")]))
    outer = make_agent(ScriptedModel().calls("flow", question="Please").says("ok"), tools=[flow.as_tool()])
    await outer.ask("Please", principal=principal)
    return results_of(model.requests[-1].transcript)[-1]


def _flow(inner: Agent, stage: Stage) -> Workflow[Said]:
    world = inner.world
    given: dict[str, Any] = {"deps": world.deps, "audit": world.sinks, "clock": world.clock, "secret": SECRET}
    return Workflow("flow", state=Said, stages=[stage], store=inner.store, **given)


async def program(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    """Who asks has no event loop."""
    agent = make_agent(ScriptedModel().calls_all([(name, dict(arguments))]).says("ok"))
    try:
        return last_result(await asyncio.to_thread(agent.ask_sync, "Please", principal=principal))
    finally:
        await asyncio.to_thread(agent.close_sync)


async def approved(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    """The call itself has waited for a yes, whatever its tool is otherwise."""
    return await _after_a_yes(make_agent, name, arguments, principal, None)


async def edited(make_agent: MakeAgent, name: str, arguments: Mapping[str, Any], principal: Principal) -> ToolResult:
    """The approver has made the call what it is; the model has sent other texts."""
    return await _after_a_yes(make_agent, name, dict.fromkeys(arguments, "draft"), principal, dict(arguments))


async def _after_a_yes(
    make_agent: MakeAgent, name: str, sent: Mapping[str, Any], principal: Principal, instead: dict[str, Any] | None
) -> ToolResult:
    tools = [_asking(tool) for tool in make_agent().world.toolset]
    agent = make_agent(ScriptedModel().calls_all([(name, dict(sent))]).says("ok"), tools=tools)
    outcome = await agent.ask("Please", principal=principal)
    assert isinstance(outcome, Waiting), outcome
    return last_result(await agent.approve(outcome.approvals[0].token, by=BOSS, arguments=instead))


def _asking(tool: Tool) -> Tool:
    asked = Approval.always(approvers={"finance"})
    return dataclasses.replace(tool, spec=dataclasses.replace(tool.spec, approval=asked))


def ask_inner() -> Tool:
    async def ask(context: Context[Any]) -> str:
        """Ask the inner agent."""
        answer = await context.runtime.run("inner", "Please")
        return str(answer.text)

    return tool(effect="read", roles={EVERYONE}, name="ask_inner", timeout=30)(ask)


DOORS: dict[str, Door] = {
    "loop": loop,
    "stream": stream,
    "batch": batch,
    "direct": direct,
    "toolset": toolset,
    "text": text,
    "resumed": resumed,
    "nested": nested,
    "takeover": takeover,
    "workflow": workflow,
    "deep": deep,
    "program": program,
}

BY_MODELS = sorted({*DOORS} - {"direct", "toolset", "text"})
"""Doors at which a model that calls natively is asked."""

AFTER_A_YES: dict[str, Door] = {"approved": approved, "edited": edited}
"""Doors for calls that fit and that run: there, a person is asked first."""

assert TOOLS  # the tools that the doors lead to
