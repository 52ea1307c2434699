"""The public failures of other frameworks, as tests of the clients read them."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from placet.values.call import ToolCall, ToolResult
from placet.values.message import AssistantMessage, Message, ToolMessage, Transcript, UserMessage

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in map(
        json.loads, (Path(__file__).parent.parent / "cases" / "public-failures.jsonl").read_text().splitlines()
    )
}
KINDS = ("args-json", "stream-delta", "call-id", "tool-name", "history-pairing", "provider-quirk")
"""What native calls bring about."""


def ids_of(form: str, kinds: Sequence[str] = KINDS) -> list[str]:
    """The ids of the cases of a form and of these kinds."""
    return [key for key, case in CASES.items() if case["input"].get("form") == form and case["kind"] in kinds]


def read_history(messages: Sequence[dict[str, Any]], provider: str = "") -> Transcript:
    """Chat messages, as the cases write them, as a transcript of ours."""
    read: list[Message] = []
    for message in messages:
        match message["role"]:
            case "user":
                read.append(UserMessage(message["content"]))
            case "assistant":
                calls = tuple(
                    ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
                    for call in message.get("tool_calls", [])
                )
                read.append(AssistantMessage(message.get("content") or "", calls, provider))
            case "tool":
                read.append(ToolMessage((ToolResult(message["tool_call_id"], message["content"]),)))
    return Transcript(read)


def check_history(messages: Sequence[dict[str, Any]]) -> None:
    """Assert what every server that speaks Chat Completions wants of a history."""
    open_ids: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert open_ids, "a result without a call"
            assert message["tool_call_id"] == open_ids.pop(0), "results in call order"
            assert message["content"].strip()
            continue
        assert not open_ids, "every call has a result before anything else is said"
        for call in message.get("tool_calls") or []:
            assert call["id"], "no id is empty"
            assert call["id"] not in seen, "no id is used twice"
            seen.add(call["id"])
            open_ids.append(call["id"])
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"])
    assert not open_ids, "the last call has a result, too"
