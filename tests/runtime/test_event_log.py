import asyncio
import json
from datetime import timedelta

from placet.models.scripted import ScriptedModel
from placet.runtime.event_log import EventLog
from placet.runtime.server_sent import encode_event
from placet.runtime.sinks import ListSink
from placet.values.event import Event, RunEnded, TextDelta
from placet.values.outcome import Answer, Waiting
from tests.runtime.conftest import BOSS, CLERK, MakeAgent


async def test_who_joins_late_gets_the_past_first_and_who_leaves_only_leaves(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel(delay=timedelta(milliseconds=50)).calls("look", name="x").says("It is blue."))
    stream = agent.stream("Hi", principal=CLERK)
    first = await anext(stream)

    late = asyncio.create_task(_collect(agent.watch(first.run_id)))
    async for _ in agent.watch(first.run_id):
        break  # somebody looks in and leaves
    own = [first, *[event async for event in stream]]

    numbered = await late
    assert [event for _, event in numbered] == own
    assert [number for number, _ in numbered] == list(range(1, len(own) + 1))
    assert isinstance(own[-1], RunEnded)
    assert isinstance(own[-1].outcome, Answer)


async def _collect(events) -> list[tuple[int, Event]]:  # type: ignore[no-untyped-def]
    return [numbered async for numbered in events]


async def test_a_watcher_that_comes_back_says_what_it_has_seen(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("look", name="x").says("It is blue."))
    own = [event async for event in agent.stream("Hi", principal=CLERK)]

    missed = [number async for number, _ in agent.watch(own[0].run_id, after=2)]

    assert missed == list(range(3, len(own) + 1))


async def test_a_slow_watcher_slows_nobody() -> None:
    log = EventLog()
    slow = log.watch()
    log.add(TextDelta("run_1", "a"))
    await anext(slow)
    for _ in range(10_000):
        log.add(TextDelta("run_1", "b"))
    log.end()

    assert len([number async for number, _ in log.watch()]) == 10_001
    assert len([number async for number, _ in slow]) == 10_000


async def test_events_go_over_the_wire_one_line_each_and_without_tokens(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("pay", to="x\ny\u2028", amount=1))

    events = [event async for event in agent.stream("Hi", principal=CLERK)]

    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert isinstance(ended.outcome, Waiting)
    token = ended.outcome.approvals[0].token
    for number, event in enumerate(events, 1):
        wire = encode_event(number, event)
        head, kind, data, *rest = wire.decode().split("\n")
        assert (head, rest) == (f"id: {number}", ["", ""])
        assert kind.startswith("event: ")
        json.loads(data.removeprefix("data: "))
        assert token not in data


async def test_a_run_that_goes_on_after_a_wait_goes_on_in_the_same_log(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("pay", to="x", amount=1).says("Paid."))
    before = [event async for event in agent.stream("Pay", principal=CLERK)]
    ended = before[-1]
    assert isinstance(ended, RunEnded)
    assert isinstance(ended.outcome, Waiting)
    told: list[Event] = []

    await agent.approve(ended.outcome.approvals[0].token, by=BOSS, emit=told.append)

    numbered = await _collect(agent.watch(ended.run_id))
    assert [number for number, _ in numbered] == list(range(1, len(numbered) + 1))
    assert [event for _, event in numbered] == [*before, *told]
    assert isinstance(told[-1], RunEnded)
    assert isinstance(told[-1].outcome, Answer)
    missed = await _collect(agent.watch(ended.run_id, after=len(before)))
    assert [event for _, event in missed] == told


async def test_a_second_decision_does_not_end_what_the_first_one_began(make_agent: MakeAgent) -> None:
    model = ScriptedModel(delay=timedelta(milliseconds=50)).calls("pay", to="x", amount=1).says("Paid.")
    agent = make_agent(model)
    *_, ended = [event async for event in agent.stream("Pay", principal=CLERK)]
    assert isinstance(ended, RunEnded)
    assert isinstance(ended.outcome, Waiting)
    approval = ended.outcome.approvals[0].id

    first = asyncio.create_task(agent.approve(approval, by=BOSS))
    await asyncio.sleep(0.01)
    watching = asyncio.create_task(_collect(agent.watch(ended.run_id)))
    await agent.resume(ended.run_id)
    await first

    (*_, (_, last)) = await watching
    assert isinstance(last, RunEnded)
    assert isinstance(last.outcome, Answer)


async def test_leaving_the_loop_is_leaving_the_stream(make_agent: MakeAgent, heard: ListSink) -> None:
    """Without closing it by hand: what is not iterated any more is cancelled."""
    agent = make_agent(ScriptedModel(delay=timedelta(milliseconds=50)).calls("look", name="x").says("too late"))

    async for event in agent.stream("Hi", principal=CLERK):
        run_id = event.run_id
        break
    for _ in range(100):
        if heard.entries[-1].decision == "cancelled":
            break
        await asyncio.sleep(0.01)

    run = await agent.store.load_run(run_id)
    assert run is not None
    assert run.status == "stopped"


async def test_a_slow_consumer_of_a_stream_does_not_slow_the_run(make_agent: MakeAgent) -> None:
    agent = make_agent(ScriptedModel().calls("look", name="x").says("It is blue."))
    stream = agent.stream("Hi", principal=CLERK)

    first = await anext(stream)
    await asyncio.sleep(0.1)  # nobody reads meanwhile
    run = await agent.store.load_run(first.run_id)

    assert run is not None
    assert run.status == "done", "the run has ended although its consumer stands at the first event"
    assert isinstance([event async for event in stream][-1], RunEnded)
