"""What a program that lives with placet feels: start, load, stalls, durable calls a second. Printed beside each goal.

`python -m bench.goals`. Wall clock, so run it on a machine that does nothing else.
"""

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from placet import Agent, AgentDefinition, Budget, Principal, ToolResult, tool
from placet.ports import Finish, ModelAnswer, ModelRequest, OnText, Store
from placet.stores.sqlite import SqliteStore
from placet.values.call import ToolCall
from placet.values.message import ToolMessage

CLERK = Principal("s1", roles={"support"})
KEY = b"k" * 32
FIRST_RUN = """
from placet import Agent, AgentDefinition, Principal, tool
from placet.testing import ScriptedModel

@tool(effect="read", roles={"support"})
async def check_stock(product: str) -> int:
    "Return how many units of a product there are."
    return 42

model = ScriptedModel().calls("check_stock", product="rice").says("We have 42.")
agent = Agent(AgentDefinition(name="stock"), tools=[check_stock], model=model, store="memory:")
agent.ask_sync("How much rice?", principal=Principal("s1", roles={"support"}))
"""


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


def make_agent(store: Store) -> Agent:
    definition = AgentDefinition(name="bench", budget=Budget(seconds=600))
    return Agent(definition, tools=[look, glance, note], model=ThreeCalls(), store=store, secret=b"s" * 32)


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


async def durable_calls(agent: Agent, at_once: int, times: int) -> float:
    """Return how many writes a second are carried out, so many of them under way at any time."""
    number = 0

    async def worker() -> None:
        nonlocal number
        for _ in range(times):
            number += 1
            result = await agent.call("note", {"number": number}, principal=CLERK, key=f"{at_once}.{number}")
            assert isinstance(result, ToolResult)
            assert result.code == "ok", result

    began = time.perf_counter()
    await asyncio.gather(*[worker() for _ in range(at_once)])
    return at_once * times / (time.perf_counter() - began)


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
async def sqlite() -> AsyncIterator[Agent]:
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as folder:
        async with make_agent(SqliteStore(Path(folder) / "placet.db", key=KEY)) as agent:
            yield agent


@asynccontextmanager
async def postgres() -> AsyncIterator[Agent]:
    from placet.stores.postgres import PostgresStore  # noqa: PLC0415 - an extra
    from tests.postgres_server import PostgresServer  # noqa: PLC0415 - it starts a server

    with PostgresServer(fsync="on", synchronous_commit="on", full_page_writes="on") as server:
        async with make_agent(PostgresStore(server.dsn(), key=KEY)) as agent:
            yield agent


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
    async with sqlite() as agent:
        cpu, kilobytes = await thousand_runs(agent)
    say("1,000 runs x 3 calls of 10 ms, SQLite", cpu, "CPU s", "0.6")
    say("  memory", kilobytes, "kB a run", "25")
    async with sqlite() as agent:
        say("loop stall at 1,000 calls a second, p99.9", await stall(agent), "ms", "5")
    synced = fdatasync()
    async with sqlite() as agent:
        await durable_calls(agent, 1, 20)
        in_sequence = 1e6 / await durable_calls(agent, 1, 200)
        say("a durable write in sequence, SQLite FULL", in_sequence, "µs", f"{synced:.0f} (one fdatasync) + 250")
        say("durable writes, 100 at once, SQLite FULL", await durable_calls(agent, 100, 20), "a second", ">= 8,000")
    async with postgres() as agent:
        await durable_calls(agent, 10, 5)
        say("durable writes, 100 at once, PostgreSQL", await durable_calls(agent, 100, 20), "a second", ">= 5,000")


def say(what: str, value: float, unit: str, goal: str) -> None:
    print(f"{what:48}{value:10.1f} {unit:10} goal: {goal}")


if __name__ == "__main__":
    asyncio.run(main())
