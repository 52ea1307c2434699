"""What a program that lives with placet feels: start, load, stalls, durable calls a second. Printed beside each goal.

`python -m bench.goals`. Wall clock, so run it on a machine that does nothing else.

A durable write is measured three times, from the inside out: the store alone (the intent is on the disk before
`claim` returns, the outcome is committed before `settle` does), a call of a running run (its turn, its gate and its
tool beside that), and a direct call, which is a run of its own that is looked for, opened and closed.
"""

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from placet import Agent, AgentDefinition, Budget, Principal, ToolResult, tool
from placet.ports import Finish, ModelAnswer, ModelClient, ModelRequest, OnText, Store, StoredRun
from placet.stores.sqlite import SqliteStore
from placet.values.audit import AuditEntry, AuditKind
from placet.values.call import ToolCall
from placet.values.effect import Claim, Claimed, EffectRecord, EffectState, Lease
from placet.values.message import ToolMessage
from placet.values.run import RunStatus
from tests.test_start import FIRST_RUN

CLERK = Principal("s1", roles={"support"})
KEY = b"k" * 32
AT_ONCE = 100


@tool(effect="read", roles={"support"})
async def look(number: int) -> str:
    """Take ten milliseconds."""
    await asyncio.sleep(0.01)
    return f"seen {number}"


@tool(effect="read", roles={"support"})
async def glance(number: int) -> str:
    """Take no time."""
    return f"seen {number}"


@tool(effect="write", roles={"support"}, waiver="a bench")
async def note(number: int) -> str:
    """Write nothing anywhere."""
    return f"noted {number}"


class ThreeCalls:
    """Asks for three calls, one after the other, in each of any number of interleaved runs."""

    name, writes_prose = "scripted:three", True

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:  # noqa: ARG002 - the port's
        done = sum(isinstance(message, ToolMessage) for message in request.transcript)
        if done == 3:
            return ModelAnswer(text="Done.")
        return ModelAnswer(calls=(ToolCall(f"call_{done}", "look", f'{{"number":{done}}}'),), finish=Finish.CALLS)


class ManyTurns:
    """Asks for so many writes a turn, so many turns long, in one run after another."""

    name, writes_prose = "scripted:many", True

    def __init__(self) -> None:
        self.calls = self.turns = 1
        self.turn = self.number = 0

    async def answer(self, request: ModelRequest, on_text: OnText | None = None) -> ModelAnswer:  # noqa: ARG002 - the port's
        if self.turn == self.turns:
            self.turn = 0
            return ModelAnswer(text="Done.")
        self.turn += 1
        first, self.number = self.number, self.number + self.calls
        calls = [ToolCall(f"call_{n}", "note", f'{{"number":{n}}}') for n in range(first, self.number)]
        return ModelAnswer(calls=tuple(calls), finish=Finish.CALLS)


def make_agent(store: Store, model: ModelClient) -> Agent:
    budget = Budget(turns=1000, calls=100_000, parallel=AT_ONCE, seconds=600, output_bytes=10_000_000)
    definition = AgentDefinition(name="bench", budget=budget)
    return Agent(definition, tools=[look, glance, note], model=model, store=store, secret=b"s" * 32)


def milliseconds(program: str) -> float:
    """Return the median wall time of a program in a process of its own, compiled before as what is installed is."""
    taken = []
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        for _ in range(8):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True, env=environment)  # noqa: S603 - our own programs
            taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken[1:])


