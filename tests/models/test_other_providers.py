"""A conversation that began with one provider goes on with another."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from placet.models.anthropic_messages import AnthropicMessages
from placet.models.openai_chat import OpenAIChat
from placet.models.openai_responses import OpenAIResponses
from placet.values.call import ToolResult
from placet.values.message import AssistantMessage, ToolMessage, UserMessage
from placet.values.outcome import Answer
from tests.models.asking import GET_RATE, ask
from tests.models.dialects import DIALECTS, Dialect
from tests.models.runs import ask_over_wire, both, call
from tests.models.wire import WireServer, completion, message, response, whole
from tests.tools.cases import build

BROKEN = '{"city": "Os'
SAID = {
    "chat": completion(
        {
            "content": None,
            "reasoning_content": "secret of chat",
            "tool_calls": [
                {
                    "id": "a",
                    "extra_content": {"x": "secret of chat"},
                    "function": {"name": "get_rate", "arguments": BROKEN},
                },
                {"id": "a", "function": {"name": "functions.get_rate", "arguments": "{}"}},
            ],
        }
    ),
    "messages": message(
        [
            {"type": "thinking", "thinking": "secret of messages", "signature": "s"},
            {
                "type": "tool_use",
                "id": "a",
                "name": "get_rate",
                "input": {"city": "Oslo"},
                "caller": {"type": "direct"},
            },
            {"type": "tool_use", "id": "", "name": "get_rate", "input": {}},
        ],
        "tool_use",
    ),
    "responses": response(
        [
            {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "secret of responses"},
            {"type": "function_call", "id": "f", "call_id": "a", "name": "get_rate", "arguments": BROKEN},
            {"type": "function_call", "id": "g", "call_id": "b", "name": "get_rate", "arguments": "null"},
        ]
    ),
}


@pytest.fixture
async def clients(wire: WireServer) -> AsyncIterator[dict[str, OpenAIChat | AnthropicMessages | OpenAIResponses]]:
    made: dict[str, OpenAIChat | AnthropicMessages | OpenAIResponses] = {
        "chat": OpenAIChat("m", base_url=f"{wire.url}/v1"),
        "messages": AnthropicMessages("m", base_url=wire.url),
        "responses": OpenAIResponses("m", base_url=f"{wire.url}/v1"),
    }
    yield made
    for client in made.values():
        await client.close()


def read_calls(wire: str, body: dict[str, Any]) -> tuple[list[tuple[str, str, Any]], list[str]]:
    """The calls (id, name, object) and the ids of the results, as a wire was sent them."""
    if wire == "responses":
        calls = [item for item in body["input"] if item.get("type") == "function_call"]
        results = [item["call_id"] for item in body["input"] if item.get("type") == "function_call_output"]
        return [(call["call_id"], call["name"], json.loads(call["arguments"])) for call in calls], results
    if wire == "chat":
        calls = [call for item in body["messages"] for call in item.get("tool_calls", [])]
        results = [item["tool_call_id"] for item in body["messages"] if item["role"] == "tool"]
        return [
            (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls
        ], results
    blocks = [block for item in body["messages"] if isinstance(item["content"], list) for block in item["content"]]
    calls = [block for block in blocks if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    return [(call["id"], call["name"], call["input"]) for call in calls], results


@pytest.mark.parametrize("then", SAID)
@pytest.mark.parametrize("first", SAID)
async def test_a_conversation_goes_on_with_any_provider(
    wire: WireServer,
    clients: dict[str, OpenAIChat | AnthropicMessages | OpenAIResponses],
    first: str,
    then: str,
) -> None:
    wire.plays(whole(SAID[first]))
    answer = await clients[first].answer(ask(tools=(GET_RATE,)))
    heard = AssistantMessage(answer.text, answer.calls, answer.provider, answer.provider_state)
    results = ToolMessage(tuple(ToolResult(call.id, "7") for call in answer.calls))
    wire.plays(whole(SAID[then]))

    for _ in range(2):
        await clients[then].answer(ask(UserMessage("go"), heard, results, tools=(GET_RATE,)))

    calls, answered = read_calls(then, wire.last)
    assert [call_id for call_id, _, _ in calls] == answered
    assert len({call_id for call_id, _, _ in calls}) == 2
    assert all(name in ("get_rate", "functions_get_rate") and isinstance(value, dict) for _, name, value in calls)
    assert (f"secret of {first}" in json.dumps(wire.last)) == (first == then)


@both
@pytest.mark.parametrize("then", DIALECTS, ids=lambda dialect: f"then {dialect.name}")
@pytest.mark.parametrize("first", DIALECTS, ids=lambda dialect: dialect.name)
async def test_a_run_s_history_is_one_that_any_provider_takes(
    wire: WireServer, first: Dialect, then: Dialect, streamed: bool
) -> None:
    """Whole runs: words, a call that fails to be one, one that is cut, one that runs, and a last word that is cut."""
    built = build("def ping(n: int) -> str:\n    return f'pong {n}'")
    calls = [call("c0", "pi ng"), call("c1", arguments="[1]"), call("c2", arguments='{"n": 7}')]
    replies = [
        first.says({"content": "Let me", "tool_calls": calls[2:]}, "length", streamed=streamed),
        first.says({"content": "Let me look.", "tool_calls": calls}, "tool_calls", streamed=streamed),
        first.says("It is a long", "length", streamed=streamed),
    ]

    said = await ask_over_wire(wire, first, built.tool, replies=replies, streamed=streamed)
    assert isinstance(said, Answer)
    assert len(wire.requests) == 3
    wire.requests = []
    outcome = await ask_over_wire(
        wire, then, built.tool, replies=[then.says("done", streamed=streamed)], streamed=streamed,
        history=said.history, question="and?",
    )  # fmt: skip

    assert isinstance(outcome, Answer)
    then.check(wire.last)
    told = then.read_results(wire.last)
    assert [is_error for _, is_error in told] == [True, True, True, False]
    assert "pong 7" in told[-1][0]
    sent = json.dumps(wire.last)
    assert all(words in sent for words in ("Let me look.", "It is a long", "and?"))
