"""Runs in runs: one principal, one budget, one book; a pause inside pauses the outermost."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.agent.snapshot import load_run
from placet.errors import ConfigurationError
from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from placet.tools.context import Context
from placet.tools.tool import Tool, tool
from placet.values.limits import Budget
from placet.values.message import ToolMessage
from placet.values.outcome import Answer, Outcome, Refused, Stopped, Waiting
from placet.values.principal import EVERYONE, Principal
from placet.wiring import Agent
from tests.runtime.conftest import BOSS, CLERK, TOOLS, MakeAgent, Office
from tests.runtime.doors import results_of

entered: list[str] = []


def delegate(name: str, *agents: str) -> Tool:
    """A tool that asks other agents, one after the other."""

    async def ask_others(task: str, context: Context[Any]) -> str:
        """Delegate a task."""
        entered.append(name)
        answers = [await context.runtime.run(agent, task) for agent in agents]
        return "; ".join(answer.text for answer in answers)

    return tool(effect="read", roles={EVERYONE}, name=name, timeout=30)(ask_others)


@pytest.fixture(autouse=True)
def nobody_has_entered() -> None:
    entered.clear()


def results(outcome: Outcome) -> list[str]:
    assert not isinstance(outcome, Refused)
    return [result.content for m in outcome.history if isinstance(m, ToolMessage) for result in m.results]


def build(make_agent: MakeAgent, **scripts: ScriptedModel) -> Agent:
    """An agent `outer` that asks `middle`, which asks `inner`, which pays."""
    inner = make_agent(scripts["inner"], definition=AgentDefinition(name="inner"))
    middle = make_agent(
        scripts["middle"], definition=AgentDefinition(name="middle"), tools=[delegate("ask_inner", "inner")],
        agents=[inner],
    )  # fmt: skip
    return make_agent(
        scripts["outer"], definition=AgentDefinition(name="outer"), tools=[delegate("ask_middle", "middle")],
        agents=[middle],
    )  # fmt: skip


def paying() -> dict[str, ScriptedModel]:
    return {
        "outer": ScriptedModel().calls("ask_middle", task="pay x").says("outer done"),
        "middle": ScriptedModel().calls("ask_inner", task="pay x").says("middle done"),
        "inner": ScriptedModel().calls("look", name="x").calls("pay", to="x", amount=3).says("inner done"),
    }


async def test_a_nested_run_answers_the_tool_that_started_it(make_agent: MakeAgent, heard: ListSink) -> None:
    inner = make_agent(ScriptedModel().calls("look", name="sky").says("blue"), definition=AgentDefinition(name="inner"))
    outer = make_agent(
        ScriptedModel().calls("ask", task="colour?").says("done"), tools=[delegate("ask", "inner")], agents=[inner]
    )

    outcome = await outer.ask("Hi", principal=CLERK)

    assert results(outcome) == ["blue"]
    (look,) = [entry for entry in heard.entries if entry.tool == "look"]
    assert look.call_key.startswith(f"{outcome.run_id}:1.0/1:")
    assert look.principal_id == CLERK.id


async def test_a_pause_two_levels_deep_pauses_the_outermost_run_and_goes_on_there(
    make_agent: MakeAgent, office: Office
) -> None:
    outer = build(make_agent, **paying())

    waiting = await outer.ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)
    assert waiting.approvals[0].tool == "pay"
    assert office.done == [("look", "x")]
    outcome = await outer.approve(waiting.approvals[0].token, by=BOSS)

    assert isinstance(outcome, Answer)
    assert outcome.text == "outer done"
    assert results(outcome) == ["middle done"]
    assert office.done == [("look", "x"), ("pay", "x", 3)]
    assert entered == ["ask_middle", "ask_inner", "ask_middle", "ask_inner"]


async def test_it_goes_on_in_another_process_too(make_agent: MakeAgent, office: Office) -> None:
    waiting = await build(make_agent, **paying()).ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)

    rest = {name: ScriptedModel().says(f"{name} done elsewhere") for name in ("outer", "middle", "inner")}
    outcome = await build(make_agent, **rest).approve(waiting.approvals[0].id, by=BOSS)

    assert isinstance(outcome, Answer)
    assert outcome.text == "outer done elsewhere"
    assert results(outcome) == ["middle done elsewhere"]
    assert office.done == [("look", "x"), ("pay", "x", 3)]


async def test_a_rejection_inside_reaches_the_inner_model(make_agent: MakeAgent, office: Office) -> None:
    scripts = paying()
    outer = build(make_agent, **scripts)
    waiting = await outer.ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)

    outcome = await outer.reject(waiting.approvals[0].token, by=BOSS, reason="not today")

    assert isinstance(outcome, Answer)
    last = scripts["inner"].requests[-1].transcript[-1]
    assert isinstance(last, ToolMessage)
    assert "not today" in last.results[0].content
    assert ("pay", "x", 3) not in office.done


async def test_what_has_ended_is_answered_from_the_book_when_the_tool_is_entered_again(
    make_agent: MakeAgent, office: Office
) -> None:
    looker = make_agent(ScriptedModel().calls("look", name="a").says("seen"), definition=AgentDefinition(name="looker"))
    payer = make_agent(
        ScriptedModel().calls("pay", to="y", amount=1).says("paid"), definition=AgentDefinition(name="payer")
    )
    outer = make_agent(
        ScriptedModel().calls("both", task="t").says("ok"),
        tools=[delegate("both", "looker", "payer")],
        agents=[looker, payer],
    )

    waiting = await outer.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)
    outcome = await outer.approve(waiting.approvals[0].token, by=BOSS)

    assert results(outcome) == ["seen; paid"]
    assert office.done == [("look", "a"), ("pay", "y", 1)]


async def test_runs_side_by_side_are_seen_through_before_the_tree_is_stored(
    make_agent: MakeAgent, office: Office
) -> None:
    @tool(effect="read", roles={EVERYONE}, timeout=30)
    async def side_by_side(context: Context[Any]) -> str:
        """Ask two agents at once."""
        answers = await asyncio.gather(context.runtime.run("payer", "p"), context.runtime.run("looker", "l"))
        return "; ".join(answer.text for answer in answers)

    slow = ScriptedModel(delay=timedelta(milliseconds=20))  # the payer waits long before
    looker = make_agent(slow.calls("look", name="a").says("seen"), definition=AgentDefinition(name="looker"))
    payer = make_agent(
        ScriptedModel().calls("pay", to="y", amount=1).says("paid"), definition=AgentDefinition(name="payer")
    )
    outer = make_agent(ScriptedModel().calls("side_by_side").says("ok"), tools=[side_by_side], agents=[looker, payer])

    waiting = await outer.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)
    assert office.done == [("look", "a")]
    outcome = await outer.approve(waiting.approvals[0].token, by=BOSS)

    assert results(outcome) == ["paid; seen"]
    assert office.done == [("look", "a"), ("pay", "y", 1)]


def test_two_agents_of_one_name_are_refused(make_agent: MakeAgent) -> None:
    one, two = (make_agent(definition=AgentDefinition(name="inner")) for _ in range(2))

    make_agent(agents=[one, one])
    with pytest.raises(ConfigurationError, match="two of the agents to nest are called 'inner'"):
        make_agent(agents=[one, two])


async def test_nested_runs_use_up_the_budget_of_the_outermost(make_agent: MakeAgent) -> None:
    inner = make_agent(ScriptedModel(cycle=True).calls("look", name="x"), definition=AgentDefinition(name="inner"))
    outer = make_agent(
        ScriptedModel(cycle=True).calls("ask", task="again"),
        definition=AgentDefinition(name="outer", budget=Budget(turns=6)),
        tools=[delegate("ask", "inner")],
        agents=[inner],
    )

    outcome = await outer.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    run = await outer.store.load_run(outcome.run_id)
    assert run is not None
    assert '"nested_turns":5' in run.snapshot


async def test_a_nested_run_has_no_more_than_the_outermost_has_left(make_agent: MakeAgent) -> None:
    greedy = Budget(turns=99, calls=99, parallel=99, seconds=9_999, output_bytes=9_999_999)
    inner = make_agent(paying()["inner"], definition=AgentDefinition(name="inner", budget=greedy))
    outer = make_agent(
        ScriptedModel().calls("look", name="x").calls("ask", task="pay"),
        definition=AgentDefinition(name="outer", budget=Budget(turns=6, calls=7, parallel=2, seconds=50)),
        tools=[delegate("ask", "inner"), *TOOLS],
        agents=[inner],
    )

    outcome = await outer.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Waiting)
    stored = await outer.store.load_run(outcome.run_id)
    assert stored is not None
    (nested,) = load_run(stored.snapshot, stored.journal).children.values()
    assert nested.budget == Budget(turns=4, calls=5, parallel=2, seconds=50)


async def test_code_that_swallows_the_leaving_counts_for_nothing(make_agent: MakeAgent, office: Office) -> None:
    @tool(effect="read", roles={EVERYONE}, timeout=30)
    async def greedy(context: Context[Any]) -> str:
        """Swallow everything."""
        try:
            await context.runtime.run("payer", "p")
        except BaseException:  # noqa: BLE001 - the worst that code can do
            return "paid, honestly"
        return "paid"

    payer = make_agent(
        ScriptedModel().calls("pay", to="y", amount=1).says("paid"), definition=AgentDefinition(name="payer")
    )
    outer = make_agent(ScriptedModel().calls("greedy").says("ok"), tools=[greedy], agents=[payer])

    waiting = await outer.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)
    outcome = await outer.approve(waiting.approvals[0].token, by=BOSS)

    assert results(outcome) == ["paid"]
    assert office.done == [("pay", "y", 1)]


async def test_a_tool_with_an_effect_of_its_own_nests_nothing(make_agent: MakeAgent) -> None:
    @tool(effect="write", roles={EVERYONE}, waiver="a test")
    async def write_and_ask(context: Context[Any]) -> str:
        """Do both."""
        return "no runtime" if context.runtime is None else "a runtime"

    outcome = await make_agent(ScriptedModel().calls("write_and_ask").says("ok"), tools=[write_and_ask]).ask(
        "Hi", principal=CLERK
    )

    assert results(outcome) == ["no runtime"]


async def test_a_no_inside_holds_for_every_run_of_the_tree(make_agent: MakeAgent, office: Office) -> None:
    model = ScriptedModel()
    for _ in range(2):
        model.calls("pay", to="x", amount=3).says("no")
    inner = make_agent(model, definition=AgentDefinition(name="inner"))
    asking = ScriptedModel().calls("ask", task="1").calls("ask", task="2").says("outer done")
    outer = make_agent(asking, tools=[delegate("ask", "inner")], agents=[inner])
    waiting = await outer.ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)

    outcome = await outer.reject(waiting.approvals[0].token, by=BOSS)

    assert isinstance(outcome, Answer)  # and nobody is asked a second time
    assert not office.done
    assert results_of(model.requests[-1].transcript)[-1].code == "rejected"


async def test_a_tool_that_is_entered_again_has_taken_its_limit_once(make_agent: MakeAgent, office: Office) -> None:
    @tool(effect="read", roles={EVERYONE}, timeout=30, limit="1/hour")
    async def once_an_hour(context: Context[Any]) -> str:
        """Ask the payer."""
        return str((await context.runtime.run("payer", "p")).text)

    def outer() -> Agent:
        payer = make_agent(
            ScriptedModel().calls("pay", to="y", amount=1).says("paid"), definition=AgentDefinition(name="payer")
        )
        return make_agent(ScriptedModel().calls("once_an_hour").says("ok"), tools=[once_an_hour], agents=[payer])

    agent = outer()
    waiting = await agent.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)
    outcome = await agent.approve(waiting.approvals[0].token, by=BOSS)
    again = await outer().ask("Hi", principal=CLERK)

    assert results(outcome) == ["paid"]
    assert office.done == [("pay", "y", 1)]
    assert "limit reached" in results(again)[0]


async def test_a_nested_agent_asks_the_directory_of_the_tree(make_agent: MakeAgent, office: Office) -> None:
    class Today:
        async def find(self, principal_id: str) -> Principal | None:
            return Principal(principal_id, {"garden"})

    inner = make_agent(ScriptedModel().calls("look", name="x").says("no"), definition=AgentDefinition(name="inner"))
    inner._stated.state(CLERK)  # who they once were
    outer = make_agent(
        ScriptedModel().calls("ask", task="t").says("ok"),
        tools=[delegate("ask", "inner")],
        agents=[inner],
        directory=Today(),
    )

    assert isinstance(await outer.ask("Hi", principal=CLERK), Answer)
    assert entered == ["ask"]
    assert not office.done
