"""A loop of its own: what waits is waited for by programs that have no event loop, from any of their threads.

All of them share one loop on one thread, as stores and connections want it. Each piece of
work runs in a copy of its caller's context variables, so that what one caller has set is
seen by their own work and by nobody else's.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class OwnLoop:
    """A loop on a thread of its own. It starts with the first work, anew in a process that was forked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what comes of the work.

        A caller that is interrupted (Ctrl-C) cancels it, and waits until it has ended.
        """
        loop = self._started()
        outcome: Future[T] = Future()
        tasks: list[asyncio.Task[None]] = []

        def begin() -> None:
            task = loop.create_task(_pass_on(work, outcome))
            task.add_done_callback(never_begun)
            tasks.append(task)

        def never_begun(_: asyncio.Task[None]) -> None:
            if not outcome.done():  # the loop was closed before the work's first step
                outcome.set_exception(asyncio.CancelledError())

        loop.call_soon_threadsafe(begin)  # in a copy of this thread's context variables
        try:
            return outcome.result()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
            outcome.exception()
            raise

    @property
    def is_running(self) -> bool:
        """Whether it has been used in this process, and not been closed since."""
        return self._loop is not None and self._process == os.getpid()

    def close(self) -> None:
        """End the loop and its thread, if there are any; what is under way is cancelled and awaited."""
        with self._lock:
            loop, thread = (self._loop, self._thread) if self.is_running else (None, None)
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._process != os.getpid():
                self._process = os.getpid()
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_turn, args=(self._loop,), name="placet-loop", daemon=True)
                self._thread.start()
            return self._loop


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


async def _pass_on(work: Coroutine[Any, Any, T], outcome: "Future[T]") -> None:
    """Let the work end in its caller's thread, however it ends: an exit raised here would end the loop for all."""
    try:
        outcome.set_result(await work)
    except BaseException as error:  # noqa: BLE001 - it is raised again where the work was asked for
        outcome.set_exception(error)
