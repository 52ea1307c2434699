"""Streams as servers really send them, through the SDK and the gate to a tool that takes anything.

All arguments of the tool have defaults, so a call that loses its arguments on the way would
run as another call than the one that was meant.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from placet.values.outcome import Answer, Outcome, Stopped
from placet.values.run import StopReason
from tests.models.dialects import CHAT, MESSAGES, RESPONSES, Dialect
from tests.models.runs import ask_over_wire
from tests.models.wire import (
    Reply,
    WireServer,
    as_message_stream,
    as_response_stream,
    chunks,
    events,
    message,
    response,
)
from tests.tools.cases import Built, build

SOURCE = "def wipe(path: str = '/', deep: bool = False) -> str"
HOME: dict[str, Any] = {"path": "/home", "deep": True}
TEXT = '{"path": "/home", "deep": true}'


def piece(arguments: object = None, *, name: str | None = None, **where: Any) -> dict[str, Any]:
    """A delta with one fragment of a call."""
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{**where, "function": {key: value for key, value in function.items() if value is not None}}]}


def cut(text: str, *, name: str = "wipe", **where: Any) -> list[dict[str, Any]]:
    """A call in three deltas."""
    return [piece("", name=name, **where), piece(text[:9], **where), piece(text[9:], **where)]


def chunk(choice: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


async def run(wire: WireServer, dialect: Dialect, stream: Reply) -> tuple[Built, Outcome]:
    built = build(SOURCE)
    replies = [stream, dialect.says("done", streamed=True)]
    outcome = await ask_over_wire(wire, dialect, built.tool, replies=replies, streamed=True)
    if isinstance(outcome, Answer):
        dialect.check(wire.last)
    return built, outcome


AT: dict[str, Any] = {"index": 0, "id": "a"}
RUNS: dict[str, tuple[list[dict[str, Any]], int]] = {
    "as OpenAI sends it": (cut(TEXT, **AT), 1),
    "words before it": ([{"role": "assistant", "content": "Well, "}, {"content": "then"}, *cut(TEXT, **AT)], 1),
    "content as an empty text": ([{"content": "", **delta} for delta in cut(TEXT, **AT)], 1),
    "an empty list of calls, and null": ([{"tool_calls": []}, *cut(TEXT, **AT), {"tool_calls": None}, {}], 1),
    "no index": (cut(TEXT, id="a"), 1),
    "no index and no id after the first": ([piece("", name="wipe", id="a"), piece(TEXT[:9]), piece(TEXT[9:])], 1),
    "an index that is null": (cut(TEXT, index=None, id="a"), 1),
    "an index that is a text": (cut(TEXT, index="0", id="a"), 1),
    "an index that does not begin at 0": (cut(TEXT, index=7, id="a"), 1),
    "no id at all": (cut(TEXT, index=0), 1),
    "an id that is null": (cut(TEXT, index=0, id=None), 1),
    "an id that is a number": (cut(TEXT, index=0, id=5), 1),
    "an id that comes last": ([*cut(TEXT, index=0)[:2], piece(TEXT[9:], index=0, id="late")], 1),
    "a name that comes last": ([piece(TEXT, **AT), piece("", name="wipe", **AT)], 1),
    "a name in pieces": ([piece("", name="wi", **AT), piece("", name="pe", index=0), piece(TEXT, index=0)], 1),
    "the name in each chunk": ([piece(part, name="wipe", **AT) for part in ("", TEXT[:9], TEXT[9:])], 1),
    "arguments as null at first": ([piece(None, name="wipe", **AT), piece(TEXT, index=0)], 1),
    "arguments as an object": ([piece(HOME, name="wipe", **AT)], 1),
    "arguments in quotes": ([piece(json.dumps(TEXT), name="wipe", **AT)], 1),
    "the older function_call": ([{"function_call": {"name": "wipe", "arguments": TEXT[:9]}},
                                 {"function_call": {"arguments": TEXT[9:]}}], 1),
    "the whole call twice": ([piece(TEXT, name="wipe", **AT), piece(TEXT, name="wipe", **AT)], 1),
    "another id at the same index": ([*cut(TEXT, index=0, id="a"), *cut(TEXT, index=0, id="b")], 2),
    "numbered only after the first piece": ([*cut(TEXT, index=0, id="a"), piece("", name="wipe", index=0, id="b"),
                                             piece(TEXT[:9], index=1), piece(TEXT[9:], index=1)], 2),
    "two at once": ([delta for pair in zip(cut(TEXT, index=0, id="a"), cut(TEXT, index=1, id="b"), strict=True)
                     for delta in pair], 2),
    "two in one chunk, by position": ([{"tool_calls": [one["tool_calls"][0], two["tool_calls"][0]]}
                                       for one, two in zip(cut(TEXT), cut(TEXT), strict=True)], 2),
}  # fmt: skip
"""Deltas, and how many times the tool runs with exactly what was said."""

REFUSED: dict[str, list[dict[str, Any]]] = {
    "a new id in each chunk": [piece("", name="wipe", index=0, id="a"), piece(TEXT[:9], index=0, id="b"),
                               piece(TEXT[9:], index=0, id="c")],
    "an index that jumps": [piece("", name="wipe", index=0, id="a"), piece(TEXT, index=1)],
    "no name": [piece(TEXT, **AT)],
    "the arguments once more at the end": [*cut(TEXT, **AT), piece(TEXT, index=0)],
    "all so far in each chunk": [piece(TEXT[:9], name="wipe", **AT), piece(TEXT[:20], **AT), piece(TEXT, **AT)],
    "two objects glued": [piece(TEXT, name="wipe", **AT), piece(TEXT.replace("home", "etc"), index=0)],
    "one object, then another": [piece(HOME, name="wipe", **AT), piece({"path": "/etc"}, index=0)],
    "an object, then text": [piece(HOME, name="wipe", **AT), piece('{"path": "/etc"}', index=0)],
    "text, then an object": [piece(TEXT[:9], name="wipe", **AT), piece(HOME, index=0)],
    "a name that changes": [piece(TEXT[:9], name="wipe", **AT), piece(TEXT[9:], name="look", **AT)],
    "a call that is no object": [{"tool_calls": ["wipe"]}],
    "a function that is a text": [{"tool_calls": [{**AT, "function": "wipe"}]}],
    "a custom tool": [{"tool_calls": [{**AT, "type": "custom", "custom": {"name": "wipe", "input": "x"}}]}],
    "a refusal beside it": [{"refusal": "I cannot"}, *cut(TEXT, **AT)],
    "two open calls and one piece": [{"tool_calls": [piece("", name="wipe")["tool_calls"][0]] * 2}, piece(TEXT)],
}  # fmt: skip


@pytest.mark.parametrize("label", RUNS)
async def test_what_can_be_known_runs_as_it_was_said(wire: WireServer, label: str) -> None:
    deltas, times = RUNS[label]

    built, outcome = await run(wire, CHAT, events(chunks(deltas, "tool_calls")))

    assert built.received == [HOME] * times
    assert isinstance(outcome, Answer)


@pytest.mark.parametrize("label", REFUSED)
async def test_what_cannot_be_known_does_not_run(wire: WireServer, label: str) -> None:
    built, outcome = await run(wire, CHAT, events(chunks(REFUSED[label], "tool_calls")))

    assert built.received == []
    assert isinstance(outcome, Answer | Stopped)
    told = CHAT.read_results(wire.last)
    assert all(is_error for _, is_error in told)


@pytest.mark.parametrize("finish_reason", ["stop", "tool_calls", "function_call", "function_calls", "eos", "STOP"])
async def test_the_end_may_come_with_the_last_piece(wire: WireServer, finish_reason: str) -> None:
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in cut(TEXT, **AT)]
    choices[-1]["finish_reason"] = finish_reason
    usage = chunk({}, usage={"prompt_tokens": 5, "completion_tokens": 1}) | {"choices": []}

    built, outcome = await run(wire, CHAT, events([*(chunk(choice) for choice in choices), usage]))

    assert built.received == [HOME]
    assert isinstance(outcome, Answer)
    assert outcome.usage.input_tokens == 5


@pytest.mark.parametrize("finish_reason", ["length", "content_filter", "error", "insufficient_system_resource", None])
async def test_what_did_not_come_to_its_end_does_not_run(wire: WireServer, finish_reason: str | None) -> None:
    """Even where the arguments are an object already: more may have been meant to come."""
    built, _ = await run(wire, CHAT, events(chunks(cut(TEXT, **AT), finish_reason)))

    assert built.received == []


async def test_an_end_after_each_piece_ends_nothing(wire: WireServer) -> None:
    """As some relays send it: a call is what has come when the stream ends."""
    parts = [{"index": 0, "delta": delta, "finish_reason": "stop"} for delta in cut(TEXT, **AT)]

    built, _ = await run(wire, CHAT, events([chunk(choice) for choice in parts]))

    assert built.received == [HOME]


async def test_heartbeats_and_comments_are_nothing(wire: WireServer) -> None:
    """As OpenRouter and others send them while the model thinks."""
    stream = events(chunks(cut(TEXT, **AT), "tool_calls"))
    pieces = [b": OPENROUTER PROCESSING\n\n", *stream.body[:2], b": ping\n\n", *stream.body[2:]]

    built, _ = await run(wire, CHAT, Reply(pieces, content_type="text/event-stream"))

    assert built.received == [HOME]


async def test_bytes_may_come_one_by_one(wire: WireServer) -> None:
    text = '{"path": "/h\u00f6me \U0001f600", "deep": true}'
    body = b"".join(events(chunks(cut(text, **AT), "tool_calls")).body)

    built, _ = await run(wire, CHAT, Reply([bytes([one]) for one in body], content_type="text/event-stream"))

    assert built.received == [json.loads(text)]


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param([{"error": {"message": "overloaded", "code": 503}}], id="an error"),
        pytest.param([chunk({"index": 0, "delta": 5})], id="a delta that is none"),
        pytest.param([[]], id="no object"),
    ],
)
async def test_calls_before_a_failure_do_not_run(wire: WireServer, tail: Sequence[object]) -> None:
    built, outcome = await run(wire, CHAT, events([*chunks(cut(TEXT, **AT), None), *tail]))

    assert built.received == []
    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.MODEL


USE = {"type": "tool_use", "id": "toolu_1", "name": "wipe", "input": HOME}
FUNCTION_CALL = {
    "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "wipe", "arguments": TEXT,
    "status": "completed",
}  # fmt: skip
WHOLE: dict[str, tuple[Dialect, list[dict[str, Any]]]] = {
    "chat": (CHAT, chunks(cut(TEXT, **AT), "tool_calls")),
    "messages": (MESSAGES, as_message_stream(message([USE], "tool_use"))),
    "responses": (RESPONSES, as_response_stream(response([FUNCTION_CALL]))),
}


@pytest.mark.parametrize("name", WHOLE)
async def test_a_stream_that_breaks_anywhere_runs_nothing(wire: WireServer, name: str) -> None:
    """The connection is cut, or the stream merely ends, after each of its events but the last two."""
    dialect, items = WHOLE[name]
    for end in range(len(items) - (2 if name == "messages" else 1)):
        for drop in (True, False):
            wire.requests.clear()

            built, _ = await run(wire, dialect, events(items[:end], done=False, drop=drop))

            assert built.received == [], f"after {end} of {len(items)} events, dropped: {drop}"


@pytest.mark.parametrize("name", WHOLE)
async def test_the_whole_stream_runs_it(wire: WireServer, name: str) -> None:
    dialect, items = WHOLE[name]

    built, _ = await run(wire, dialect, events(items, done=False))

    assert built.received == [HOME]
