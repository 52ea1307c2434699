"""What Chat Completions takes: turns as messages."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from placet.agent.fence import EMPTY, fence_text
from placet.models.call_arguments import write_object
from placet.models.history import Exchange, Turn, write_json
from placet.models.quirks import Quirks
from placet.values.call import ToolCall

_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]")


def legal_name(name: str) -> str:
    """Return a tool's name as every provider takes it back in the history.

    The model may have called anything; a name that the wire refuses would make the provider
    refuse every further request. The name that counts is the one in the transcript.
    """
    return _ILLEGAL.sub("_", name)[:64] or "unknown"


class ChatMessages:
    """Writes turns as chat messages.

    Args:
        quirks: How the server wants them.
        provider: Name of the client: only what it has said itself goes back with its extras.
    """

    def __init__(self, quirks: Quirks, provider: str) -> None:
        self._quirks = quirks
        self._provider = provider

    def write_turn(self, turn: Turn, ids: Sequence[str]) -> bytes:
        """Return a turn as message objects with commas between."""
        if not isinstance(turn, Exchange):
            return write_json({"role": "user", "content": turn.text if turn.text.strip() else EMPTY})
        answer = turn.answer
        own = answer.provider == self._provider
        message: dict[str, Any] = {"role": "assistant"}
        if answer.text or not answer.calls:
            message["content"] = answer.text or EMPTY
        elif self._quirks.empty_content != "absent":
            message["content"] = None if self._quirks.empty_content == "null" else ""
        if own and answer.provider_state:
            message.update(answer.provider_state)
        if answer.calls:
            calls = [_write_call(call, call_id, own=own) for call, call_id in zip(answer.calls, ids, strict=True)]
            if not own:
                calls[0].update(self._quirks.foreign_calls)
            message["tool_calls"] = calls
        results = [
            write_json({"role": "tool", "tool_call_id": call_id, "content": fence_text(result, say_error=True)})
            for result, call_id in zip(turn.results, ids, strict=True)
        ]
        return b",".join([write_json(message), *results])


def _write_call(call: ToolCall, call_id: str, *, own: bool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": legal_name(call.name), "arguments": write_object(call.arguments)}
    entry: dict[str, Any] = {"id": call_id, "type": "function", "function": function}
    if own and call.provider_state:
        extras = dict(call.provider_state)
        inner = extras.pop("function", None)
        if isinstance(inner, Mapping):
            function.update(inner)
        entry.update(extras)
    return entry
