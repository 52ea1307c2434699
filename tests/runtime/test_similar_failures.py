"""Failures like the public ones, of which nobody has told yet: the same kinds, through other ways."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from placet.errors import ConfigurationError, ModelUnavailableError
from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from placet.stores.sqlite import SqliteStore
from placet.testing import FrozenClock
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.approval import Approval
from placet.values.audit import AuditKind
from placet.values.call import ToolResult
from placet.values.effect import EffectState
from placet.values.json import JsonObject
from placet.values.limits import Budget, RateLimit
from placet.values.outcome import Answer, Refused, Stopped
from placet.values.principal import EVERYONE
from tests.runtime.conftest import BOSS, CLERK, MakeAgent, Office
from tests.runtime.public_failures import results, waiting_for

# ── approvals ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "again",
    ['{"amount": 10, "to": "x"}', ' {"to":"x","amount":10} ', '{"to": "\\u0078", "amount": 10}',
     '{"to": "x", "amount": 10.0}', '{"to": "x", "amount": "10"}', '{"to": "x", "amount": 10, "amount": 10}',
     '{"to": "x", "amount": 1e1}'],
)  # fmt: skip
async def test_a_no_is_a_no_however_the_model_writes_it_again(
    make_agent: MakeAgent, office: Office, again: str
) -> None:
    agent = make_agent(ScriptedModel().calls("pay", to="x", amount=10).calls_raw("pay", again).says("ok"))
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    outcome = await agent.reject(pending.token, by=BOSS)

    assert isinstance(outcome, Answer)
    assert results(outcome)[1].code in {"rejected", "invalid_arguments"}
    assert not office.done


async def test_of_two_processes_on_one_file_one_takes_the_yes(
    make_agent: MakeAgent, office: Office, tmp_path: Path
) -> None:
    stores = [SqliteStore(tmp_path / "placet.db", key=b"k" * 32) for _ in range(3)]
    asking = make_agent(ScriptedModel().calls("pay", to="x", amount=10), store=stores[0])
    (pending,) = waiting_for(await asking.ask("Pay", principal=CLERK))
    workers = [make_agent(ScriptedModel().says("ok"), store=store) for store in stores]

    outcomes = await asyncio.gather(*(worker.approve(pending.token, by=BOSS) for worker in workers))

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Answer", "Refused", "Refused"]
    assert office.done == [("pay", "x", 10)]
    for worker in workers:
        await worker.close()


async def test_a_yes_and_a_no_at_the_same_time_are_one_of_them(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(ScriptedModel().calls("pay", to="x", amount=10).says("ok"))
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    said = await asyncio.gather(agent.reject(pending.token, by=BOSS), agent.approve(pending.token, by=BOSS))

    assert [type(outcome) for outcome in said] == [Answer, Refused]
    assert not office.done


async def test_the_token_of_one_run_is_none_for_another(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(ScriptedModel(per_run=True).calls("pay", to="x", amount=10).says("ok"))
    (first,) = waiting_for(await agent.ask("Pay", principal=CLERK))
    (second,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    await agent.approve(first.token, by=BOSS)
    await agent.approve(first.token, by=BOSS)

    assert office.done == [("pay", "x", 10)]
    assert [request.id for request in await agent.approvals()] == [second.id]


async def test_an_edit_is_bound_to_the_clerk_the_tool_and_the_schema(make_agent: MakeAgent, office: Office) -> None:
    agent = make_agent(ScriptedModel().calls("pay", to="x", amount=10).says("ok"))
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))

    edits: list[JsonObject] = [{"to": "x"}, {"to": "x", "amount": 1, "tool": "rename"}, {"to": None, "amount": 1}]
    for edited in edits:
        assert isinstance(await agent.approve(pending.token, by=BOSS, arguments=edited), Refused)

    assert not office.done


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize("said", [float("nan"), float("inf"), object(), {1, 2}, b"x", CIRCLE, {(1, 2): 3}])
@pytest.mark.parametrize("key", [None, "k"])
async def test_what_a_program_gives_that_is_no_json_is_refused(
    make_agent: MakeAgent, office: Office, said: Any, key: str | None
) -> None:
    for name in ("look", "note"):
        refused = await make_agent().call(name, {"name": said, "text": said}, principal=CLERK, key=key)
        assert isinstance(refused, Refused)
        assert refused.reason == "invalid_arguments"
    assert not office.done


@pytest.mark.parametrize("who", [None, True, {}, 1, object()])
async def test_nobody_asks_for_nobody(make_agent: MakeAgent, office: Office, who: Any) -> None:
    agent = make_agent(ScriptedModel().calls("look", name="x").says("ok"))
    for asking in (
        agent.ask("Hi", principal=who),
        agent.call("look", {"name": "x"}, principal=who),
        agent.explain("look", {"name": "x"}, principal=who),
    ):
        with pytest.raises(ConfigurationError, match="is nobody"):
            await asking
    assert not office.done


# ── time ──────────────────────────────────────────────────────────────────────────────


async def test_who_gives_up_an_approval_under_way_has_not_stopped_it_half_way(
    make_agent: MakeAgent, office: Office, heard: ListSink
) -> None:
    began = asyncio.Event()

    @tool(effect="write", roles={"support"}, approval=Approval.always(approvers={"finance"}), name="pay")
    async def pay(to: str, context: Context[Office]) -> str:
        """Pay somebody."""
        began.set()
        await asyncio.sleep(0.05)
        context.deps.done.append(("pay", to))
        return "paid"

    agent = make_agent(ScriptedModel().calls("pay", to="x").says("ok"), tools=[pay])
    (pending,) = waiting_for(await agent.ask("Pay", principal=CLERK))
    work = asyncio.create_task(agent.approve(pending.token, by=BOSS))
    await began.wait()
    work.cancel()
    await asyncio.wait({work})
    again = await agent.approve(pending.token, by=BOSS)

    assert isinstance(again, Refused)
    assert office.done == [("pay", "x")]
    assert [effect.state for effect in await agent.store.list_effects()] == [EffectState.DONE]
    kinds = [entry.kind for entry in heard.entries if entry.tool == "pay"]
    assert kinds.count(AuditKind.INTENT) == kinds.count(AuditKind.OUTCOME) == 1


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_write_that_outlives_its_caller_is_recorded_to_its_end(
    make_agent: MakeAgent, office: Office, is_async: bool
) -> None:
    began = threading.Event()

    def work(done: list[Any]) -> str:
        done.append(("sent",))
        return "sent"

    @tool(effect="write", roles={"support"}, waiver="a test", name="send")
    async def send(context: Context[Office]) -> str:
        """Send."""
        began.set()
        await asyncio.sleep(0.1)
        return work(context.deps.done)

    @tool(effect="write", roles={"support"}, waiver="a test", name="send")
    def send_sync(context: Context[Office]) -> str:
        """Send."""
        began.set()
        threading.Event().wait(0.1)
        return work(context.deps.done)

    agent = make_agent(tools=[send if is_async else send_sync])
    call = asyncio.create_task(agent.call("send", {}, principal=CLERK, key="k"))
    while not began.is_set():  # noqa: ASYNC110 - a thread's event
        await asyncio.sleep(0.005)
    call.cancel()
    await asyncio.wait({call})

    assert office.done == [("sent",)]
    assert [effect.state for effect in await agent.store.list_effects()] == [EffectState.DONE]


# ── limits ────────────────────────────────────────────────────────────────────────────


async def test_a_clock_that_is_put_back_opens_no_window(make_agent: MakeAgent, clock: FrozenClock) -> None:
    agent = make_agent(clock=clock)
    for number in range(3):
        await agent.call("note", {"text": str(number)}, principal=CLERK, key=f"k{number}")
    clock.move(-3600)

    result = await agent.call("note", {"text": "more"}, principal=CLERK, key="more")

    assert isinstance(result, ToolResult)
    assert result.code == "limit_reached"


@pytest.mark.parametrize("text", ["0/minute", "-1/minute", "1/0 seconds", "nan/minute", "1.5/minute", "", "10"])
def test_a_limit_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        RateLimit.parse(text)


@pytest.mark.parametrize("bound", [{"calls": 0}, {"turns": -1}, {"seconds": float("nan")}, {"parallel": 0}])
def test_a_budget_that_is_none_is_refused(bound: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        Budget(**bound)


async def test_calls_that_are_refused_use_up_the_budget_too(make_agent: MakeAgent) -> None:
    model = ScriptedModel(cycle=True).calls("nothing").calls("pay", to="x").calls("payroll")
    outcome = await make_agent(model, budget=Budget(calls=7, turns=100)).ask("Go", principal=CLERK)

    assert isinstance(outcome, Stopped)
    assert [result.code for result in results(outcome)].count("budget_spent") <= 1
    assert len(results(outcome)) <= 8


# ── whose state ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("is_async", [True, False])
async def test_what_a_tool_makes_of_its_arguments_does_not_reach_its_caller(
    make_agent: MakeAgent, is_async: bool
) -> None:
    def spoil(rows: list[dict[str, Any]]) -> str:
        rows[0]["owner"] = "evil"
        rows.append({"owner": "evil"})
        return "done"

    @tool(effect="read", roles={EVERYONE}, name="f")
    async def f(rows: list[dict[str, Any]]) -> str:
        """Do it."""
        return spoil(rows)

    @tool(effect="read", roles={EVERYONE}, name="f")
    def f_sync(rows: list[dict[str, Any]]) -> str:
        """Do it."""
        return spoil(rows)

    rows = [{"owner": "ana"}]
    await make_agent(tools=[f if is_async else f_sync]).call("f", {"rows": rows}, principal=CLERK)

    assert rows == [{"owner": "ana"}]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_default_that_a_tool_spoils_is_whole_for_the_next(make_agent: MakeAgent, is_async: bool) -> None:
    @tool(effect="read", roles={EVERYONE}, name="f")
    async def f(rows: list[str] = []) -> int:  # noqa: B006 - the mistake that this is about
        """Do it."""
        rows.append("evil")
        return len(rows)

    @tool(effect="read", roles={EVERYONE}, name="f")
    def f_sync(rows: list[str] = []) -> int:  # noqa: B006 - the mistake that this is about
        """Do it."""
        rows.append("evil")
        return len(rows)

    agent = make_agent(tools=[f if is_async else f_sync])
    said = [await agent.call("f", {}, principal=CLERK) for _ in range(3)]

    assert [one.content for one in said if isinstance(one, ToolResult)] == ["1", "1", "1"]


# ── once ──────────────────────────────────────────────────────────────────────────────


async def test_a_model_that_fails_after_a_write_does_not_make_it_run_again(
    make_agent: MakeAgent, office: Office
) -> None:
    model = ScriptedModel().calls("note", text="x").fails(ModelUnavailableError("late"))
    stopped = await make_agent(model).ask("Go", principal=CLERK)
    assert isinstance(stopped, Stopped)
    agent = make_agent(ScriptedModel().says("ok"))

    await agent.resume(stopped.run_id)
    assert isinstance(await agent.ask("And?", principal=CLERK, history=stopped.history), Answer)

    assert office.done == [("note", "x")]


# ── secrets ───────────────────────────────────────────────────────────────────────────

OPAQUE = "correct horse battery"


@pytest.mark.parametrize("how", ["cause", "group", "note", "subclass"])
async def test_what_hides_in_an_exception_is_recorded_nowhere(
    make_agent: MakeAgent, heard: ListSink, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            return OPAQUE

    @tool(effect="read", roles={EVERYONE}, redact={"login"}, name="f")
    async def f(login: str) -> str:
        """Do it."""
        error: Exception = ValueError(login)
        if how == "group":
            raise ExceptionGroup(login, [error])
        if how == "subclass":
            raise OddError
        error.add_note(login)
        raise RuntimeError("broke") from error

    with caplog.at_level("DEBUG"):
        result = await make_agent(tools=[f]).call("f", {"login": OPAQUE}, principal=CLERK)

    for place in (heard.entries, result, caplog.text):
        assert OPAQUE not in repr(place)


@pytest.mark.parametrize("arguments", [{"login": [OPAQUE]}, {"login": OPAQUE, "more": 1}, {"login": {"a": OPAQUE}}])
async def test_a_redacted_field_that_does_not_fit_is_recorded_nowhere(
    make_agent: MakeAgent, heard: ListSink, arguments: dict[str, Any]
) -> None:
    @tool(effect="read", roles={EVERYONE}, redact={"login"}, name="f")
    async def f(login: str) -> str:
        """Do it."""
        raise AssertionError

    result = await make_agent(tools=[f]).call("f", arguments, principal=CLERK)

    assert isinstance(result, ToolResult)
    assert result.code == "invalid_arguments"
    assert OPAQUE not in repr(heard.entries)
