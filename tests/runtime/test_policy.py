"""What a policy says holds at every door, whatever else the tool declares."""

from dataclasses import replace
from datetime import date
from typing import Annotated, Any

import pytest
from pydantic import Field, HttpUrl

from placet.errors import PolicyError
from placet.models.scripted import ScriptedModel
from placet.runtime.settle import settle_effect
from placet.tools.context import Context
from placet.tools.tool import Tool, tool
from placet.values.approval import Approval
from placet.values.decision import Reason
from placet.values.effect import EffectRecord, EffectState
from placet.values.outcome import Refused
from placet.values.policy import Comparison, Condition, Policy, forbid, permit
from placet.values.principal import EVERYONE, Principal
from placet.wiring import Agent
from tests.runtime.conftest import CLERK, MakeAgent, Office, break_something
from tests.runtime.doors import DOORS

STRANGER = Principal("x1", roles={"garden"})


@tool(effect="write", waiver="the policy says who")
async def post(
    context: Context[Office], url: HttpUrl, day: date, sender: Annotated[str, Field(alias="from")] = "us"
) -> str:
    """Post something."""
    context.deps.done.append(("post", str(url), str(day), sender))
    return "posted"


@tool(effect="read", roles={"support"}, approval=Approval.always(approvers={"finance"}))
async def ask_first() -> str:
    """Do nothing, once somebody has allowed it."""
    return "asked"


def policy_of(*tools: str, conditions: Any = ()) -> Policy:
    rules = [permit("clerks", tools, roles=["support"])]
    if conditions:
        rules.append(forbid("never", ["post"], roles=[EVERYONE], conditions=conditions))
    return Policy(rules=tuple(rules), roles=frozenset({"support", "finance"}))


def made_with(make_agent: MakeAgent, conditions: Any) -> MakeAgent:
    """Return a maker of agents that have the policy, whatever a door asks for beside."""

    def make(*arguments: Any, **options: Any) -> Agent:
        tools: list[Tool] = [*options.pop("tools", [post, ask_first])]
        policy = policy_of(*[one.name for one in tools], conditions=conditions if post in tools else ())
        return make_agent(*arguments, tools=tools, policy=policy, **options)

    return make


FINE: dict[str, Any] = {"url": "https://ours.example/", "day": "2026-11-29", "from": "us"}


@pytest.mark.parametrize("door", sorted(DOORS))
@pytest.mark.parametrize(
    ("condition", "changes"),
    [
        (Condition("url", Comparison.STARTS_WITH, "http://"), {"url": "http://theirs.example/"}),
        (Condition("day", Comparison.EQUALS, "2026-12-24"), {"day": "2026-12-24"}),
        (Condition("from", Comparison.EQUALS, "them"), {"from": "them"}),
    ],
)
async def test_what_a_policy_forbids_is_forbidden_whatever_type_the_argument_has(
    make_agent: MakeAgent, office: Office, door: str, condition: Condition, changes: dict[str, Any]
) -> None:
    make = made_with(make_agent, [condition])

    forbidden = await DOORS[door](make, "post", {**FINE, **changes}, CLERK)
    fine = await DOORS[door](make, "post", FINE, CLERK)

    assert (forbidden.code, fine.code) == (Reason.NOT_PERMITTED, "ok")
    assert len(office.done) == 1


@pytest.mark.parametrize(
    "declared",
    [{"roles": {"support", "suport"}}, {"approval": Approval.always(approvers={"fnance"})}],
)
def test_a_tool_that_names_a_role_which_its_policy_does_not_know_does_not_build(
    make_agent: MakeAgent, declared: dict[str, Any]
) -> None:
    async def look_up() -> str:
        """Look something up."""
        return "blue"

    made = tool(effect="read", **{"roles": {"support"}, **declared})(look_up)

    with pytest.raises(PolicyError, match="which the policy does not declare"):
        make_agent(tools=[made], policy=policy_of("look_up"))


def test_a_product_that_counts_for_nothing_is_refused(make_agent: MakeAgent) -> None:
    for policy in (None, policy_of("post")):
        with pytest.raises(PolicyError, match="is for a policy file"):
            make_agent(tools=[post], policy=policy, product="chat")


async def test_a_write_that_a_policy_alone_permits_needs_a_key_too(make_agent: MakeAgent, office: Office) -> None:
    agent = made_with(make_agent, ())()

    result = await agent.call("post", FINE, principal=CLERK)

    assert isinstance(result, Refused)
    assert result.reason is Reason.KEY_REQUIRED
    assert not office.done


async def test_what_a_policy_hides_from_a_person_they_do_not_settle(make_agent: MakeAgent) -> None:
    policy = Policy(rules=(permit("clerks", ["break_something"], roles=["support"]),), roles=frozenset({"support"}))
    for roles in (frozenset({EVERYONE}), None):
        broken = replace(break_something, spec=replace(break_something.spec, roles=roles))
        model = ScriptedModel().calls("break_something", how="badly").says("hm")
        agent = make_agent(model, tools=[broken], policy=policy)
        agent._stated.state(STRANGER)
        await agent.ask("go", principal=CLERK)
        (effect,) = await agent.store.list_effects(states=[EffectState.UNKNOWN])

        refused = await settle_effect(agent.world, effect.key, EffectState.FAILED, STRANGER.id)
        settled = await settle_effect(agent.world, effect.key, EffectState.FAILED, CLERK.id)

        assert isinstance(refused, Refused)
        assert isinstance(settled, EffectRecord)
