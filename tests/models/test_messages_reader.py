"""What cannot be known of an answer over the Messages wire is said, and never guessed."""

from typing import Any

import pytest

from placet.errors import ModelProtocolError
from placet.ports import Finish
from tests.models.asking import ask
from tests.models.messages import TEXT, USE, OpenMessages, hear
from tests.models.runs import both
from tests.models.wire import Reply, WireServer, as_message_stream, events, message, whole


@both
@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_context_window_exceeded"])
async def test_a_cut_answer_makes_its_calls_unknowable(
    wire: WireServer, open_messages: OpenMessages, stop_reason: str, streamed: bool
) -> None:
    answer = await hear(wire, open_messages, [USE], stop_reason, streamed=streamed)

    assert (answer.finish, "token limit" in (answer.calls[0].fault or "")) == (Finish.LENGTH, True)


async def test_a_call_cut_in_its_arguments_is_kept_as_it_was_said(
    wire: WireServer, open_messages: OpenMessages
) -> None:
    answer = await hear(wire, open_messages, [{**USE, "input": '{"city": "Os'}], "max_tokens", streamed=True)

    assert answer.calls[0].arguments == '{"city": "Os'
    assert answer.calls[0].fault


async def test_a_stream_that_broke_off_makes_its_calls_unknowable(
    wire: WireServer, open_messages: OpenMessages
) -> None:
    answer = await hear(wire, open_messages, [USE], None, streamed=True)

    assert "broke off" in (answer.calls[0].fault or "")


@both
async def test_a_refusal_is_itself(wire: WireServer, open_messages: OpenMessages, streamed: bool) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "I will not help with that."}

    answer = await hear(wire, open_messages, [USE], "refusal", streamed=streamed, stop_details=details)

    assert (answer.finish, answer.refusal) == (Finish.REFUSAL, "I will not help with that.")
    assert answer.calls[0].fault


@both
async def test_calls_are_calls_whatever_the_stop_reason_says(
    wire: WireServer, open_messages: OpenMessages, streamed: bool
) -> None:
    answer = await hear(wire, open_messages, [USE], "end_turn", streamed=streamed)

    assert (answer.finish, answer.calls[0].fault) == (Finish.CALLS, None)


@both
async def test_announced_calls_that_do_not_come_are_a_contradiction(
    wire: WireServer, open_messages: OpenMessages, streamed: bool
) -> None:
    with pytest.raises(ModelProtocolError, match="holds none"):
        await hear(wire, open_messages, [TEXT], "tool_use", streamed=streamed)


@both
async def test_equal_ids_are_set_apart(wire: WireServer, open_messages: OpenMessages, streamed: bool) -> None:
    answer = await hear(wire, open_messages, [USE, USE], "tool_use", streamed=streamed)

    assert [call.id for call in answer.calls] == ["toolu_1", "toolu_1_2"]


async def test_an_input_said_twice_is_a_contradiction(wire: WireServer, open_messages: OpenMessages) -> None:
    items = as_message_stream(message([USE], "tool_use"))
    items[2]["content_block"]["input"] = {"city": "Rome"}
    wire.plays(events(items, done=False))

    answer = await open_messages().answer(ask(), lambda _: None)

    assert "contradict" in (answer.calls[0].fault or "")


async def test_a_block_that_another_one_takes_over_cannot_be_known(
    wire: WireServer, open_messages: OpenMessages
) -> None:
    """What was meant for the first goes to the second; alone, its name would run with nothing but defaults."""
    items = as_message_stream(message([USE], "tool_use"))
    first = {**items[2], "content_block": {**items[2]["content_block"], "id": "toolu_0", "name": "wipe"}}
    wire.plays(events([*items[:2], first, *items[2:]], done=False))

    answer = await open_messages().answer(ask(), lambda _: None)

    assert [(call.name, bool(call.fault)) for call in answer.calls] == [("wipe", True), ("get_rate", False)]


async def test_a_call_without_arguments_that_did_not_end_cannot_be_known(
    wire: WireServer, open_messages: OpenMessages
) -> None:
    items = as_message_stream(message([USE], "tool_use"))
    kept = [item for item in items if item["type"] not in ("content_block_delta", "content_block_stop")]
    wire.plays(events(kept, done=False))

    answer = await open_messages().answer(ask(), lambda _: None)

    assert "broke off" in (answer.calls[0].fault or "")


async def test_blocks_may_stand_one_after_the_other_at_one_place(wire: WireServer, open_messages: OpenMessages) -> None:
    """As servers that only speak like Anthropic number them."""
    items = as_message_stream(message([TEXT, USE, {**USE, "id": "toolu_2"}], "tool_use"))
    wire.plays(events([{**item, "index": 0} if "index" in item else item for item in items], done=False))

    answer = await open_messages().answer(ask(), lambda _: None)

    assert answer.text == TEXT["text"]
    assert [(call.id, call.fault) for call in answer.calls] == [("toolu_1", None), ("toolu_2", None)]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(whole({"hello": "world"}), id="no message"),
        pytest.param(whole(message([]) | {"content": [5]}), id="a block is a number"),
        pytest.param(Reply([b"<html>"], content_type="text/html"), id="a web page"),
        pytest.param(Reply([b"{broken"]), id="broken JSON"),
    ],
)
async def test_what_is_no_answer_is_said_to_be_none(
    wire: WireServer, open_messages: OpenMessages, reply: Reply
) -> None:
    wire.plays(reply)

    with pytest.raises(ModelProtocolError):
        await open_messages().answer(ask())


@pytest.mark.parametrize(
    "items",
    [
        pytest.param([], id="nothing"),
        pytest.param(as_message_stream(message([TEXT], None)), id="no stop reason"),
        pytest.param([{"type": "message_start", "message": 5}], id="a message is a number"),
        pytest.param(
            [{"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "x"}}], id="no block"
        ),
    ],
)
async def test_a_stream_that_is_no_answer_is_said_to_be_none(
    wire: WireServer, open_messages: OpenMessages, items: list[dict[str, Any]]
) -> None:
    wire.plays(events(items, done=False))

    with pytest.raises(ModelProtocolError):
        await open_messages().answer(ask(), lambda _: None)
