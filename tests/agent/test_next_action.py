from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise

import pytest

from placet.agent.next_action import next_action
from placet.agent.transitions import answered, awaiting, finished, invoked, resumed, stopped
from placet.values.call import ToolCall, ToolResult
from placet.values.decision import Reason
from placet.values.limits import Budget
from placet.values.message import AssistantMessage, ToolMessage, Transcript, UserMessage
from placet.values.run import AskModel, InvokeTools, Run, RunStatus, Stop, StopReason, Usage, Wait

RUN = Run(
    id="run_1",
    agent="orders",
    principal_id="c17",
    language="en",
    budget=Budget(turns=3, calls=5),
    transcript=Transcript([UserMessage("where is it?")]),
    started_at=datetime(2026, 11, 29, tzinfo=UTC),
)


def calls(count: int) -> AssistantMessage:
    return AssistantMessage(calls=tuple(ToolCall(f"c{i}", "look") for i in range(count)))


def done(index: int) -> ToolResult:
    return ToolResult(f"c{index}", f"result {index}")


def test_a_new_run_asks_the_model() -> None:
    assert next_action(RUN) == AskModel()


def test_calls_are_invoked_in_call_order() -> None:
    action = next_action(answered(RUN, calls(3), Usage()))

    assert isinstance(action, InvokeTools)
    assert [planned.index for planned in action.calls] == [0, 1, 2]


def test_an_answer_without_calls_is_the_last_word() -> None:
    assert next_action(answered(RUN, AssistantMessage("it is on its way"), Usage())) == Stop(None)


def test_a_paused_answer_is_asked_on() -> None:
    assert next_action(answered(RUN, AssistantMessage(paused=True), Usage())) == AskModel()


def test_a_mixed_batch_runs_what_it_can_and_then_waits() -> None:
    run = awaiting(answered(RUN, calls(3), Usage()), {1: "apr_1"})
    action = next_action(run)
    assert isinstance(action, InvokeTools)
    assert [planned.index for planned in action.calls] == [0, 2]

    run = invoked(run, {0: done(0), 2: done(2)})
    assert next_action(run) == Wait(("apr_1",))
    assert not isinstance(run.transcript[-1], ToolMessage)


def test_results_come_once_and_in_call_order_whichever_was_first() -> None:
    run = awaiting(answered(RUN, calls(3), Usage()), {1: "apr_1"})
    run = invoked(run, {2: done(2)})
    run = invoked(run, {0: done(0)})
    run = invoked(resumed(run, [1]), {1: done(1)})

    last = run.transcript[-1]
    assert isinstance(last, ToolMessage)
    assert [result.call_id for result in last.results] == ["c0", "c1", "c2"]
    assert next_action(run) == AskModel()


def test_calls_past_the_budget_are_refused_in_call_order_and_the_run_ends() -> None:
    run = answered(RUN, calls(12), Usage())
    action = next_action(run)
    assert isinstance(action, InvokeTools)
    assert [planned.index for planned in action.calls] == [0, 1, 2, 3, 4]

    run = invoked(run, {index: done(index) for index in range(5)})
    last = run.transcript[-1]
    assert isinstance(last, ToolMessage)
    assert [result.code for result in last.results] == ["ok"] * 5 + [Reason.BUDGET_SPENT] * 7
    assert next_action(run) == Stop(StopReason.CALLS)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"turn": 3}, StopReason.TURNS),
        ({"calls": 5}, StopReason.CALLS),
        ({"seconds": 120.0}, StopReason.SECONDS),
        ({"usage": Usage(input_tokens=60, output_tokens=40)}, StopReason.TOKENS),
        ({"usage": Usage(cost=Decimal("0.5"))}, StopReason.COST),
    ],
)
def test_a_spent_budget_stops_the_run(changes: dict[str, object], reason: StopReason) -> None:
    run = replace(RUN, budget=Budget(turns=3, calls=5, tokens=100, cost=0.5), **changes)  # type: ignore[arg-type]

    assert next_action(run) == Stop(reason)


def test_a_stopped_run_has_a_result_for_every_call() -> None:
    run = stopped(invoked(answered(RUN, calls(2), Usage()), {0: done(0)}), StopReason.CANCELLED, "sorry", 1.0)

    last = run.transcript[-1]
    assert isinstance(last, ToolMessage)
    assert [result.code for result in last.results] == ["ok", Reason.CANCELLED]
    assert next_action(run) == Stop(StopReason.CANCELLED)
    assert run.status is RunStatus.STOPPED


def test_a_finished_run_does_nothing_more() -> None:
    assert next_action(finished(RUN, "bye", 1.0)) == Stop(None)


def test_keys_come_from_run_turn_and_index_and_never_repeat() -> None:
    first = answered(RUN, calls(2), Usage())
    second = answered(invoked(first, {0: done(0), 1: done(1)}), calls(2), Usage())
    keys = [first.key(0), first.key(1), second.key(0), second.key(1)]

    assert keys == ["run_1:1.0", "run_1:1.1", "run_1:2.0", "run_1:2.1"]


def test_the_results_of_one_turn_share_its_bytes_and_every_call_is_answered() -> None:
    run = answered(replace(RUN, budget=Budget(calls=20, output_bytes=200_000)), calls(15), Usage())
    big = {index: ToolResult(f"c{index}", "é" * 25_000) for index in range(1, 15)}
    run = invoked(run, {0: ToolResult("c0", "small"), **big})

    last = run.transcript[-1]
    assert isinstance(last, ToolMessage)
    assert sum(len(result.content.encode()) for result in last.results) <= 200_000
    assert last.results[0].content == "small"
    assert all("cut: 50000 bytes" in result.content for result in last.results[1:])
    assert all(a.call_id != b.call_id for a, b in pairwise(last.results))
