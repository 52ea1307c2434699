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


async def ask_over_wire(
    wire: WireServer, model: ModelClient, *tools: Tool, replies: Sequence[Reply], streamed: bool,
    history: Sequence[Message] = (), question: str = "go", output: Any = None, **more: Any,
) -> Outcome:  # fmt: skip
    """What comes of a question to an agent, made with `more`, whose model's server plays these replies."""
    wire.plays(*replies)
    agent = Agent(
        AgentDefinition(name="clerk", prompt="Be brief."), tools=tools, model=model, store=MemoryStore(),
        secret=b"a secret of thirty-two bytes or more", **more,
    )  # fmt: skip
    principal = Principal("u1", roles={"support"})
    emit = (lambda _: None) if streamed else None
    try:
        return await agent.ask(question, principal=principal, history=history, output=output, emit=emit)
    finally:
        await agent.close()


async def results_over_wire(
    wire: WireServer, dialect: Dialect, *tools: Tool, replies: Sequence[Reply], streamed: bool, **more: Any
) -> list[tuple[str, bool]]:
    """What the model was told of its calls, in a history that its server takes."""
    model = dialect.open(wire)
    try:
        await ask_over_wire(wire, model, *tools, replies=replies, streamed=streamed, **more)
    finally:
        await model.close()
    dialect.check(wire.last)
    assert wire.last.get("stream", False) is streamed
    return dialect.read_results(wire.last)
