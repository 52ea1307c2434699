"""What has failed elsewhere, in public, where it takes a whole run to see it: on each wire, streamed and whole."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from placet.errors import DuplicateToolError
from placet.models.text_protocol import TextProtocolModel
from placet.tools.tool import Tool, tool
from placet.tools.toolset import Toolset
from placet.values.message import Message
from placet.values.outcome import Answer, Stopped
from placet.values.principal import EVERYONE
from placet.values.run import StopReason
from tests.models.dialects import CHAT, MESSAGES, Dialect
from tests.models.public_failures import CASES, ids_of
from tests.models.runs import ask_model, ask_over_wire, both, call, calling, on_each_wire, results_over_wire
from tests.models.wire import WireServer
from tests.tools.cases import build


@both
@on_each_wire
async def test_an_arm_of_a_union_is_not_run_for_another(wire: WireServer, dialect: Dialect, streamed: bool) -> None:
    """C032."""
    built = build(CASES["C032"]["input"]["py"])
    arguments = '{"q": {"mode": "latest", "offset": 100}}'

    ((text, is_error),) = await results_over_wire(
        wire, dialect, built.tool, replies=calling(dialect, call("c1", "read", arguments), streamed=streamed),
        streamed=streamed,
    )  # fmt: skip

    assert is_error
    assert "offset" in text
    assert built.received == []


@tool(effect="read", roles={EVERYONE}, name="cancels")
async def cancels() -> str:
    """Do it."""
    raise asyncio.CancelledError


@tool(effect="read", roles={EVERYONE}, name="breaks")
async def breaks() -> str:
    """Do it."""
    raise RuntimeError


@tool(effect="read", roles={EVERYONE}, name="sleeps")
async def sleeps() -> int:
    """Do it."""
    await asyncio.sleep(0.05)
    return 2


@both
@on_each_wire
async def test_one_that_fails_does_not_take_the_others_along(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    """C079, C080: each call has one result that is not empty, in call order."""
    calls = [call("c1", "cancels"), call("c2", "sleeps"), call("c3", "breaks"), call("c4", "sleeps")]

    told = await results_over_wire(
        wire, dialect, cancels, sleeps, breaks, replies=calling(dialect, *calls, streamed=streamed), streamed=streamed
    )

    assert [is_error for _, is_error in told] == [True, False, True, False]
    assert [text.splitlines()[1] for text, is_error in told if not is_error] == ["2", "2"]
    assert all(text.strip() for text, _ in told)


@both
@on_each_wire
async def test_leaving_from_outside_still_cancels(wire: WireServer, dialect: Dialect, streamed: bool) -> None:
    """C079: a tool that raises the cancelling itself is one thing, whoever asked and goes away another."""
    began = asyncio.Event()

    @tool(effect="read", roles={EVERYONE}, name="waits")
    async def waits() -> str:
        """Wait."""
        began.set()
        await asyncio.sleep(60)
        return "late"

    replies = calling(dialect, call("c1", "cancels"), call("c2", "waits"), streamed=streamed)
    task = asyncio.create_task(ask_over_wire(wire, dialect, cancels, waits, replies=replies, streamed=streamed))
    await began.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert len(wire.requests) == 1


@both
async def test_a_call_that_is_not_valid_and_one_that_is_are_answered_together(wire: WireServer, streamed: bool) -> None:
    """C081."""
    user = build("def User(name: Annotated[str, Field(min_length=1)]) -> str")
    job = build("def Job(title: str) -> str")
    calls = [call(block["id"], block["name"], str(block["input"]).replace("'", '"'))
             for block in CASES["C081"]["input"]["content"]]  # fmt: skip

    told = await results_over_wire(
        wire, MESSAGES, user.tool, job.tool, replies=calling(MESSAGES, *calls, streamed=streamed), streamed=streamed
    )

    assert [is_error for _, is_error in told] == [True, False]
    assert "name" in told[0][0]
    assert (user.received, job.received) == ([], [{"title": "cook"}])


@pytest.mark.parametrize("value", ["''", "None", "' \\n'", "[]", "{}"])
@both
@on_each_wire
async def test_no_result_is_empty_on_the_wire(wire: WireServer, dialect: Dialect, value: str, streamed: bool) -> None:
    """C086."""
    built = build(f"def ping() -> Any:\n    return {value}")

    ((text, is_error),) = await results_over_wire(
        wire, dialect, built.tool, replies=calling(dialect, call("c1", "ping"), streamed=streamed), streamed=streamed
    )

    assert text.strip()
    assert not is_error


@both
@pytest.mark.parametrize("dialect", [CHAT, MESSAGES], ids=lambda dialect: dialect.name)
async def test_announced_calls_that_do_not_come_end_the_run_and_are_not_asked_for_ever(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    """C053. Responses announces no calls: it sends them or it does not."""
    delta = CASES["C053"]["input"]["chunks"][0]["delta"]

    outcome = await ask_over_wire(
        wire, dialect, replies=[dialect.says(delta, "tool_calls", streamed=streamed)], streamed=streamed
    )

    assert isinstance(outcome, Stopped)
    assert (outcome.reason, len(wire.requests)) == (StopReason.MODEL, 1)


@both
@on_each_wire
async def test_ids_that_come_again_in_the_next_run_stay_apart(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    """C062: the history of three runs holds each id once, and each result stands at its call."""
    model, history = dialect.open(wire), list[Message]()
    for number in range(3):
        built = build(f"def ping() -> str:\n    return 'pong {number}'")
        replies = calling(dialect, call("call_0_0", "ping"), call("call_1_0", "ping"), streamed=streamed)
        outcome = await ask_model(wire, model, built.tool, replies=replies, streamed=streamed, history=history)
        wire.requests, seen = [], wire.requests
        assert isinstance(outcome, Answer)
        history = list(outcome.history)
    await model.close()

    dialect.check(seen[-1].body)
    told = [text.splitlines()[1] for text, _ in dialect.read_results(seen[-1].body)]
    assert told == ["pong 0", "pong 0", "pong 1", "pong 1", "pong 2", "pong 2"]


def test_two_tools_of_one_name_are_an_error_at_the_build() -> None:
    """C075, where both come from one process: never the last one wins."""
    first, second = build("def send_email() -> str").tool, build("def send_email() -> str").tool

    with pytest.raises(DuplicateToolError, match="send_email"):
        Toolset([first, second])


# ── text ──────────────────────────────────────────────────────────────────────────────


def look(output: str) -> Tool:
    @tool(effect="read", roles={EVERYONE}, name="look")
    async def look_at() -> str:
        """Look."""
        return output

    return look_at


EXECUTED: dict[str, Sequence[dict[str, Any]]] = {"C223": [], "C224": [{"id": 1}], "C225": [], "C226": []}


def test_every_text_is_tried() -> None:
    assert EXECUTED.keys() == set(ids_of("text", ("text-fallback",)))


@both
@on_each_wire
@pytest.mark.parametrize("case_id", EXECUTED)
async def test_text_is_a_call_only_where_it_was_switched_on_and_is_nothing_else(
    wire: WireServer, dialect: Dialect, case_id: str, streamed: bool
) -> None:
    played = CASES[case_id]["input"]
    built = build(played["tools"][0])
    client = dialect.open(wire)
    model = client if played["fallback"] == "off" else TextProtocolModel(client)
    echoed = played.get("earlier_tool_output")
    said = ['{"action": "look"}'] * bool(echoed) + [played["assistant_text"], "done"]

    outcome = await ask_model(
        wire, model, built.tool, look(echoed or ""), replies=[dialect.says(text, streamed=streamed) for text in said],
        streamed=streamed,
    )  # fmt: skip
    await client.close()

    assert built.received == EXECUTED[case_id]
    assert isinstance(outcome, Answer)
    assert outcome.text == ("done" if EXECUTED[case_id] else played["assistant_text"])


class User(BaseModel):
    name: str
    age: int


@both
@on_each_wire
async def test_a_fenced_object_is_an_output(wire: WireServer, dialect: Dialect, streamed: bool) -> None:
    """C228."""
    reply = dialect.says(CASES["C228"]["input"]["assistant_text"], streamed=streamed)

    outcome = await ask_over_wire(wire, dialect, replies=[reply], streamed=streamed, output=User)

    assert isinstance(outcome, Answer)
    assert outcome.output == User(name="Ana", age=31)


@both
async def test_an_object_within_words_is_asked_again(wire: WireServer, streamed: bool) -> None:
    good = '{"name": "Ana", "age": 31}'
    replies = [CHAT.says(text, streamed=streamed) for text in (f"Here it is: {good}", good)]

    outcome = await ask_over_wire(wire, CHAT, replies=replies, streamed=streamed, output=User)

    assert isinstance(outcome, Answer)
    assert len(wire.requests) == 2
