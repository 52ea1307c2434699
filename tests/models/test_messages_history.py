"""What goes back over the Messages wire: a provider's own blocks unchanged, and any history as one that it takes."""

from typing import Any

import pytest

from placet.models.history import NO_RESULT
from placet.ports import Finish
from placet.values.call import ToolCall, ToolResult
from placet.values.message import AssistantMessage, Transcript, UserMessage
from tests.models.messages import FOUND, SEARCH, TEXT, THINKING, USE, OpenMessages, as_history, hear, send
from tests.models.public_failures import CASES, read_history
from tests.models.runs import both
from tests.models.wire import WireServer

# ── what is carried from turn to turn ─────────────────────────────────────────────────


@both
async def test_thinking_goes_back_unchanged(wire: WireServer, open_messages: OpenMessages, streamed: bool) -> None:
    redacted = {"type": "redacted_thinking", "data": "opaque"}
    answer = await hear(wire, open_messages, [THINKING, redacted, TEXT, USE], "tool_use", streamed=streamed)

    _, assistant, _ = await send(wire, open_messages, as_history(answer, ToolResult("toolu_1", "7")))

    assert assistant["content"] == [THINKING, redacted, TEXT, USE]


@both
async def test_a_paused_turn_goes_back_unchanged(wire: WireServer, open_messages: OpenMessages, streamed: bool) -> None:
    answer = await hear(wire, open_messages, [TEXT, SEARCH, FOUND], "pause_turn", streamed=streamed)
    assert (answer.finish, answer.calls) == (Finish.PAUSE, ())

    _, assistant = await send(wire, open_messages, as_history(answer))

    assert assistant["content"] == [TEXT, SEARCH, FOUND]


@both
async def test_what_was_cut_does_not_go_back(wire: WireServer, open_messages: OpenMessages, streamed: bool) -> None:
    """Thinking without its signature, and a search without its result: the provider would refuse both for good."""
    cut = {**THINKING, "signature": ""}
    found = {**SEARCH, "id": "srv_0"}
    content: list[dict[str, Any]] = [cut, found, {**FOUND, "tool_use_id": "srv_0"}, TEXT, SEARCH]
    answer = await hear(wire, open_messages, content, "max_tokens", streamed=streamed)

    _, assistant = await send(wire, open_messages, as_history(answer))

    assert assistant["content"] == [found, {**FOUND, "tool_use_id": "srv_0"}, TEXT]


@both
async def test_a_pause_within_a_search_goes_back_unchanged(
    wire: WireServer, open_messages: OpenMessages, streamed: bool
) -> None:
    answer = await hear(wire, open_messages, [TEXT, SEARCH], "pause_turn", streamed=streamed)
    paused = AssistantMessage(answer.text, (), answer.provider, answer.provider_state, paused=True)

    _, assistant = await send(wire, open_messages, Transcript([UserMessage("go"), paused]))

    assert assistant["content"] == [TEXT, SEARCH]


@both
async def test_what_stands_beside_a_call_goes_back(
    wire: WireServer, open_messages: OpenMessages, streamed: bool
) -> None:
    use = {**USE, "caller": {"type": "direct"}}
    answer = await hear(wire, open_messages, [use], "tool_use", streamed=streamed)

    _, assistant, _ = await send(wire, open_messages, as_history(answer, ToolResult("toolu_1", "7")))

    assert assistant["content"] == [use]


async def test_thinking_does_not_go_to_another_provider(wire: WireServer, open_messages: OpenMessages) -> None:
    foreign = AssistantMessage(
        "hi",
        (ToolCall("c1", "ping", provider_state={"x": 1}),),
        "elsewhere",
        {"blocks": [THINKING, {"type": "tool_use"}]},
    )

    _, assistant, _ = await send(wire, open_messages, Transcript([UserMessage("go"), foreign]))

    assert assistant["content"] == [
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "c1", "name": "ping", "input": {}},
    ]


# ── histories ─────────────────────────────────────────────────────────────────────────


async def test_all_results_of_a_turn_go_in_one_message(wire: WireServer, open_messages: OpenMessages) -> None:
    """C081: the one that failed and the one that did not."""
    content = CASES["C081"]["input"]["content"]
    answer = await hear(wire, open_messages, content, "tool_use", streamed=False)
    failed = ToolResult("t1", "name: must not be empty", is_error=True, code="invalid_arguments")

    _, _, results = await send(wire, open_messages, as_history(answer, failed, ToolResult("t2", "ok", fence="m1")))

    assert results == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "name: must not be empty", "is_error": True},
            {"type": "tool_result", "tool_use_id": "t2", "content": "<<data m1>>\nok\n<<end m1>>"},
        ],
    }


@both
async def test_a_poisoned_call_from_another_provider_goes_out_as_an_object(
    wire: WireServer, open_messages: OpenMessages, streamed: bool
) -> None:
    """C002, on the Messages side."""
    transcript = read_history(CASES["C002"]["input"]["messages"], "openai-chat@api.openai.com")

    for _ in range(2):
        _, assistant, _ = await send(wire, open_messages, transcript, streamed=streamed)
        assert assistant["content"] == [{"type": "tool_use", "id": "c1", "name": "get_rate", "input": {}}]


@both
async def test_empty_and_stray_blocks_do_not_go_back(
    wire: WireServer, open_messages: OpenMessages, streamed: bool
) -> None:
    """C059."""
    content = CASES["C059"]["input"]["messages"][1]["content"]
    answer = await hear(wire, open_messages, content, "tool_use", streamed=streamed)

    _, assistant, _ = await send(wire, open_messages, as_history(answer, ToolResult("t1", "ok")), streamed=streamed)

    assert assistant["content"] == [{"type": "tool_use", "id": "t1", "name": "ping", "input": {}}]


@pytest.mark.parametrize("content", ["", " \n"])
async def test_no_result_is_empty(wire: WireServer, open_messages: OpenMessages, content: str) -> None:
    """C086."""
    answer = await hear(wire, open_messages, [USE], "tool_use", streamed=False)

    _, _, results = await send(wire, open_messages, as_history(answer, ToolResult("toolu_1", content)))

    assert results["content"][0]["content"] == "(empty)"


async def test_a_dangling_call_gets_a_result(wire: WireServer, open_messages: OpenMessages) -> None:
    dangling = Transcript([UserMessage("go"), AssistantMessage(calls=(ToolCall("c1", "ping"),)), UserMessage("and?")])

    _, _, results, user = await send(wire, open_messages, dangling)

    assert results["content"] == [{"type": "tool_result", "tool_use_id": "c1", "content": NO_RESULT, "is_error": True}]
    assert user["content"] == "and?"


async def test_a_history_begins_with_the_user(wire: WireServer, open_messages: OpenMessages) -> None:
    messages = await send(wire, open_messages, Transcript([AssistantMessage("hi"), UserMessage("")]))

    assert [item["role"] for item in messages] == ["user", "assistant", "user"]
    assert messages[2]["content"] == "(empty)"
