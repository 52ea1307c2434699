"""A workflow that waits for a person goes on where it was, here or in another process."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.models.scripted import ScriptedModel
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.parameters import State
from placet.tools.tool import tool
from placet.values.approval import Approval
from placet.values.limits import LEASE_TTL
from placet.values.outcome import Answer, Outcome, Refused, Stopped, Waiting
from placet.values.principal import EVERYONE
from placet.wiring import Agent
from placet.workflow import AgentStage, FunctionStage, Loop, Parallel, Workflow
from tests.runtime.conftest import BOSS, CLERK, SECRET, MakeAgent, Office
from tests.workflow.conftest import Draft, MakeNamed, MakeWorkflow

ran: list[str] = []


@pytest.fixture(autouse=True)
def nothing_has_run() -> None:
    ran.clear()


def step(name: str) -> FunctionStage:
    """A function that says when it has run."""

    def run(state: Draft) -> None:
        ran.append(name)
        state.log.append(name)

    return FunctionStage(run, name=name)


def paying() -> ScriptedModel:
    return ScriptedModel().calls("look", name="x").calls("pay", to="x", amount=3).says("paid")


def final(outcome: Outcome) -> Draft:
    assert isinstance(outcome, Answer), outcome
    assert isinstance(outcome.output, Draft)
    return outcome.output


async def wait(flow: Workflow[Draft]) -> Waiting:
    outcome = await flow.ask("Hi", principal=CLERK)
    assert isinstance(outcome, Waiting), outcome
    return outcome


async def test_what_is_finished_is_not_run_again(named: MakeNamed, make_workflow: MakeWorkflow, office: Office) -> None:
    planner = ScriptedModel().says("the plan")
    flow = make_workflow(named("plan", planner), step("a"), named("text", paying()), step("b"))

    waiting = await wait(flow)
    assert (waiting.approvals[0].tool, ran) == ("pay", ["a"])
    outcome = await flow.approve(waiting.approvals[0].token, by=BOSS)

    assert final(outcome) == Draft(question="Hi", plan="the plan", text="paid", log=["a", "b"])
    assert office.done == [("look", "x"), ("pay", "x", 3)]
    assert (ran, len(planner.requests)) == (["a", "b"], 1)


async def test_a_rejection_reaches_the_model_and_the_workflow_goes_on(
    named: MakeNamed, make_workflow: MakeWorkflow, office: Office
) -> None:
    flow = make_workflow(named("text", paying()), step("b"))
    waiting = await wait(flow)

    assert final(await flow.reject(waiting.approvals[0].token, by=BOSS)).log == ["b"]
    assert ("pay", "x", 3) not in office.done


async def test_the_requester_confirms_within_a_workflow(
    named: MakeNamed, make_workflow: MakeWorkflow, office: Office
) -> None:
    flow = make_workflow(named("text", ScriptedModel().calls("rename", name="new").says("renamed")))
    waiting = await wait(flow)

    assert isinstance(await flow.confirm(waiting.approvals[0].token, by=BOSS), Refused)
    assert final(await flow.confirm(waiting.approvals[0].token, by=CLERK)).text == "renamed"


async def test_nobody_approves_their_own_workflow(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    flow = make_workflow(named("text", paying()))
    waiting = await wait(flow)

    assert isinstance(await flow.approve(waiting.approvals[0].token, by=CLERK), Refused)


async def test_silence_is_a_refusal_and_resume_goes_on(
    named: MakeNamed, make_workflow: MakeWorkflow, clock: FrozenClock, office: Office
) -> None:
    flow = make_workflow(named("text", paying()), clock=clock)
    waiting = await wait(flow)
    assert isinstance(await flow.resume(waiting.run_id), Waiting)
    clock.move(16 * 60)

    assert final(await flow.resume(waiting.run_id)).text == "paid"
    assert ("pay", "x", 3) not in office.done


async def test_a_loop_goes_on_in_the_round_in_which_it_was(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    model = ScriptedModel().says("one").calls("pay", to="x", amount=3).says("two")
    asked: list[int] = []

    def until(context: Context[Any], state: Draft) -> bool:
        asked.append(len(state.log))
        return state.text == "two"

    flow = make_workflow(Loop([named("text", model), step("s")], until=until, max_iterations=4))
    waiting = await wait(flow)

    assert final(await flow.approve(waiting.approvals[0].token, by=BOSS)).log == ["s", "s"]
    assert asked == [1, 2]


async def test_a_condition_that_was_answered_is_not_asked_again(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    answers = iter([False, True])
    loop = Loop(step("s"), until=lambda _, __: next(answers), max_iterations=4)
    flow = make_workflow(loop, named("text", paying()))
    waiting = await wait(flow)

    assert final(await flow.approve(waiting.approvals[0].token, by=BOSS)).log == ["s", "s"]


async def test_what_tools_did_to_the_state_survives_the_pause(
    make_agent: MakeAgent, make_workflow: MakeWorkflow
) -> None:
    @tool(effect="read", roles={EVERYONE})
    async def note_it(text: str, draft: State[Draft]) -> str:
        """Write something down."""
        draft.log.append(text)
        return "noted"

    @tool(effect="write", roles={EVERYONE}, approval=Approval.always(approvers={"finance"}))
    async def publish(draft: State[Draft]) -> str:
        """Publish."""
        draft.log.append("published")
        return f"published after {len(draft.log)} notes"

    def flow(model: ScriptedModel) -> Workflow[Draft]:
        return make_workflow(AgentStage(make_agent(model, tools=[note_it, publish]), into="text", name="text"))

    waiting = await wait(flow(ScriptedModel().calls("note_it", text="before").calls("publish")))
    outcome = await flow(ScriptedModel().calls("note_it", text="after").says("done")).approve(
        waiting.approvals[0].id, by=BOSS
    )

    assert final(outcome).log == ["before", "published", "after"]


# ── across processes ──────────────────────────────────────────────────────────────────


@tool(effect="write", roles={EVERYONE}, approval=Approval.always(approvers={"finance"}))
async def transfer(amount: int, draft: State[Draft]) -> str:
    """Transfer money."""
    ran.append(f"transfer {amount}")
    draft.log.append("transferred")
    return f"transferred {amount}"


def application(path: Path, **scripts: ScriptedModel) -> Workflow[Draft]:
    """One application in one process: a workflow asks an agent, whose tool is a workflow, whose agent pays."""
    clerk = Agent(AgentDefinition(name="clerk"), tools=[transfer], model=scripts["clerk"], store="memory:")
    inner = Workflow(
        "inner",
        state=Draft,
        stages=[step("inner"), AgentStage(clerk, ask="transfer for {question}", into="text")],
        answer="{text}",
        store="memory:",
    )
    tools = [inner.as_tool()]
    head = Agent(AgentDefinition(name="head"), tools=tools, model=scripts["head"], agents=[inner], store="memory:")
    stages = [step("first"), AgentStage(head, into="text"), step("last")]
    return Workflow("flow", state=Draft, stages=stages, store=f"sqlite:///{path}", secret=SECRET)


async def test_two_levels_deep_it_goes_on_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "placet.db"
    first = application(
        path,
        head=ScriptedModel().calls("inner", question="the rent"),
        clerk=ScriptedModel().calls("transfer", amount=7),
    )
    waiting = await wait(first)
    await first.close()
    assert ran == ["first", "inner"]

    second = application(path, head=ScriptedModel().says("all done"), clerk=ScriptedModel().says("the clerk is done"))
    outcome = await second.approve(waiting.approvals[0].token, by=BOSS)

    assert final(outcome) == Draft(question="Hi", text="all done", log=["first", "last"])
    assert ran == ["first", "inner", "transfer 7", "last"]
    verification = await second.store.verify()
    await second.close()
    assert verification.fault is None


async def test_what_a_dead_process_had_finished_is_not_run_again(tmp_path: Path) -> None:
    path = tmp_path / "placet.db"

    def flow(model: ScriptedModel, *stages: Any) -> Workflow[Draft]:
        agent = Agent(AgentDefinition(name="text"), tools=[], model=model, store="memory:")
        listed = [step("a"), agent, *stages]
        return Workflow("flow", state=Draft, stages=listed, store=f"sqlite:///{path}", secret=SECRET, clock=clock)

    clock, reached = FrozenClock(), asyncio.Event()

    async def hang(state: Draft) -> None:
        if ran == ["a"]:
            reached.set()
            await asyncio.Event().wait()
        state.log.append("hung")

    first = flow(ScriptedModel().says("said"), hang)
    working = asyncio.create_task(first.ask("Hi", principal=CLERK))
    await reached.wait()
    await first.store.append()
    (stored,) = await first.store.list_runs()
    ran.append("died")
    clock.move(LEASE_TTL.total_seconds() + 1)

    second = flow(ScriptedModel(), hang)
    outcome = await second.resume(stored.id)

    assert final(outcome) == Draft(question="Hi", text="said", log=["a", "hung"])
    assert ran == ["a", "died"]
    working.cancel()
    await asyncio.wait({working})
    await first.close()
    await second.close()


async def test_a_run_of_a_stage_that_stopped_stays_stopped(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    stopping = AgentStage(named("plan", ScriptedModel()), when_stopped="go on")
    flow = make_workflow(stopping, named("text", paying()))
    waiting = await wait(flow)

    assert final(await flow.approve(waiting.approvals[0].token, by=BOSS)).plan == ""


async def test_swallowing_the_leaving_in_a_function_counts_for_nothing(
    named: MakeNamed, make_workflow: MakeWorkflow, office: Office
) -> None:
    payer = named("payer", paying())

    async def greedy(context: Context[Any], state: Draft) -> None:
        try:
            answer = await context.runtime.run(payer, "p")
            state.log.append(answer.text)
        except BaseException:  # noqa: BLE001 - the worst that code can do
            state.log.append("paid, honestly")

    flow = make_workflow(greedy, step("after"))
    waiting = await wait(flow)
    assert ran == []

    assert final(await flow.approve(waiting.approvals[0].token, by=BOSS)).log == ["paid", "after"]


async def test_runs_in_different_functions_are_told_apart_when_one_is_gone_past(
    named: MakeNamed, make_workflow: MakeWorkflow
) -> None:
    looker, payer = named("looker", ScriptedModel().says("looked")), named("payer", paying())

    async def look(context: Context[Any], state: Draft) -> None:
        state.log.append((await context.runtime.run(looker, "l")).text)

    async def pay(context: Context[Any], state: Draft) -> None:
        state.log.append((await context.runtime.run(payer, "p")).text)

    flow = make_workflow(look, pay)
    waiting = await wait(flow)

    assert final(await flow.approve(waiting.approvals[0].token, by=BOSS)).log == ["looked", "paid"]


async def test_branches_that_wait_are_waited_for_together(
    named: MakeNamed, make_workflow: MakeWorkflow, office: Office
) -> None:
    one = named("one", ScriptedModel().calls("pay", to="a", amount=1).says("one"))
    two = named("two", ScriptedModel().calls("pay", to="b", amount=2).says("two"))
    flow = make_workflow(
        Parallel([AgentStage(one, into="plan"), AgentStage(two, into="text"), step("three")]), step("after")
    )

    waiting = await wait(flow)
    assert [pending.arguments["to"] for pending in waiting.approvals] == ["a", "b"]
    still = await flow.approve(waiting.approvals[1].token, by=BOSS)
    assert isinstance(still, Waiting)
    assert [pending.arguments["to"] for pending in still.approvals] == ["a"]
    outcome = await flow.approve(still.approvals[0].id, by=BOSS)

    assert final(outcome) == Draft(question="Hi", plan="one", text="two", log=["three", "after"])
    assert sorted(office.done) == [("pay", "a", 1), ("pay", "b", 2)]
    assert ran == ["three", "after"]


async def test_a_branch_that_waits_is_waited_for_although_another_has_failed(
    named: MakeNamed, make_workflow: MakeWorkflow, office: Office
) -> None:
    def fail(_: Draft) -> None:
        raise ValueError("broken")

    flow = make_workflow(Parallel([fail, named("text", paying())]))
    waiting = await wait(flow)

    outcome = await flow.approve(waiting.approvals[0].token, by=BOSS)

    assert isinstance(outcome, Stopped)
    assert office.done == [("look", "x"), ("pay", "x", 3)]
