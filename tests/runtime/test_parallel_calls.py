"""The calls of one turn run together within the limit, none takes another along, and each has one result."""

import asyncio
import threading
from collections import Counter

import pytest

from placet.errors import ToolError
from placet.models.scripted import ScriptedModel
from placet.tools.tool import Tool, tool
from placet.values.limits import Budget
from placet.values.message import ToolMessage
from placet.values.outcome import Answer, Outcome
from placet.values.principal import EVERYONE
from tests.runtime.conftest import CLERK, MakeAgent


class Gauge:
    """Counts how many are inside at the same time, and how often each was."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.seen: Counter[int] = Counter()

    async def __aenter__(self) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)

    async def __aexit__(self, *_: object) -> None:
        self.inside -= 1


def measured(gauge: Gauge) -> Tool:
    @tool(effect="read", roles={EVERYONE}, name="work")
    async def work(number: int) -> int:
        """Work."""
        async with gauge:
            gauge.seen[number] += 1
            await asyncio.sleep(0.01)
        return number

    return work


def calling(count: int, name: str = "work") -> ScriptedModel:
    return ScriptedModel().calls_all([(name, {"number": number}) for number in range(count)]).says("done")


def results(outcome: Outcome) -> list[tuple[str, str]]:
    assert isinstance(outcome, Answer)
    (message,) = [one for one in outcome.history if isinstance(one, ToolMessage)]
    return [(result.code, result.content) for result in message.results]


async def test_calls_of_one_turn_run_at_the_same_time(make_agent: MakeAgent) -> None:
    """Each waits until all are there: one after the other they would wait for ever."""
    barrier = asyncio.Barrier(5)

    @tool(effect="read", roles={EVERYONE}, timeout=5)
    async def meet(number: int) -> int:
        """Meet."""
        await barrier.wait()
        return number

    outcome = await make_agent(calling(5, "meet"), tools=[meet]).ask("Hi", principal=CLERK)

    assert results(outcome) == [("ok", str(number)) for number in range(5)]


async def test_synchronous_tools_of_one_turn_run_at_the_same_time(make_agent: MakeAgent) -> None:
    barrier = threading.Barrier(4)

    @tool(effect="read", roles={EVERYONE}, timeout=5)
    def meet(number: int) -> int:
        """Meet."""
        barrier.wait(4)
        return number

    outcome = await make_agent(calling(4, "meet"), tools=[meet]).ask("Hi", principal=CLERK)

    assert results(outcome) == [("ok", str(number)) for number in range(4)]


@pytest.mark.parametrize("bound", [1, 3, 8])
async def test_no_more_run_at_the_same_time_than_the_budget_says(make_agent: MakeAgent, bound: int) -> None:
    gauge = Gauge()
    agent = make_agent(calling(12), tools=[measured(gauge)], budget=Budget(parallel=bound))

    outcome = await agent.ask("Hi", principal=CLERK)

    assert gauge.most == bound
    assert gauge.seen == Counter(range(12)), "each exactly once"
    assert results(outcome) == [("ok", str(number)) for number in range(12)], "in call order"


async def test_none_takes_another_along(make_agent: MakeAgent) -> None:
    """One breaks, one says no, one is too slow, one cancels itself, one does not exist, one has wrong arguments."""

    @tool(effect="read", roles={EVERYONE}, timeout=0.1)
    async def fail(how: str) -> str:
        """Fail, or do not."""
        match how:
            case "break":
                raise RuntimeError
            case "say no":
                raise ToolError("no")
            case "be slow":
                await asyncio.sleep(5)
            case "cancel":
                raise asyncio.CancelledError
            case _:
                await asyncio.sleep(0.05)
        return how

    hows = ["well", "break", "say no", "well", "be slow", "cancel", "well"]
    model = ScriptedModel().calls_all([("fail", {"how": how}) for how in hows])
    model = model.also_calls("nothing").also_calls("fail", how=5).also_calls("fail", how="last").says("done")

    told = results(await make_agent(model, tools=[fail]).ask("Hi", principal=CLERK))

    assert [content for code, content in told if code == "ok"] == ["well", "well", "well", "last"]
    assert [code == "ok" for code, _ in told] == [
        True, False, False, True, False, False, True, False, False, True,
    ]  # fmt: skip
    assert all(content.strip() for _, content in told)
