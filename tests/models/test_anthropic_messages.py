"""Anthropic Messages over real HTTP, streamed and whole."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from placet.errors import ConfigurationError, ModelProtocolError, ModelRequestError, ModelUnavailableError
from placet.models.anthropic_messages import AnthropicMessages
from placet.models.history import NO_RESULT
from placet.ports import Finish, ModelAnswer, ModelClient
from placet.values.call import ToolCall, ToolResult
from placet.values.message import AssistantMessage, ToolMessage, Transcript, UserMessage
from tests.models.asking import GET_RATE, ask
from tests.models.public_failures import CASES, read_history
from tests.models.wire import Reply, WireServer, as_message_stream, events, message, whole

OpenMessages = Callable[..., AnthropicMessages]
TEXT = {"type": "text", "text": "Let me look."}
USE = {"type": "tool_use", "id": "toolu_1", "name": "get_rate", "input": {"city": "Oslo"}}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "signed"}
SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "Oslo"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}

both = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture
async def open_messages(wire: WireServer) -> AsyncIterator[OpenMessages]:
    """Make a client of the wire server."""
    opened: list[AnthropicMessages] = []

    def make(**settings: Any) -> AnthropicMessages:
        client = AnthropicMessages("asked-model", **{"base_url": wire.url, "api_key": "key-of-the-test", **settings})
        opened.append(client)
        return client

    yield make
    for client in opened:
        await client.close()


async def hear(
    wire: WireServer, open_messages: OpenMessages, content: Sequence[dict[str, Any]],
    stop_reason: str | None = "end_turn", *, streamed: bool, **extra: Any,
) -> ModelAnswer:  # fmt: skip
    """What the client makes of a message."""
    said = message(content, stop_reason, **extra)
    wire.plays(events(as_message_stream(said), done=False) if streamed else whole(said))
    return await open_messages().answer(ask(tools=(GET_RATE,)), (lambda _: None) if streamed else None)


async def send(
    wire: WireServer, open_messages: OpenMessages, transcript: Transcript, *, streamed: bool = False
) -> list[dict[str, Any]]:
    """The messages that go over the wire for a history, checked against what the wire wants."""
    body = message([TEXT])
    wire.plays(events(as_message_stream(body), done=False) if streamed else whole(body))
    await open_messages().answer(ask(*transcript), (lambda _: None) if streamed else None)
    assert wire.last.get("stream", False) is streamed
    messages: list[dict[str, Any]] = wire.last["messages"]
    open_ids: list[str] = []
    assert messages[0]["role"] == "user"
    for item in messages:
        blocks = item["content"] if isinstance(item["content"], list) else [{"type": "text", "text": item["content"]}]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == open_ids, "all results of a turn, in one message, in call order, before anything else"
        open_ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert all(isinstance(block["input"], dict) for block in blocks if block["type"] == "tool_use")
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
    assert open_ids == []
    return messages


def as_history(answer: ModelAnswer, *results: ToolResult) -> Transcript:
    heard = AssistantMessage(answer.text, answer.calls, answer.provider, answer.provider_state)
    return Transcript([UserMessage("go"), heard, *([ToolMessage(results)] if results else [])])


@both
async def test_words_and_calls_are_heard(wire: WireServer, open_messages: OpenMessages, streamed: bool) -> None:
    client: ModelClient = open_messages()
    assert client.writes_prose

    answer = await hear(wire, open_messages, [TEXT, USE], "tool_use", streamed=streamed)

    assert (answer.text, answer.finish, answer.model) == ("Let me look.", Finish.CALLS, "served-model")
    assert answer.calls == (ToolCall("toolu_1", "get_rate", '{"city": "Oslo"}'),)
    assert (answer.usage.input_tokens, answer.usage.cached_tokens, answer.usage.output_tokens) == (10, 3, 7)


async def test_words_stream_as_they_come(wire: WireServer, open_messages: OpenMessages) -> None:
    wire.plays(events(as_message_stream(message([THINKING, TEXT])), done=False))
    pieces: list[str] = []

    await open_messages().answer(ask(), pieces.append)

    assert pieces == ["Let me", " look."]


async def test_the_request_says_what_was_asked(wire: WireServer, open_messages: OpenMessages) -> None:
    wire.plays(whole(message([TEXT])))
    schema = {"type": "object", "properties": {}, "additionalProperties": False, "required": []}

    await open_messages(settings={"output_config": {"effort": "low"}}).answer(
        ask(system="be brief", tools=(GET_RATE,), tool_choice="required", output_schema=schema)
    )

    sent = wire.last
    assert sent.pop("system").startswith("be brief\n\nWhat a tool returned stands between")
    assert sent == {
        "model": "asked-model",
        "max_tokens": 8192,
        "messages": [{"role": "user", "content": "hello"}],
        "tools": [{"name": "get_rate", "description": "Look up a rate.", "input_schema": GET_RATE.input_schema}],
        "tool_choice": {"type": "any"},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": schema}},
    }
    assert wire.requests[-1].path == "/v1/messages"
    assert wire.requests[-1].headers["authorization"] == "Bearer key-of-the-test"


async def test_a_schema_that_the_wire_does_not_take_goes_into_the_prompt(
    wire: WireServer, open_messages: OpenMessages
) -> None:
    wire.plays(whole(message([TEXT])))

    await open_messages().answer(ask(output_schema={"type": "object", "additionalProperties": {"type": "string"}}))

    assert "output_config" not in wire.last
    assert '"additionalProperties":{"type":"string"}' in wire.last["system"]


async def test_strict_is_asked_for_when_wanted(wire: WireServer, open_messages: OpenMessages) -> None:
    wire.plays(whole(message([TEXT])))

    await open_messages(strict=True).answer(ask(tools=(GET_RATE,)))

    assert wire.last["tools"][0]["strict"] is True


@pytest.mark.parametrize("key", ["system", "messages", "tools", "tool_choice"])
async def test_a_setting_cannot_say_what_placet_says(open_messages: OpenMessages, key: str) -> None:
    with pytest.raises(ConfigurationError, match=key):
        open_messages(settings={key: "x"})


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


# ── what cannot be known ──────────────────────────────────────────────────────────────


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


# ── failing ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [408, 429, 500, 529])
async def test_what_failed_for_the_moment_is_asked_again(
    wire: WireServer, open_messages: OpenMessages, status: int
) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    wire.plays(whole(error, status=status, headers={"retry-after-ms": "5"}), whole(message([TEXT])))

    assert (await open_messages().answer(ask())).text == "Let me look."


async def test_retries_are_bounded(wire: WireServer, open_messages: OpenMessages) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    wire.plays(whole(error, status=529, headers={"retry-after-ms": "5"}))

    with pytest.raises(ModelUnavailableError, match="busy"):
        await open_messages().answer(ask())

    assert len(wire.requests) == 3


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("overloaded_error", ModelUnavailableError),
        ("api_error", ModelUnavailableError),
        ("rate_limit_error", ModelUnavailableError),
        ("invalid_request_error", ModelRequestError),
        ("request_too_large", ModelRequestError),
    ],
)
async def test_an_error_within_a_stream_is_an_error(
    wire: WireServer, open_messages: OpenMessages, kind: str, expected: type[Exception]
) -> None:
    start = as_message_stream(message([TEXT]))[:5]
    wire.plays(events([*start, {"type": "error", "error": {"type": kind, "message": "says why"}}], done=False))

    with pytest.raises(expected, match="says why"):
        await open_messages().answer(ask(), lambda _: None)

    assert len(wire.requests) == 1


async def test_a_stream_that_is_cut_is_unavailable(wire: WireServer, open_messages: OpenMessages) -> None:
    wire.plays(events(as_message_stream(message([TEXT]))[:5], done=False, drop=True))

    with pytest.raises(ModelUnavailableError):
        await open_messages().answer(ask(), lambda _: None)


async def test_what_will_never_do_is_asked_once(wire: WireServer, open_messages: OpenMessages) -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "bad key-of-the-test"}}
    wire.plays(whole(error, status=400))

    with pytest.raises(ModelRequestError, match=r"anthropic:asked-model@.*bad \*\*\*"):
        await open_messages().answer(ask())

    assert len(wire.requests) == 1


def test_anthropic_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        AnthropicMessages("claude-haiku-5-5")


async def test_a_key_for_anthropic_is_not_sent_to_another_server(
    wire: WireServer, open_messages: OpenMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-secret")
    wire.plays(whole(message([TEXT])))

    await open_messages(api_key=None).answer(ask())

    assert "secret" not in str(wire.requests[-1].headers)
