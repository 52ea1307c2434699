"""What OpenAI Responses takes: turns as items, with encrypted reasoning carried back."""

from collections.abc import Mapping, Sequence
from typing import Any

from placet.agent.fence import EMPTY, fence_text
from placet.models.call_arguments import write_object
from placet.models.chat_messages import legal_name
from placet.models.history import Exchange, Turn, write_json
from placet.values.call import ToolCall
from placet.values.message import AssistantMessage


class ResponsesHistory:
    """Writes turns as items.

    Args:
        provider: Name of the client: only what it has said itself goes back item by item.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider

    def write_turn(self, turn: Turn, ids: Sequence[str]) -> bytes:
        """Return a turn as item objects with commas between."""
        if not isinstance(turn, Exchange):
            return write_json({"role": "user", "content": turn.text if turn.text.strip() else EMPTY})
        items = self._write_answer(turn.answer, ids)
        items += [
            {"type": "function_call_output", "call_id": call_id, "output": fence_text(result, say_error=True)}
            for result, call_id in zip(turn.results, ids, strict=True)
        ]
        return b",".join(write_json(item) for item in items)

    def _write_answer(self, answer: AssistantMessage, ids: Sequence[str]) -> list[Mapping[str, Any]]:
        own = answer.provider == self._provider
        calls = [_write_call(call, call_id, own=own) for call, call_id in zip(answer.calls, ids, strict=True)]
        kept = answer.provider_state.get("items") if own and answer.provider_state else None
        if isinstance(kept, Sequence):
            items = [item for item in kept if isinstance(item, Mapping)]
            if sum(item.get("type") == "function_call" for item in items) == len(calls):
                left = iter(calls)
                return [{**item, **next(left)} if item.get("type") == "function_call" else item for item in items]
        words: list[Mapping[str, Any]] = []
        if answer.text.strip() or not calls:
            words.append({"role": "assistant", "content": answer.text if answer.text.strip() else EMPTY})
        return [*words, *calls]


def _write_call(call: ToolCall, call_id: str, *, own: bool) -> dict[str, Any]:
    extras: Mapping[str, Any] = call.provider_state if own and call.provider_state else {}
    return {
        **extras,
        "type": "function_call",
        "call_id": call_id,
        "name": legal_name(call.name),
        "arguments": write_object(call.arguments),
    }
