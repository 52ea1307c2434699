"""See a thing through: await what must come to its end although the caller was cancelled meanwhile."""

import asyncio
import types
from collections.abc import Awaitable, Callable, Generator
from contextvars import Context
from typing import Any, TypeVar

T = TypeVar("T")


async def see_through(work: Awaitable[T]) -> T:
    """Return what the work gives, waiting for it through every cancelling.

    The cancelling is not lost: it stays pending on the task, and `was_interrupted` tells.
    """
    future: asyncio.Future[T] = asyncio.ensure_future(work)
    while not future.done():
        try:
            await wait_for_end(future)
        except asyncio.CancelledError:
            continue
    return future.result()


@types.coroutine
def wait_for_end(future: "asyncio.Future[Any]", seconds: float | None = None) -> Generator[Any, Any, None]:
    """Wait until a future or task is done, however it ends; a caller that is cancelled leaves it alone.

    Args:
        future: What is waited for.
        seconds: For how long at most; None for as long as it takes.

    Raises:
        asyncio.CancelledError: The caller was cancelled. It is told when the waiting has ended, not before.
    """
    if not future.done():
        yield _Waited(future, seconds)


class _Waited:
    """Stands for a future before the task that waits for it: to cancel this cancels nothing.

    It is what asyncio takes for a future (PEP 492's and asyncio's own protocol of
    `_asyncio_future_blocking`), and so needs neither a task nor another turn of the loop.
    """

    __slots__ = ("_asyncio_future_blocking", "_future", "_seconds", "_timer", "_wake")

    def __init__(self, future: "asyncio.Future[Any]", seconds: float | None) -> None:
        self._asyncio_future_blocking = True
        self._future = future
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._wake: Callable[[Any], object] = _nobody

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop of the future."""
        return self._future.get_loop()

    def add_done_callback(self, wake: Callable[[Any], object], *, context: Context | None = None) -> None:
        """Note whom to wake, and wake them when the future is done or the time is up."""
        self._wake = wake
        self._future.add_done_callback(self._done, context=context)
        if self._seconds is not None:
            self._timer = self.get_loop().call_later(self._seconds, self._give_up, context=context)

    def _done(self, _: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._wake(self)

    def _give_up(self) -> None:
        # A future that is done has called `_done` already or is about to: it wakes once.
        if self._future.remove_done_callback(self._done):
            self._wake(self)

    def cancel(self, msg: object = None) -> bool:  # noqa: ARG002 - as asyncio calls it
        """Cancel nothing; the task that waits is told once it wakes."""
        return False

    def result(self) -> None:
        """Return nothing: whoever waits looks at the future."""


def _nobody(_: object) -> None:
    """Wake nobody."""


def was_interrupted() -> bool:
    """Return whether the current task was asked to end while it saw something through."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
