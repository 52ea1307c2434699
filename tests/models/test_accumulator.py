"""From what servers send to one answer; `finish_reason` is never trusted alone."""

import math
from decimal import Decimal
from typing import Any

import pytest

from placet.errors import ModelProtocolError
from placet.models.accumulator import ChatAccumulator, read_usage
from placet.ports import Finish, ModelAnswer
from tests.models.runs import both
from tests.models.wire import as_stream, chunks, completion

CALL = {"id": "c1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}


def hear(message: dict[str, Any], finish_reason: str | None = "stop", *, streamed: bool = False) -> ModelAnswer:
    accumulator = ChatAccumulator({"ping"})
    if streamed:
        for chunk in chunks(as_stream(message), finish_reason):
            accumulator.add(chunk)
    else:
        accumulator.read(completion(message, finish_reason))
    return accumulator.finish(set(), "1", "here")


@both
@pytest.mark.parametrize(
    ("finish_reason", "fault"),
    [
        ("length", "token limit"),
        ("max_tokens", "token limit"),
        ("MAX_TOKENS", "token limit"),
        ("model_length", "token limit"),
        ("content_filter", "filter"),
        ("SAFETY", "filter"),
        ("error", "broke off"),
        ("abort", "broke off"),
        ("insufficient_system_resource", "broke off"),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", "broke off"),
    ],
)
def test_a_cut_answer_makes_its_calls_unknowable(finish_reason: str, fault: str, streamed: bool) -> None:
    answer = hear({"content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]}, finish_reason, streamed=streamed)

    assert [call.arguments for call in answer.calls] == ["{}", "{}"]
    assert all(fault in (call.fault or "") for call in answer.calls)


@both
@pytest.mark.parametrize("finish_reason", ["error", "MALFORMED_FUNCTION_CALL"])
def test_an_answer_that_the_server_could_not_end_is_no_answer(finish_reason: str, streamed: bool) -> None:
    with pytest.raises(ModelProtocolError, match="broke off"):
        hear({"content": "It is"}, finish_reason, streamed=streamed)


@both
@pytest.mark.parametrize("finish_reason", ["length", "content_filter"])
def test_a_cut_answer_says_so(finish_reason: str, streamed: bool) -> None:
    answer = hear({"content": None, "tool_calls": [CALL]}, finish_reason, streamed=streamed)

    assert answer.finish is not Finish.CALLS


@both
@pytest.mark.parametrize("finish_reason", ["stop", "tool_calls", "function_call", "eos", "end_turn"])
def test_calls_are_calls_whatever_is_said_of_the_end(finish_reason: str, streamed: bool) -> None:
    answer = hear({"content": None, "tool_calls": [CALL]}, finish_reason, streamed=streamed)

    assert (answer.finish, answer.calls[0].fault) == (Finish.CALLS, None)


def test_calls_of_a_stream_that_broke_off_cannot_be_known() -> None:
    answer = hear({"content": None, "tool_calls": [CALL]}, None, streamed=True)

    assert "broke off" in (answer.calls[0].fault or "")


def test_a_whole_answer_needs_no_finish_reason() -> None:
    answer = hear({"content": None, "tool_calls": [CALL]}, None)

    assert (answer.finish, answer.calls[0].fault) == (Finish.CALLS, None)


@both
def test_a_refusal_with_calls_is_a_contradiction(streamed: bool) -> None:
    answer = hear({"content": None, "refusal": "no", "tool_calls": [CALL]}, streamed=streamed)

    assert answer.finish is Finish.REFUSAL
    assert "contradict" in (answer.calls[0].fault or "")


@both
def test_a_call_without_a_name_cannot_be_known(streamed: bool) -> None:
    answer = hear({"content": None, "tool_calls": [{"id": "c", "function": {"arguments": "{}"}}]}, streamed=streamed)

    assert "no tool" in (answer.calls[0].fault or "")


def test_the_older_function_call_is_a_call() -> None:
    whole = hear({"content": None, "function_call": {"name": "ping", "arguments": "{}"}}, "function_call")
    accumulator = ChatAccumulator()
    deltas: list[dict[str, Any]] = [
        {"function_call": {"name": "ping", "arguments": '{"a"'}},
        {"function_call": {"arguments": ": 1}"}},
    ]
    for chunk in chunks(deltas, "function_call"):
        accumulator.add(chunk)
    streamed = accumulator.finish(set(), "1", "here")

    assert [(call.name, call.arguments) for call in whole.calls] == [("ping", "{}")]
    assert [(call.name, call.arguments) for call in streamed.calls] == [("ping", '{"a": 1}')]


def test_once_cut_is_cut() -> None:
    accumulator = ChatAccumulator()
    for chunk in [*chunks([{"tool_calls": [{"index": 0, **CALL}]}], "length"), *chunks([], "tool_calls")]:
        accumulator.add(chunk)

    assert accumulator.finish(set(), "1", "here").calls[0].fault


def test_reasoning_is_kept_for_whoever_made_it() -> None:
    accumulator = ChatAccumulator()
    detail = {"type": "reasoning.encrypted", "data": "x"}
    deltas: list[dict[str, Any]] = [
        {"reasoning_content": "first, "},
        {"reasoning_content": "then", "reasoning_details": [detail]},
        {"content": "so", "reasoning_details": [detail]},
    ]
    for chunk in chunks(deltas):
        accumulator.add(chunk)

    answer = accumulator.finish(set(), "1", "here")

    assert (answer.text, answer.provider) == ("so", "here")
    assert answer.provider_state == {"reasoning_content": "first, then", "reasoning_details": [detail, detail]}


def test_words_in_parts_are_words() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]

    assert hear({"content": parts}).text == "ab"


def test_only_the_first_choice_counts() -> None:
    other = {"index": 1, "finish_reason": "stop", "message": {"content": "other"}}
    body = completion({"content": "first"})
    accumulator = ChatAccumulator()
    accumulator.read({**body, "choices": [other, *body["choices"]]})

    assert accumulator.finish(set(), "1", "here").text == "first"


@pytest.mark.parametrize("strange", [None, "9", -5, math.nan, math.inf, [], {}])
def test_what_is_no_number_is_not_counted(strange: object) -> None:
    usage = {"prompt_tokens": strange, "completion_tokens": 2, "cost": strange, "prompt_tokens_details": strange}

    counted = read_usage(usage)

    assert (counted.input_tokens, counted.output_tokens, counted.cached_tokens, counted.cost) == (0, 2, 0, Decimal(0))
