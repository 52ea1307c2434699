"""Real processes over one store: each does one job, and may be killed or frozen at one point of it."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from multiprocessing.connection import Connection
from typing import Any, Final

from placet.errors import StoreError
from placet.ports import NotDecided
from placet.runtime.settle import settle_effect
from placet.testing import FrozenClock
from placet.values.call import ToolResult
from placet.values.effect import EffectRecord, EffectState
from placet.values.outcome import Outcome, Refused, Waiting
from placet.values.run import RunStatus
from placet.wiring import Agent
from tests.crash.office import BOSS, MONDAY, Place, clerk, make_agent
from tests.crash.points import Points

PATIENCE: Final = 60.0
"""Seconds after which a process counts as hung."""

SLEEP: Final = 7200.0
"""Seconds by which the clock of a frozen process has gone on when it wakes."""

_FORKS: Final = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["placet.stores.postgres", "placet.wiring", "placet.testing", "tests.crash.office"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one process is to do.

    Attributes:
        do: `ask`, `approve`, `reject`, `edit`, `call`, `carry_on` or `settle`.
        place: Where everything lies.
        case: Whose story; each has a requester and a day of its own.
        minutes: The time of that day by the clock of this process.
        voice: What its model says.
        balance: What its previews see.
        stop_at: The point at which it ends, or None.
        by: The signal by which it ends there.
    """

    do: str
    place: Place
    case: int
    minutes: int
    voice: str = "first"
    balance: int = 100
    stop_at: str | None = None
    by: signal.Signals = signal.SIGKILL

    @property
    def at(self) -> datetime:
        """The time by the clock of the process."""
        return MONDAY + timedelta(days=self.case, minutes=self.minutes)


@dataclass(frozen=True, slots=True)
class Told:
    """What a process has told before it ended.

    Attributes:
        passed: The points that it has passed; empty when it was killed.
        heard: What came of its verbs, in words.
        killed: Whether it was killed.
    """

    passed: Sequence[str] = ()
    heard: Sequence[str] = ()
    killed: bool = False


@dataclass(slots=True)
class Worker:
    """A running process.

    Attributes:
        job: What it does.
    """

    job: Job
    _process: Any = field(init=False)
    _ear: "Connection[Any, Any]" = field(init=False)

    def __post_init__(self) -> None:
        self._ear, mouth = _FORKS.Pipe(duplex=False)
        self._process = _FORKS.Process(target=_work, args=(self.job, mouth), daemon=True)
        self._process.start()
        mouth.close()

    def freezes(self) -> bool:
        """Wait until it says that it freezes now; return False when it has ended instead."""
        return self._hear() == "frozen"

    def wake(self) -> None:
        """Let it go on."""
        os.kill(self._process.pid, signal.SIGCONT)

    def end(self) -> Told:
        """Wait for its end, and return what it has told."""
        told = self._hear()
        self._process.join(PATIENCE)
        code = self._process.exitcode
        self._process.close()
        self._ear.close()
        if code == -signal.SIGKILL:
            return Told(killed=True)
        assert code == 0, f"a process ended with {code}: {self.job}"
        assert isinstance(told, Told), told
        return told

    def _hear(self) -> object:
        if not self._ear.poll(PATIENCE):
            self._process.kill()
            raise AssertionError(f"a process is stuck: {self.job}")
        try:
            return self._ear.recv()
        except EOFError:
            return None


def run(job: Job) -> Told:
    """Do a job in a process of its own."""
    return Worker(job).end()


# ── inside the process ────────────────────────────────────────────────────────────────


def _work(job: Job, mouth: "Connection[Any, Any]") -> None:
    clock = FrozenClock(job.at)

    def say() -> None:
        if job.by is signal.SIGSTOP:
            mouth.send("frozen")

    points = Points(job.stop_at, job.by, say, lambda: clock.move(SLEEP))
    mouth.send(Told(points.passed, asyncio.run(_do(job, points, clock))))
    mouth.close()


async def _do(job: Job, points: Points, clock: FrozenClock) -> list[str]:
    agent = make_agent(job.place, points, clock, job.voice, job.balance)
    who = clerk(job.case)
    async with agent:
        match job.do:
            case "ask":
                return [_word(await agent.ask("Please", principal=who))]
            case "call":
                return [_word(await agent.call("note", {"text": "x"}, principal=who, key="the client's key"))]
            case "approve" | "reject" | "edit":
                return await _decide(agent, job)
            case "carry_on":
                return await _carry_on(agent, job)
            case "settle":
                return await _settle(agent, job)
            case _:
                raise AssertionError(job.do)


async def _decide(agent: Agent, job: Job) -> list[str]:
    heard = []
    for request in await agent.approvals():
        if request.principal_id != clerk(job.case).id:
            continue
        match job.do:
            case "approve":
                outcome = await agent.approve(request.id, by=BOSS)
            case "edit":
                outcome = await agent.approve(request.id, by=BOSS, arguments={**request.arguments, "amount": 4})
            case _:
                outcome = await agent.reject(request.id, by=BOSS, reason="no")
        heard.append(f"{request.id} {_word(outcome)}")
    return heard


async def _carry_on(agent: Agent, job: Job) -> list[str]:
    """Answer what waits and resume what nobody owns, until nothing of the case is left to do."""
    heard: list[str] = []
    for _ in range(50):
        heard += await _decide(agent, Job(do="approve", place=job.place, case=job.case, minutes=job.minutes))
        runs = await agent.store.list_runs(
            principal_id=clerk(job.case).id, statuses=[RunStatus.RUNNING, RunStatus.READY, RunStatus.WAITING]
        )
        if not runs:
            return heard
        for stored in runs:
            heard.append(_word(await agent.resume(stored.id)))
        await asyncio.sleep(0.01)  # another worker may own it
    raise AssertionError(f"the runs came to no end: {heard}")


async def _settle(agent: Agent, job: Job) -> list[str]:
    """Let a person say how it ended of which nobody knows."""
    colleague = clerk(job.case)
    agent._state(BOSS)
    heard = []
    for effect in await agent.store.list_effects(states=[EffectState.UNKNOWN]):
        if effect.principal_id == colleague.id:
            by = BOSS.id if effect.approval_id else colleague.id
            settled = await settle_effect(agent.world, effect.key, EffectState.DONE, by)
            heard.append("settled" if isinstance(settled, EffectRecord) else settled.reason)
    return heard


def _word(outcome: Outcome | ToolResult | NotDecided | StoreError) -> str:
    match outcome:
        case Refused(reason=reason):
            return f"refused: {reason}"
        case ToolResult(code=code):
            return code
        case Waiting():
            return "waits"
        case _:
            return type(outcome).__name__.lower()
