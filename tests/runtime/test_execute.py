"""Timeouts, threads and context variables of code that runs."""

import asyncio
import subprocess
import sys
import threading
import time
from contextvars import ContextVar
from typing import Any

import pytest

from placet.models.scripted import ScriptedModel
from placet.runtime.execute import Ending, Raised, Returned, TimedOut, run_read, run_sync, run_write
from placet.runtime.patience import was_interrupted
from placet.runtime.pool import ToolThreads
from placet.tools.tool import tool
from placet.values.approval import Approval
from placet.values.outcome import Waiting
from tests.runtime.conftest import BOSS, CLERK, MakeAgent

USER: ContextVar[str] = ContextVar("user", default="nobody")


@pytest.mark.parametrize("run", [run_read, run_write])
async def test_code_that_does_not_wait_returns_at_once_and_arms_no_timer(run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    armed: list[float] = []

    def call_later(delay: float, *_: object) -> None:
        armed.append(delay)

    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", call_later)

    async def work() -> int:
        return 5

    assert await run(work, 1) == Returned(5)
    assert armed == []


@pytest.mark.parametrize("run", [run_read, run_write])
async def test_code_that_waits_past_its_timeout_is_cancelled_and_awaited(run) -> None:  # type: ignore[no-untyped-def]
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(5)
        finally:
            ended.append("cleaned up")

    assert await run(work, 0.02) == TimedOut()
    assert ended == ["cleaned up"]


@pytest.mark.parametrize("run", [run_read, run_write])
async def test_code_that_will_not_be_cancelled_holds_up_nobody(run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("placet.runtime.execute.GRACE", 0.02)

    async def work() -> None:
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    began = time.monotonic()
    assert await run(work, 0.02) == TimedOut(may_still_be_running=True)
    assert time.monotonic() - began < 0.25
    await asyncio.sleep(0.4)


@pytest.mark.parametrize("run", [run_read, run_write])
async def test_a_cancelling_that_the_tool_raises_itself_is_its_failure(run) -> None:  # type: ignore[no-untyped-def]
    async def at_once() -> None:
        raise asyncio.CancelledError

    async def later() -> None:
        await asyncio.sleep(0)
        raise asyncio.CancelledError

    for work in (at_once, later):
        assert isinstance(await run(work, 1), Raised)


async def test_a_read_is_cancelled_with_its_caller() -> None:
    async def work() -> None:
        await asyncio.sleep(5)

    task = asyncio.create_task(run_read(work, 10))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("after", [0, 0.01], ids=["before its first step", "while it waits"])
async def test_a_write_is_seen_through_although_its_caller_is_cancelled(after: float) -> None:
    seen: list[bool] = []

    async def work() -> str:
        await asyncio.sleep(0.05)
        return "written"

    async def caller() -> Ending:
        ending = await run_write(work, 1)
        seen.append(was_interrupted())
        return ending

    task = asyncio.create_task(caller())
    await asyncio.sleep(after)
    task.cancel()
    assert await task == Returned("written")
    assert seen == [True]


@pytest.mark.parametrize("run", [run_read, run_write])
async def test_code_sees_the_callers_variables_and_keeps_its_own_changes(run) -> None:  # type: ignore[no-untyped-def]
    USER.set("u1")

    async def work() -> str:
        seen = USER.get()
        USER.set("evil")
        await asyncio.sleep(0)
        assert USER.get() == "evil"
        return seen

    assert await run(work, 1) == Returned("u1")
    assert USER.get() == "u1"


async def test_synchronous_code_sees_the_callers_variables_and_keeps_its_own_changes() -> None:
    USER.set("u1")

    def work() -> str:
        seen = USER.get()
        USER.set("evil")
        return seen

    assert await run_sync(work, 1, ToolThreads()) == Returned("u1")
    assert USER.get() == "u1"


async def test_synchronous_code_past_its_timeout_may_still_be_running_and_its_end_is_told() -> None:
    late: list[Ending] = []

    def work() -> str:
        time.sleep(0.1)
        return "late"

    assert await run_sync(work, 0.02, ToolThreads(), late.append) == TimedOut(may_still_be_running=True)
    await asyncio.sleep(0.2)
    assert late == [Returned("late")]


async def test_hanging_tools_do_not_hold_up_the_others_and_their_number_is_bounded() -> None:
    threads = ToolThreads(size=2, at_most=6)
    release = threading.Event()
    before = set(threading.enumerate())

    for _ in range(20):
        ending = await run_sync(lambda: release.wait(5), 0.01, threads)
        assert isinstance(ending, TimedOut)
    assert len(set(threading.enumerate()) - before) <= 6
    refused = await run_sync(lambda: "never", 0.01, threads)
    assert refused == TimedOut(may_still_be_running=False, started=False)

    release.set()
    assert await run_sync(lambda: "prompt", 1, threads) == Returned("prompt")


async def test_many_quick_jobs_share_few_threads() -> None:
    threads = ToolThreads(size=4)

    endings = await asyncio.gather(*[run_sync(lambda n=n: n, 5, threads) for n in range(200)])  # type: ignore[misc]  # a default binds it

    assert endings == [Returned(n) for n in range(200)]


@pytest.mark.parametrize("error", [StopIteration("x"), SystemExit(3), KeyboardInterrupt(), ValueError("x")])
async def test_whatever_synchronous_code_raises_is_its_failure(error: BaseException) -> None:
    def work() -> None:
        raise error

    assert isinstance(await run_sync(work, 1, ToolThreads()), Raised)


def test_a_process_can_end_while_a_tool_hangs() -> None:
    program = (
        "import asyncio, time\n"
        "from placet.runtime.execute import run_sync\n"
        "from placet.runtime.pool import ToolThreads\n"
        "asyncio.run(run_sync(lambda: time.sleep(60), 0.05, ToolThreads()))\n"
    )
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)  # noqa: S603 - our own program
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("effect", ["read", "write"])
async def test_an_asynchronous_tool_hops_no_thread(make_agent: MakeAgent, effect: str) -> None:
    seen: list[int] = []

    async def load(_arguments: Any, _context: Any) -> str:
        seen.append(threading.get_ident())
        return "loaded"

    async def preview(_arguments: Any, _resource: Any, _context: Any) -> str:
        seen.append(threading.get_ident())
        return "what would change"

    @tool(
        effect=effect, roles={"support"}, resource=load, authorise=lambda *_: True, preview=preview,
        approval=Approval.always(approvers={"finance"}),
    )  # fmt: skip
    async def stay() -> str:
        """Stay where you are."""
        seen.append(threading.get_ident())
        return "here"

    agent = make_agent(ScriptedModel().calls("stay").says("ok"), tools=[stay])
    waiting = await agent.ask("Stay", principal=CLERK)
    assert isinstance(waiting, Waiting)
    await agent.approve(waiting.approvals[0].token, by=BOSS)

    assert seen == [threading.get_ident()] * 5
    assert agent.world.threads._threads == 0
