"""Chat Completions over real HTTP: what is asked, what is heard, and what happens when it fails."""

import asyncio
from datetime import timedelta

import pytest

from placet.errors import ConfigurationError, ModelProtocolError, ModelRequestError, ModelUnavailableError
from placet.models.openai_chat import OpenAIChat
from placet.ports import Finish, ModelClient
from tests.models.asking import GET_RATE, GET_RATES, OpenChat, ask
from tests.models.runs import both
from tests.models.wire import Reply, WireServer, as_stream, chunks, completion, events, whole


async def test_words_are_heard(wire: WireServer, open_chat: OpenChat) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}, "cost": 0.25}
    wire.plays(whole(completion({"content": "hi"}, usage=usage)))
    client: ModelClient = open_chat()

    answer = await client.answer(ask())

    assert (answer.text, answer.finish, answer.calls, answer.model) == ("hi", Finish.STOP, (), "served-model")
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.cached_tokens) == (9, 2, 4)
    assert answer.usage.cost == 0.25


async def test_words_stream_as_they_come(wire: WireServer, open_chat: OpenChat) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    wire.plays(events([*chunks([{"content": "h"}, {"content": "i"}]), usage]))
    pieces: list[str] = []

    answer = await open_chat().answer(ask(), pieces.append)

    assert (pieces, answer.text, answer.usage.output_tokens) == (["h", "i"], "hi", 2)
    assert wire.last["stream"] is True
    assert wire.last["stream_options"] == {"include_usage": True}


