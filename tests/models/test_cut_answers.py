"""Words that the token limit has cut: who reads them is told; on each wire, streamed and whole."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from placet.agent.snapshot import dump_run, journal_turn, load_run
from placet.agent.transitions import answered
from placet.runtime.report_html import render_report
from placet.runtime.server_sent import encode_event
from placet.values.event import Event, RunEnded
from placet.values.limits import Budget
from placet.values.message import AssistantMessage, Transcript, UserMessage
from placet.values.outcome import Answer, Stopped
from placet.values.run import Run, StopReason, Usage
from tests.models.dialects import MESSAGES, Dialect
from tests.models.runs import CLERK, ask_over_wire, both, call, make_agent, on_each_wire
from tests.models.wire import WireServer, as_message_stream, events, message, whole
from tests.tools.cases import build

TALE = "Once upon a time there was a"


@both
@on_each_wire
@pytest.mark.parametrize("finish", ["length", "stop"])
async def test_an_answer_says_whether_it_was_cut(
    wire: WireServer, dialect: Dialect, finish: str, streamed: bool
) -> None:
    wire.plays(dialect.says(TALE, finish, streamed=streamed))
    model = dialect.open(wire)
    agent, heard = make_agent(model), list[Event]()

    outcome = await agent.ask("A tale", principal=CLERK, emit=heard.append if streamed else None)
    report: Any = await agent.report(outcome.run_id)
    await agent.close()
    await model.close()

    assert isinstance(outcome, Answer)
    assert (outcome.text, outcome.cut) == (TALE, finish == "length")
    assert report["cut"] is outcome.cut
    assert report["tree"].get("cut", False) is outcome.cut
    assert report["tree"]["children"][0]["finish"] == finish
    if streamed:
        assert isinstance(heard[-1], RunEnded)
        assert (b'"cut":true' in encode_event(9, heard[-1])) is outcome.cut
    for language, words in (("en", "not complete"), ("pt-BR", "não está completa"), ("ro", "nu este complet")):
        assert render_report(report, language).count(words) == 2 * outcome.cut


@both
async def test_a_full_window_cuts_as_a_limit_does(wire: WireServer, streamed: bool) -> None:
    body = message([{"type": "text", "text": TALE}], "model_context_window_exceeded")
    reply = events(as_message_stream(body), done=False) if streamed else whole(body)

    outcome = await ask_over_wire(wire, MESSAGES, replies=[reply], streamed=streamed)

    assert isinstance(outcome, Answer)
    assert outcome.cut


@both
@on_each_wire
async def test_only_the_last_word_counts(wire: WireServer, dialect: Dialect, streamed: bool) -> None:
    """A turn whose call was cut is told to the model, and the answer after it is whole."""
    built = build("def ping() -> str")
    said = {"content": "Let me", "tool_calls": [call("c1")]}
    replies = [dialect.says(said, "length", streamed=streamed), dialect.says("done", streamed=streamed)]

    outcome = await ask_over_wire(wire, dialect, built.tool, replies=replies, streamed=streamed)

    assert isinstance(outcome, Answer)
    assert not outcome.cut
    assert [one.cut for one in outcome.history if isinstance(one, AssistantMessage)] == [True, False]
    assert built.received == []


@both
@on_each_wire
async def test_an_answer_that_thinking_has_used_up_was_cut_too(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    outcome = await ask_over_wire(
        wire, dialect, replies=[dialect.says({"content": ""}, "length", streamed=streamed)], streamed=streamed
    )

    assert isinstance(outcome, Answer)
    assert outcome.cut
    assert outcome.text


@pytest.mark.parametrize("cut", [True, False])
def test_what_is_stored_says_it_too(cut: bool) -> None:
    """So does what another process makes of a run whose worker died before it had said it."""
    run = Run(
        id="run_1", agent="clerk", principal_id="u1", language="en", budget=Budget(),
        transcript=Transcript([UserMessage("A tale")]),
        started_at=datetime(2031, 5, 6, tzinfo=UTC),
    )  # fmt: skip
    message = AssistantMessage(TALE, cut=cut)
    after = answered(run, message, Usage())

    for loaded in (load_run(dump_run(after)), load_run(dump_run(run), [journal_turn(after.transcript, Usage())])):
        assert Answer(run_id="run_1", text=TALE, history=loaded.transcript).cut is cut
    assert ("cut" in dump_run(after)) is cut


# ── outputs ───────────────────────────────────────────────────────────────────────────


class Product(BaseModel):
    name: str
    note: str = "none"


WHOLE = '{"name": "rice", "note": "white"}'


@both
@on_each_wire
@pytest.mark.parametrize("cut", ['{"name": "ri', '{"name": "rice"}', WHOLE], ids=["half", "less", "looks whole"])
async def test_an_output_that_was_cut_is_asked_again_whatever_it_looks_like(
    wire: WireServer, dialect: Dialect, cut: str, streamed: bool
) -> None:
    replies = [dialect.says(cut, "length", streamed=streamed), dialect.says(WHOLE, streamed=streamed)]

    outcome = await ask_over_wire(wire, dialect, replies=replies, streamed=streamed, output=Product)

    assert isinstance(outcome, Answer)
    assert (outcome.output, outcome.cut) == (Product(name="rice", note="white"), False)
    asked = json.dumps(wire.last["input" if dialect.name == "responses" else "messages"])
    assert "cut off at the token limit" in asked


@both
@on_each_wire
async def test_an_output_that_is_always_cut_is_a_typed_failure(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    outcome = await ask_over_wire(
        wire, dialect, replies=[dialect.says(WHOLE, "length", streamed=streamed)], streamed=streamed, output=Product
    )

    assert isinstance(outcome, Stopped)
    assert (outcome.reason, len(wire.requests)) == (StopReason.OUTPUT, 3)
