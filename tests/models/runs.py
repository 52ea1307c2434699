"""Whole runs against the wire server, as tests of several wires make them."""

from collections.abc import Sequence
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.ports import ModelClient
from placet.stores.memory import MemoryStore
from placet.tools.tool import Tool
from placet.values.message import Message
from placet.values.outcome import Outcome
from placet.values.principal import Principal
from placet.wiring import Agent
from tests.models.dialects import DIALECTS, Dialect
from tests.models.wire import Reply, WireServer

on_each_wire = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
both = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])

CLERK = Principal("u1", roles={"support"})


def call(identity: str, name: str = "ping", arguments: str = "{}") -> dict[str, Any]:
    """A call in a chat message."""
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(dialect: Dialect, *calls: dict[str, Any], streamed: bool) -> list[Reply]:
    """A turn of these calls, and then a word."""
    said = {"content": None, "tool_calls": list(calls)}
    return [dialect.says(said, "tool_calls", streamed=streamed), dialect.says("done", streamed=streamed)]


def make_agent(model: ModelClient, *tools: Tool, **more: Any) -> Agent:
    definition, secret = AgentDefinition(name="clerk", prompt="Be brief."), b"a secret of thirty-two bytes or more"
    return Agent(definition, tools=tools, model=model, store=MemoryStore(), secret=secret, **more)


async def ask_model(
    wire: WireServer, model: ModelClient, *tools: Tool, replies: Sequence[Reply], streamed: bool,
    history: Sequence[Message] = (), question: str = "go", output: Any = None, **more: Any,
) -> Outcome:  # fmt: skip
    """What comes of a question to an agent, made with `more`, whose model's server plays these replies."""
    wire.plays(*replies)
    emit = (lambda _: None) if streamed else None
    async with make_agent(model, *tools, **more) as agent:
        return await agent.ask(question, principal=CLERK, history=history, output=output, emit=emit)


async def ask_over_wire(
    wire: WireServer, dialect: Dialect, *tools: Tool, replies: Sequence[Reply], streamed: bool, **more: Any
) -> Outcome:
    """As `ask_model`, of a client of this wire that is opened for it and closed after it."""
    model = dialect.open(wire)
    try:
        return await ask_model(wire, model, *tools, replies=replies, streamed=streamed, **more)
    finally:
        await model.close()


async def results_over_wire(
    wire: WireServer, dialect: Dialect, *tools: Tool, replies: Sequence[Reply], streamed: bool, **more: Any
) -> list[tuple[str, bool]]:
    """What the model was told of its calls, in a history that its server takes."""
    await ask_over_wire(wire, dialect, *tools, replies=replies, streamed=streamed, **more)
    dialect.check(wire.last)
    assert wire.last.get("stream", False) is streamed
    return dialect.read_results(wire.last)
