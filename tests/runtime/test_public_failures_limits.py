"""What has failed elsewhere, in public, with limits and with records: each test names its cases."""

import asyncio
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from placet.errors import StoreError
from placet.models.scripted import ScriptedModel
from placet.ports import Store
from placet.runtime.sinks import ListSink
from placet.stores.sqlite import SqliteStore
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import ToolResult
from placet.values.effect import Claim, EffectRecord, EffectState
from placet.values.limits import Budget
from placet.values.outcome import Answer, Stopped
from placet.values.principal import EVERYONE
from placet.values.run import StopReason
from tests.runtime.conftest import BOSS, CLERK, TOOLS, MakeAgent, Office
from tests.runtime.public_failures import list_rows, results, waiting_for
from tests.runtime.test_recording import Failing

# ── limits ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("asked", [6, 12, 30])
async def test_the_calls_that_a_run_has_left_are_the_first_of_a_turn(
    make_agent: MakeAgent, office: Office, asked: int
) -> None:
    """C154: the others are answered in call order, and the run ends with a word for it."""
    model = ScriptedModel().calls_all([("look", {"name": str(n)}) for n in range(asked)]).says("ok")
    agent = make_agent(model, budget=Budget(calls=5, turns=20))

    outcome = await agent.ask("Look", principal=CLERK)

    assert sorted(office.done) == [("look", str(n)) for n in range(5)]
    assert [result.code for result in results(outcome)] == ["ok"] * 5 + ["budget_spent"] * (asked - 5)
    assert all("limit" in result.content or "budget" in result.content for result in results(outcome)[5:])
    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.CALLS


@tool(effect="read", roles={EVERYONE}, limit="100 of tokens/minute")
async def spend(tokens: int, context: Context[Office]) -> str:
    """Spend."""
    context.deps.done.append(("spend", tokens))
    return "spent"


@pytest.mark.parametrize("cost", [101, 200, 10**30])
async def test_what_costs_more_than_a_window_holds_is_refused_at_once(
    make_agent: MakeAgent, office: Office, cost: int
) -> None:
    """C157: it neither waits nor passes, nor takes anything from what fits."""
    agent = make_agent(tools=[spend])
    refused = await asyncio.wait_for(agent.call("spend", {"tokens": cost}, principal=CLERK), 5)
    fits = await agent.call("spend", {"tokens": 100}, principal=CLERK)

    assert isinstance(refused, ToolResult)
    assert refused.code == "limit_reached"
    assert isinstance(fits, ToolResult)
    assert not fits.is_error
    assert office.done == [("spend", 100)]


