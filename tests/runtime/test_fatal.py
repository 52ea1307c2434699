"""A tool that ends the run: what has its intent stored is seen through, the rest is cancelled and awaited."""

import asyncio

from placet.errors import FatalToolError
from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.audit import AuditKind
from placet.values.message import ToolMessage
from placet.values.outcome import Stopped
from placet.values.run import StopReason
from tests.runtime.conftest import CLERK, MakeAgent, Office


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
