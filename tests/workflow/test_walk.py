"""What stages do with the state, in order."""

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from placet.errors import FatalToolError
from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from placet.tools.context import Context
from placet.tools.parameters import State
from placet.tools.tool import tool
from placet.values.audit import AuditKind
from placet.values.message import UserMessage
from placet.values.outcome import Answer, Outcome, Stopped
from placet.values.principal import EVERYONE, Principal
from placet.values.run import StopReason
from placet.workflow import AgentStage, FunctionStage, Loop, Sequence, Workflow
from tests.runtime.conftest import CLERK, MakeAgent, Office
from tests.workflow.conftest import Draft, MakeNamed, MakeWorkflow


def final(outcome: Outcome) -> Draft:
    assert isinstance(outcome, Answer), outcome
    assert isinstance(outcome.output, Draft)
    return outcome.output


async def test_an_agent_s_words_go_into_the_field_of_its_name(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    flow = make_workflow(named("plan", ScriptedModel().says("three steps")), answer="Planned: {plan}")

    outcome = await flow.ask("Hi", principal=CLERK)

    assert final(outcome) == Draft(question="Hi", plan="three steps")
    assert isinstance(outcome, Answer)
    assert outcome.text == "Planned: three steps"


async def test_an_agent_is_asked_with_fields_of_the_state_in_their_places(
    named: MakeNamed, make_workflow: MakeWorkflow
) -> None:
    model = ScriptedModel().says("ok")
    stage = AgentStage(named("writer", model), ask="{{{plan}}} of {log} for {question}", into="text")
    flow = make_workflow(stage, start=lambda question: Draft(question=question, plan="{text}", log=["a"]))

    await flow.ask("Hi", principal=CLERK)

    assert model.requests[0].transcript[0] == UserMessage('{{text}} of ["a"] for Hi', by_person=False)


async def test_a_field_of_a_model_makes_that_the_type_of_the_answer(make_agent: MakeAgent) -> None:
    class Plan(BaseModel):
        steps: list[str]

    class Task(BaseModel):
        plan: Plan | None = None

    model = ScriptedModel().says("no JSON").says('{"steps": ["look", "pay"]}')
    flow = Workflow("flow", state=Task, stages=[AgentStage(make_agent(model), into="plan")], store="memory:")

    outcome = await flow.ask("Plan", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert outcome.output == Task(plan=Plan(steps=["look", "pay"]))
    assert len(model.requests) == 2


async def test_an_answer_may_go_through_a_function(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    def note(state: Draft, answer: Answer) -> None:
        state.log.append(answer.text.upper())

    flow = make_workflow(AgentStage(named("a", ScriptedModel().says("x")), into=note))

    assert final(await flow.ask("Hi", principal=CLERK)).log == ["X"]


async def test_functions_change_the_state_or_return_another(make_workflow: MakeWorkflow) -> None:
    def change(state: Draft) -> None:
        state.log.append("changed")

    async def replace(context: Context[Office], state: Draft) -> Draft:
        return Draft(plan=context.principal.id, log=[*state.log, type(context.deps).__name__])

    assert final(await make_workflow(change, replace).ask("Hi", principal=CLERK)) == Draft(
        plan="s1", log=["changed", "Office"]
    )


async def test_a_synchronous_function_holds_up_nobody(make_workflow: MakeWorkflow) -> None:
    loop, other = asyncio.get_running_loop(), asyncio.Event()

    def wait(state: Draft) -> None:
        asyncio.run_coroutine_threadsafe(other.wait(), loop).result(5)
        state.log.append("waited")

    working = asyncio.create_task(make_workflow(wait).ask("Hi", principal=CLERK))
    other.set()

    assert final(await working).log == ["waited"]


async def test_tools_work_on_the_state(make_agent: MakeAgent, make_workflow: MakeWorkflow) -> None:
    @tool(effect="read", roles={EVERYONE})
    async def write_down(text: str, draft: State[Draft]) -> str:
        """Write something down."""
        draft.log.append(text)
        return f"{len(draft.log)} notes"

    model = ScriptedModel().calls("write_down", text="one").calls("write_down", text="two").says("done")
    flow = make_workflow(AgentStage(make_agent(model, tools=[write_down]), into="text"))

    assert final(await flow.ask("Hi", principal=CLERK)) == Draft(question="Hi", text="done", log=["one", "two"])


async def test_a_loop_goes_round_until_its_condition_holds(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    writer = named("text", ScriptedModel().says("poor").says("good"))

    def review(state: Draft) -> None:
        state.approved = state.text == "good"

    flow = make_workflow(Loop([writer, review], until=lambda _, state: state.approved, max_iterations=5))

    assert final(await flow.ask("Hi", principal=CLERK)).text == "good"


async def test_a_condition_may_wait_and_changes_nothing(make_workflow: MakeWorkflow) -> None:
    def add(state: Draft) -> None:
        state.log.append("x")

    async def until(context: Context[Any], state: Draft) -> bool:
        state.log.clear()
        return context.principal.id == "s1"

    assert final(await make_workflow(Loop(add, until, max_iterations=3)).ask("Hi", principal=CLERK)).log == ["x"]


@pytest.mark.parametrize(("word", "log"), [("stop", ["a", "a"]), ("go on", ["a", "a", "after"])])
async def test_an_exhausted_loop_ends_the_workflow_or_lets_it_go_on(
    word: str, log: list[str], make_workflow: MakeWorkflow
) -> None:
    def add(state: Draft) -> None:
        state.log.append("a")

    def after(state: Draft) -> None:
        state.log.append("after")

    loop = Loop(add, until=lambda _, __: False, max_iterations=2, when_exhausted=word)

    assert final(await make_workflow(Sequence([loop, after])).ask("Hi", principal=CLERK)).log == log


async def test_an_exhausted_loop_may_fail_the_workflow(make_workflow: MakeWorkflow, heard: ListSink) -> None:
    loop = Loop(lambda _: None, until=lambda _, __: False, max_iterations=2, when_exhausted="fail")

    outcome = await make_workflow(loop).ask("Hi", principal=CLERK, language="pt-BR")

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.STAGE
    assert outcome.text.startswith("Desculpe, uma das etapas")


async def test_a_function_that_fails_stops_the_workflow_and_its_words_reach_the_audit_log_alone(
    make_workflow: MakeWorkflow, heard: ListSink
) -> None:
    def broken(state: Draft) -> None:
        raise OSError("no such printer")

    outcome = await make_workflow(broken).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.STAGE
    assert "printer" not in repr(outcome)
    assert [entry.decision for entry in heard.entries if entry.kind is AuditKind.STAGE] == ["failed"]
    assert "printer" in next(entry.body for entry in heard.entries if entry.tool == "flow")


async def test_a_fatal_function_ends_the_run(make_workflow: MakeWorkflow) -> None:
    def fatal(state: Draft) -> None:
        raise FatalToolError("the vault is open")

    outcome = await make_workflow(fatal).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.FATAL
    assert "vault" not in repr(outcome)


async def test_a_fatal_tool_in_an_agent_ends_the_workflow_too(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    agent = named("plan", ScriptedModel().calls("break_down", how="fatal"))

    outcome = await make_workflow(agent).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.FATAL


async def test_an_agent_that_stops_short_stops_the_workflow_for_the_same_reason(
    named: MakeNamed, make_workflow: MakeWorkflow
) -> None:
    outcome = await make_workflow(named("plan", ScriptedModel())).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.MODEL


async def test_an_agent_that_stops_short_may_be_gone_past(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    flow = make_workflow(AgentStage(named("plan", ScriptedModel()), when_stopped="go on"), answer="plan: {plan}")

    outcome = await flow.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert outcome.text == "plan: "


async def test_a_state_of_another_type_stops_the_workflow(make_workflow: MakeWorkflow) -> None:
    outcome = await make_workflow(FunctionStage(lambda _: {"plan": "x"}, name="wrong")).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.STAGE


async def test_what_does_not_fit_the_state_stops_the_workflow(make_workflow: MakeWorkflow, heard: ListSink) -> None:
    def spoil(state: Draft) -> None:
        state.log = "no list"  # type: ignore[assignment]  # the fault

    outcome = await make_workflow(spoil).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.STAGE


async def test_only_who_has_a_role_may_start_it(make_workflow: MakeWorkflow, heard: ListSink) -> None:
    flow = make_workflow(lambda _: None, roles={"editor"})

    outcome = await flow.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.REFUSAL
    assert isinstance(await flow.ask("Hi", principal=Principal("e1", roles={"editor"})), Answer)


async def test_it_may_begin_with_a_state(make_workflow: MakeWorkflow) -> None:
    outcome = await make_workflow(lambda _: None).ask("Hi", principal=CLERK, state=Draft(plan="given"))

    assert final(outcome) == Draft(plan="given")


async def test_the_answer_is_in_the_person_s_language(make_workflow: MakeWorkflow) -> None:
    flow = make_workflow(lambda _: None, answer={"en": "Done: {question}", "ro": "Gata: {question}"})

    outcome = await flow.ask("Salut", principal=CLERK, language="ro")

    assert isinstance(outcome, Answer)
    assert outcome.text == "Gata: Salut"


async def test_fields_that_are_redacted_stand_in_no_record(
    named: MakeNamed, make_workflow: MakeWorkflow, heard: ListSink
) -> None:
    flow = make_workflow(
        AgentStage(named("a", ScriptedModel().says("ok")), ask="of {plan}", into="text"), redact={"plan"}
    )

    await flow.ask("Hi", principal=CLERK, state=Draft(plan="Dona Maria, Rua 7"))

    assert len(heard.entries) > 4
    assert not [entry for entry in heard.entries if "Maria" in entry.body]


async def test_two_hundred_runs_at_the_same_time_do_not_see_each_other(
    make_agent: MakeAgent, make_workflow: MakeWorkflow
) -> None:
    async def sign(context: Context[Any], state: Draft) -> None:
        await asyncio.sleep(0)
        state.log.append(context.principal.id)

    model = ScriptedModel(per_run=True).calls("look", name="x").says("seen")
    flow = make_workflow(AgentStage(make_agent(model), into="text"), sign)

    outcomes = await asyncio.gather(
        *[flow.ask(f"q{i}", principal=Principal(f"p{i}", roles={"support"})) for i in range(200)]
    )

    assert [final(one) for one in outcomes] == [Draft(question=f"q{i}", text="seen", log=[f"p{i}"]) for i in range(200)]
