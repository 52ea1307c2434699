"""A run that nobody owns goes on elsewhere; who lost it starts nothing more."""

import asyncio
from typing import Any

import pytest

from placet.agent.snapshot import load_run
from placet.errors import StoreError
from placet.models.scripted import ScriptedModel
from placet.ports import ModelAnswer, ModelRequest, Store
from placet.runtime.decide import decide
from placet.runtime.sinks import ListSink
from placet.runtime.waiting import take_decisions
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.approval import Approval, Preview, Yes
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import ToolCall, ToolResult
from placet.values.effect import Claim, ClaimAnswer, EffectState
from placet.values.message import ToolMessage
from placet.values.outcome import Answer, Outcome, Refused, Waiting
from tests.runtime.conftest import BOSS, CLERK, MakeAgent, Office


def results(outcome: Outcome) -> list[ToolResult]:
    assert not isinstance(outcome, Refused)
    return [result for message in outcome.history if isinstance(message, ToolMessage) for result in message.results]


async def test_a_worker_that_was_taken_over_starts_no_write(
    make_agent: MakeAgent, office: Office, clock: FrozenClock, heard: ListSink
) -> None:
    frozen, woken = asyncio.Event(), asyncio.Event()

    async def sleeps(_: ModelRequest) -> ModelAnswer:
        frozen.set()
        await woken.wait()
        return ModelAnswer(calls=(ToolCall("c1", "note", '{"text": "from the dead"}'),))

    late = make_agent(ScriptedModel().does(sleeps).says("ok"), clock=clock)
    run_id = late.world.ids.new("run")
    sleeping = asyncio.create_task(late._ask("Hi", CLERK, (), None, None, run_id=run_id))
    await frozen.wait()
    clock.move(3600)
    heir = make_agent(ScriptedModel().calls("look", name="from the heir").says("ok"), clock=clock)
    assert isinstance(await heir.resume(run_id), Answer)
    woken.set()
    outcome = await sleeping

    assert office.done == [("look", "from the heir")]
    assert isinstance(outcome, Refused)
    assert outcome.reason == "lease_lost"


@pytest.mark.parametrize("its_own", [asyncio.CancelledError(), RuntimeError("the client broke")], ids=repr)
async def test_who_was_taken_over_ends_by_what_ended_it(
    make_agent: MakeAgent, clock: FrozenClock, its_own: BaseException
) -> None:
    frozen, woken = asyncio.Event(), asyncio.Event()

    async def ends(_: ModelRequest) -> ModelAnswer:
        frozen.set()
        await woken.wait()
        raise its_own

    late = make_agent(ScriptedModel().does(ends), clock=clock)
    run_id = late.world.ids.new("run")
    sleeping = asyncio.create_task(late._ask("Hi", CLERK, (), None, None, run_id=run_id))
    await frozen.wait()
    clock.move(3600)
    assert isinstance(await make_agent(ScriptedModel().says("ok"), clock=clock).resume(run_id), Answer)
    woken.set()

    with pytest.raises(type(its_own)):
        await sleeping


async def test_a_write_that_was_running_when_its_worker_died_is_unknown_and_not_run_again(
    make_agent: MakeAgent, office: Office, clock: FrozenClock, store: Store, heard: ListSink
) -> None:
    """The worker dies after the model's answer is journalled and the intent stored, before any outcome."""
    dead = Dying(store)
    dying = make_agent(ScriptedModel().calls("note", text="once").says("never said"), clock=clock, store=dead)
    run_id = dying.world.ids.new("run")
    task = asyncio.create_task(dying._ask("Hi", CLERK, (), None, None, run_id=run_id))
    await asyncio.sleep(0.05)
    assert office.done == [("note", "once")]
    clock.move(3600)

    heir = make_agent(ScriptedModel().says("I do not know whether it was written."), clock=clock)
    outcome = await heir.resume(run_id)
    dead.buried.set()
    assert isinstance(await task, Refused)

    assert isinstance(outcome, Answer)
    assert [result.code for result in results(outcome)] == ["effect_unknown"]
    assert office.done == [("note", "once")]
    (effect,) = await store.list_effects(run_id=run_id)
    assert effect.state is EffectState.UNKNOWN
    assert "effect_unknown" in [entry.decision for entry in heard.entries if entry.kind is AuditKind.OUTCOME]


