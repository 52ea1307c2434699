import asyncio
import json

import pytest

from placet.models.scripted import ScriptedModel
from placet.runtime.settle import settle_effect
from placet.runtime.sinks import ListSink
from placet.tools.tool import tool
from placet.values.approval import Approval
from placet.values.audit import AuditKind
from placet.values.decision import Reason
from placet.values.effect import EffectRecord, EffectState
from placet.values.outcome import Refused, Waiting
from placet.values.principal import Principal
from placet.wiring import Agent
from tests.runtime.conftest import BOSS, CLERK, OTHER_CLERK, MakeAgent

STRANGER = Principal("x1", roles={"garden"})


@tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}))
async def wire(amount: int) -> str:
    """Wire money."""
    raise OSError(f"connection reset after {amount}")


async def broken(agent: Agent) -> str:
    """Return the key of a write that nobody knows the end of."""
    await agent.ask("go", principal=CLERK)
    (effect,) = await agent.store.list_effects(states=[EffectState.UNKNOWN])
    return effect.key


@pytest.fixture
async def agent(make_agent: MakeAgent) -> Agent:
    agent = make_agent(ScriptedModel().calls("break_something", how="badly").says("hm"))
    for person in (CLERK, OTHER_CLERK, BOSS, STRANGER):
        agent._stated.state(person)
    return agent


@pytest.mark.parametrize("state", [EffectState.DONE, EffectState.FAILED])
async def test_a_person_settles_what_is_unknown_and_it_is_recorded_who_said_so(
    agent: Agent, heard: ListSink, state: EffectState
) -> None:
    key = await broken(agent)

    settled = await settle_effect(agent.world, key, state, "s2")

    assert isinstance(settled, EffectRecord)
    assert settled.state is state
    last = heard.entries[-1]
    assert (last.kind, last.principal_id, last.call_key) == (AuditKind.OUTCOME, "s2", key)
    assert json.loads(last.body)["requested_by"] == "s1"


async def test_the_same_call_may_be_made_again_once_it_is_settled_as_failed(make_agent: MakeAgent) -> None:
    first = make_agent(ScriptedModel().calls("break_something", how="badly").says("hm"))
    key = await broken(first)
    again = make_agent(ScriptedModel(cycle=True).calls("break_something", how="badly").says("hm"))

    await again.ask("go", principal=CLERK)
    assert len(await again.store.list_effects()) == 1
    await settle_effect(first.world, key, EffectState.FAILED, "s1")
    await again.ask("go", principal=CLERK)

    assert len(await again.store.list_effects()) == 2


async def test_what_is_known_is_not_settled_again(agent: Agent) -> None:
    key = await broken(agent)
    await settle_effect(agent.world, key, EffectState.DONE, "s1")

    again = await settle_effect(agent.world, key, EffectState.FAILED, "s1")

    assert isinstance(again, Refused)
    assert again.reason is Reason.KEY_CONFLICT


@pytest.mark.parametrize(("key", "by"), [("nothing", "s1"), ("", "s1"), (None, "nobody")])
async def test_neither_an_effect_nor_a_person_is_made_up(agent: Agent, key: str | None, by: str) -> None:
    known = await broken(agent)

    refused = await settle_effect(agent.world, known if key is None else key, EffectState.DONE, by)

    assert isinstance(refused, Refused)
    assert refused.reason is Reason.NOT_FOUND


async def test_who_may_not_call_the_tool_settles_nothing(agent: Agent) -> None:
    key = await broken(agent)

    refused = await settle_effect(agent.world, key, EffectState.FAILED, "x1")

    assert isinstance(refused, Refused)
    assert refused.reason is Reason.NOT_PERMITTED
    assert (await agent.store.list_effects(states=[EffectState.UNKNOWN]))[0].key == key


async def test_what_another_had_to_approve_is_not_settled_by_its_requester(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("wire", amount=5).says("hm"), tools=(wire,))
    waiting = await agent.ask("go", principal=CLERK)
    assert isinstance(waiting, Waiting)
    await agent.approve(waiting.approvals[0].token, by=BOSS)
    (effect,) = await agent.store.list_effects(states=[EffectState.UNKNOWN])

    own = await settle_effect(agent.world, effect.key, EffectState.FAILED, "s1")
    theirs = await settle_effect(agent.world, effect.key, EffectState.FAILED, "f1")

    assert isinstance(own, Refused)
    assert isinstance(theirs, EffectRecord)


async def test_what_may_still_end_by_itself_is_not_settled(make_agent: MakeAgent) -> None:
    begun, end = asyncio.Event(), asyncio.Event()

    @tool(effect="write", roles={"support"}, waiver="a test", timeout=60)
    async def wait() -> str:
        """Take a long time."""
        begun.set()
        await end.wait()
        return "waited"

    agent = make_agent(tools=[wait])
    running = asyncio.create_task(agent.call("wait", {}, principal=CLERK, key="1"))
    await begun.wait()
    (effect,) = await agent.store.list_effects()
    refused = await settle_effect(agent.world, effect.key, EffectState.FAILED, CLERK.id)
    end.set()
    await running

    assert isinstance(refused, Refused)
    assert refused.reason is Reason.EFFECT_RUNNING
    assert [effect.state for effect in await agent.store.list_effects()] == [EffectState.DONE]
