"""What the installed SDKs know of their wires, and placet rests on.

A newer SDK that knows more fails here, so that the reader of the wire learns it too.
"""

import inspect
from typing import get_args

import anthropic
import pytest
from anthropic.types import RawContentBlockDelta, StopReason, message_create_params
from anthropic.types import Usage as MessagesUsage
from openai.types import CompletionUsage
from openai.types.chat.chat_completion import Choice
from openai.types.responses import ResponseStatus, ResponseUsage
from openai.types.responses.response import IncompleteDetails

from placet.errors import ModelProtocolError
from placet.models.accumulator import ChatAccumulator
from placet.models.messages_reader import MessagesReader
from placet.models.openai_responses import OpenAIResponses
from placet.ports import Finish
from tests.models.asking import GET_RATES, ask
from tests.models.dialects import DIALECTS, RESPONSES, Dialect
from tests.models.runs import both
from tests.models.wire import WireServer, completion, message


def words_of(annotation: object) -> set[str]:
    """The texts of a `Literal`, however it is wrapped."""
    inner = get_args(annotation)
    return {word for one in inner for word in ({one} if isinstance(one, str) else words_of(one))}


@pytest.mark.parametrize("word", sorted(words_of(StopReason)))
def test_every_end_that_anthropic_knows_is_read(word: str) -> None:
    reader = MessagesReader()
    reader.read(message([{"type": "tool_use", "id": "a", "name": "ping", "input": {}}] * (word == "tool_use"), word))

    assert reader.finish(set(), "1", "here").finish is not Finish.OTHER


@pytest.mark.parametrize("word", sorted(words_of(Choice.model_fields["finish_reason"].annotation)))
def test_every_end_that_openai_knows_is_read(word: str) -> None:
    reader = ChatAccumulator()
    reader.read(completion({"content": "hi"}, word))

    if word in ("tool_calls", "function_call"):
        with pytest.raises(ModelProtocolError, match="holds none"):
            reader.finish(set(), "1", "here")
    else:
        assert reader.finish(set(), "1", "here").finish is not Finish.OTHER


def test_every_status_of_a_response_is_read() -> None:
    """`completed` and `incomplete` are answers; all others are none, and are refused."""
    assert words_of(ResponseStatus) == {"completed", "failed", "in_progress", "cancelled", "queued", "incomplete"}
    reasons = words_of(IncompleteDetails.model_fields["reason"].annotation)
    assert reasons == {"max_output_tokens", "max_messages", "content_filter", "steered"}


def test_every_kind_of_delta_is_read() -> None:
    union = get_args(RawContentBlockDelta)[0]
    kinds = {word for kind in get_args(union) for word in words_of(kind.model_fields["type"].annotation)}

    assert kinds == {"text_delta", "input_json_delta", "citations_delta", "thinking_delta", "signature_delta"}


@pytest.mark.parametrize(
    ("usage", "names"),
    [
        (CompletionUsage, {"prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details",
                           "completion_tokens_details"}),
        (ResponseUsage, {"input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details"}),
        (MessagesUsage, {"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
                         "output_tokens_details"}),
    ],
)  # fmt: skip
def test_what_is_counted_has_the_names_that_are_read(usage: type, names: set[str]) -> None:
    assert names <= usage.model_fields.keys()  # type: ignore[attr-defined]  # a pydantic model


@pytest.mark.parametrize("strict", [True, False])
async def test_strict_is_always_said_to_responses(wire: WireServer, strict: bool) -> None:
    """Left out, the provider tries it and silently falls back."""
    wire.plays(RESPONSES.says("hi", streamed=False))
    client = OpenAIResponses("m", base_url=f"{wire.url}/v1", strict=strict)

    await client.answer(ask(tools=(GET_RATES,)))
    await client.close()

    assert wire.last["tools"][0]["strict"] is strict
    assert wire.last["store"] is False
    assert wire.last["include"] == ["reasoning.encrypted_content"]


def test_anthropic_takes_no_temperature() -> None:
    source = inspect.getsource(message_create_params)

    assert "temperature" not in source
    assert "output_config" in source


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
async def test_every_wire_is_asked_as_its_sdk_does(wire: WireServer, dialect: Dialect) -> None:
    wire.plays(dialect.says("hi", streamed=False))
    client = dialect.open(wire)

    answer = await client.answer(ask())
    await client.close()

    seen = wire.requests[-1]
    assert (answer.text, answer.finish) == ("hi", Finish.STOP)
    assert seen.headers["authorization"] == "Bearer key-of-the-test"
    assert seen.headers.get("anthropic-version") == ("2026-10-21" if dialect.name == "messages" else None)
    assert "temperature" not in seen.body


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@both
async def test_what_was_read_written_and_thought_is_counted(wire: WireServer, dialect: Dialect, streamed: bool) -> None:
    counts = {
        "chat": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
                 "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
                 "completion_tokens_details": {"reasoning_tokens": 15}},
        "messages": {"input_tokens": 30, "output_tokens": 20, "cache_read_input_tokens": 60,
                     "cache_creation_input_tokens": 10, "output_tokens_details": {"thinking_tokens": 15}},
        "responses": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
                      "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
                      "output_tokens_details": {"reasoning_tokens": 15}},
    }  # fmt: skip
    wire.plays(dialect.counting(counts[dialect.name], streamed=streamed))
    client = dialect.open(wire)

    usage = (await client.answer(ask(), (lambda _: None) if streamed else None)).usage
    await client.close()

    assert (usage.input_tokens, usage.cached_tokens, usage.written_tokens) == (100, 60, 10)
    assert (usage.output_tokens, usage.reasoning_tokens) == (20, 15)


async def test_reasoning_that_only_the_total_counts_is_counted(wire: WireServer) -> None:
    """As some servers count it, and charge for it."""
    (chat, *_) = DIALECTS
    wire.plays(chat.counting({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 170}, streamed=False))
    client = chat.open(wire)

    usage = (await client.answer(ask())).usage
    await client.close()

    assert usage.output_tokens == 70


def test_the_sdk_is_told_not_to_trace() -> None:
    """Its spans would hold prompts; placet has its own, which redact."""
    assert "open_telemetry" in inspect.signature(anthropic.AsyncAnthropic).parameters
