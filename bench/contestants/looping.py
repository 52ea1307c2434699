"""The measures of an agent loop, the same for every one of them: one scripted model, one tool, one question.

Imports nothing beyond the standard library, so that it runs in each peer's own environment.
"""

import time
from collections.abc import Awaitable, Callable

from bench.contestants.serving import Measure, cpu

Run = Callable[[], Awaitable[object]]
"""Asks the question once, to its answer."""

MakeRun = Callable[[list[int], int], Run]
"""From a script (how many calls each answer of the model makes; words follow them) and a number of tools to a run."""

marks: list[float] = []
"""When the scripted model was asked, in seconds of CPU: cleared by whoever wants to read it."""


def mark() -> None:
    """Note that the model is asked. Called by each contestant's model."""
    marks.append(time.process_time())


def measures_of(make: MakeRun, close: Callable[[], Awaitable[object]] | None = None) -> dict[str, Measure]:
    """Return the measures of a loop.

    Args:
        make: Makes runs.
        close: Called after each measure.
    """

    async def taken(turns: list[int], times: int, tools: int = 1) -> float:
        run = make(turns, tools)
        await run()
        try:
            return await cpu(run, times)
        finally:
            if close is not None:
                await close()

    async def one_call() -> float:
        return await taken([1], 50)

    async def next_call() -> float:
        return (await taken([1] * 50, 6) - await taken([1], 12)) / 49

    async def parallel_call() -> float:
        return await taken([50], 5) / 50

    async def turn_ratio() -> float:
        """Return what the turns near 400 take, over those near 50, of one and the same run."""
        run = make([1] * 420, 1)
        await run()
        marks.clear()
        await run()
        if close is not None:
            await close()
        return (marks[410] - marks[390]) / (marks[60] - marks[40])

    async def tools_10() -> float:
        return await taken([1], 50, 10)

    async def tools_1000() -> float:
        return await taken([1], 20, 1000)

    return {
        "one_call": one_call,
        "next_call": next_call,
        "parallel_call": parallel_call,
        "turn_ratio": turn_ratio,
        "tools_10": tools_10,
        "tools_1000": tools_1000,
    }
