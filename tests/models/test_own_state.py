"""A provider that does not take its own state back any more does not end the conversation."""

import json
from typing import Any

import pytest

from placet.errors import ModelRequestError
from placet.models.openai_responses import OpenAIResponses
from placet.ports import ModelAnswer
from placet.values.call import ToolResult
from placet.values.message import AssistantMessage, ToolMessage, UserMessage
from tests.models.asking import GET_RATE, ask
from tests.models.dialects import MESSAGES, RESPONSES, Dialect
from tests.models.runs import both
from tests.models.wire import Reply, WireServer, as_response_stream, events, message, response, whole

THOUGHT = {
    "messages": message(
        [
            {"type": "thinking", "thinking": "hm", "signature": "opaque"},
            {"type": "tool_use", "id": "toolu_1", "name": "get_rate", "input": {"city": "Oslo"}},
        ],
        "tool_use",
    ),
    "responses": response(
        [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_rate", "arguments": "{}"},
        ]
    ),
}
REFUSED = {
    "messages": "messages.1.content.0: Invalid `signature` in `thinking` block",
    "responses": "The encrypted content for item rs_1 could not be verified. Reason: it could not be decrypted.",
}
thoughtful = pytest.mark.parametrize("dialect", [MESSAGES, RESPONSES], ids=lambda dialect: dialect.name)


def refuse(text: str) -> Reply:
    return whole({"error": {"type": "invalid_request_error", "message": text}}, status=400)


def history(answer: ModelAnswer) -> list[Any]:
    heard = AssistantMessage(answer.text, answer.calls, answer.provider, answer.provider_state)
    results = ToolMessage(tuple(ToolResult(call.id, "7") for call in answer.calls))
    return [UserMessage("go"), heard, results]


@both
@thoughtful
async def test_state_that_is_refused_is_left_out(wire: WireServer, dialect: Dialect, streamed: bool) -> None:
    client = dialect.open(wire)
    wire.plays(whole(THOUGHT[dialect.name]))
    answer = await client.answer(ask(tools=(GET_RATE,)))
    wire.requests.clear()
    wire.plays(refuse(REFUSED[dialect.name]), dialect.says("done", streamed=streamed))

    again = await client.answer(ask(*history(answer), tools=(GET_RATE,)), (lambda _: None) if streamed else None)
    await client.close()

    first, second = (seen.body for seen in wire.requests)
    assert again.text == "done"
    assert "opaque" in json.dumps(first)
    assert "opaque" not in json.dumps(second)
    dialect.check(second)
    assert len(dialect.read_results(second)) == 1


@thoughtful
async def test_any_other_refusal_is_asked_once(wire: WireServer, dialect: Dialect) -> None:
    client = dialect.open(wire)
    wire.plays(whole(THOUGHT[dialect.name]))
    answer = await client.answer(ask(tools=(GET_RATE,)))
    wire.requests.clear()
    wire.plays(refuse("max_tokens is too large"))

    with pytest.raises(ModelRequestError):
        await client.answer(ask(*history(answer), tools=(GET_RATE,)))
    await client.close()

    assert len(wire.requests) == 1


@thoughtful
async def test_without_state_there_is_nothing_to_leave_out(wire: WireServer, dialect: Dialect) -> None:
    client = dialect.open(wire)
    wire.plays(refuse(REFUSED[dialect.name]))

    with pytest.raises(ModelRequestError):
        await client.answer(ask(tools=(GET_RATE,)))
    await client.close()

    assert len(wire.requests) == 1


async def test_once_words_were_told_nothing_is_asked_again(wire: WireServer) -> None:
    client = RESPONSES.open(wire)
    wire.plays(whole(THOUGHT["responses"]))
    answer = await client.answer(ask(tools=(GET_RATE,)))
    wire.requests.clear()
    said = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "It is"}]}
    error = {"type": "error", "code": "invalid_encrypted_content", "message": REFUSED["responses"]}
    wire.plays(events([*as_response_stream(response([said]))[:4], error], done=False))
    told: list[str] = []

    with pytest.raises(ModelRequestError):
        await client.answer(ask(*history(answer), tools=(GET_RATE,)), told.append)
    await client.close()

    assert told
    assert len(wire.requests) == 1


async def test_reasoning_does_not_go_to_another_model(wire: WireServer) -> None:
    """None can decrypt what another one has thought."""
    wire.plays(whole(THOUGHT["responses"]))
    one, other = (OpenAIResponses(name, base_url=f"{wire.url}/v1") for name in ("one", "other"))
    answer = await one.answer(ask(tools=(GET_RATE,)))

    for client in (one, other):
        await client.answer(ask(*history(answer), tools=(GET_RATE,)))
        await client.close()

    same, foreign = (json.dumps(seen.body) for seen in wire.requests[1:])
    assert "opaque" in same
    assert "opaque" not in foreign
