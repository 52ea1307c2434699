"""Whatever comes over a wire: an answer or a `ModelProtocolError`, and a history that can be sent on.

Good traffic is spoilt at random, always in the same way: values become others, members go missing
or come twice. What breaks a reader ends the run of a person, and what a reader lets through goes
back to providers for as long as the conversation lasts.
"""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from placet.errors import ModelProtocolError
from placet.models.accumulator import ChatAccumulator
from placet.models.call_ids import ANTHROPIC_CALL_IDS, OPENAI_CALL_IDS
from placet.models.chat_messages import ChatMessages
from placet.models.history import HistoryWriter
from placet.models.messages_history import MessagesHistory
from placet.models.messages_reader import MessagesReader
from placet.models.quirks import QUIRKS
from placet.models.responses_history import ResponsesHistory
from placet.models.responses_reader import ResponsesReader
from placet.ports import ModelAnswer
from placet.values.call import ToolResult
from placet.values.message import AssistantMessage, ToolMessage, Transcript, UserMessage
from tests.models.asking import OpenChat, ask
from tests.models.dialects import check_items, check_messages
from tests.models.public_failures import check_history
from tests.models.runs import both
from tests.models.wire import (
    Reply,
    WireServer,
    as_message_stream,
    as_response_stream,
    as_stream,
    chunks,
    completion,
    message,
    response,
)

ATOMS = [
    None, True, False, 0, 1, -1, 2.5, float("inf"), 10**400, "", "a", "0", '{"a": 1}', "{", "stop", "tool_calls",
    "function", "text", "tool_use", "thinking", "end_turn", "length", "pause_turn", "\ud83d", "c1", "get_rate",
    "refusal", "error", "custom_tool_call", "reasoning",
]  # fmt: skip
CALL = {"id": "c1", "type": "function", "function": {"name": "get_rate", "arguments": '{"city": "Oslo"}'}}
SAID: dict[str, Any] = {
    "content": "hi", "reasoning_content": "hm", "refusal": None,
    "tool_calls": [{**CALL, "extra_content": {"google": {"thought_signature": "s"}}}, {**CALL, "id": "c2"}],
}  # fmt: skip
USED = {
    "prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "cost": 0.1,
    "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 1},
}  # fmt: skip
BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "hm", "signature": "s"},
    {"type": "text", "text": "hi", "citations": [{"type": "page_location"}]},
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
    {"type": "tool_use", "id": "t1", "name": "get_rate", "input": {"city": "Oslo"}, "caller": {"type": "direct"}},
]
ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "opaque"},
    {"type": "message", "id": "m1", "content": [{"type": "output_text", "text": "hi"}]},
    {
        "type": "function_call",
        "id": "f1",
        "call_id": "c1",
        "name": "get_rate",
        "arguments": "{}",
        "status": "completed",
    },
]


