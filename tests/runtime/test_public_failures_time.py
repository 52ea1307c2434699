"""What has failed elsewhere, in public, with time, cancelling and shared state: each test names its cases."""

import asyncio
import contextvars
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from placet.agent.definition import AgentDefinition
from placet.errors import ToolError
from placet.models.scripted import ScriptedModel
from placet.runtime.sinks import ListSink
from placet.tools.context import Context
from placet.tools.tool import tool
from placet.values.audit import AuditKind
from placet.values.call import ToolResult
from placet.values.effect import EffectState
from placet.values.event import CallStarted
from placet.values.outcome import Answer
from placet.values.principal import EVERYONE, Principal
from tests.runtime.conftest import CLERK, MakeAgent, Office
from tests.runtime.public_failures import results

# ── time ──────────────────────────────────────────────────────────────────────────────

HANGING = """
import time
from placet import EVERYONE, Agent, AgentDefinition, Principal, tool
from placet.testing import ScriptedModel

@tool(effect="read", roles={EVERYONE}, timeout=0.2)
def hang() -> str:
    "Hang."
    time.sleep(60)
    return "late"

model = ScriptedModel().calls("hang").says("given up")
agent = Agent(AgentDefinition(name="x"), tools=[hang], model=model, store="memory:")
print(agent.ask_sync("Hi", principal=Principal("u1")).text)
"""


async def test_a_synchronous_tool_that_hangs_is_given_up_in_time(make_agent: MakeAgent) -> None:
    """C139: control returns long before the tool does."""
    gate = threading.Event()

    @tool(effect="read", roles={EVERYONE}, timeout=0.2)
    def hang() -> str:
        """Hang."""
        gate.wait(5)
        return "late"

    agent = make_agent(ScriptedModel().calls("hang").says("ok"), tools=[hang])
    began = time.monotonic()
    outcome = await agent.ask("Hi", principal=CLERK)
    took = time.monotonic() - began
    gate.set()

    assert results(outcome)[0].code == "timeout"
    assert took < 3


@pytest.mark.slow
def test_a_process_ends_while_a_tool_of_it_hangs() -> None:
    """C139: a program that has its answer can exit."""
    done = subprocess.run(  # noqa: S603 - our own interpreter, our own text
        [sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=50, check=False
    )

    assert done.stdout == "given up\n", done.stderr
    assert done.returncode == 0


async def test_a_hundred_hanging_tools_hold_up_no_other(make_agent: MakeAgent) -> None:
    """C140: their threads are bounded and nobody else's, and where none is left a call is refused."""
    gate = threading.Event()

    @tool(effect="read", roles={EVERYONE}, timeout=0.05)
    def hang(number: int) -> str:
        """Hang."""
        gate.wait(30)
        return "late"

    @tool(effect="read", roles={EVERYONE})
    async def quick() -> str:
        """Answer."""
        return "at once"

    agent = make_agent(tools=[hang, quick])
    before = threading.active_count()
    hanging = await asyncio.gather(*(agent.call("hang", {"number": n}, principal=CLERK) for n in range(100)))
    for number in range(100):  # on a busy machine, not each of them has come to a thread of its own
        refused = await agent.call("hang", {"number": number}, principal=CLERK)
        if isinstance(refused, ToolResult) and "did not run" in refused.content:
            break
    else:
        raise AssertionError("no call was refused")
    threads = threading.active_count() - before
    answered = await agent.call("quick", {}, principal=CLERK)
    elsewhere = await asyncio.to_thread(lambda: "the default executor is free")
    gate.set()

    assert {one.code for one in hanging if isinstance(one, ToolResult)} == {"timeout"}
    assert threads <= 65
    assert refused.code == "timeout"
    assert isinstance(answered, ToolResult)
    assert answered.content == "at once"
    assert elsewhere


async def test_what_runs_within_a_tool_that_is_given_up_is_not_dropped(make_agent: MakeAgent, heard: ListSink) -> None:
    """C141: the outer tool has a timeout, the inner one has not passed its own."""
    gate = threading.Event()

    @tool(effect="read", roles={EVERYONE}, timeout=30)
    def inner_tool() -> str:
        """Take a while."""
        gate.wait(30)
        return "inner done"

    @tool(effect="read", roles={EVERYONE}, timeout=0.5)
    async def outer_tool(context: Context[Any]) -> str:
        """Ask the inner agent."""
        return str((await context.runtime.run("inner", "Please")).text)

    inner = make_agent(
        ScriptedModel().calls("inner_tool").says("ok"), tools=[inner_tool], definition=AgentDefinition(name="inner")
    )
    outer = make_agent(ScriptedModel().calls("outer_tool").says("ok"), tools=[outer_tool], agents=[inner])
    outcome = await outer.ask("Hi", principal=CLERK)
    gate.set()
    async with asyncio.timeout(20):
        while len(told := [entry for entry in heard.entries if entry.tool == "inner_tool"]) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # until the thread has ended, too

    assert isinstance(outcome, Answer)
    assert results(outcome)[0].is_error
    assert [(entry.kind, entry.decision) for entry in told] == [
        (AuditKind.CALL, "cancelled"),
        (AuditKind.CALL, "late"),
    ]
    assert "inner done" in told[1].body


@pytest.mark.parametrize("effect", ["read", "write"])
async def test_who_leaves_a_stream_ends_the_run_and_leaves_a_history_that_can_be_asked_on(
    make_agent: MakeAgent, office: Office, heard: ListSink, effect: str
) -> None:
    """C143."""

    @tool(effect=effect, roles={"support"}, waiver="a test", name="slow")
    async def slow(context: Context[Office]) -> str:
        """Take a while."""
        await asyncio.sleep(0.2)
        context.deps.done.append(("slow",))
        return "done"

    agent = make_agent(ScriptedModel().calls("slow").says("too late"), tools=[slow])
    stream = agent.stream("Hi", principal=CLERK)
    async for event in stream:
        if isinstance(event, CallStarted):
            break
    await stream.aclose()  # type: ignore[attr-defined]  # it is an async generator
    await asyncio.sleep(0.3)

    assert office.done == ([] if effect == "read" else [("slow",)])  # a write is seen through
    (run,) = await agent.store.list_runs()
    assert run.status == "stopped"
    assert heard.entries[-1].decision == "cancelled"
    assert [entry.tool for entry in heard.entries if entry.kind in (AuditKind.CALL, AuditKind.OUTCOME)] == ["slow"]
    assert not [one for one in await agent.store.list_effects() if one.state is EffectState.RUNNING]


async def test_who_leaves_before_anything_has_run_leaves_nothing_behind(make_agent: MakeAgent, office: Office) -> None:
    """C143: at the first event."""
    agent = make_agent(ScriptedModel().calls("note", text="x").says("ok"))
    stream = agent.stream("Hi", principal=CLERK)
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]  # it is an async generator
    await asyncio.sleep(0.05)
    done = list(office.done)

    await asyncio.sleep(0.05)
    assert office.done == done
    (run,) = await agent.store.list_runs()
    assert run.status == "stopped"