@tool(effect="read", roles={EVERYONE}, limit="10/60 seconds")
async def knock(context: Context[Office]) -> str:
    """Knock."""
    context.deps.done.append(("knock",))
    return "heard"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_of_fifty_threads_ten_pass_and_the_next_when_the_window_has_moved(
    make_agent: MakeAgent, office: Office, clock: FrozenClock, store: Store, tmp_path: Path, kind: str
) -> None:
    """C158."""
    where = store if kind == "memory" else SqliteStore(tmp_path / "placet.db", key=b"k" * 32)
    agent = make_agent(tools=[knock], clock=clock, store=where)
    codes: list[str] = []
    ready = threading.Barrier(50)

    def one() -> None:
        ready.wait()
        result = agent.run_sync(agent.call("knock", {}, principal=CLERK))
        assert isinstance(result, ToolResult)
        codes.append(result.code)

    threads = [threading.Thread(target=one) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (codes.count("ok"), codes.count("limit_reached")) == (10, 40)

    for seconds, code in ((59, "limit_reached"), (1, "ok")):
        clock.move(seconds)
        result = agent.run_sync(agent.call("knock", {}, principal=CLERK))
        assert isinstance(result, ToolResult)
        assert result.code == code
    agent.close_sync()
    assert len(office.done) == 11


async def test_a_model_that_calls_one_tool_at_every_turn_comes_to_an_end(make_agent: MakeAgent, office: Office) -> None:
    """C159: no tool is forced, so none is forced again, and the limit of the tool holds in the run."""

    @tool(effect="read", roles={EVERYONE}, limit="3/hour")
    async def t(context: Context[Office]) -> str:
        """Do it."""
        context.deps.done.append(("t",))
        return "done"

    model = ScriptedModel(cycle=True).calls("t")
    outcome = await make_agent(model, tools=[t], budget=Budget(turns=8)).ask("Go", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert office.done == [("t",)] * 3
    assert {request.tool_choice for request in model.requests} <= {"auto", "none"}


# ── records ───────────────────────────────────────────────────────────────────────────


async def test_a_read_without_a_record_is_given_out_only_as_declared_and_loudly(
    make_agent: MakeAgent, store: Store, office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    """C231."""
    failing = Failing(store, "append")
    lax = make_agent(tools=[list_rows], store=failing, release_unrecorded_reads=True)
    with caplog.at_level(logging.ERROR, "placet"):
        given = await lax.call("list_rows", {}, principal=CLERK)
    strict = await make_agent(tools=[list_rows], store=failing).call("list_rows", {}, principal=CLERK)

    assert isinstance(given, ToolResult)
    assert given.content == "rows 1, 2 and 3"
    assert lax.world.losses == {AuditKind.CALL: 1}
    assert "could not record" in caplog.text
    assert isinstance(strict, ToolResult)
    assert strict.code == "unrecorded"


async def test_a_write_whose_end_is_not_recorded_has_happened_and_happens_no_more(
    make_agent: MakeAgent, store: Store, office: Office, heard: ListSink, caplog: pytest.LogCaptureFixture
) -> None:
    """C232."""
    agent = make_agent(store=Failing(store, "settle"))
    with caplog.at_level(logging.ERROR, "placet"):
        result = await agent.call("note", {"text": "x"}, principal=CLERK, key="k")
    again = await make_agent().call("note", {"text": "x"}, principal=CLERK, key="k")
    alike = await make_agent().call("note", {"text": "x"}, principal=CLERK, key="l")

    assert isinstance(result, ToolResult)
    assert result.content == "noted"
    assert again == result
    assert isinstance(alike, ToolResult)
    assert alike.code == "effect_running"
    assert office.done == [("note", "x")]
    assert [entry.kind for entry in heard.entries if entry.tool == "note"][:1] == [AuditKind.INTENT]
    assert [effect.state for effect in await store.list_effects()] == [EffectState.RUNNING]
    assert "could not record" in caplog.text


async def test_an_approved_write_whose_end_is_not_recorded_is_not_repeated_either(
    make_agent: MakeAgent, store: Store, office: Office
) -> None:
    """C232: as the case has it, a payment."""
    model = ScriptedModel().calls("pay", to="a", amount=10).says("ok")
    agent = make_agent(model, store=Failing(store, "settle"))
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    outcome = await agent.approve(pending.token, by=BOSS)
    await agent.approve(pending.token, by=BOSS)
    await agent.resume((await store.list_runs())[0].id)

    assert [result.content for result in results(outcome)] == ["paid 10 to a"]
    assert office.done == [("pay", "a", 10)]


async def test_a_row_that_cannot_be_written_takes_no_other_along(
    make_agent: MakeAgent, office: Office, clock: FrozenClock, tmp_path: Path
) -> None:
    """C233: eight runs on one file, and one claim in their midst that breaks its transaction."""
    store = SqliteStore(tmp_path / "placet.db", key=b"k" * 32)
    await store.open()

    async def run(number: int) -> Any:
        model = ScriptedModel().calls("note", text=f"{number}").calls("look", name=str(number)).says("ok")
        tools = [one for one in TOOLS if one.name == "look"] + [note_freely]
        return await make_agent(model, store=store, tools=tools).ask("Go", principal=CLERK)

    async def break_one() -> None:
        now = clock.now()
        effect = EffectRecord(
            key="\ud800",
            principal_id="s1",
            tool="note",
            digest="d",
            run_id="r",
            state=EffectState.RUNNING,
            deadline=now,
        )
        intent = AuditEntry(at=now, kind=AuditKind.INTENT, run_id="bad", tool="note")
        with pytest.raises(StoreError):
            await store.claim(Claim(at=now, effect=effect, intent=intent))

    outcomes, _ = await asyncio.gather(
        asyncio.gather(*(run(number) for number in range(8))), asyncio.gather(*(break_one() for _ in range(3)))
    )

    assert all(isinstance(outcome, Answer) for outcome in outcomes)
    assert len([one for one in office.done if one[0] == "note"]) == 8
    assert {effect.state for effect in await store.list_effects()} == {EffectState.DONE}
    assert len(await store.list_effects()) == 8
    verified = await store.verify()
    assert verified.fault is None
    await store.close()


@tool(effect="write", roles={"support"}, waiver="a test", name="note")
async def note_freely(text: str, context: Context[Office]) -> str:
    """Write a note."""
    context.deps.done.append(("note", text))
    return "noted"
