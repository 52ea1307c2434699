"""OpenAI Responses over real HTTP, streamed and whole."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from placet.errors import ConfigurationError, ModelProtocolError, ModelRequestError, ModelUnavailableError
from placet.models.openai_responses import OpenAIResponses
from placet.ports import Finish, ModelAnswer, ModelClient
from placet.values.call import ToolCall, ToolResult
from placet.values.message import AssistantMessage, ToolMessage, Transcript, UserMessage
from tests.models.asking import GET_RATE, GET_RATES, ask
from tests.models.dialects import check_items
from tests.models.public_failures import CASES, read_history
from tests.models.runs import both
from tests.models.wire import Reply, WireServer, as_response_stream, events, response, whole

OpenResponses = Callable[..., OpenAIResponses]
WORDS = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
    "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
}  # fmt: skip
CALL = {
    "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_rate", "arguments": '{"city": "Oslo"}',
    "status": "completed",
}  # fmt: skip
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"}


async def hear(
    wire: WireServer, open_responses: OpenResponses, output: Sequence[dict[str, Any]], status: str = "completed",
    *, streamed: bool, **extra: Any,
) -> ModelAnswer:  # fmt: skip
    """What the client makes of an answer."""
    said = response(output, status, **extra)
    wire.plays(events(as_response_stream(said), done=False) if streamed else whole(said))
    return await open_responses().answer(ask(tools=(GET_RATE,)), (lambda _: None) if streamed else None)


async def send(
    wire: WireServer, open_responses: OpenResponses, transcript: Transcript, *, streamed: bool = False
) -> list[dict[str, Any]]:
    """The items that go over the wire for a history, checked against what the wire wants."""
    body = response([WORDS])
    wire.plays(events(as_response_stream(body), done=False) if streamed else whole(body))
    await open_responses().answer(ask(*transcript), (lambda _: None) if streamed else None)
    assert wire.last.get("stream", False) is streamed
    check_items(wire.last)
    items: list[dict[str, Any]] = wire.last["input"]
    return items


def as_history(answer: ModelAnswer, *results: ToolResult) -> Transcript:
    heard = AssistantMessage(answer.text, answer.calls, answer.provider, answer.provider_state)
    return Transcript([UserMessage("go"), heard, *([ToolMessage(results)] if results else [])])


@both
async def test_words_and_calls_are_heard(wire: WireServer, open_responses: OpenResponses, streamed: bool) -> None:
    client: ModelClient = open_responses()
    assert client.writes_prose

    answer = await hear(wire, open_responses, [REASONING, WORDS, CALL], streamed=streamed)

    assert (answer.text, answer.finish, answer.model) == ("Let me look.", Finish.CALLS, "served-model")
    assert answer.calls == (ToolCall("call_1", "get_rate", '{"city": "Oslo"}'),)
    assert (answer.usage.input_tokens, answer.usage.cached_tokens, answer.usage.output_tokens) == (9, 4, 2)


async def test_words_stream_as_they_come(wire: WireServer, open_responses: OpenResponses) -> None:
    wire.plays(events(as_response_stream(response([WORDS])), done=False))
    pieces: list[str] = []

    answer = await open_responses().answer(ask(), pieces.append)

    assert (pieces, answer.text, answer.finish) == (["Let", " me look."], "Let me look.", Finish.STOP)


async def test_the_request_says_what_was_asked_and_stores_nothing(
    wire: WireServer, open_responses: OpenResponses
) -> None:
    wire.plays(whole(response([WORDS])))
    schema = {"type": "object", "properties": {}}

    await open_responses(strict=False, settings={"text": {"verbosity": "low"}}).answer(
        ask(system="be brief", tools=(GET_RATE,), tool_choice="required", output_schema=schema)
    )

    sent = wire.last
    assert sent.pop("instructions").startswith("be brief\n\nWhat a tool returned stands between")
    assert sent == {
        "model": "asked-model",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [{"role": "user", "content": "hello"}],
        "tools": [
            {
                "type": "function",
                "name": "get_rate",
                "description": "Look up a rate.",
                "parameters": GET_RATE.input_schema,
                "strict": False,
            }
        ],
        "tool_choice": "required",
        "text": {
            "verbosity": "low",
            "format": {"type": "json_schema", "name": "output", "schema": schema, "strict": False},
        },
    }
    assert wire.requests[-1].path == "/v1/responses"


async def test_strict_is_asked_for_and_undone(wire: WireServer, open_responses: OpenResponses) -> None:
    """Strict schemas know no optional argument: what is left out comes as null."""
    call = {**CALL, "arguments": '{"city": "Oslo", "days": null}'}
    wire.plays(whole(response([call])))

    answer = await open_responses().answer(ask(tools=(GET_RATES,)))

    (tool,) = wire.last["tools"]
    assert (tool["strict"], tool["parameters"]["required"]) == (True, ["city", "days"])
    assert (answer.calls[0].arguments, answer.calls[0].note) == (
        '{"city": "Oslo"}',
        "what was left out as null was left out",
    )


async def test_an_output_is_asked_for_strictly_and_undone(wire: WireServer, open_responses: OpenResponses) -> None:
    said = {**WORDS, "content": [{"type": "output_text", "text": '{"city": "Oslo", "days": null}'}]}
    wire.plays(whole(response([said])))

    answer = await open_responses().answer(ask(output_schema=GET_RATES.input_schema))

    assert wire.last["text"]["format"]["strict"] is True
    assert answer.text == '{"city": "Oslo"}'


@pytest.mark.parametrize("key", ["store", "previous_response_id", "conversation", "background", "tools"])
async def test_a_setting_cannot_say_what_placet_says(open_responses: OpenResponses, key: str) -> None:
    with pytest.raises(ConfigurationError, match=key):
        open_responses(settings={key: True})


@both
async def test_reasoning_goes_back_in_its_place(
    wire: WireServer, open_responses: OpenResponses, streamed: bool
) -> None:
    answer = await hear(wire, open_responses, [REASONING, WORDS, CALL], streamed=streamed)

    _, *items = await send(wire, open_responses, as_history(answer, ToolResult("call_1", "7", fence="m1")))

    output = {"type": "function_call_output", "call_id": "call_1", "output": "<<data m1>>\n7\n<<end m1>>"}
    assert items == [REASONING, WORDS, CALL, output]


async def test_reasoning_that_cannot_be_found_again_is_left_out(
    wire: WireServer, open_responses: OpenResponses
) -> None:
    forgotten = {"type": "reasoning", "id": "rs_1", "summary": []}
    answer = await hear(wire, open_responses, [forgotten, WORDS, CALL], streamed=False)

    _, words, call, _ = await send(wire, open_responses, as_history(answer, ToolResult("call_1", "7")))

    assert words == {"role": "assistant", "content": "Let me look."}
    assert call == {
        "type": "function_call", "call_id": "call_1", "name": "get_rate", "arguments": '{"city": "Oslo"}'
    }  # fmt: skip


@both
async def test_reasoning_that_was_cut_does_not_go_back(
    wire: WireServer, open_responses: OpenResponses, streamed: bool
) -> None:
    """The provider refuses reasoning from which nothing followed, in every further request."""
    details = {"reason": "max_output_tokens"}
    answer = await hear(wire, open_responses, [REASONING], "incomplete", streamed=streamed, incomplete_details=details)

    items = await send(wire, open_responses, as_history(answer))

    assert [item.get("type") for item in items] == [None, None]


async def test_reasoning_does_not_go_to_another_provider(wire: WireServer, open_responses: OpenResponses) -> None:
    foreign = AssistantMessage("hi", (ToolCall("c1", "ping", provider_state={"x": 1}),), "elsewhere", {"items": [CALL]})

    _, words, call, output = await send(wire, open_responses, Transcript([UserMessage("go"), foreign]))

    assert (words["content"], call["arguments"], "x" in call) == ("hi", "{}", False)
    assert output["output"].startswith("ERROR: no result was recorded")


@both
async def test_a_poisoned_call_goes_back_as_an_object(
    wire: WireServer, open_responses: OpenResponses, streamed: bool
) -> None:
    """C002, on the Responses side."""
    for _ in range(2):
        items = await send(wire, open_responses, read_history(CASES["C002"]["input"]["messages"]), streamed=streamed)
        assert items[1]["arguments"] == "{}"


# ── what cannot be known ──────────────────────────────────────────────────────────────


@both
@pytest.mark.parametrize(
    ("reason", "finish", "fault"),
    [
        ("max_output_tokens", Finish.LENGTH, "token limit"),
        ("content_filter", Finish.FILTER, "filter"),
        ("steered", Finish.LENGTH, "not run"),
    ],
)
async def test_an_incomplete_answer_makes_its_calls_unknowable(
    wire: WireServer, open_responses: OpenResponses, reason: str, finish: Finish, fault: str, streamed: bool
) -> None:
    answer = await hear(
        wire, open_responses, [CALL], "incomplete", streamed=streamed, incomplete_details={"reason": reason}
    )

    assert (answer.finish, fault in (answer.calls[0].fault or "")) == (finish, True)


@both
@pytest.mark.parametrize("status", ["incomplete", "in_progress"])
async def test_an_incomplete_call_cannot_be_known(
    wire: WireServer, open_responses: OpenResponses, status: str, streamed: bool
) -> None:
    answer = await hear(wire, open_responses, [{**CALL, "status": status}], streamed=streamed)

    assert answer.calls[0].fault


async def test_an_end_that_contradicts_the_stream_is_not_believed(
    wire: WireServer, open_responses: OpenResponses
) -> None:
    items = as_response_stream(response([CALL]))
    items[-1] = {"type": "response.completed", "response": response([{**CALL, "arguments": '{"city": "Rome"}'}])}
    wire.plays(events(items, done=False))

    answer = await open_responses().answer(ask(), lambda _: None)

    assert "contradict" in (answer.calls[0].fault or "")


async def test_pieces_that_contradict_the_end_are_not_overheard(
    wire: WireServer, open_responses: OpenResponses
) -> None:
    items = as_response_stream(response([CALL]))
    piece = next(item for item in items if item["type"] == "response.function_call_arguments.delta")
    piece["delta"] = '{"day'
    wire.plays(events(items, done=False))

    answer = await open_responses().answer(ask(), lambda _: None)

    assert "contradict" in (answer.calls[0].fault or "")


async def test_an_end_without_items_is_what_the_stream_has_said(
    wire: WireServer, open_responses: OpenResponses
) -> None:
    items = as_response_stream(response([REASONING, CALL]))
    items[-1]["response"] = response([])
    wire.plays(events(items, done=False))

    answer = await open_responses().answer(ask(), lambda _: None)

    assert [(call.arguments, call.fault) for call in answer.calls] == [(CALL["arguments"], None)]


@both
async def test_a_kind_of_call_that_was_never_offered_is_refused_and_does_not_brick(
    wire: WireServer, open_responses: OpenResponses, streamed: bool
) -> None:
    """Sent back as it was it would wait for a result that has no form here."""
    custom = {"type": "custom_tool_call", "id": "ct_1", "call_id": "call_2", "name": "shell", "input": "ls"}
    answer = await hear(wire, open_responses, [REASONING, custom, CALL], streamed=streamed)

    assert [(call.name, bool(call.fault)) for call in answer.calls] == [("shell", True), ("get_rate", False)]
    results = (ToolResult("call_2", "no", is_error=True), ToolResult("call_1", "4.5"))
    items = await send(wire, open_responses, as_history(answer, *results))
    assert [item["type"] for item in items if "type" in item] == [
        "reasoning", "function_call", "function_call", "function_call_output", "function_call_output",
    ]  # fmt: skip


async def test_a_stream_that_broke_off_makes_its_calls_unknowable(
    wire: WireServer, open_responses: OpenResponses
) -> None:
    wire.plays(events(as_response_stream(response([CALL]))[:-1], done=False))

    answer = await open_responses().answer(ask(), lambda _: None)

    assert "broke off" in (answer.calls[0].fault or "")


@both
async def test_a_refusal_is_itself(wire: WireServer, open_responses: OpenResponses, streamed: bool) -> None:
    refused = {**WORDS, "content": [{"type": "refusal", "refusal": "I cannot"}]}

    answer = await hear(wire, open_responses, [refused], streamed=streamed)

    assert (answer.text, answer.finish, answer.refusal) == ("", Finish.REFUSAL, "I cannot")


@both
async def test_equal_ids_are_set_apart(wire: WireServer, open_responses: OpenResponses, streamed: bool) -> None:
    answer = await hear(wire, open_responses, [CALL, {**CALL, "id": "fc_2"}], streamed=streamed)

    assert [call.id for call in answer.calls] == ["call_1", "call_1_2"]


@both
async def test_a_failed_answer_is_an_error(wire: WireServer, open_responses: OpenResponses, streamed: bool) -> None:
    for code, expected in (("server_error", ModelUnavailableError), ("invalid_prompt", ModelRequestError)):
        with pytest.raises(expected, match="says why"):
            await hear(
                wire, open_responses, [], "failed", streamed=streamed, error={"code": code, "message": "says why"}
            )


async def test_an_error_within_a_stream_is_an_error(wire: WireServer, open_responses: OpenResponses) -> None:
    error = {"type": "error", "code": "server_error", "message": "says why", "param": None, "sequence_number": 1}
    wire.plays(events([as_response_stream(response([WORDS]))[0], error], done=False))

    with pytest.raises(ModelUnavailableError, match="says why"):
        await open_responses().answer(ask(), lambda _: None)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(whole({"hello": "world"}), id="no response"),
        pytest.param(whole(response([]) | {"output": [5]}), id="an item is a number"),
        pytest.param(whole(response([], "in_progress")), id="not ended"),
        pytest.param(Reply([b"<html>"], content_type="text/html"), id="a web page"),
    ],
)
async def test_what_is_no_answer_is_said_to_be_none(
    wire: WireServer, open_responses: OpenResponses, reply: Reply
) -> None:
    wire.plays(reply)

    with pytest.raises(ModelProtocolError):
        await open_responses().answer(ask())


@pytest.mark.parametrize("items", [[], as_response_stream(response([WORDS]))[:-1], [{"type": "response.completed"}]])
async def test_a_stream_that_is_no_answer_is_said_to_be_none(
    wire: WireServer, open_responses: OpenResponses, items: list[dict[str, Any]]
) -> None:
    wire.plays(events(items, done=False))

    with pytest.raises(ModelProtocolError):
        await open_responses().answer(ask(), lambda _: None)


async def test_what_failed_for_the_moment_is_asked_again(wire: WireServer, open_responses: OpenResponses) -> None:
    busy = whole({"error": {"message": "busy"}}, status=429, headers={"retry-after-ms": "5"})
    wire.plays(busy, whole(response([WORDS])))

    assert (await open_responses().answer(ask())).text == "Let me look."


@pytest.mark.parametrize(
    ("streamed", "at_the_end"),
    [
        pytest.param([("added", CALL)], [], id="a call that was begun"),
        pytest.param([("added", CALL)], [WORDS], id="a call that was begun, and words instead"),
        pytest.param([("added", CALL), ("done", CALL)], [WORDS], id="a call that was whole, and words instead"),
        pytest.param([("done", CALL), ("done", {**CALL, "id": "fc_2", "call_id": "call_2"})], [CALL], id="one of two"),
    ],
)
async def test_a_call_that_the_stream_has_and_its_end_has_not_is_a_contradiction(
    wire: WireServer, open_responses: OpenResponses, streamed: list[tuple[str, dict[str, Any]]], at_the_end: list[Any]
) -> None:
    """Neither half of what was said is run, and none of it is lost without a word."""
    body = response(at_the_end)
    said = [{"type": f"response.output_item.{kind}", "output_index": 0, "item": item} for kind, item in streamed]
    wire.plays(events([*said, {"type": "response.completed", "response": body}], done=False))

    with pytest.raises(ModelProtocolError, match=r"began \d calls, and holds \d"):
        await open_responses().answer(ask(tools=(GET_RATE,)), lambda _: None)


async def test_words_that_the_stream_has_and_its_end_has_not_are_a_contradiction(
    wire: WireServer, open_responses: OpenResponses
) -> None:
    delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "hi"}
    wire.plays(events([delta, {"type": "response.completed", "response": response([])}], done=False))

    with pytest.raises(ModelProtocolError, match="said words"):
        await open_responses().answer(ask(), lambda _: None)


async def test_an_end_that_repeats_nothing_is_taken_by_what_was_whole_before(
    wire: WireServer, open_responses: OpenResponses
) -> None:
    said = [{"type": f"response.output_item.{kind}", "output_index": 0, "item": CALL} for kind in ("added", "done")]
    wire.plays(events([*said, {"type": "response.completed", "response": response([])}], done=False))

    answer = await open_responses().answer(ask(tools=(GET_RATE,)), lambda _: None)

    assert [(call.name, call.fault) for call in answer.calls] == [("get_rate", None)]


async def test_a_call_that_the_limit_has_cut_away_is_an_answer_that_was_cut(
    wire: WireServer, open_responses: OpenResponses
) -> None:
    cut = response([WORDS], "incomplete", incomplete_details={"reason": "max_output_tokens"})
    begun = {"type": "response.output_item.added", "output_index": 1, "item": CALL}
    wire.plays(events([begun, {"type": "response.incomplete", "response": cut}], done=False))

    answer = await open_responses().answer(ask(tools=(GET_RATE,)), lambda _: None)

    assert (answer.finish, answer.calls) == (Finish.LENGTH, ())