def any_value(chance: random.Random, depth: int = 2) -> Any:
    """A JSON value of any kind, with members of any name that a wire knows."""
    kind = chance.random()
    if depth == 0 or kind < 0.5:
        return chance.choice(ATOMS)
    if kind < 0.7:
        return [any_value(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    names = ["id", "index", "type", "function", "name", "arguments", "content", "text", "input", "item", "call_id"]
    return {chance.choice(names): any_value(chance, depth - 1) for _ in range(chance.randint(0, 4))}


def spoil(chance: random.Random, value: Any, rate: float) -> Any:
    """The same, but for some of it."""
    if chance.random() < rate:
        return any_value(chance)
    if isinstance(value, dict):
        return {key: spoil(chance, inner, rate) for key, inner in value.items() if chance.random() > rate / 3}
    if isinstance(value, list):
        spoilt = [spoil(chance, inner, rate) for inner in value if chance.random() > rate / 3]
        return [one for one in spoilt for _ in range(2 if chance.random() < rate / 3 else 1)]
    return value


Reader = ChatAccumulator | MessagesReader | ResponsesReader
Make = Callable[[], Reader]
WIRES: dict[str, tuple[Make, dict[str, Any], list[dict[str, Any]]]] = {
    "chat": (
        lambda: ChatAccumulator({"get_rate"}), completion(SAID, "tool_calls", usage=USED),
        [*chunks(as_stream(SAID), "tool_calls"), {"choices": [], "usage": USED}],
    ),
    "messages": (MessagesReader, message(BLOCKS, "tool_use"), as_message_stream(message(BLOCKS, "tool_use"))),
    "responses": (ResponsesReader, response(ITEMS), as_response_stream(response(ITEMS))),
}  # fmt: skip
WRITERS = {
    "chat": HistoryWriter(ChatMessages(QUIRKS["compatible"], "here").write_turn, OPENAI_CALL_IDS, "here"),
    "messages": HistoryWriter(MessagesHistory("here").write_turn, ANTHROPIC_CALL_IDS, "here"),
    "responses": HistoryWriter(ResponsesHistory("here").write_turn, OPENAI_CALL_IDS, "here"),
}
CHECKS: dict[str, Callable[[Any], None]] = {
    "chat": check_history,
    "messages": lambda messages: check_messages({"messages": messages}),
    "responses": lambda items: check_items({"input": items, "store": False}),
}


def hear(name: str, chance: random.Random, *, streamed: bool) -> ModelAnswer | None:
    make, whole, stream = WIRES[name]
    reader = make()
    try:
        if streamed:
            for item in [spoil(chance, one, 0.02) for one in stream]:
                reader.add(item)
        else:
            reader.read(spoil(chance, whole, 0.05))
        return reader.finish(set(), "1", "here")
    except ModelProtocolError:
        return None


@pytest.mark.parametrize("seed", range(4))
@both
@pytest.mark.parametrize("name", WIRES)
def test_any_traffic_is_an_answer_that_can_be_sent_back_or_is_refused(name: str, streamed: bool, seed: int) -> None:
    chance = random.Random(f"{name} {streamed} {seed}")  # noqa: S311 - no secret
    heard = 0
    for _ in range(250):
        answer = hear(name, chance, streamed=streamed)
        if answer is None:
            continue
        heard += 1
        assert all(isinstance(text, str) for call in answer.calls for text in (call.id, call.name, call.arguments))
        assert len({call.id for call in answer.calls}) == len(answer.calls)
        said = AssistantMessage(answer.text, answer.calls, answer.provider, answer.provider_state)
        results = ToolMessage(tuple(ToolResult(call.id, "7") for call in answer.calls))
        for to, writer in WRITERS.items():
            provider = "here" if to == name else "elsewhere"
            own = AssistantMessage(said.text, said.calls, provider, said.provider_state)
            turns = writer.write(Transcript([UserMessage("go"), own, results, UserMessage("and?")]))
            CHECKS[to](json.loads(b"[" + b",".join(turns) + b"]"))
    assert heard > 25, "what is spoilt a little is often still an answer"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"deep": [float("-inf")]}])
@pytest.mark.parametrize("name", WIRES)
def test_what_is_kept_can_be_stored(name: str, value: Any) -> None:
    """Decoders let numbers through that JSON has not, and a run that cannot be stored ends in a fault."""
    make, whole, _ = WIRES[name]
    reader = make()
    body = json.loads(json.dumps(whole))
    if name == "chat":
        body["choices"][0]["message"]["reasoning_details"] = [value]
        body["choices"][0]["message"]["tool_calls"][0]["extra"] = value
    else:
        for part in body["content" if name == "messages" else "output"]:
            part["extra"] = value
    reader.read(body)

    answer = reader.finish(set(), "1", "here")

    assert answer.provider_state
    json.dumps([answer.provider_state, *(call.provider_state for call in answer.calls)], allow_nan=False)


@both
@pytest.mark.parametrize("depth", [200, 200_000])
async def test_what_is_nested_too_deep_is_no_answer(
    wire: WireServer, open_chat: OpenChat, depth: int, streamed: bool
) -> None:
    deep = "[" * depth + "]" * depth
    part = f'{{"index": 0, "delta": {{"content": "hi", "reasoning": {deep}}}, "finish_reason": "stop"}}'
    text = f'{{"choices": [{part if streamed else part.replace("delta", "message")}]}}'
    kind = "text/event-stream" if streamed else "application/json"
    wire.plays(Reply([f"data: {text}\n\n".encode() if streamed else text.encode()], content_type=kind))

    with pytest.raises(ModelProtocolError):
        await open_chat().answer(ask(), (lambda _: None) if streamed else None)
