"""Questions that the tests of clients ask."""

from collections.abc import Callable
from typing import Any, TypeAlias

from placet.models.openai_chat import OpenAIChat
from placet.ports import ModelRequest
from placet.values.message import Message, Transcript, UserMessage
from placet.values.tool import Effect, ToolSpec, VisibleTools

OpenChat: TypeAlias = Callable[..., OpenAIChat]

GET_RATE = ToolSpec(
    name="get_rate",
    description="Look up a rate.",
    effect=Effect.READ,
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
GET_RATES = ToolSpec(
    name="get_rate",
    description="Look up rates.",
    effect=Effect.READ,
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
        "required": ["city"],
        "additionalProperties": False,
    },
)


def ask(*messages: Message, tools: tuple[ToolSpec, ...] = (), **more: Any) -> ModelRequest:
    transcript = Transcript(messages or (UserMessage("hello"),))
    return ModelRequest(**{"system": "", "transcript": transcript, "tools": VisibleTools(tools), **more})