# ── whose state ───────────────────────────────────────────────────────────────────────

user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")


@pytest.mark.parametrize("apart", [True, False], ids=["turn by turn", "side by side"])
async def test_a_tool_sees_its_callers_variables_and_changes_its_own(make_agent: MakeAgent, apart: bool) -> None:
    """C147."""

    @tool(effect="read", roles={EVERYONE})
    def sets() -> str:
        """Read, and set."""
        read = user.get()
        user.set("evil")
        return read

    @tool(effect="read", roles={EVERYONE})
    async def sets_async() -> str:
        """Read, and set."""
        await asyncio.sleep(0)
        read = user.get()
        user.set("evil")
        return read

    names = ["sets", "sets_async", "sets", "sets_async"]
    model = ScriptedModel()
    if apart:
        for name in names:
            model.calls(name)
    else:
        model.calls_all([(name, {}) for name in names])
    user.set("u1")
    outcome = await make_agent(model.says("ok"), tools=[sets, sets_async]).ask("Hi", principal=CLERK)

    assert [result.content for result in results(outcome)] == ["u1"] * 4
    assert user.get() == "u1"


async def test_two_runs_of_one_agent_see_each_its_own(make_agent: MakeAgent) -> None:
    """C148: two hundred times."""

    @tool(effect="read", roles={EVERYONE})
    async def whoami(mine: str, context: Context[Office]) -> str:
        """Say who asks."""
        for _ in range(len(mine)):
            await asyncio.sleep(0)
        return f"{context.principal.id} {mine} {context.run_id}"

    agent = make_agent(ScriptedModel(per_run=True).calls("whoami", mine="abc").says("ok"), tools=[whoami])
    for number in range(100):
        people = [Principal(f"u{place}", {"support"}) for place in (1, 2)]
        outcomes = await asyncio.gather(*(agent.ask("x" * (number % 5 + 1), principal=who) for who in people))
        for who, outcome in zip(people, outcomes, strict=True):
            (result,) = results(outcome)
            assert isinstance(outcome, Answer)
            assert result.content.split()[0] == who.id
            assert result.content.split()[2] == outcome.run_id


@pytest.mark.parametrize("effect", ["read", "write"])
async def test_no_recorded_result_is_given_to_another_person(make_agent: MakeAgent, effect: str) -> None:
    """C150: under the same arguments, and under the same key."""

    @tool(effect=effect, roles={EVERYONE}, waiver="a test", name="whoami")
    async def whoami(context: Context[Office]) -> str:
        """Say who asks."""
        return context.principal.id

    agent = make_agent(tools=[whoami])
    said = [await agent.call("whoami", {}, principal=Principal(who), key="k") for who in ("u1", "u2", "u1")]

    assert [one.content for one in said if isinstance(one, ToolResult)] == ["u1", "u2", "u1"]


# ── once ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "error", [ConnectionResetError("reset"), TimeoutError(), BrokenPipeError(), asyncio.CancelledError(), OSError(5)]
)
async def test_a_write_that_breaks_after_it_was_sent_is_not_sent_again(
    make_agent: MakeAgent, office: Office, error: BaseException
) -> None:
    """C152: neither by placet nor at the model's wish."""

    @tool(effect="write", roles={"support"}, waiver="a test")
    async def send(context: Context[Office]) -> str:
        """Send."""
        context.deps.done.append(("sent",))
        raise error

    agent = make_agent(ScriptedModel().calls("send").calls("send").says("ok"), tools=[send])
    outcome = await agent.ask("Send it", principal=CLERK)
    first, second = results(outcome)

    assert office.done == [("sent",)]
    assert "not known whether it had an effect" in first.content
    assert second.code == "effect_unknown"


@pytest.mark.parametrize("error", [ToolError("no"), ValueError("no"), ConnectionError("no")])
async def test_a_tool_that_always_raises_is_entered_once_a_call(
    make_agent: MakeAgent, office: Office, error: Exception
) -> None:
    """C153: nothing is tried again behind the model's back, so that three calls are three."""

    @tool(effect="read", roles={"support"})
    async def fail(context: Context[Office]) -> str:
        """Fail."""
        context.deps.done.append(("entered",))
        raise error

    model = ScriptedModel().calls("fail").calls("fail").calls("fail").says("ok")
    outcome = await make_agent(model, tools=[fail]).ask("Try", principal=CLERK)

    assert len(office.done) == 3
    assert [result.is_error for result in results(outcome)] == [True] * 3
