"""A history is always valid for the provider it goes to, and each message is written once."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from placet.models.call_ids import MISTRAL_CALL_IDS, OPENAI_CALL_IDS, make_unique
from placet.models.chat_messages import ChatMessages
from placet.models.history import NO_RESULT, Exchange, HistoryWriter, Turn
from placet.models.quirks import QUIRKS
from placet.values.call import ToolCall, ToolResult
from placet.values.message import AssistantMessage, Message, ToolMessage, Transcript, UserMessage
from tests.models.public_failures import check_history

GO = UserMessage("go")
PING = ToolCall("c1", "ping", '{"n": 1}')
PONG = ToolMessage((ToolResult("c1", "pong"),))


def write(*messages: Message, provider: str = "here", quirks: str = "compatible") -> list[dict[str, Any]]:
    chat = ChatMessages(QUIRKS[quirks], provider)
    writer = HistoryWriter(chat.write_turn, QUIRKS[quirks].call_ids, provider)
    written: list[dict[str, Any]] = json.loads(b"[" + b",".join(writer.write(Transcript(messages))) + b"]")
    check_history(written)
    return written


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    _, _, tool, user = write(GO, AssistantMessage(calls=(PING,)), UserMessage("and?"))

    assert (tool["tool_call_id"], tool["content"]) == ("c1", f"ERROR: {NO_RESULT}")
    assert user["content"] == "and?"


def test_a_result_without_a_call_is_left_out() -> None:
    roles = [message["role"] for message in write(PONG, GO, PONG, AssistantMessage("hi"), PONG)]

    assert roles == ["user", "assistant"]


def test_results_are_brought_into_call_order() -> None:
    calls = (PING, ToolCall("c2", "ping"), ToolCall("c3", "ping"))
    late = [ToolMessage((ToolResult("c3", "third"), ToolResult("x", "?"))), ToolMessage((ToolResult("c1", "first"),))]

    _, _, *tools = write(GO, AssistantMessage(calls=calls), *late)

    assert [tool["content"] for tool in tools] == ["first", f"ERROR: {NO_RESULT}", "third"]


def test_a_result_that_comes_after_other_words_stands_at_its_call() -> None:
    """As frameworks leave it behind in which a person may speak while a tool runs."""
    written = write(GO, AssistantMessage(calls=(PING,)), UserMessage("hurry"), PONG, AssistantMessage("done"))

    assert [message["role"] for message in written] == ["user", "assistant", "tool", "user", "assistant"]
    assert written[2]["content"] == "pong"


def test_results_of_equal_ids_stay_in_order() -> None:
    twice = AssistantMessage(calls=(PING, PING))
    results = ToolMessage((ToolResult("c1", "first"), ToolResult("c1", "second")))

    _, _, *tools = write(GO, twice, results)

    assert [tool["content"] for tool in tools] == ["first", "second"]


def test_equal_ids_in_two_turns_are_set_apart() -> None:
    turn: list[Message] = [AssistantMessage(calls=(PING,)), PONG]

    written = write(GO, *turn, *turn, *turn)

    assert len({call["id"] for message in written for call in message.get("tool_calls", [])}) == 3


@pytest.mark.parametrize("call_id", ["", "a b", "functions.ping:0", "x" * 41, "\ud800"])
def test_foreign_ids_are_written_as_the_wire_takes_them(call_id: str) -> None:
    _, assistant, _ = write(
        GO, AssistantMessage(calls=(ToolCall(call_id, "ping"),)), ToolMessage((ToolResult(call_id, "pong"),))
    )

    assert OPENAI_CALL_IDS.legal.fullmatch(assistant["tool_calls"][0]["id"])


def test_an_id_of_the_same_server_goes_back_as_it_was() -> None:
    """Some hide state in them: a proxy, for instance, the thought signature."""
    long_id = "call_1__thought__" + "s" * 500
    answer = AssistantMessage(calls=(ToolCall(long_id, "ping"),), provider="here")

    _, assistant, _ = write(GO, answer)

    assert assistant["tool_calls"][0]["id"] == long_id


def test_ids_for_mistral_do_not_collide() -> None:
    calls = tuple(ToolCall(f"call_{number}", "ping") for number in range(500))

    _, assistant, *_ = write(GO, AssistantMessage(calls=calls, provider="here"), quirks="mistral")

    assert all(MISTRAL_CALL_IDS.legal.fullmatch(call["id"]) for call in assistant["tool_calls"])


@pytest.mark.parametrize(
    ("name", "sent"), [("functions.ping", "functions_ping"), ("", "unknown"), ("x" * 99, "x" * 64), ("\xe9", "_")]
)
def test_a_name_that_no_wire_takes_does_not_brick_the_conversation(name: str, sent: str) -> None:
    _, assistant, _ = write(GO, AssistantMessage(calls=(ToolCall("c1", name),)), PONG)

    assert assistant["tool_calls"][0]["function"]["name"] == sent


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"n": 1}', '{"n": 1}'),
        ("", "{}"),
        ("null", "{}"),
        ("[]", "{}"),
        ('{"n": ', "{}"),
        ('{"n": 1}{"n": 2}', "{}"),
        ('{"n": 1, "n": 2}', "{}"),
        ('{"n": NaN}', "{}"),
        ('"{\\"n\\": 1}"', '{"n": 1}'),
        ('{"n": 1}<|eom_id|>', '{"n": 1}'),
        ('{"n": "\ud800"}', "{}"),
        ("[" * 10_000, "{}"),
    ],
)
def test_arguments_go_back_as_the_object_that_ran_or_as_none(arguments: str, sent: str) -> None:
    _, assistant, _ = write(GO, AssistantMessage(calls=(ToolCall("c1", "ping", arguments),)), PONG)

    assert assistant["tool_calls"][0]["function"]["arguments"] == sent


def test_lone_surrogates_do_not_leave() -> None:
    user, assistant, _ = write(UserMessage("a\ud800b"), AssistantMessage("\udfff", (PING,)))

    assert (user["content"], assistant["content"]) == ("a?b", "?")


def test_no_message_is_empty() -> None:
    contents = [message["content"] for message in write(UserMessage(""), AssistantMessage(""), UserMessage(" "))]

    assert contents == ["(empty)", "(empty)", "(empty)"]


def test_a_result_is_fenced_and_an_error_is_called_one() -> None:
    failed = ToolMessage((ToolResult("c1", "no such city", is_error=True, code="tool_error", fence="m7"),))

    _, _, tool = write(GO, AssistantMessage(calls=(PING,)), failed)

    assert tool["content"] == "ERROR: <<data m7>>\nno such city\n<<end m7>>"


def test_what_a_server_wants_back_goes_back_to_it_alone() -> None:
    call = ToolCall(
        "c1",
        "ping",
        provider_state={"extra_content": {"google": {"thought_signature": "s"}}, "function": {"signature": "t"}},
    )
    answer = AssistantMessage(calls=(call,), provider="here", provider_state={"reasoning_content": "r"})

    _, own, _ = write(GO, answer, PONG)
    _, other, _ = write(GO, answer, PONG, provider="elsewhere")

    assert own["reasoning_content"] == "r"
    assert own["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "s"}}
    assert own["tool_calls"][0]["function"] == {"name": "ping", "arguments": "{}", "signature": "t"}
    assert other == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}],
    }


# ── writing once ──────────────────────────────────────────────────────────────────────


class Counting:
    """Writes turns, and counts them."""

    def __init__(self) -> None:
        self.written: list[Turn] = []

    def write_turn(self, turn: Turn, ids: Sequence[str]) -> bytes:
        self.written.append(turn)
        return json.dumps(list(ids)).encode()


def long_history(turns: int) -> list[Message]:
    messages: list[Message] = [GO]
    for number in range(turns):
        messages += [
            AssistantMessage(calls=(ToolCall(f"c{number}", "ping"),)),
            ToolMessage((ToolResult(f"c{number}", "pong"),)),
        ]
    return messages


def test_a_further_turn_writes_only_what_is_new() -> None:
    counting = Counting()
    writer = HistoryWriter(counting.write_turn, OPENAI_CALL_IDS, "here")
    messages = long_history(200)
    writer.write(Transcript(messages[:-2]))
    before = len(counting.written)

    writer.write(Transcript(messages))

    assert len(counting.written) - before == 1


def test_a_result_that_comes_later_is_written() -> None:
    counting = Counting()
    writer = HistoryWriter(counting.write_turn, OPENAI_CALL_IDS, "here")
    messages = long_history(1)
    writer.write(Transcript(messages[:-1]))

    writer.write(Transcript(messages))

    dangling, answered = counting.written[1:]
    assert isinstance(dangling, Exchange)
    assert isinstance(answered, Exchange)
    assert (dangling.results[0].content, answered.results[0].content) == (NO_RESULT, "pong")


def test_an_equal_message_of_another_run_is_another_message() -> None:
    """What was written is found by identity: the results may differ where the answers are equal."""
    writer = HistoryWriter(ChatMessages(QUIRKS["compatible"], "here").write_turn, OPENAI_CALL_IDS, "here")
    answer = AssistantMessage(calls=(PING,))

    first = writer.write(Transcript([GO, answer, PONG]))
    second = writer.write(Transcript([GO, answer, ToolMessage((ToolResult("c1", "other"),))]))

    assert b"pong" in first[1]
    assert b"other" in second[1]


def test_what_is_kept_is_bounded() -> None:
    writer = HistoryWriter(Counting().write_turn, OPENAI_CALL_IDS, "here", max_bytes=1000)
    for _ in range(5):
        writer.write(Transcript(long_history(500)))

    assert sum(len(written.content) for written in writer._kept.values()) == writer._bytes <= 1000


def test_a_made_up_id_is_new() -> None:
    taken = {"call_3_0", "c1"}

    assert make_unique("", taken, "3_0") == "call_3_0_2"
    assert make_unique("c1", taken, "3_1") == "c1_2"
    assert make_unique("c1", taken, "3_2") == "c1_3"
