"""The three wires, so that one case can be played on each: through the vendor's SDK, over real HTTP."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jiter

from placet.models.anthropic_messages import AnthropicMessages
from placet.models.openai_chat import OpenAIChat
from placet.models.openai_responses import OpenAIResponses
from tests.models.public_failures import check_history
from tests.models.wire import (
    Reply,
    WireServer,
    as_message_stream,
    as_response_stream,
    as_stream,
    chunks,
    completion,
    events,
    message,
    response,
    whole,
)

Message = Mapping[str, Any]
Client = OpenAIChat | OpenAIResponses | AnthropicMessages


@dataclass(frozen=True)
class Dialect:
    """One wire.

    Attributes:
        name: For test ids.
        open: Makes a client of a wire server.
        write: From a chat message and its finish reason to what this wire's server sends, streamed or whole.
        read_results: From a request's body to its results in order: text, and whether it is an error.
        check: Asserts what every server of this wire wants of a request's history.
    """

    name: str
    open: Callable[[WireServer], Client]
    write: Callable[[Message, str, bool], Reply]
    read_results: Callable[[Any], list[tuple[str, bool]]]
    check: Callable[[Any], None]

    def says(self, said: Message | str, finish_reason: str = "stop", *, streamed: bool) -> Reply:
        return self.write({"content": said} if isinstance(said, str) else said, finish_reason, streamed)

    def counting(self, usage: Message, *, streamed: bool) -> Reply:
        """A word, with this usage."""
        return self.write({"content": "hi", "usage": usage}, "stop", streamed)


# ── Chat Completions ──────────────────────────────────────────────────────────────────


def _write_chat(said: Message, finish_reason: str, streamed: bool) -> Reply:
    usage = said.get("usage")
    if streamed:
        end: list[dict[str, Any]] = [{"id": "x", "model": "served-model", "choices": [], "usage": usage}]
        return events([*chunks(as_stream(dict(said)), finish_reason), *(end if usage else [])])
    return whole(completion(dict(said), finish_reason, usage=usage))


def _chat_results(body: Any) -> list[tuple[str, bool]]:
    contents = [item["content"] for item in body["messages"] if item["role"] == "tool"]
    return [(content, content.startswith("ERROR")) for content in contents]


# ── Messages ──────────────────────────────────────────────────────────────────────────

_STOPS = {"tool_calls": "tool_use", "stop": "end_turn", "length": "max_tokens"}


def _write_messages(said: Message, finish_reason: str, streamed: bool) -> Reply:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": said["content"]}] if said.get("content") else []
    for call in said.get("tool_calls") or []:
        block = {"type": "tool_use", "id": call["id"], "name": call["function"]["name"]}
        if "arguments" in call["function"]:
            block["input"] = _as_input(call["function"]["arguments"])
        blocks.append(block)
    counted = {"usage": said["usage"]} if "usage" in said else {}
    body = message(blocks, _STOPS.get(finish_reason, finish_reason), **counted)
    return events(as_message_stream(body), done=False) if streamed else whole(body)


def _as_input(arguments: object) -> object:
    """An object where the text is one and nothing more; else the text itself, as it comes in pieces."""
    if not isinstance(arguments, str):
        return arguments
    try:
        value = jiter.from_json(arguments.encode(), catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError:
        return arguments
    return value if isinstance(value, dict) else arguments


def _message_blocks(body: Any) -> list[tuple[str, list[Any]]]:
    return [
        (role, content if isinstance(content, list) else [{"type": "text", "text": content}])
        for role, content in ((item["role"], item["content"]) for item in body["messages"])
    ]


def _message_results(body: Any) -> list[tuple[str, bool]]:
    found = [block for _, blocks in _message_blocks(body) for block in blocks if block["type"] == "tool_result"]
    return [(block["content"], block.get("is_error", False)) for block in found]


def check_messages(body: Any) -> None:
    """Assert what Messages wants: all results of a turn in the one user message that follows, in call order."""
    open_ids: list[str] = []
    seen: set[str] = set()
    assert body["messages"][0]["role"] == "user"
    for role, blocks in _message_blocks(body):
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == open_ids
        assert not results or role == "user"
        uses = [block for block in blocks if block["type"] == "tool_use"]
        open_ids = [block["id"] for block in uses]
        assert len(set(open_ids)) == len(open_ids)
        assert seen.isdisjoint(open_ids)
        seen.update(open_ids)
        assert all(open_ids)
        assert all(isinstance(block["input"], dict) for block in uses)
        assert all(block["content"].strip() for block in blocks if block["type"] == "tool_result")
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        assert all(text.strip() for text in texts if isinstance(text, str))  # any other is the server's own
    assert not open_ids


# ── Responses ─────────────────────────────────────────────────────────────────────────


def _write_responses(said: Message, finish_reason: str, streamed: bool) -> Reply:
    items: list[dict[str, Any]] = []
    if said.get("content"):
        part = {"type": "output_text", "text": said["content"], "annotations": []}
        items.append({"type": "message", "id": "msg_1", "role": "assistant", "content": [part]})
    for number, call in enumerate(said.get("tool_calls") or []):
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": call["id"], "name": call["function"]["name"]}
        items.append({**item, **({k: v for k, v in call["function"].items() if k == "arguments"})})
    more: dict[str, Any] = {"usage": said["usage"]} if "usage" in said else {}
    if finish_reason == "length":
        more |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    body = response(items, **more)
    return events(as_response_stream(body), done=False) if streamed else whole(body)


def _response_results(body: Any) -> list[tuple[str, bool]]:
    outputs = [item["output"] for item in body["input"] if item.get("type") == "function_call_output"]
    return [(output, output.startswith("ERROR")) for output in outputs]


def check_items(body: Any) -> None:
    """Assert what Responses wants: each call has one output, by its id, and nothing is stored."""
    calls = [item for item in body["input"] if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in body["input"] if item.get("type") == "function_call_output"]
    assert [item["call_id"] for item in calls] == outputs
    assert len(set(outputs)) == len(outputs)
    assert all(outputs)
    assert all(isinstance(json.loads(item["arguments"]), dict) for item in calls)
    assert body["store"] is False


CHAT = Dialect(
    "chat",
    lambda wire: OpenAIChat("asked-model", base_url=f"{wire.url}/v1", api_key="key-of-the-test"),
    _write_chat,
    _chat_results,
    lambda body: check_history(body["messages"]),
)
MESSAGES = Dialect(
    "messages",
    lambda wire: AnthropicMessages("asked-model", base_url=wire.url, api_key="key-of-the-test"),
    _write_messages,
    _message_results,
    check_messages,
)
RESPONSES = Dialect(
    "responses",
    lambda wire: OpenAIResponses("asked-model", base_url=f"{wire.url}/v1", api_key="key-of-the-test"),
    _write_responses,
    _response_results,
    check_items,
)
DIALECTS = (CHAT, MESSAGES, RESPONSES)