async def thousand_runs(agent: Agent) -> tuple[float, float]:
    """Return CPU seconds and kB a run of 1,000 interleaved runs of three calls."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    asked = [agent.ask("three", principal=CLERK) for _ in range(1000)]
    await asyncio.gather(*asked)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, float(after.ru_maxrss - before.ru_maxrss) / 1000


Calls = Callable[[int, int], Awaitable[None]]
"""Carries out writes: so many at once, and that so many times."""


def in_the_store(store: Store) -> Calls:
    """Return what has writes claimed and settled, and does nothing else."""
    number, begun = 0, datetime.now(UTC)
    lease = Lease(run_id="run_bench", owner="bench", fence=1, until=begun + timedelta(hours=1))
    run = StoredRun(
        id=lease.run_id, agent="bench", principal_id=CLERK.id, status=RunStatus.RUNNING, snapshot="{}",
        created_at=begun, updated_at=begun,
    )  # fmt: skip
    store.open_run(run, lease)

    def entry(kind: AuditKind, key: str, at: datetime) -> AuditEntry:
        return AuditEntry(
            at=at, kind=kind, run_id=run.id, call_key=key, principal_id=CLERK.id, tool="note", decision="allow",
            rule="bench", body='{"arguments":{"number":12345},"code":"ok","ms":0.52,"result":"noted 12345"}',
        )  # fmt: skip

    async def worker(times: int) -> None:
        nonlocal number
        for _ in range(times):
            number += 1
            key, now = f"{run.id}:{number}.0", datetime.now(UTC)
            effect = EffectRecord(
                key=key, principal_id=CLERK.id, tool="note", digest=f"{number:064x}", run_id=run.id,
                state=EffectState.RUNNING, deadline=now + timedelta(seconds=35),
            )  # fmt: skip
            claim = Claim(at=now, effect=effect, lease=lease, intent=entry(AuditKind.INTENT, key, now))
            assert await store.claim(claim) == Claimed()
            outcome = entry(AuditKind.OUTCOME, key, now)
            await store.settle(key, EffectState.DONE, '{"content":"noted 12345","code":"ok"}', outcome)

    async def calls(at_once: int, times: int) -> None:
        await asyncio.gather(*[worker(times) for _ in range(at_once)])

    return calls


def in_a_run(agent: Agent, model: ManyTurns) -> Calls:
    """Return what has writes carried out in the turns of one run."""

    async def calls(at_once: int, times: int) -> None:
        model.calls, model.turns = at_once, times
        await agent.ask("many", principal=CLERK)

    return calls


def directly(agent: Agent) -> Calls:
    """Return what carries out writes as calls of a program: each has a run of its own."""
    number = 0

    async def worker(times: int) -> None:
        nonlocal number
        for _ in range(times):
            number += 1
            result = await agent.call("note", {"number": number}, principal=CLERK, key=str(number))
            assert isinstance(result, ToolResult)
            assert result.code == "ok", result

    async def calls(at_once: int, times: int) -> None:
        await asyncio.gather(*[worker(times) for _ in range(at_once)])

    return calls


async def a_second(calls: Calls, at_once: int, times: int) -> float:
    """Return how many writes a second are carried out, the median of five tries after a first one."""
    await calls(at_once, times)
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        await calls(at_once, times)
        taken.append(at_once * times / (time.perf_counter() - began))
    return statistics.median(taken)


async def durable_writes(store: Store, name: str, in_sequence: str, at_once: str) -> None:
    """Measure and print durable writes, from the store alone to direct calls."""
    model = ManyTurns()
    async with make_agent(store, model) as agent:
        for title, calls in (
            ("the store alone", in_the_store(store)),
            ("calls of a run", in_a_run(agent, model)),
            ("direct calls", directly(agent)),
        ):
            say(f"{name}, {title}, in sequence", 1e6 / await a_second(calls, 1, 100), "µs", in_sequence)
            say(f"{name}, {title}, {AT_ONCE} at once", await a_second(calls, AT_ONCE, 5), "a second", at_once)


async def stall(agent: Agent, seconds: float = 5.0, rate: int = 1000) -> float:
    """Return the 99.9th percentile, in milliseconds, by which a timer is late while calls are recorded at a rate."""
    late: list[float] = []
    end = time.perf_counter() + seconds

    async def pulse() -> None:
        while time.perf_counter() < end:
            due = time.perf_counter() + 0.001
            await asyncio.sleep(0.001)
            late.append((time.perf_counter() - due) * 1000)

    async def load() -> None:
        number, began = 0, time.perf_counter()
        tasks: set[asyncio.Task[object]] = set()
        while time.perf_counter() < end:
            for _ in range(int((time.perf_counter() - began) * rate) - number):
                number += 1
                task: asyncio.Task[object] = asyncio.create_task(
                    agent.call("glance", {"number": number}, principal=CLERK)
                )
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            await asyncio.sleep(0.001)
        await asyncio.gather(*tasks)

    await asyncio.gather(pulse(), load())
    return statistics.quantiles(late, n=1000)[-1]


@asynccontextmanager
async def sqlite_store() -> AsyncIterator[Store]:
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as folder:
        store = SqliteStore(Path(folder) / "placet.db", key=KEY)
        await store.open()
        yield store
        await store.close()


@asynccontextmanager
async def postgres_store() -> AsyncIterator[Store]:
    from placet.stores.postgres import PostgresStore  # noqa: PLC0415 - an extra
    from tests.postgres_server import PostgresServer  # noqa: PLC0415 - it starts a server

    with PostgresServer(fsync="on", synchronous_commit="on", full_page_writes="on") as server:
        store = PostgresStore(server.dsn(), key=KEY)
        await store.open()
        yield store
        await store.close()


def fdatasync() -> float:
    """Return the median microseconds of writing 4 kB and syncing it, where SQLite would."""
    with tempfile.NamedTemporaryFile(prefix="placet-bench-") as file:
        taken = []
        for _ in range(100):
            os.write(file.fileno(), b"x" * 4096)
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append((time.perf_counter() - began) * 1e6)
        return statistics.median(taken)


async def main() -> None:
    """Measure and print."""
    bare, imported = milliseconds("pass"), milliseconds("import placet")
    say("import, over bare Python", imported - bare, "ms", "250")
    say("first gated run in a cold process", milliseconds(FIRST_RUN), "ms", "400")
    async with sqlite_store() as store, make_agent(store, ThreeCalls()) as agent:
        cpu, kilobytes = await thousand_runs(agent)
    say("1,000 runs x 3 calls of 10 ms, SQLite", cpu, "CPU s", "0.6")
    say("  memory", kilobytes, "kB a run", "25")
    async with sqlite_store() as store, make_agent(store, ThreeCalls()) as agent:
        say("loop stall at 1,000 calls a second, p99.9", await stall(agent), "ms", "5")
    in_sequence = f"{fdatasync():.0f} (one fdatasync) + 250"
    async with sqlite_store() as store:
        await durable_writes(store, "durable write, SQLite", in_sequence, ">= 8,000")
    async with postgres_store() as store:
        await durable_writes(store, "durable write, PostgreSQL", in_sequence, ">= 5,000")


def say(what: str, value: float, unit: str, goal: str) -> None:
    print(f"{what:60}{value:10.1f} {unit:10} goal: {goal}")


if __name__ == "__main__":
    asyncio.run(main())