class Dying:
    """A store on which the outcome of an effect never arrives: the worker dies first."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.buried = asyncio.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def settle(self, key: str, state: EffectState, result: str | None, entry: AuditEntry) -> None:
        await self.buried.wait()
        raise StoreError("the worker is dead")


async def test_a_write_that_was_done_before_the_takeover_is_answered_by_the_ledger_whatever_the_limits_say(
    make_agent: MakeAgent, office: Office, clock: FrozenClock
) -> None:
    @tool(effect="write", roles={"support"}, waiver="a test", limit="1/day")
    async def once_a_day(context: Context[Office]) -> str:
        """Do something that may be done once a day."""
        context.deps.done.append(("once a day",))
        return "done today"

    asked_again = asyncio.Event()

    async def never(_: ModelRequest) -> ModelAnswer:
        asked_again.set()
        await asyncio.Event().wait()
        raise AssertionError

    dying = make_agent(ScriptedModel().calls("once_a_day").does(never), clock=clock, tools=[once_a_day])
    run_id = dying.world.ids.new("run")
    task = asyncio.create_task(dying._ask("Hi", CLERK, (), None, None, run_id=run_id))
    await asked_again.wait()
    clock.move(3600)
    heir = make_agent(ScriptedModel().says("It was done."), clock=clock, tools=[once_a_day])
    outcome = await heir.resume(run_id)
    task.cancel()
    await asyncio.wait({task})

    assert [result.content for result in results(outcome)] == ["done today"]
    assert office.done == [("once a day",)]


async def test_a_snapshot_cannot_borrow_the_approval_of_another_run(make_agent: MakeAgent, store: Store) -> None:
    """Stored state was edited: the waiting call points to a request that was approved elsewhere."""
    agent = make_agent(ScriptedModel().calls("pay", to="x", amount=1).calls("pay", to="x", amount=1).says("ok"))
    first = await agent.ask("Pay", principal=CLERK)
    second = await agent.ask("Pay", principal=CLERK)
    assert isinstance(first, Waiting)
    assert isinstance(second, Waiting)
    assert not isinstance(await decide(agent.world, second.approvals[0].id, agent._state(BOSS), Yes.APPROVE), Refused)
    stored = await store.load_run(first.run_id)
    assert stored is not None

    forged = load_run(stored.snapshot.replace(first.approvals[0].id, second.approvals[0].id))
    decided = await take_decisions(agent.world, forged, first.run_id)

    assert not decided.approved
    last = decided.run.transcript[-1]
    assert isinstance(last, ToolMessage)
    assert [result.code for result in last.results] == ["approval_void"]


async def test_a_write_that_takes_a_key_is_run_again_with_the_same_key_and_asks_nobody_twice(
    make_agent: MakeAgent, office: Office, clock: FrozenClock, store: Store
) -> None:
    @tool(
        effect="write",
        roles={"support"},
        approval=Approval.always(approvers={"finance"}),
        preview=lambda _arguments, _resource, context: Preview("p", {"paid": len(context.deps.done)}),
        survival="key",
        limit="1/day",
    )
    async def transfer(amount: int, context: Context[Office]) -> str:
        """Transfer money; the bank takes each key once."""
        context.deps.keys.append(context.idempotency_key)
        if context.idempotency_key not in context.deps.keys[:-1]:
            context.deps.done.append(("transfer", amount))
        return "transferred"

    dead = Dying(store)
    dying = make_agent(ScriptedModel().calls("transfer", amount=5), clock=clock, store=dead, tools=[transfer])
    waiting = await dying.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)
    task = asyncio.create_task(dying.approve(waiting.approvals[0].token, by=BOSS))
    await asyncio.sleep(0.05)
    clock.move(600)

    heir = make_agent(ScriptedModel().says("Transferred."), clock=clock, tools=[transfer])
    outcome = await heir.resume(waiting.run_id)
    dead.buried.set()
    await task

    assert [result.content for result in results(outcome)] == ["transferred"]
    assert office.done == [("transfer", 5)]
    assert len(office.keys) == 2
    assert len(set(office.keys)) == 1


async def test_an_approved_read_that_crashed_runs_again_on_its_yes(
    make_agent: MakeAgent, office: Office, clock: FrozenClock
) -> None:
    begun, woken = asyncio.Event(), asyncio.Event()

    @tool(effect="read", roles={"support"}, approval=Approval.always(approvers={"finance"}))
    async def inspect(name: str, context: Context[Office]) -> str:
        """Inspect something; the first worker is frozen over it."""
        context.deps.done.append(("inspect", name))
        if not begun.is_set():
            begun.set()
            await woken.wait()
        return f"{name} is sound"

    dying = make_agent(ScriptedModel().calls("inspect", name="roof"), clock=clock, tools=[inspect])
    waiting = await dying.ask("Hi", principal=CLERK)
    assert isinstance(waiting, Waiting)
    task = asyncio.create_task(dying.approve(waiting.approvals[0].token, by=BOSS))
    await begun.wait()
    clock.move(600)
    heir = make_agent(ScriptedModel().says("It is sound."), clock=clock, tools=[inspect])
    outcome = await heir.resume(waiting.run_id)
    woken.set()
    assert isinstance(await task, Refused)

    assert isinstance(outcome, Answer)
    assert [result.content for result in results(outcome)] == ["roof is sound"]
    assert office.done == [("inspect", "roof")] * 2


class Held:
    """A store whose worker is held up once its claim was taken, for longer than the call may take."""

    def __init__(self, store: Store, clock: FrozenClock) -> None:
        self._store, self._clock = store, clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def claim(self, claim: Claim) -> ClaimAnswer:
        answer = await self._store.claim(claim)
        self._clock.move(3600)
        return answer


async def test_who_was_held_up_after_the_claim_begins_nothing(
    make_agent: MakeAgent, office: Office, clock: FrozenClock, store: Store
) -> None:
    agent = make_agent(ScriptedModel().calls("note", text="late").says("ok"), clock=clock, store=Held(store, clock))
    outcome = await agent.ask("Hi", principal=CLERK)

    assert [result.code for result in results(outcome)] == ["lease_lost"]
    assert not office.done


async def test_a_no_outlives_the_worker_that_has_taken_it(
    make_agent: MakeAgent, office: Office, clock: FrozenClock
) -> None:
    """The worker dies after the model was told of the no and has answered, before the next snapshot."""
    told = asyncio.Event()

    async def never(_: ModelRequest) -> ModelAnswer:
        told.set()
        await asyncio.Event().wait()
        raise AssertionError

    model = ScriptedModel().calls("pay", to="x", amount=3).calls("look", name="sky").does(never)
    dying = make_agent(model, clock=clock)
    waiting = await dying.ask("Pay", principal=CLERK)
    assert isinstance(waiting, Waiting)
    task = asyncio.create_task(dying.reject(waiting.approvals[0].token, by=BOSS))
    await told.wait()
    clock.move(3600)
    heir = make_agent(ScriptedModel().calls("pay", to="x", amount=3).says("ok"), clock=clock)
    outcome = await heir.resume(waiting.run_id)
    task.cancel()
    await asyncio.wait({task})

    assert isinstance(outcome, Answer)
    assert results(outcome)[-1].code == "rejected"
    assert [done for done in office.done if done[0] == "pay"] == []
