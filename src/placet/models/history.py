"""The history as a provider takes it: every call has exactly one result, in call order.

A run that crashed, was trimmed or came from another provider may hold calls without results,
results without calls, and ids that repeat or that the next wire does not take. Sent as they
are, they make the provider refuse every further request of the conversation.
"""

import json
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from placet.models.call_ids import CallIdRule
from placet.values.call import ToolResult
from placet.values.message import AssistantMessage, ToolMessage, Transcript, UserMessage

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

Parts: TypeAlias = tuple[UserMessage | AssistantMessage, tuple[ToolMessage, ...]]
"""The messages that a turn is made of."""

WriteTurn: TypeAlias = Callable[[Turn, Sequence[str]], bytes]
"""From a turn and the ids of its calls on this wire to JSON: message objects with commas between."""


def split(transcript: Transcript) -> Iterator[Parts]:
    """Yield each thing said, with the results that belong to it.

    Results belong to the answer before them, also where a person has spoken in between: on
    every wire they follow it. Those before any answer are left out.
    """
    words: list[UserMessage] = []  # after the answer at hand
    answer: AssistantMessage | None = None
    results: list[ToolMessage] = []
    for message in transcript:
        if isinstance(message, ToolMessage):
            results.append(message)
            continue
        if isinstance(message, UserMessage):
            words.append(message)
            continue
        if answer is not None:
            yield answer, tuple(results)
        yield from ((said, ()) for said in words)
        answer, words, results = message, [], []
    if answer is not None:
        yield answer, tuple(results)
    yield from ((said, ()) for said in words)


def make_turn(parts: Parts) -> Turn:
    """Return what the messages of one turn say: one result for each call, in call order."""
    answer, messages = parts
    if isinstance(answer, UserMessage):
        return answer
    left = [result for message in messages for result in message.results]
    matched: list[ToolResult] = []
    for call in answer.calls:
        result = next((result for result in left if result.call_id == call.id), None)
        if result is None:
            result = ToolResult(call.id, NO_RESULT, is_error=True, code="no_result")
        else:
            left.remove(result)
        matched.append(result)
    return Exchange(answer, tuple(matched))


@dataclass(frozen=True, slots=True)
class _Written:
    """A turn as JSON, with the messages that it was made from: their identity is the key."""

    parts: Parts
    ids: tuple[str, ...]
    content: bytes
    clashes: bool = False


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
        between: The message that stands between results and a person's words, if the wire wants one.
    """

    def __init__(
        self,
        write: WriteTurn,
        rule: CallIdRule,
        provider: str,
        *,
        max_bytes: int = CACHE_BYTES,
        between: bytes = b"",
    ) -> None:
        self._write = write
        self._between = between
        self._rule = rule
        self._provider = provider
        self._max_bytes = max_bytes
        self._kept: dict[int, _Written] = {}
        self._bytes = 0

    def write(self, transcript: Transcript) -> list[bytes]:
        """Return the turns of a history as JSON, ready to be joined with commas."""
        taken: set[str] = set()
        contents: list[bytes] = []
        answered = False
        for parts in split(transcript):
            if answered and self._between and isinstance(parts[0], UserMessage):
                contents.append(self._between)
            written = self._kept.get(id(parts[0]))
            if written is None or not _is_same(written.parts, parts):
                written = self._keep(parts)
            if written.ids:
                if written.clashes or not taken.isdisjoint(written.ids):
                    written = self._write_apart(parts, taken)
                taken.update(written.ids)
            answered = bool(written.ids)
            if written.content:
                contents.append(written.content)
        return contents

    def _keep(self, parts: Parts) -> _Written:
        turn = make_turn(parts)
        ids = tuple(self._name(turn, call.id) for call in turn.answer.calls) if isinstance(turn, Exchange) else ()
        written = _Written(parts, ids, self._write(turn, ids), clashes=len(set(ids)) != len(ids))
        replaced = self._kept.pop(id(parts[0]), None)
        self._bytes += len(written.content) - (len(replaced.content) if replaced else 0)
        self._kept[id(parts[0])] = written
        while self._bytes > self._max_bytes and self._kept:
            self._bytes -= len(self._kept.pop(next(iter(self._kept))).content)
        return written

    def _write_apart(self, parts: Parts, taken: set[str]) -> _Written:
        """Return a turn whose ids clash in this history, with ids of their own; it is not kept."""
        turn = make_turn(parts)
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


def _is_same(left: Parts, right: Parts) -> bool:
    """Whether both are the same objects, not merely equal ones."""
    return left[0] is right[0] and len(left[1]) == len(right[1]) and all(map(operator.is_, left[1], right[1]))


def begins_with_user(transcript: Transcript) -> bool:
    """Whether the first message is a user's."""
    return len(transcript) > 0 and isinstance(transcript[0], UserMessage)


def write_json(value: object) -> bytes:
    """Return a value as JSON in UTF-8; lone surrogates, which no server takes, become `?`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


OPENING: Final = write_json({"role": "user", "content": "(the conversation goes on)"})
"""What stands first where a history does not begin with the user and the wire wants it so."""
