"""Money: what the answers of models cost, in records and reports, and budgets that hold."""

import json
from decimal import Decimal
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.errors import ConfigurationError
from placet.models.scripted import ScriptedModel
from placet.runtime.report_html import render_report
from placet.tools.context import Context
from placet.tools.tool import Tool, tool
from placet.values.limits import Budget
from placet.values.outcome import Answer, Stopped, Waiting
from placet.values.price import Price
from placet.values.principal import EVERYONE
from placet.values.run import StopReason, Usage
from placet.workflow import AgentStage, Workflow
from tests.runtime.conftest import BOSS, CLERK, SECRET, MakeAgent
from tests.workflow.conftest import Draft

ID = "openai:some-model"
PRICES = {ID: Price.per_million(input="2", output="10", cached="1")}
USAGE = Usage(input_tokens=100_000, cached_tokens=50_000, output_tokens=5_000, reasoning_tokens=4_000)
COST = Decimal("0.20")  # 0.10 + 0.05 + 0.05


def looking(usage: Usage = USAGE) -> ScriptedModel:
    """A model that never stops, and is charged for."""
    return ScriptedModel(cycle=True, usage=usage, name=ID).calls("look", name="x")


def saying(usage: Usage = USAGE) -> ScriptedModel:
    return ScriptedModel(usage=usage, name=ID).calls("look", name="x").says("done")


def delegate(agent: str) -> Tool:
    @tool(effect="read", roles={EVERYONE}, timeout=30)
    async def ask(task: str, context: Context[Any]) -> str:
        """Delegate a task."""
        return str((await context.runtime.run(agent, task)).text)

    return ask


async def test_what_a_run_costs_stands_in_outcome_record_and_report(make_agent: MakeAgent) -> None:
    agent = make_agent(saying(), prices=PRICES)

    outcome = await agent.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert outcome.usage == Usage(
        input_tokens=200_000, cached_tokens=100_000, output_tokens=10_000, reasoning_tokens=8_000, cost=2 * COST
    )
    records = [json.loads(one.entry.body) async for one in agent.store.read(run_id=outcome.run_id)]
    assert records[-1]["cost"] == "0.4"
    assert [one["cost"] for one in records[-1]["asked"]] == ["0.2", "0.2"]
    report: Any = await agent.report(outcome.run_id)
    assert report["tree"]["usage"]["cost"] == "0.4"
    assert report["tree"]["usage"]["reasoning_tokens"] == 8_000


@pytest.mark.parametrize(("language", "words"), [("en", "cost: 0.4"), ("pt-BR", "custo: 0.4"), ("ro", "cost: 0.4")])
async def test_what_a_run_costs_stands_on_its_page(make_agent: MakeAgent, language: str, words: str) -> None:
    agent = make_agent(saying(), prices=PRICES)
    outcome = await agent.ask("Hi", principal=CLERK)
    report = await agent.report(outcome.run_id)
    assert report is not None

    assert words in render_report(report, language)


async def test_a_budget_of_money_ends_the_run(make_agent: MakeAgent) -> None:
    model = looking()
    agent = make_agent(model, prices=PRICES, budget=Budget(cost=Decimal("0.50")))

    outcome = await agent.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.COST
    assert len(model.requests) == 3, "the answer that passes the bound is the last one"


async def test_a_budget_of_money_needs_prices(make_agent: MakeAgent) -> None:
    with pytest.raises(ConfigurationError, match="no price is known for the model 'openai:some-model'"):
        make_agent(saying(), budget=Budget(cost=Decimal(1)))


async def test_a_budget_of_money_needs_prices_of_nested_agents(make_agent: MakeAgent) -> None:
    inner = make_agent(saying(), definition=AgentDefinition(name="inner"))

    with pytest.raises(ConfigurationError, match="no price"):
        make_agent(ScriptedModel(), agents=[inner], budget=Budget(cost=Decimal(1)))

    make_agent(ScriptedModel(), agents=[inner], budget=Budget(cost=Decimal(1)), prices=PRICES)


async def test_an_answer_that_nobody_can_price_ends_a_run_with_a_budget_of_money(make_agent: MakeAgent) -> None:
    """A provider that was said to tell its charges and does not would otherwise be free."""
    model = looking()
    agent = make_agent(model, prices={ID: None}, budget=Budget(cost=Decimal(1)))

    outcome = await agent.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert (outcome.reason, outcome.usage.unpriced, len(model.requests)) == (StopReason.COST, 1, 1)


async def test_what_the_provider_charges_counts(make_agent: MakeAgent) -> None:
    model = looking(Usage(input_tokens=5, cost=Decimal("0.3")))
    agent = make_agent(model, prices={ID: None}, budget=Budget(cost=Decimal("0.5")))

    outcome = await agent.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert (outcome.reason, outcome.usage.cost) == (StopReason.COST, Decimal("0.6"))


async def test_an_answer_that_nobody_has_counted_ends_a_run_with_a_budget_of_tokens(make_agent: MakeAgent) -> None:
    model = looking(Usage())

    outcome = await make_agent(model, budget=Budget(tokens=1_000)).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert (outcome.reason, len(model.requests)) == (StopReason.TOKENS, 1)


async def test_without_a_bound_what_nobody_knows_is_only_said(make_agent: MakeAgent) -> None:
    agent = make_agent(saying(Usage()))

    outcome = await agent.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Answer)
    assert (outcome.usage.uncounted, outcome.usage.unpriced) == (2, 2)
    report: Any = await agent.report(outcome.run_id)
    assert report["tree"]["usage"] == {"uncounted": 2, "unpriced": 2}


@pytest.mark.parametrize(
    ("budget", "reason"),
    [(Budget(cost=Decimal("0.90")), StopReason.COST), (Budget(tokens=450_000), StopReason.TOKENS)],
)
async def test_nested_runs_use_up_money_and_tokens_of_the_outermost(
    make_agent: MakeAgent, budget: Budget, reason: StopReason
) -> None:
    inner_model, outer_model = looking(), ScriptedModel(cycle=True, usage=USAGE, name=ID).calls("ask", task="again")
    inner = make_agent(inner_model, definition=AgentDefinition(name="inner"))
    outer = make_agent(outer_model, tools=[delegate("inner")], agents=[inner], budget=budget, prices=PRICES)

    outcome = await outer.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert outcome.reason is reason
    assert len(inner_model.requests) + len(outer_model.requests) == 5
    assert outcome.usage.cost == 5 * COST


async def test_a_workflow_has_one_budget_of_money(make_agent: MakeAgent) -> None:
    stages = [AgentStage(make_agent(saying(), definition=AgentDefinition(name=name)), into="text") for name in "ab"]
    flow = Workflow(
        "flow", state=Draft, stages=stages, store="memory:", secret=SECRET, prices=PRICES,
        budget=Budget(turns=50, cost=Decimal("0.50")),
    )  # fmt: skip

    outcome = await flow.ask("Hi", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert (outcome.reason, outcome.usage.cost) == (StopReason.COST, 3 * COST)


async def test_money_survives_a_wait(make_agent: MakeAgent) -> None:
    """What a run has cost before it waited counts in the process that goes on with it."""
    model = ScriptedModel(usage=USAGE, name=ID).calls("pay", to="x", amount=3).says("done")
    agent = make_agent(model, prices=PRICES)
    waiting = await agent.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)

    outcome = await agent.approve(waiting.approvals[0].token, by=BOSS)

    assert isinstance(outcome, Answer)
    assert outcome.usage.cost == 2 * COST
