"""How much of a value may pass in a window, through every door."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import Field

from placet.errors import ToolDefinitionError
from placet.models.scripted import ScriptedModel
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval
from placet.values.call import ToolResult
from placet.values.limits import Limit, RateLimit, ValueLimit
from placet.values.outcome import Answer, Waiting
from placet.values.principal import Principal
from placet.wiring import Agent
from tests.runtime.conftest import BOSS, CLERK, MakeAgent, Office
from tests.runtime.doors import DOORS, results_of

DAY = 24 * 3600


@tool(effect="write", roles={"support"}, waiver="petty cash", limit="100 of amount/day")
async def spend(context: Context[Office], amount: Decimal, what: str = "paper") -> str:
    """Spend petty cash."""
    context.deps.done.append(("spend", str(amount), what))
    return "spent"


@pytest.fixture
def spend_through(make_agent: MakeAgent) -> Any:
    def make(door: str, clock: FrozenClock | None = None) -> Any:
        def agent(*arguments: Any, **options: Any) -> Any:
            given = {"tools": [spend, *DOOR_TOOLS], **({"clock": clock} if clock else {}), **options}
            return make_agent(*arguments, **given)

        async def spend_it(amount: Any, principal: Principal = CLERK, what: str = "paper") -> ToolResult:
            return await DOORS[door](agent, "spend", {"amount": amount, "what": what}, principal)

        return spend_it

    return make


@tool(effect="read", roles={"support"}, approval=Approval.always(approvers={"finance"}))
async def ask_first() -> str:
    """Do nothing, once somebody has allowed it."""
    return "asked"


DOOR_TOOLS: tuple[Tool, ...] = (ask_first,)


@pytest.mark.parametrize("door", sorted(DOORS))
async def test_what_the_window_still_holds_passes_and_what_is_more_does_not(
    spend_through: Any, office: Office, door: str
) -> None:
    go = spend_through(door)

    codes = [(await go(amount, what=f"{at}")).code for at, amount in enumerate([60, "30.50", "9.51", "9.50", 1])]

    assert codes == ["ok", "ok", "limit_reached", "ok", "limit_reached"]
    assert sum(Decimal(amount) for _, amount, _ in office.done) == Decimal(100)


async def test_the_model_is_told_which_limit_it_has_reached(spend_through: Any) -> None:
    result = await spend_through("direct")(101)

    assert "100 of amount in 86400 s of spend" in result.content


async def test_each_principal_has_a_window_of_its_own(spend_through: Any) -> None:
    go = spend_through("direct")

    assert (await go(100)).code == "ok"
    assert (await go(100, Principal(id="s2", roles={"support"}))).code == "ok"


async def test_what_has_left_the_window_counts_no_more(spend_through: Any, clock: FrozenClock) -> None:
    go = spend_through("direct", clock)

    assert (await go(100)).code == "ok"
    clock.move(DAY - 1)
    assert (await go(1)).code == "limit_reached"
    clock.move(2)
    assert (await go(1)).code == "ok"


@pytest.mark.parametrize("amount", [-1, "-0.01"])
async def test_a_value_below_zero_gives_no_room_back(spend_through: Any, office: Office, amount: Any) -> None:
    result = await spend_through("loop")(amount)

    assert result.code == "invalid_arguments"
    assert "zero or more" in result.content
    assert not office.done


async def code_of(agent: Agent, tool: str, key: str, **arguments: Any) -> str:
    result = await agent.call(tool, arguments, principal=CLERK, key=key)
    assert isinstance(result, ToolResult)
    return result.code


async def test_fifty_at_once_on_a_budget_for_ten_are_exactly_ten(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(tools=[spend])

    codes = await asyncio.gather(*(code_of(agent, "spend", f"{at}", amount=10, what=f"{at}") for at in range(50)))

    assert sorted(codes) == ["limit_reached"] * 40 + ["ok"] * 10
    assert len(office.done) == 10


async def test_the_calls_of_one_turn_take_their_values_in_call_order(make_agent: MakeAgent, office: Office) -> None:
    amounts = [50, 60, 40, 20, 10]
    model = ScriptedModel().calls_all([("spend", {"amount": amount}) for amount in amounts]).says("ok")

    outcome = await make_agent(model, tools=[spend]).ask("Hi", principal=CLERK)

    assert isinstance(outcome, Answer)
    codes = [result.code for result in results_of(outcome.history)]
    assert codes == ["ok", "limit_reached", "ok", "limit_reached", "ok"]


async def test_an_approved_call_counts_when_it_runs_with_the_value_that_runs(
    make_agent: MakeAgent, office: Office
) -> None:
    @tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}), limit="100 of amount/day")
    async def pay(context: Context[Office], amount: int) -> str:
        """Pay."""
        context.deps.done.append(("pay", amount))
        return "paid"

    async def asked() -> Waiting:
        waiting = await make_agent(ScriptedModel().calls("pay", amount=70), tools=[pay]).ask("Pay", principal=CLERK)
        assert isinstance(waiting, Waiting)
        return waiting

    first, second = await asked(), await asked()  # waiting, they hold nothing
    agent = make_agent(ScriptedModel().says("ok").says("ok"), tools=[pay])
    edited = await agent.approve(first.approvals[0].id, by=BOSS, arguments={"amount": 40})
    over = await agent.approve(second.approvals[0].id, by=BOSS)

    assert isinstance(edited, Answer)
    assert isinstance(over, Answer)
    assert office.done == [("pay", 40)]
    assert results_of(over.history)[-1].code == "limit_reached"


def test_a_limit_of_an_argument_that_a_call_may_lack_does_not_build() -> None:
    async def give(amount: float | None = None) -> str:
        """Give."""
        return ""

    for limit in ("5 of amount/day", "5 of amuont/day"):
        with pytest.raises(ToolDefinitionError, match=r"not an argument that every call has"):
            tool(effect="write", roles={"support"}, waiver="w", limit=limit)(give)


async def test_a_default_counts_where_the_model_sends_nothing(make_agent: MakeAgent) -> None:
    @tool(effect="write", roles={"support"}, waiver="w", limit="5 of amount/day")
    async def give(amount: Annotated[int, Field(ge=0)] = 3) -> str:
        """Give."""
        return "given"

    agent = make_agent(tools=[give])
    codes = [await code_of(agent, "give", f"{at}") for at in range(2)]

    assert codes == ["ok", "limit_reached"]


def test_a_limit_is_written_as_it_is_said() -> None:
    limit = ValueLimit.parse("500.50 of amount / 2 days")

    assert (limit.at_most, limit.argument, limit.per.days) == (Decimal("500.50"), "amount", 2)


@pytest.mark.parametrize(
    "limit",
    [RateLimit(1, timedelta(minutes=1), scope="tool"), ValueLimit(Decimal(9), "amount", timedelta(minutes=1), "tool")],
    ids=["calls", "values"],
)
async def test_a_limit_of_a_tool_is_one_window_for_everybody(make_agent: MakeAgent, limit: Limit) -> None:
    @tool(effect="write", roles={"support"}, waiver="petty cash", limit=limit)
    async def share(amount: int) -> str:
        """Take from what is there for all."""
        return f"took {amount}"

    agent = make_agent(tools=[share])
    codes: list[str] = []
    for key, who in enumerate(("s1", "s2")):
        principal = Principal(who, roles={"support"})
        result = await agent.call("share", {"amount": 5}, principal=principal, key=f"{key}")
        assert isinstance(result, ToolResult)
        codes.append(result.code)

    assert codes == ["ok", "limit_reached"]
