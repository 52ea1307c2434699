"""The whole tree has one budget, whatever runs in it at the same time."""

from datetime import timedelta

from placet.models.scripted import ScriptedModel
from placet.testing import FrozenClock
from placet.values.limits import Budget
from placet.values.outcome import Answer, Stopped
from placet.values.run import StopReason
from placet.workflow import AgentStage, Loop, Parallel
from tests.runtime.conftest import CLERK, MakeAgent, Office
from tests.workflow.conftest import Draft, MakeNamed, MakeWorkflow


def looking(delay: timedelta | None = None) -> ScriptedModel:
    """A model that never stops."""
    return ScriptedModel(cycle=True, delay=delay).calls("look", name="x")


SOON = timedelta(milliseconds=5)
"""How long models think that are asked at the same time."""


async def test_turns_of_all_agents_count(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    one, two = ScriptedModel().calls("look", name="x").says("one"), looking()
    flow = make_workflow(named("plan", one), named("text", two), budget=Budget(turns=5))

    outcome = await flow.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.TURNS
    assert len(one.requests) + len(two.requests) == 5


async def test_a_budget_that_is_just_enough_is_enough(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    model = ScriptedModel().calls("look", name="x").says("done")
    flow = make_workflow(named("text", model), budget=Budget(turns=2, calls=2))

    assert isinstance(await flow.ask("Hi", principal=CLERK), Answer)


async def test_agents_side_by_side_do_not_ask_more_often_than_the_tree_may(
    named: MakeNamed, make_workflow: MakeWorkflow
) -> None:
    models = [looking(SOON) for _ in range(4)]
    stages = [AgentStage(named(f"a{i}", model), into="text", when_stopped="go on") for i, model in enumerate(models)]

    await make_workflow(Parallel(stages), budget=Budget(turns=6)).ask("Hi", principal=CLERK)

    assert sum(len(model.requests) for model in models) == 6


async def test_agents_side_by_side_do_not_call_more_often_than_the_tree_may(
    named: MakeNamed, make_workflow: MakeWorkflow, office: Office
) -> None:
    def greedy() -> ScriptedModel:
        return ScriptedModel(cycle=True, delay=SOON).calls_all([("look", {"name": str(number)}) for number in range(4)])

    stages = [AgentStage(named(f"a{i}", greedy()), into="text", when_stopped="go on") for i in range(4)]

    await make_workflow(Parallel(stages), budget=Budget(calls=10)).ask("Hi", principal=CLERK)

    assert len(office.done) == 10


async def test_seconds_count_over_all_stages(named: MakeNamed, make_workflow: MakeWorkflow, clock: FrozenClock) -> None:
    def work(_: Draft) -> None:
        clock.move(40)

    loop = Loop([work, named("text", ScriptedModel(cycle=True).says("x"))], until=lambda _, __: False, max_iterations=9)
    flow = make_workflow(loop, clock=clock, budget=Budget(seconds=100))

    outcome = await flow.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.SECONDS


async def test_a_workflow_in_an_agent_uses_up_the_agent_s_budget(
    named: MakeNamed, make_agent: MakeAgent, make_workflow: MakeWorkflow
) -> None:
    model = looking()
    flow = make_workflow(named("text", model))
    outer = make_agent(
        ScriptedModel(cycle=True).calls("flow", question="q"), tools=[flow.as_tool()], budget=Budget(turns=4)
    )

    outcome = await outer.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert len(model.requests) == 3
