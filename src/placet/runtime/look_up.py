"""Look up: run a tool's loader or preview, which must not change anything, under the tool's timeout."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, assert_never

from placet.errors import ToolError
from placet.runtime.execute import Ending, Raised, Returned, TimedOut, run_read, run_sync
from placet.runtime.world import World
from placet.tools.text import words_of
from placet.tools.tool import Tool
from placet.values.decision import Deny, Reason

MAX_SAID: Final = 2_000
"""Bytes of what a loader or preview says of its own failure."""


async def look_up(world: World, tool: Tool, function: Callable[..., Any], *arguments: Any) -> Returned | Deny:
    """Return what a loader or preview gives; one that breaks or is late refuses the call."""
    ending = await _run(world, tool.spec.timeout.total_seconds(), function, arguments)
    match ending:
        case Returned():
            return ending
        case Raised(error=ToolError() as error):
            hint = None if error.hint is None else words_of(error.hint, MAX_SAID)[0]
            return Deny(Reason.NOT_FOUND, words_of(error.message, MAX_SAID)[0], hint=hint, rule="look-up")
        case Raised(error=error):
            return failed("look-up", f"{type(error).__name__}: {words_of(error, MAX_SAID)[0]}")
        case TimedOut():
            return Deny(Reason.CHECK_FAILED, "a look-up took too long, so the call was refused", rule="look-up")
        case _:
            assert_never(ending)


def failed(rule: str, detail: str) -> Deny:
    """Return the refusal for a fact that could not be looked up; only the audit log is told why."""
    text = "a look-up failed, so the call was refused"
    return Deny(Reason.CHECK_FAILED, text, rule=rule, detail=detail)


async def _run(world: World, seconds: float, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Ending:
    make = functools.partial(function, *arguments)
    if _is_async(function):
        return await run_read(make, seconds)
    ending = await run_sync(make, seconds, world.threads)
    if isinstance(ending, Returned) and inspect.isawaitable(ending.value):
        awaitable = ending.value
        return await run_read(lambda: awaitable, seconds)
    return ending


@functools.lru_cache(maxsize=4096)
def _is_async(function: Callable[..., Any]) -> bool:
    inner = function.func if isinstance(function, functools.partial) else function
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(type(inner).__call__)
