import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from placet.agent.snapshot import MIGRATIONS, dump_result, dump_run, journal_turn, load_result, load_run, migrate
from placet.agent.transitions import answered, awaiting, invoked, rejected
from placet.errors import StoreError, StoreVersionError
from placet.values.call import ToolCall, ToolResult, Wire
from placet.values.limits import Budget
from placet.values.message import AssistantMessage, Transcript, UserMessage
from placet.values.run import SNAPSHOT_VERSION, Run, Usage

START = Run(
    id="run_1",
    agent="orders",
    principal_id="c17",
    language="ro",
    budget=Budget(turns=3, tokens=1000),
    transcript=Transcript([UserMessage("unde e comanda 8842?\ud83d")]),
    started_at=datetime(2026, 11, 29, 12, tzinfo=UTC),
)
CALL = ToolCall("c1", "look", '{"id": 1}', wire=Wire.TEXT, note="unwrapped", provider_state={"signature": "s"})
ANSWER = AssistantMessage("so", (CALL, ToolCall("c2", "pay", "{", fault="cut")), "anthropic", {"thinking": ["t"]})


def test_a_run_comes_back_from_its_snapshot_as_it_was() -> None:
    run = rejected(
        awaiting(answered(START, ANSWER, Usage(input_tokens=5, cost=Decimal("0.1"))), {1: "apr_1"}), "digest"
    )
    run = invoked(run, {0: ToolResult("c1", "x", fence="f1", cut_from=9, answer="a", code="ok")})

    assert load_run(dump_run(run)) == run


def test_a_journal_played_on_a_snapshot_gives_the_run_as_it_was() -> None:
    results = (ToolResult("c1", "one"), ToolResult("c2", "cut", is_error=True, code="cut_off"))
    first = answered(START, ANSWER, Usage(output_tokens=3))
    second = answered(invoked(first, dict(enumerate(results))), AssistantMessage("there"), Usage(output_tokens=4))
    journal = [
        journal_turn(first.transcript, Usage(output_tokens=3)),
        journal_turn(second.transcript, Usage(output_tokens=4)),
    ]

    assert load_run(dump_run(START), journal) == second


def test_calls_past_the_budget_are_refused_again_when_their_turn_is_played() -> None:
    spent = replace(START, calls=START.budget.calls)
    after = answered(spent, ANSWER, Usage())
    assert not after.planned

    assert load_run(dump_run(spent), [journal_turn(after.transcript, Usage())]) == after


def test_what_a_person_has_rejected_stays_rejected_when_a_worker_dies_before_the_next_snapshot() -> None:
    entry = journal_turn(answered(START, ANSWER, Usage()).transcript, Usage(), rejected=frozenset({"digest"}))

    assert load_run(dump_run(START), [entry]).rejected == {"digest"}


def test_a_result_comes_back_from_the_ledger_as_it_was() -> None:
    result = ToolResult("c1", "text \ud83d", is_error=True, code="timeout", fence="f")

    assert load_result(dump_result(result)) == result


def test_a_snapshot_of_a_newer_placet_is_refused() -> None:
    form = json.loads(dump_run(START)) | {"version": SNAPSHOT_VERSION + 1}

    with pytest.raises(StoreVersionError, match="upgrade placet"):
        load_run(json.dumps(form))


def test_an_older_snapshot_is_migrated_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MIGRATIONS, SNAPSHOT_VERSION - 1, lambda form: form | {"language": "en"})

    assert migrate({"version": SNAPSHOT_VERSION - 1})["language"] == "en"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 1}', '{"version": 0}', "null"])
def test_what_is_no_snapshot_is_a_store_error(text: str) -> None:
    with pytest.raises(StoreError):
        load_run(text)


def test_two_continuations_of_one_transcript_do_not_see_each_other() -> None:
    start = Transcript([UserMessage("a")])
    left, right = start.append(UserMessage("left")), start.append(UserMessage("right"))

    assert [m.text for m in left if isinstance(m, UserMessage)] == ["a", "left"]
    assert [m.text for m in right if isinstance(m, UserMessage)] == ["a", "right"]
    assert len(start) == 1
    assert replace(START, transcript=left).transcript[-1] == UserMessage("left")