async def test_the_request_says_what_was_asked(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(whole(completion({"content": "hi"})))

    await open_chat(settings={"seed": 1}).answer(ask(system="be brief", tools=(GET_RATE,), settings={"top_k": 2}))

    sent = wire.last
    system, user = sent.pop("messages")
    assert user == {"role": "user", "content": "hello"}
    assert system["content"].startswith("be brief\n\nWhat a tool returned stands between")
    assert sent.pop("tools") == [
        {
            "type": "function",
            "function": {
                "name": "get_rate",
                "description": "Look up a rate.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            },
        }
    ]
    assert sent == {"model": "asked-model", "seed": 1, "top_k": 2}
    assert wire.requests[-1].path == "/v1/chat/completions"
    assert wire.requests[-1].headers["authorization"] == "Bearer key-of-the-test"
    assert wire.requests[-1].headers["content-type"] == "application/json"


async def test_a_tool_choice_is_passed_on_with_tools_only(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(whole(completion({"content": "hi"})))
    client = open_chat()

    await client.answer(ask(tools=(GET_RATE,), tool_choice="required"))
    await client.answer(ask(tool_choice="required"))

    assert wire.requests[0].body["tool_choice"] == "required"
    assert "tool_choice" not in wire.requests[1].body


@pytest.mark.parametrize("key", ["model", "messages", "tools", "stream", "n"])
async def test_a_setting_cannot_say_what_placet_says(open_chat: OpenChat, key: str) -> None:
    with pytest.raises(ConfigurationError, match=key):
        open_chat(settings={key: "x"})
    with pytest.raises(ConfigurationError, match=key):
        await open_chat().answer(ask(settings={key: "x"}))


async def test_a_schema_is_asked_for_as_the_server_takes_it(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(whole(completion({"content": "{}"})))
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}

    for quirks in ("compatible", "deepseek"):
        await open_chat(quirks=quirks).answer(ask(output_schema=schema))

    by_schema, by_mode = (seen.body for seen in wire.requests)
    assert by_schema["response_format"]["json_schema"]["schema"] == schema
    assert by_mode["response_format"] == {"type": "json_object"}
    assert '"name":{"type":"string"}' in by_mode["messages"][0]["content"]


@both
async def test_strict_is_asked_for_and_undone(wire: WireServer, open_chat: OpenChat, streamed: bool) -> None:
    """Strict schemas know no optional argument: what is left out comes as null."""
    call = {"id": "c1", "function": {"name": "get_rate", "arguments": '{"city": "Oslo", "days": null}'}}
    said = {"content": None, "tool_calls": [call]}
    wire.plays(events(chunks(as_stream(said))) if streamed else whole(completion(said)))

    answer = await open_chat(quirks="openai").answer(ask(tools=(GET_RATES,)), (lambda _: None) if streamed else None)

    function = wire.last["tools"][0]["function"]
    assert (function["strict"], function["parameters"]["required"]) == (True, ["city", "days"])
    assert (answer.calls[0].arguments, answer.calls[0].note) == (
        '{"city": "Oslo"}',
        "what was left out as null was left out",
    )


async def test_tools_are_compiled_once(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(whole(completion({"content": "hi"})))
    request = ask(tools=(GET_RATES,))
    client = open_chat()
    await client.answer(request)
    offer = request.tools.wire["openai-chat:relaxed"]

    await client.answer(request)

    assert request.tools.wire == {"openai-chat:relaxed": offer}


async def test_a_refusal_is_itself(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(whole(completion({"content": None, "refusal": "I cannot"})))

    answer = await open_chat().answer(ask())

    assert (answer.text, answer.refusal, answer.finish) == ("", "I cannot", Finish.REFUSAL)


async def test_a_filter_is_itself(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(events(chunks([{"content": "well"}], "content_filter")))

    answer = await open_chat().answer(ask(), lambda _: None)

    assert (answer.text, answer.refusal, answer.finish) == ("well", None, Finish.FILTER)


# ── failing ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
async def test_what_failed_for_the_moment_is_asked_again(wire: WireServer, open_chat: OpenChat, status: int) -> None:
    busy = whole({"error": {"message": "busy"}}, status=status, headers={"retry-after-ms": "5"})
    wire.plays(busy, busy, whole(completion({"content": "hi"})))

    answer = await open_chat().answer(ask())

    assert (answer.text, len(wire.requests)) == ("hi", 3)


async def test_the_time_the_server_asks_for_is_waited(wire: WireServer, open_chat: OpenChat) -> None:
    busy = whole({"error": {"message": "busy"}}, status=429, headers={"retry-after": "1"})
    wire.plays(busy, whole(completion({"content": "hi"})))
    loop = asyncio.get_running_loop()
    before = loop.time()

    await open_chat().answer(ask())

    assert loop.time() - before >= 1


async def test_retries_are_bounded(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(whole({"error": {"message": "busy"}}, status=503, headers={"retry-after-ms": "5"}))

    with pytest.raises(ModelUnavailableError, match="busy"):
        await open_chat().answer(ask())

    assert len(wire.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
@both
async def test_what_will_never_do_is_asked_once(
    wire: WireServer, open_chat: OpenChat, status: int, streamed: bool
) -> None:
    wire.plays(whole({"error": {"message": "no such model"}}, status=status))

    with pytest.raises(ModelRequestError, match=r"openai-compatible:asked-model@.*no such model"):
        await open_chat().answer(ask(), (lambda _: None) if streamed else None)

    assert len(wire.requests) == 1


async def test_nobody_there_is_unavailable(open_chat: OpenChat) -> None:
    client = open_chat(base_url="http://127.0.0.1:9/v1", max_retries=0)

    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1:9"):
        await client.answer(ask())


async def test_a_key_never_stands_in_a_message(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(whole({"error": {"message": "bad key 'key-of-the-test'"}}, status=401))

    with pytest.raises(ModelRequestError) as raised:
        await open_chat().answer(ask())

    assert "key-of-the-test" not in str(raised.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param({"message": "over capacity", "code": 529}, ModelUnavailableError, id="a passing status"),
        pytest.param({"message": "over capacity", "code": "429"}, ModelUnavailableError, id="a status as text"),
        pytest.param({"message": "?"}, ModelUnavailableError, id="no code"),
        pytest.param("no reason", ModelUnavailableError, id="only text"),
        pytest.param({"message": "no", "code": 400}, ModelRequestError, id="a lasting status"),
        pytest.param({"message": "no", "type": "invalid_request_error"}, ModelRequestError, id="a lasting word"),
    ],
)
@both
async def test_an_error_with_status_200_is_an_error(
    wire: WireServer, open_chat: OpenChat, error: object, expected: type[Exception], streamed: bool
) -> None:
    wire.plays(events([{"error": error}]) if streamed else whole({"error": error}))

    with pytest.raises(expected):
        await open_chat().answer(ask(), (lambda _: None) if streamed else None)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply([b"<html>"], content_type="text/html"), id="a web page"),
        pytest.param(Reply([b"{broken"]), id="broken JSON"),
        pytest.param(whole([]), id="a list"),
        pytest.param(whole({"hello": "world"}), id="no choices"),
        pytest.param(whole({"choices": []}), id="empty choices"),
        pytest.param(whole({"choices": "x"}), id="choices are text"),
        pytest.param(whole({"choices": [1]}), id="a choice is a number"),
        pytest.param(whole({"choices": [{"message": None}]}), id="no message"),
        pytest.param(whole(completion({"content": 5})), id="words are a number"),
        pytest.param(whole(completion({"content": "", "tool_calls": "x"})), id="calls are text"),
    ],
)
async def test_what_is_no_answer_is_said_to_be_none(wire: WireServer, open_chat: OpenChat, reply: Reply) -> None:
    wire.plays(reply)

    with pytest.raises(ModelProtocolError):
        await open_chat().answer(ask())


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(events([], done=True), id="nothing"),
        pytest.param(events(chunks([{"content": "You should"}], None), done=False), id="no finish reason"),
        pytest.param(Reply([b"data: {broken\n\n"], content_type="text/event-stream"), id="broken JSON"),
        pytest.param(whole(completion({"content": "hi"})), id="not streamed at all"),
    ],
)
async def test_a_stream_that_is_no_answer_is_said_to_be_none(
    wire: WireServer, open_chat: OpenChat, reply: Reply
) -> None:
    wire.plays(reply)

    with pytest.raises(ModelProtocolError):
        await open_chat().answer(ask(), lambda _: None)


async def test_a_stream_that_is_cut_is_not_retried(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(events(chunks([{"content": "You should"}], None), done=False, drop=True))
    pieces: list[str] = []

    with pytest.raises(ModelUnavailableError):
        await open_chat().answer(ask(), pieces.append)

    assert (pieces, len(wire.requests)) == (["You should"], 1)


async def test_a_timeout_holds_for_the_whole_answer(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(events(chunks([{"content": "a"}] * 100), pause=0.05))
    loop = asyncio.get_running_loop()
    before = loop.time()

    with pytest.raises(ModelUnavailableError, match=r"within 0\.3 s"):
        await open_chat().answer(ask(timeout=timedelta(seconds=0.3)), lambda _: None)

    assert loop.time() - before < 2


async def test_a_timeout_holds_over_retries(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(whole({"error": {"message": "busy"}}, status=503))

    with pytest.raises(ModelUnavailableError, match="did not answer within"):
        await open_chat().answer(ask(timeout=timedelta(seconds=0.3)))


async def test_cancelling_ends_the_request(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(events(chunks([{"content": "a"}] * 1000), pause=0.01))
    heard = asyncio.Event()
    task = asyncio.create_task(open_chat().answer(ask(), lambda _: heard.set()))
    await heard.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(wire.dropped.wait(), 5)


async def test_what_the_listener_raises_is_its_own(wire: WireServer, open_chat: OpenChat) -> None:
    wire.plays(events(chunks([{"content": "a"}])))

    def listen(text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError, match="a"):
        await open_chat().answer(ask(), listen)


# ── keys ──────────────────────────────────────────────────────────────────────────────


async def test_a_key_for_openai_is_not_sent_to_another_server(
    wire: WireServer, open_chat: OpenChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-secret")
    wire.plays(whole(completion({"content": "hi"})))

    await open_chat(api_key=None).answer(ask())

    assert "secret" not in str(wire.requests[-1].headers)


def test_openai_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        OpenAIChat("gpt-6-luna")


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", " begins with a space"])
def test_a_key_that_no_header_takes_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        OpenAIChat("gpt-6-luna", api_key=key)

    assert key not in str(raised.value)


def test_quirks_that_nobody_knows_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="no quirks are known"):
        OpenAIChat("m", base_url="http://127.0.0.1:1/v1", quirks="mistrall")
