"""See a thing through: await what must come to its end although the caller was cancelled meanwhile."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def see_through(work: Awaitable[T]) -> T:
    """Return what the work gives, waiting for it through every cancelling.

    The cancelling is not lost: it stays pending on the task, and `was_interrupted` tells.
    """
    task = asyncio.ensure_future(work)
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            continue
    return task.result()


def was_interrupted() -> bool:
    """Return whether the current task was asked to end while it saw something through."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
