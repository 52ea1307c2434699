"""Batch: the calls of one turn, taken through the gate together.

All of them are prepared first. What they take is then taken in call order, so that which
three of twenty calls run does not depend on which is fastest, and at most so many run at
the same time as the budget says. Results come back by index.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import field, replace
from typing import Any, Final, TypeVar, assert_never

from placet.runtime.carry_out import carry_out
from placet.runtime.ending import FATAL
from placet.runtime.execute import Left
from placet.runtime.invoke import invoke
from placet.runtime.prepare import Asked, Permitted, Prepared, Settled, prepare
from placet.runtime.site import CallSite
from placet.runtime.world import World
from placet.values.call import ToolResult
from placet.values.construction import dataclass, made_quickly, maker
from placet.values.decision import Reason
from placet.values.run import PlannedCall

T = TypeVar("T")


@made_quickly
@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What has become of the calls of one turn, by index.

    Attributes:
        results: What the model is told.
        asked: Questions for a person.
        left: Requests that runs nested in a call wait for.
        fatal: Whether a tool has ended the run.
    """

    results: dict[int, ToolResult] = field(default_factory=dict[int, ToolResult])
    asked: dict[int, Asked] = field(default_factory=dict[int, Asked])
    left: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    fatal: bool = False


_new_outcome: Final = maker(BatchOutcome)


async def invoke_batch(
    world: World, calls: Sequence[PlannedCall], site: Callable[[PlannedCall], CallSite], parallel: int
) -> BatchOutcome:
    """Take the calls through the gate; return what has become of each.

    When one of them ends the run, those whose intent is stored are awaited up to their
    timeout, the others are cancelled and awaited, and get no result here. The same goes
    when the caller is cancelled: `was_interrupted` tells.

    Args:
        world: What the runtime needs from outside.
        calls: Calls of one turn, in call order.
        site: Where each of them stands.
        parallel: How many run at the same time.
    """
    outcome = _new_outcome()
    if len(calls) == 1:
        (only,) = calls
        _note(outcome, only.index, await invoke(world, only.call, site(only)))
        return _closed(outcome)
    bound = asyncio.Semaphore(parallel) if parallel < len(calls) else None
    prepared = await _in_order([_bounded(bound, prepare(world, call.call, site(call))) for call in calls])
    permitted: dict[int, Permitted] = {}
    for call, step in zip(calls, prepared, strict=True):
        _sort(outcome, permitted, call.index, step)
    await _carry_out_all(world, outcome, permitted, bound)
    return _closed(outcome)


def _sort(outcome: BatchOutcome, permitted: dict[int, Permitted], index: int, step: Prepared) -> None:
    match step:
        case Permitted():
            permitted[index] = step
        case Settled(result=result):
            outcome.results[index] = result
        case Asked():
            outcome.asked[index] = step
        case _:
            assert_never(step)


async def _carry_out_all(
    world: World, outcome: BatchOutcome, permitted: dict[int, Permitted], bound: asyncio.Semaphore | None
) -> None:
    tasks = {index: asyncio.ensure_future(_bounded(bound, carry_out(world, step))) for index, step in permitted.items()}
    if tasks:
        await _see_all_end(tuple(tasks.values()))
    for index, task in tasks.items():
        if task.cancelled():
            _close_span(permitted[index])
        else:
            _note(outcome, index, task.result())


async def _see_all_end(tasks: "Sequence[asyncio.Future[ToolResult | Left]]") -> None:
    """Wait until all have ended; once one ends the run, or the caller is cancelled, the others are cancelled."""
    left = len(tasks)
    all_ended = asyncio.get_running_loop().create_future()

    def cancel_all() -> None:
        for task in tasks:
            task.cancel()

    def count(ended: "asyncio.Future[ToolResult | Left]") -> None:
        nonlocal left
        left -= 1
        if not left:
            all_ended.set_result(None)
        elif _is_fatal(ended):
            cancel_all()

    for task in tasks:
        task.add_done_callback(count)
    while left:
        try:
            await asyncio.wait((all_ended,))
        except asyncio.CancelledError:
            cancel_all()


def _close_span(step: Permitted) -> None:
    """End the span of a call that was cancelled, perhaps before it began."""
    span = step.ready.attempt.site.span
    if span is not None:
        span.fail("cancelled")


def _is_fatal(ended: "asyncio.Future[ToolResult | Left]") -> bool:
    if ended.cancelled() or ended.exception() is not None:
        return False
    result = ended.result()
    return isinstance(result, ToolResult) and result.code == FATAL


def _bounded(bound: asyncio.Semaphore | None, work: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
    """Return the work, bound to its turn where there is a bound."""
    return work if bound is None else _in_turn(bound, work)


async def _in_turn(bound: asyncio.Semaphore, work: Awaitable[T]) -> T:
    async with bound:
        return await work


async def _in_order(works: "Sequence[Awaitable[T]]") -> "list[T]":
    """Return what the works give, in their order; the first that breaks cancels the rest."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _note(outcome: BatchOutcome, index: int, step: ToolResult | Asked | Left) -> None:
    match step:
        case ToolResult():
            outcome.results[index] = step
        case Asked():
            outcome.asked[index] = step
        case Left(waiting=waiting):
            outcome.left[index] = waiting
        case _:
            assert_never(step)


def _closed(outcome: BatchOutcome) -> BatchOutcome:
    """Return the outcome, with the words of a fatal tool kept from the model."""
    fatal = [index for index, result in outcome.results.items() if result.code == FATAL]
    for index in fatal:
        call_id = outcome.results[index].call_id
        text = "the tool ended the conversation"
        outcome.results[index] = ToolResult(call_id, text, is_error=True, code=Reason.CANCELLED.value)
    return replace(outcome, fatal=True) if fatal else outcome
