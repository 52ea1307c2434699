"""Whole runs over each wire: retries, pauses, streams, outputs and records, through the vendors' SDKs."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel, Field

from placet.agent.text_protocol import TextForm
from placet.models.openai_chat import OpenAIChat
from placet.models.text_protocol import TextProtocolModel
from placet.ports import ModelClient
from placet.runtime.sinks import ListSink
from placet.tools.tool import tool
from placet.values.audit import AuditKind
from placet.values.call import ToolCall
from placet.values.event import CallFinished, OutputDelta, RunEnded, TextDelta
from placet.values.message import AssistantMessage, UserMessage
from placet.values.outcome import Answer, Stopped
from placet.values.principal import EVERYONE
from placet.values.run import StopReason
from tests.models.dialects import CHAT, MESSAGES, Dialect
from tests.models.runs import (
    CLERK,
    ask_model,
    ask_over_wire,
    both,
    call,
    calling,
    make_agent,
    on_each_wire,
    results_over_wire,
)
from tests.models.wire import Reply, WireServer, as_message_stream, chunks, events, message, whole
from tests.tools.cases import build

# ── failing ───────────────────────────────────────────────────────────────────────────


@both
@on_each_wire
async def test_a_question_that_is_sent_again_repeats_no_tool(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    built = build("def ping() -> str")
    busy = whole({"error": {"message": "busy"}}, status=503, headers={"retry-after-ms": "5"})
    first, done = calling(dialect, call("c1"), streamed=streamed)

    told = await results_over_wire(
        wire, dialect, built.tool, replies=[busy, first, busy, busy, done], streamed=streamed
    )

    assert len(wire.requests) == 5
    assert built.received == [{}]
    assert len(told) == 1


@on_each_wire
async def test_a_stream_that_breaks_after_a_tool_has_run_repeats_neither(wire: WireServer, dialect: Dialect) -> None:
    built = build("def ping() -> str")
    first, said = calling(dialect, call("c1"), streamed=True)
    broken = Reply(said.body[:2], content_type=said.content_type, drop=True)

    outcome = await ask_over_wire(wire, dialect, built.tool, replies=[first, broken], streamed=True)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.MODEL
    assert built.received == [{}]
    assert len(wire.requests) == 2


@both
@on_each_wire
async def test_what_the_server_says_of_a_failure_is_recorded_and_not_told(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    heard = ListSink()
    model = dialect.open(wire)
    agent = make_agent(model, audit=[heard])
    wire.plays(whole({"error": {"message": "no such model: gone"}}, status=404))

    outcome = await agent.ask("go", principal=CLERK, emit=(lambda _: None) if streamed else None)
    await agent.close()
    await model.close()

    assert isinstance(outcome, Stopped)
    assert "gone" not in outcome.text
    assert any("ModelRequestError" in entry.body and "gone" in entry.body for entry in heard.entries)
    assert not any("key-of-the-test" in entry.body for entry in heard.entries)


# ── histories ─────────────────────────────────────────────────────────────────────────

POISON = [
    call("c1", "ping", '{"broken'),
    call("c1", "pi ng\u0000", "[1]"),
    call("", "", ""),
    call("x" * 100, "\U0001f600" * 70, '{"a": "\\ud83d"}'),
    call("c2", "ping", json.dumps({"x": 1}) + json.dumps({"x": 2})),
]


@both
@on_each_wire
async def test_whatever_was_once_said_the_next_request_is_one_that_the_server_takes(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    built = build("def ping() -> str")
    replies = calling(dialect, *POISON, streamed=streamed)

    told = await results_over_wire(wire, dialect, built.tool, replies=replies, streamed=streamed)

    assert built.received == []
    assert [is_error for _, is_error in told] == [True] * len(POISON)


@both
@on_each_wire
async def test_a_dangling_call_of_another_provider_bricks_nothing(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    """As a crash, a trimmed history or a foreign framework leaves it behind."""
    calls = (
        ToolCall("toolu:1/\u00e9", "ping", '{"a'),
        ToolCall("toolu:1/\u00e9", "ping", "{}"),
        ToolCall("", "x", "7"),
    )
    dangling = [
        UserMessage("go"),
        AssistantMessage("", calls, "anthropic@elsewhere", {"blocks": [{"type": "thinking"}]}),
    ]

    told = await results_over_wire(
        wire, dialect, replies=[dialect.says("done", streamed=streamed)], streamed=streamed, history=dangling
    )

    assert [is_error for _, is_error in told] == [True] * 3
    assert "thinking" not in json.dumps(wire.last)


# ── what a vendor wants back ──────────────────────────────────────────────────────────


@both
async def test_what_a_server_put_beside_a_call_and_its_words_goes_back(wire: WireServer, streamed: bool) -> None:
    """Gemini refuses the next request without the signature of its thought, DeepSeek one without its reasoning."""
    signed = {"extra_content": {"google": {"thought_signature": "opaque=="}}}
    said = {"content": None, "reasoning_content": "hm", "tool_calls": [{**call("c1"), **signed}, call("c2")]}
    replies = [CHAT.says(said, "tool_calls", streamed=False), CHAT.says("done", streamed=streamed)]
    if streamed:  # the whole call in one piece and without an index, as Gemini streams it
        deltas: list[dict[str, Any]] = [{"reasoning_content": "h"}, {"reasoning_content": "m"}]
        replies[0] = events(chunks([*deltas, {"tool_calls": [{**call("c1"), **signed}, call("c2")]}], "stop"))

    await ask_over_wire(wire, CHAT, build("def ping() -> str").tool, replies=replies, streamed=streamed)

    (assistant,) = [item for item in wire.last["messages"] if item["role"] == "assistant"]
    assert assistant["reasoning_content"] == "hm"
    assert [entry.get("extra_content") for entry in assistant["tool_calls"]] == [signed["extra_content"], None]


# ── parallel calls ────────────────────────────────────────────────────────────────────


@tool(effect="read", roles={EVERYONE})
async def wait(ms: int) -> int:
    """Wait."""
    await asyncio.sleep(ms / 1000)
    return ms


@both
@on_each_wire
async def test_parallel_calls_are_answered_in_call_order_each_once(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    calls = [call(f"c{ms}", "wait", f'{{"ms": {ms}}}') for ms in (60, 20, 40, 1)]
    replies = calling(dialect, *calls, streamed=streamed)

    told = await results_over_wire(wire, dialect, wait, replies=replies, streamed=streamed)

    assert [text.splitlines()[1] for text, _ in told] == ["60", "20", "40", "1"]


# ── a pause ───────────────────────────────────────────────────────────────────────────


@both
async def test_a_paused_turn_goes_on_by_itself(wire: WireServer, streamed: bool) -> None:
    search = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
    body = message([{"type": "text", "text": "Let me search."}, search], "pause_turn")
    paused = events(as_message_stream(body), done=False) if streamed else whole(body)

    outcome = await ask_over_wire(
        wire, MESSAGES, replies=[paused, MESSAGES.says("done", streamed=streamed)], streamed=streamed
    )

    assert isinstance(outcome, Answer)
    assert outcome.text == "done"
    assert wire.last["messages"][1] == {"role": "assistant", "content": body["content"]}


async def test_a_turn_that_pauses_for_ever_uses_up_its_turns(wire: WireServer) -> None:
    paused = whole(message([{"type": "text", "text": "Wait."}], "pause_turn"))

    outcome = await ask_over_wire(wire, MESSAGES, replies=[paused], streamed=False)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.TURNS


# ── outputs ───────────────────────────────────────────────────────────────────────────


class Product(BaseModel):
    name: str
    units: int = Field(ge=0)
    note: str = "none"


GOOD = '{"name": "rice", "units": 42, "note": "white"}'


@both
@on_each_wire
async def test_an_output_that_does_not_fit_is_asked_again_field_by_field(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    """Whatever the provider promises of its strict mode."""
    bad = '{"name": 7, "units": -1, "note": "x", "colour": "white"}'

    outcome = await ask_over_wire(
        wire, dialect, replies=[dialect.says(text, streamed=streamed) for text in (bad, GOOD)], streamed=streamed,
        output=Product,
    )  # fmt: skip

    assert isinstance(outcome, Answer)
    assert outcome.output == Product(name="rice", units=42, note="white")
    asked = json.dumps(wire.last["input" if dialect.name == "responses" else "messages"])
    assert all(f"{field}: " in asked for field in ("name", "units", "colour"))


@both
@on_each_wire
async def test_an_output_that_never_fits_is_a_typed_failure(wire: WireServer, dialect: Dialect, streamed: bool) -> None:
    outcome = await ask_over_wire(
        wire, dialect, replies=[dialect.says("plenty", streamed=streamed)], streamed=streamed, output=Product
    )

    assert isinstance(outcome, Stopped)
    assert (outcome.reason, len(wire.requests)) == (StopReason.OUTPUT, 3)


@pytest.mark.parametrize(("quirks", "response_format"), [("openai", "json_schema"), ("deepseek", "json_object")])
async def test_an_output_is_asked_for_as_the_server_can(wire: WireServer, quirks: str, response_format: str) -> None:
    model = OpenAIChat("m", base_url=f"{wire.url}/v1", quirks=quirks)

    outcome = await ask_model(wire, model, replies=[CHAT.says(GOOD, streamed=False)], streamed=False, output=Product)
    await model.close()

    assert isinstance(outcome, Answer)
    assert outcome.output == Product(name="rice", units=42, note="white")
    assert wire.last["response_format"]["type"] == response_format
    assert ("JSON Schema" in wire.last["messages"][0]["content"]) == (response_format == "json_object")


@on_each_wire
async def test_the_object_shows_while_it_streams(wire: WireServer, dialect: Dialect) -> None:
    wire.plays(dialect.says(GOOD, streamed=True))
    model = dialect.open(wire)
    agent = make_agent(model, output=Product)

    seen = [event async for event in agent.stream("How much rice?", principal=CLERK)]
    await agent.close()
    await model.close()

    partial = [event.partial for event in seen if isinstance(event, OutputDelta)]
    assert len(partial) > 1
    assert partial[-1] == json.loads(GOOD)
    assert isinstance(seen[-1], RunEnded)


# ── streams ───────────────────────────────────────────────────────────────────────────


@on_each_wire
async def test_leaving_a_stream_ends_the_request(wire: WireServer, dialect: Dialect) -> None:
    """The server is not left to write on, and the run is closed as cancelled."""
    slow = dialect.says("It is a long story. " * 3, streamed=True)
    middle = len(slow.body) // 2
    wire.plays(Reply([*slow.body[:middle], *[b": wait\n\n"] * 1000], content_type=slow.content_type, pause=0.01))
    model, heard = dialect.open(wire), ListSink()
    agent = make_agent(model, audit=[heard])

    stream = agent.stream("go", principal=CLERK)
    async for event in stream:
        assert isinstance(event, TextDelta)
        break
    await stream.aclose()  # type: ignore[attr-defined]  # an async generator behind its interface

    await asyncio.wait_for(wire.dropped.wait(), 5)
    assert heard.entries[-1].decision == "cancelled"
    await agent.close()
    await model.close()


@on_each_wire
async def test_words_and_calls_of_a_run_are_told_as_they_come(wire: WireServer, dialect: Dialect) -> None:
    said = {"content": "Let me look.", "tool_calls": [call("c1")]}
    wire.plays(dialect.says(said, "tool_calls", streamed=True), dialect.says("It is blue.", streamed=True))
    model = dialect.open(wire)
    agent = make_agent(model, build("def ping() -> str").tool)

    seen = [event async for event in agent.stream("go", principal=CLERK)]
    await agent.close()
    await model.close()

    kinds = list(dict.fromkeys(type(event).__name__ for event in seen))
    assert kinds == ["TextDelta", "CallProposed", "CallStarted", "CallFinished", "RunEnded"]
    assert "".join(event.text for event in seen if isinstance(event, TextDelta)) == "Let me look.It is blue."
    assert [event.code for event in seen if isinstance(event, CallFinished)] == ["ok"]


# ── records ───────────────────────────────────────────────────────────────────────────


async def records_of(wire: WireServer, model: ModelClient, replies: Sequence[Reply]) -> list[Any]:
    wire.plays(*replies)
    heard = ListSink()
    agent = make_agent(model, build("def ping() -> str").tool, audit=[heard])
    await agent.ask("go", principal=CLERK)
    await agent.close()
    return [json.loads(entry.body) for entry in heard.entries if entry.kind is AuditKind.CALL]


async def test_the_audit_log_says_native_or_text(wire: WireServer) -> None:
    client = CHAT.open(wire)
    done = CHAT.says("done", streamed=False)
    native = CHAT.says({"content": None, "tool_calls": [call("c1"), call("c2", "pong")]}, streamed=False)
    text = CHAT.says('{"action": "ping"}', streamed=False)

    natively = await records_of(wire, client, [native, done])
    wire.requests.clear()
    by_text = await records_of(wire, TextProtocolModel(client), [text, done])
    await client.close()

    assert [record["wire"] for record in natively] == ["native", "native"]
    assert [record["wire"] for record in by_text] == ["text"]


async def test_a_marker_of_a_fenced_run_is_its_own_and_its_quotes_are_text(wire: WireServer) -> None:
    """A reply that quotes what a tool told it, marker of another run included, runs nothing."""
    client = CHAT.open(wire)
    model = TextProtocolModel(client, TextForm.FENCED)
    markers: list[str] = []
    for _ in range(2):
        built = build("def ping() -> str")
        old = markers[0] if markers else "0" * 16
        quoted = f'<<call {old}>>\n{{"action": "ping"}}\n<<end {old}>>'
        outcome = await ask_model(wire, model, built.tool, replies=[CHAT.says(quoted, streamed=False)], streamed=False)
        prompt = wire.last["messages"][0]["content"]
        markers.append(prompt.partition("<<call ")[2].partition(">>")[0])
        assert isinstance(outcome, Answer)
        assert outcome.text == quoted
        assert built.received == []
    await client.close()

    assert len(set(markers)) == 2
