"""The history as a provider takes it: every call has exactly one result, in call order.

A run that crashed, was trimmed or came from another provider may hold calls without results,
results without calls, and ids that repeat or that the next wire does not take. Sent as they
are, they make the provider refuse every further request of the conversation.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from placet.models.call_ids import CallIdRule
from placet.values.call import ToolResult
from placet.values.message import AssistantMessage, Message, ToolMessage, Transcript, UserMessage

NO_RESULT: Final = (
    "no result was recorded for this call: it may or may not have run; do not assume either, and ask if it matters"
)
"""What stands for the result of a call that has none."""

CACHE_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Exchange:
    """One answer of the model, with the results of its calls.

    Attributes:
        answer: What the model said.
        results: One for each call, in call order.
    """

    answer: AssistantMessage
    results: tuple[ToolResult, ...]


Turn: TypeAlias = UserMessage | Exchange

WriteTurn: TypeAlias = Callable[[Turn, Sequence[str]], bytes]
"""From a turn and the ids of its calls on this wire to JSON: message objects with commas between."""


def pair(transcript: Transcript) -> Iterator[tuple[Turn, tuple[Message, ...]]]:
    """Yield the turns of a history, each with the messages it is made of.

    Results that answer no call of the message before them are left out: no wire takes them.
    """
    messages = list(transcript)
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        if isinstance(message, UserMessage):
            yield message, (message,)
        elif isinstance(message, AssistantMessage):
            end = position
            while end < len(messages) and isinstance(messages[end], ToolMessage):
                end += 1
            parts = (message, *messages[position:end])
            yield Exchange(message, _match_results(message, parts[1:])), parts
            position = end


def _match_results(answer: AssistantMessage, parts: Sequence[Message]) -> tuple[ToolResult, ...]:
    left = [result for part in parts if isinstance(part, ToolMessage) for result in part.results]
    matched: list[ToolResult] = []
    for call in answer.calls:
        result = next((result for result in left if result.call_id == call.id), None)
        if result is None:
            result = ToolResult(call.id, NO_RESULT, is_error=True, code="no_result")
        else:
            left.remove(result)
        matched.append(result)
    return tuple(matched)


@dataclass(frozen=True, slots=True)
class _Written:
    """A turn as JSON, with the messages that it was made from: their identity is the key."""

    parts: tuple[Message, ...]
    ids: tuple[str, ...]
    content: bytes


class HistoryWriter:
    """Writes histories for one wire, each message once.

    Messages are frozen, so what was written of one is kept, within a bound of bytes. What is
    left for each request is one look-up for each message and the joining of the bytes: far less
    than what sending them costs.

    Args:
        write: Writes one turn.
        rule: What the wire takes as a call id.
        provider: Name of the client: what it has said itself keeps its ids.
        max_bytes: How much of what was written is kept.
    """

    def __init__(self, write: WriteTurn, rule: CallIdRule, provider: str, max_bytes: int = CACHE_BYTES) -> None:
        self._write = write
        self._rule = rule
        self._provider = provider
        self._max_bytes = max_bytes
        self._kept: dict[int, _Written] = {}
        self._bytes = 0

    def write(self, transcript: Transcript) -> list[bytes]:
        """Return the turns of a history as JSON, ready to be joined with commas."""
        taken: set[str] = set()
        contents: list[bytes] = []
        for turn, parts in pair(transcript):
            written = self._kept.get(id(parts[0]))
            if written is None or not _is_same(written.parts, parts):
                written = self._keep(parts, turn)
            if not taken.isdisjoint(written.ids) or len(set(written.ids)) != len(written.ids):
                written = self._write_apart(parts, turn, taken)
            taken.update(written.ids)
            if written.content:
                contents.append(written.content)
        return contents

    def _keep(self, parts: tuple[Message, ...], turn: Turn) -> _Written:
        ids = tuple(self._name(turn, call.id) for call in turn.answer.calls) if isinstance(turn, Exchange) else ()
        written = _Written(parts, ids, self._write(turn, ids))
        replaced = self._kept.pop(id(parts[0]), None)
        self._bytes += len(written.content) - (len(replaced.content) if replaced else 0)
        self._kept[id(parts[0])] = written
        while self._bytes > self._max_bytes and self._kept:
            self._bytes -= len(self._kept.pop(next(iter(self._kept))).content)
        return written

    def _write_apart(self, parts: tuple[Message, ...], turn: Turn, taken: set[str]) -> _Written:
        """Return a turn whose ids clash in this history, with ids of their own; it is not kept."""
        ids: list[str] = []
        for call in turn.answer.calls if isinstance(turn, Exchange) else ():
            name = self._name(turn, call.id)
            if name in taken or name in ids:
                name = self._rule.rewrite_apart(call.id, taken.union(ids))
            ids.append(name)
        return _Written(parts, tuple(ids), self._write(turn, ids))

    def _name(self, turn: Turn, call_id: str) -> str:
        own = isinstance(turn, Exchange) and turn.answer.provider == self._provider and self._rule.keeps_own
        return call_id if own and call_id else self._rule.rewrite(call_id)


def _is_same(left: tuple[Message, ...], right: tuple[Message, ...]) -> bool:
    return len(left) == len(right) and all(one is other for one, other in zip(left, right, strict=True))


def write_json(value: object) -> bytes:
    """Return a value as JSON in UTF-8; lone surrogates, which no server takes, become `?`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
