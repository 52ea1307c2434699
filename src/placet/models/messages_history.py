"""What Anthropic Messages takes: turns as blocks, all results of a turn in one user message."""

from collections.abc import Mapping, Sequence
from typing import Any

from placet.agent.fence import EMPTY, fence_text
from placet.models.call_arguments import read_object
from placet.models.chat_messages import legal_name
from placet.models.history import Exchange, Turn, write_json
from placet.values.call import ToolCall
from placet.values.message import AssistantMessage


class MessagesHistory:
    """Writes turns as messages of blocks.

    Args:
        provider: Name of the client: only what it has said itself goes back block by block.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider

    def write_turn(self, turn: Turn, ids: Sequence[str]) -> bytes:
        """Return a turn as message objects with commas between."""
        if not isinstance(turn, Exchange):
            return write_json({"role": "user", "content": turn.text if turn.text.strip() else EMPTY})
        messages = [write_json({"role": "assistant", "content": self._write_answer(turn.answer, ids)})]
        if turn.results:
            results: list[dict[str, Any]] = []
            for result, call_id in zip(turn.results, ids, strict=True):
                block = {"type": "tool_result", "tool_use_id": call_id, "content": fence_text(result)}
                results.append({**block, "is_error": True} if result.is_error else block)
            messages.append(write_json({"role": "user", "content": results}))
        return b",".join(messages)

    def _write_answer(self, answer: AssistantMessage, ids: Sequence[str]) -> list[Mapping[str, Any]]:
        own = answer.provider == self._provider
        calls = [_write_call(call, call_id, own=own) for call, call_id in zip(answer.calls, ids, strict=True)]
        kept = answer.provider_state.get("blocks") if own and answer.provider_state else None
        if isinstance(kept, Sequence):
            blocks = [block for block in kept if isinstance(block, Mapping) and _is_sendable(block)]
            if not answer.paused:
                blocks = _without_dangling(blocks)
            if sum(block["type"] == "tool_use" for block in blocks) == len(calls):
                left = iter(calls)
                return [next(left) if block["type"] == "tool_use" else block for block in blocks]
        words: list[Mapping[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text.strip() else []
        return [*words, *calls] or [{"type": "text", "text": EMPTY}]


def _is_sendable(block: Mapping[str, Any]) -> bool:
    """Whether a kept block may go back: no empty text, no stray piece of a stream, no thinking that was cut."""
    kind = block.get("type")
    if not isinstance(kind, str) or kind.endswith("_delta"):
        return False
    if kind == "thinking":
        return bool(block.get("signature"))
    return kind != "text" or bool(str(block.get("text") or "").strip())


def _without_dangling(blocks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the blocks without uses of the provider's own tools that have no result: only a pause may end in one."""
    done = [block.get("tool_use_id") for block in blocks]
    return [block for block in blocks if block["type"] == "tool_use" or not _is_use(block) or block.get("id") in done]


def _is_use(block: Mapping[str, Any]) -> bool:
    return str(block["type"]).endswith("tool_use")


def _write_call(call: ToolCall, call_id: str, *, own: bool) -> dict[str, Any]:
    extras: Mapping[str, Any] = call.provider_state if own and call.provider_state else {}
    return {
        **extras,
        "type": "tool_use",
        "id": call_id,
        "name": legal_name(call.name),
        "input": read_object(call.arguments),
    }
