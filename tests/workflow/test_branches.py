"""Stages side by side: apart from each other, results in order, and what becomes of the state."""

import asyncio
from typing import Any

from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from placet.tools.context import Context
from placet.values.limits import Budget
from placet.values.outcome import Answer, Outcome, Stopped
from placet.values.run import StopReason
from placet.workflow import AgentStage, FunctionStage, Loop, Parallel, Sequence
from tests.runtime.conftest import CLERK
from tests.workflow.conftest import Draft, MakeNamed, MakeWorkflow


def final(outcome: Outcome) -> Draft:
    assert isinstance(outcome, Answer), outcome
    assert isinstance(outcome.output, Draft)
    return outcome.output


def adding(name: str) -> FunctionStage:
    def add(state: Draft) -> None:
        state.log.append(name)

    return FunctionStage(add, name=name)


async def test_branches_work_on_copies_and_their_states_come_in_order(make_workflow: MakeWorkflow) -> None:
    turn = asyncio.Event()

    async def slow(state: Draft) -> None:
        await turn.wait()
        state.log.append("slow")

    async def fast(state: Draft) -> None:
        state.log.append("fast")
        turn.set()

    def merge(state: Draft, branches: list[Draft]) -> None:
        assert state.log == ["before"]
        state.log = [" + ".join(branch.log) for branch in branches]

    flow = make_workflow(adding("before"), Parallel([slow, fast], merge=merge))

    assert final(await flow.ask("Hi", principal=CLERK)).log == ["before + slow", "before + fast"]


async def test_without_a_merge_each_branch_brings_the_fields_that_it_changed(
    named: MakeNamed, make_workflow: MakeWorkflow
) -> None:
    agents = [named("plan", ScriptedModel().says("planned")), named("text", ScriptedModel().says("written"))]

    flow = make_workflow(Parallel([*agents, adding("x")]))

    assert final(await flow.ask("Hi", principal=CLERK)) == Draft(
        question="Hi", plan="planned", text="written", log=["x"]
    )


async def test_two_branches_that_change_one_field_differently_stop_the_workflow(
    make_workflow: MakeWorkflow, heard: ListSink
) -> None:
    outcome = await make_workflow(Parallel([adding("a"), adding("b")])).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.STAGE
    assert "both changed 'log'" in next(entry.body for entry in heard.entries if entry.tool == "flow")


async def test_a_branch_that_fails_lets_the_others_end_and_stops_the_workflow(make_workflow: MakeWorkflow) -> None:
    ended: list[str] = []

    async def end(_: Draft) -> None:
        await asyncio.sleep(0)
        ended.append("ended")

    def fail(_: Draft) -> None:
        raise ValueError("broken")

    outcome = await make_workflow(Parallel([fail, end])).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert ended == ["ended"]


async def test_an_exhausted_loop_in_a_branch_ends_that_branch_alone(make_workflow: MakeWorkflow) -> None:
    def note(state: Draft) -> None:
        state.plan = "other branch"

    looping = Sequence([Loop(adding("a"), until=lambda _, __: False, max_iterations=2), adding("never")])

    assert final(await make_workflow(Parallel([looping, note]), adding("after")).ask("Hi", principal=CLERK)) == Draft(
        question="Hi", plan="other branch", log=["a", "a", "after"]
    )


async def test_no_more_branches_run_at_once_than_the_budget_says(make_workflow: MakeWorkflow) -> None:
    running, most = 0, 0

    async def count(_: Draft) -> None:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        await asyncio.sleep(0.001)
        running -= 1

    branches = [FunctionStage(count, name=f"b{number}") for number in range(6)]

    assert isinstance(
        await make_workflow(Parallel(branches), budget=Budget(parallel=2)).ask("Hi", principal=CLERK), Answer
    )
    assert most == 2


async def test_the_same_agent_in_two_branches_has_a_run_in_each(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    agent = named("a", ScriptedModel(per_run=True).calls("look", name="x").says("seen"))
    stages = [AgentStage(agent, into="plan", name="one"), AgentStage(agent, into="text", name="two")]

    assert final(await make_workflow(Parallel(stages)).ask("Hi", principal=CLERK)) == Draft(
        question="Hi", plan="seen", text="seen"
    )


async def test_branches_within_branches(make_workflow: MakeWorkflow) -> None:
    async def who(context: Context[Any], state: Draft) -> None:
        state.text = context.principal.id

    def plan(state: Draft) -> None:
        state.plan = "p"

    inner = Parallel([who, plan], name="inner")

    assert final(await make_workflow(Parallel([inner, adding("x")])).ask("Hi", principal=CLERK)) == Draft(
        question="Hi", plan="p", text="s1", log=["x"]
    )
