"""Anthropic Messages over real HTTP, streamed and whole: what is asked and heard, and what fails."""

import pytest

from placet.errors import ConfigurationError, ModelRequestError, ModelUnavailableError
from placet.models.anthropic_messages import AnthropicMessages
from placet.ports import Finish, ModelClient
from placet.values.call import ToolCall
from tests.models.asking import GET_RATE, ask
from tests.models.messages import TEXT, THINKING, USE, OpenMessages, hear
from tests.models.runs import both
from tests.models.wire import WireServer, as_message_stream, events, message, whole


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
