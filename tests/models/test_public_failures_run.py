"""What has failed elsewhere, in public, from the wire through the gate to the tool and back."""

from collections.abc import Sequence
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.stores.memory import MemoryStore
from placet.tools.tool import Tool, tool
from placet.values.outcome import Answer
from placet.values.principal import Principal
from placet.wiring import Agent
from tests.models.asking import OpenChat
from tests.models.public_failures import CASES, check_history, ids_of
from tests.models.wire import Reply, WireServer, as_stream, chunks, completion, events, whole
from tests.tools.cases import Built, build

KINDS = ("args-json", "stream-delta", "call-id", "tool-name", "history-pairing", "provider-quirk")
OSLO, ROME = {"city": "Oslo", "days": 1}, {"city": "Rome", "days": 1}

RECEIVED: dict[str, list[dict[str, Any]]] = {
    "C003": [{}],
    "C005": [{}],
    "C006": [{}],
    "C007": [{}],
    "C013": [{"city": "Oslo", "days": 2}],
    "C017": [{"note": '{"k": 1}'}],
    "C018": [{"note": "12345"}],
    "C019": [{"note": "007"}],
    "C020": [{"note": "true"}],
    "C021": [{"note": "null"}],
    "C025": [OSLO],
    "C027": [{"city": "Oslo", "unit": None}],
    "C033": [OSLO],
    "C060": [OSLO, ROME],
    "C061": [{"path": "a.txt"}, {"path": "b.txt"}],
    "C066": [OSLO],
    "C067": [OSLO],
    "C068": [OSLO],
    "C076": [OSLO],
    "C091": [{}],
    "C092": [{}],
}
"""What the tool gets. All else is refused: an error for each call, nothing executed."""
STREAMED: dict[str, list[dict[str, Any]]] = {
    "C042": [OSLO],
    "C044": [OSLO, ROME],
    "C045": [OSLO, ROME],
    "C046": [OSLO, ROME],
    "C047": [OSLO, ROME],
    "C048": [OSLO],
    "C049": [OSLO],
    "C050": [OSLO],
    "C054": [OSLO],
}


def build_tool(source: str, **options: Any) -> Built:
    """A tool of a case's signature; its body notes what it gets and says so."""
    return build(source.replace("-> float", "-> str"), **options)


async def run(
    wire: WireServer, open_chat: OpenChat, *tools: Tool, replies: Sequence[Reply], streamed: bool
) -> list[dict[str, Any]]:
    """Run an agent against the wire server; return the last conversation that it was sent."""
    wire.plays(*replies)
    agent = Agent(
        AgentDefinition(name="clerk", prompt="Be brief."),
        tools=tools,
        model=open_chat(),
        store=MemoryStore(),
        secret=b"a secret of thirty-two bytes or more",
    )
    emit = (lambda _: None) if streamed else None
    outcome = await agent.ask("go", principal=Principal("u1", roles={"support"}), emit=emit)
    await agent.close()
    assert isinstance(outcome, Answer)
    assert outcome.text == "done"
    messages: list[dict[str, Any]] = wire.last["messages"]
    check_history(messages)
    return messages


def done(*, streamed: bool) -> Reply:
    return events(chunks([{"content": "done"}])) if streamed else whole(completion({"content": "done"}))


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case_id", ids_of("openai_message", KINDS))
async def test_a_call_runs_exactly_as_said_or_not_at_all(
    wire: WireServer, open_chat: OpenChat, case_id: str, streamed: bool
) -> None:
    choice = CASES[case_id]["input"]["choice"]
    message, finish_reason = choice["message"], choice["finish_reason"]
    built = build_tool(CASES[case_id]["input"]["tools"][0])
    first = events(chunks(as_stream(message), finish_reason)) if streamed else whole(completion(message, finish_reason))

    messages = await run(wire, open_chat, built.tool, replies=[first, done(streamed=streamed)], streamed=streamed)

    expected = RECEIVED.get(case_id, [])
    assert sorted(built.received, key=str) == sorted(expected, key=str)
    told = [item["content"] for item in messages if item["role"] == "tool"]
    assert len(told) == len(message["tool_calls"])
    assert sum(content.startswith("ERROR") for content in told) == len(told) - len(expected)
    assert wire.last.get("stream", False) is streamed


@pytest.mark.parametrize("case_id", STREAMED)
async def test_a_streamed_call_runs_exactly_as_said(wire: WireServer, open_chat: OpenChat, case_id: str) -> None:
    played = CASES[case_id]["input"]
    built = build_tool(played["tools"][0])
    first = events(chunks([chunk["delta"] for chunk in played["chunks"]], played["finish_reason"]))

    await run(wire, open_chat, built.tool, replies=[first, done(streamed=True)], streamed=True)

    assert sorted(built.received, key=str) == STREAMED[case_id]


@tool(effect="read", roles={"finance"})
async def get_weather(city: str) -> str:
    """Look up the weather."""
    return city


async def test_no_unknown_tool_is_given_away(wire: WireServer, open_chat: OpenChat) -> None:
    """C071: the model hears that there is no such tool, and of none that it may not see."""
    choice = CASES["C071"]["input"]["choice"]
    seen = build_tool("def get_rate(city: str) -> float")
    first = whole(completion(choice["message"], choice["finish_reason"]))

    messages = await run(wire, open_chat, seen.tool, get_weather, replies=[first, done(streamed=False)], streamed=False)

    assert messages[-1]["content"].startswith("ERROR")
    assert "get_wether" in messages[-1]["content"]
    assert "get_weather" not in str(wire.last)
