"""Ids of tool calls: unique in a history, and legal on the wire they go to.

Servers send none, an empty one, or the same one again in the next run. On the wire a call and
its result find each other by this id alone, so within one history it must be unique.
"""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from placet.values.message import AssistantMessage, Transcript

_ALPHANUMERIC: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class CallIdRule:
    """What a wire takes as the id of a call.

    Attributes:
        legal: What it takes as it is.
        prefix: How a rewritten id begins.
        length: How long a rewritten id is.
        keeps_own: Whether ids that this server has made itself go back as they are: some hide
            state in them (a proxy the thought signature, for instance).
    """

    legal: re.Pattern[str]
    prefix: str
    length: int
    keeps_own: bool = True

    def rewrite(self, call_id: str) -> str:
        """Return the id as this wire takes it: the same one, or one made from its hash.

        It is the same for the same id, in every process, so a call and its result still meet.
        """
        return call_id if self.legal.fullmatch(call_id) else self._make(call_id)

    def rewrite_apart(self, call_id: str, taken: Collection[str]) -> str:
        """Return the id as this wire takes it, apart from those taken before it in the history."""
        candidate, attempt = self.rewrite(call_id), 1
        while candidate in taken:
            attempt += 1
            candidate = self._make(f"{call_id}\n{attempt}")
        return candidate

    def _make(self, seed: str) -> str:
        number = int.from_bytes(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest(), "big")
        letters: list[str] = []
        for _ in range(self.length - len(self.prefix)):
            number, letter = divmod(number, len(_ALPHANUMERIC))
            letters.append(_ALPHANUMERIC[letter])
        return self.prefix + "".join(letters)


OPENAI_CALL_IDS: Final = CallIdRule(re.compile(r"[A-Za-z0-9_-]{1,40}"), "call_", 29)
"""What Chat Completions takes: OpenAI refuses more than forty characters (camel-ai/camel#2215)."""

RESPONSES_CALL_IDS: Final = CallIdRule(re.compile(r"[A-Za-z0-9_-]{1,64}"), "call_", 29)
"""What Responses takes."""

ANTHROPIC_CALL_IDS: Final = CallIdRule(re.compile(r"[A-Za-z0-9_-]{1,64}"), "toolu_", 30)
"""What Messages takes."""

MISTRAL_CALL_IDS: Final = CallIdRule(re.compile(r"[A-Za-z0-9]{9}"), "", 9, keeps_own=False)
"""Exactly nine letters and digits (langchain-ai/langchain#24668)."""


def collect_call_ids(transcript: Transcript) -> set[str]:
    """Return the ids of all calls in a history."""
    return {call.id for message in transcript if isinstance(message, AssistantMessage) for call in message.calls}


def make_unique(call_id: str, taken: set[str], place: str) -> str:
    """Return the id, changed as little as needed to be new, and take it.

    Args:
        call_id: As the server sent it; may be empty.
        taken: The ids of the history so far; the new one is added.
        place: Where the call stands in the history, for an id that has to be made up.
    """
    stem = call_id or f"call_{place}"
    candidate, attempt = stem, 1
    while candidate in taken:
        attempt += 1
        candidate = f"{stem}_{attempt}"
    taken.add(candidate)
    return candidate
