"""The report of a workflow: its stages, and what is within them."""

from typing import Any

from placet.models.scripted import ScriptedModel
from placet.runtime.report_html import render_report
from placet.values.outcome import Waiting
from placet.workflow import AgentStage, FunctionStage, Loop, Parallel
from tests.runtime.conftest import BOSS, CLERK
from tests.workflow.conftest import Draft, MakeNamed, MakeWorkflow


def outline(node: Any, depth: int = 0) -> list[str]:
    kind = node.get("type") if node["kind"] == "stage" else node["kind"]
    here = f"{'  ' * depth}{kind} {node['name']}: {node['status']}"
    return [here, *[line for child in node["children"] for line in outline(child, depth + 1)]]


def stay(_: Draft) -> None:
    """Do nothing."""


async def test_stages_rounds_and_branches_stand_in_their_order(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    writer = named("text", ScriptedModel().says("one").calls("pay", to="x", amount=3).says("two"))
    flow = make_workflow(
        named("plan", ScriptedModel().calls("look", name="x").says("planned")),
        Loop([writer, stay], until=lambda _, state: state.text == "two", max_iterations=3, name="improve"),
        Parallel([FunctionStage(stay, name="left"), FunctionStage(stay, name="right")]),
    )
    waiting = await flow.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)
    before: Any = await flow.report(waiting.run_id)
    await flow.approve(waiting.approvals[0].token, by=BOSS)
    after: Any = await flow.report(waiting.run_id)

    assert outline(before["tree"])[-4:] == [
        "    round 2: waiting",
        "      agent text: waiting",
        "        model : done",
        "        tool pay: waiting",
    ]
    assert outline(after["tree"]) == [
        "workflow flow: done",
        "  agent plan: done",
        "    model : done",
        "    tool look: done",
        "    model : done",
        "  loop improve: done",
        "    round 1: done",
        "      agent text: done",
        "        model : done",
        "      function stay: done",
        "    round 2: done",
        "      agent text: done",
        "        model : done",
        "        tool pay: done",
        "        model : done",
        "      function stay: done",
        "  parallel parallel: done",
        "    function left: done",
        "    function right: done",
    ]
    assert "side by side" in render_report(after)


async def test_a_stage_that_failed_is_seen(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    def fail(_: Draft) -> None:
        raise ValueError("hunter2")

    outcome = await make_workflow(stay, fail).ask("Hi", principal=CLERK)
    made: Any = await make_workflow(stay).report(outcome.run_id)

    assert outline(made["tree"]) == ["workflow flow: stopped", "  function stay: done", "  function fail: error"]
    assert made["tree"]["stop"] == "stage"
    assert "hunter2" not in render_report(made)


async def test_an_agent_that_stopped_is_seen_where_it_stopped(named: MakeNamed, make_workflow: MakeWorkflow) -> None:
    flow = make_workflow(AgentStage(named("text", ScriptedModel()), when_stopped="go on"), stay)
    outcome = await flow.ask("Hi", principal=CLERK)

    made: Any = await flow.report(outcome.run_id)

    assert outline(made["tree"]) == [
        "workflow flow: done",
        "  agent text: stopped",
        "    model : error",
        "  function stay: done",
    ]
