"""What tests of the Messages wire say and hear."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from placet.models.anthropic_messages import AnthropicMessages
from placet.ports import ModelAnswer
from placet.values.call import ToolResult
from placet.values.message import AssistantMessage, ToolMessage, Transcript, UserMessage
from tests.models.asking import GET_RATE, ask
from tests.models.dialects import check_messages
from tests.models.wire import WireServer, as_message_stream, events, message, whole

OpenMessages: TypeAlias = Callable[..., AnthropicMessages]

TEXT = {"type": "text", "text": "Let me look."}
USE = {"type": "tool_use", "id": "toolu_1", "name": "get_rate", "input": {"city": "Oslo"}}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "signed"}
SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "Oslo"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}


async def hear(
    wire: WireServer, open_messages: OpenMessages, content: Sequence[dict[str, Any]],
    stop_reason: str | None = "end_turn", *, streamed: bool, **extra: Any,
) -> ModelAnswer:  # fmt: skip
    """What the client makes of a message."""
    said = message(content, stop_reason, **extra)
    wire.plays(events(as_message_stream(said), done=False) if streamed else whole(said))
    return await open_messages().answer(ask(tools=(GET_RATE,)), (lambda _: None) if streamed else None)


async def send(
    wire: WireServer, open_messages: OpenMessages, transcript: Transcript, *, streamed: bool = False
) -> list[dict[str, Any]]:
    """The messages that go over the wire for a history, checked against what the wire wants."""
    body = message([TEXT])
    wire.plays(events(as_message_stream(body), done=False) if streamed else whole(body))
    await open_messages().answer(ask(*transcript), (lambda _: None) if streamed else None)
    assert wire.last.get("stream", False) is streamed
    check_messages(wire.last)
    messages: list[dict[str, Any]] = wire.last["messages"]
    return messages


def as_history(answer: ModelAnswer, *results: ToolResult) -> Transcript:
    heard = AssistantMessage(answer.text, answer.calls, answer.provider, answer.provider_state)
    return Transcript([UserMessage("go"), heard, *([ToolMessage(results)] if results else [])])
