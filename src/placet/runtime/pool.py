"""ToolThreads: where synchronous tools run.

The standard library's executor will not do: its threads keep a process alive until every
tool has ended, and a tool that hangs takes its thread from all others for good.
"""

import asyncio
import contextlib
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from placet.values.limits import SYNC_THREADS


@dataclass(slots=True, eq=False)
class Job:
    """One piece of synchronous work.

    Attributes:
        work: What is called, without arguments.
        context: The caller's context variables, a copy of its own.
        loop: Where the result is wanted.
        future: The result.
        started: Whether a thread has taken it.
        ended: Whether the thread is through with it.
        abandoned: Whether nobody waits for it any more.
        on_late: Called in the loop with the result or the exception, if it ends after
            it was abandoned.
    """

    work: Callable[[], Any]
    context: contextvars.Context
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"
    started: bool = False
    ended: bool = False
    abandoned: bool = False
    on_late: Callable[[Any, BaseException | None], None] | None = None


@dataclass(slots=True, eq=False)
class ToolThreads:
    """Daemon threads for synchronous tools, bounded, grown as needed.

    A thread whose job was abandoned (it passed its timeout) no longer counts, so that
    others go on promptly; but there are never more than `at_most` threads, hanging ones
    included, and beyond that a job waits for its turn until its own timeout.

    Attributes:
        size: How many jobs run at the same time.
        at_most: How many threads there may be, hanging ones included.
    """

    size: int = SYNC_THREADS
    at_most: int = SYNC_THREADS * 4
    _lock: threading.Condition = field(default_factory=threading.Condition)
    _waiting: deque[Job] = field(default_factory=deque[Job])
    _threads: int = 0
    _idle: int = 0
    _hanging: int = 0

    def submit(self, work: Callable[[], Any], context: contextvars.Context) -> Job:
        """Return the job, queued; a thread takes it as soon as one is free."""
        loop = asyncio.get_running_loop()
        job = Job(work, context, loop, loop.create_future())
        with self._lock:
            self._waiting.append(job)
            if self._idle >= len(self._waiting):
                self._lock.notify()
            elif self._threads - self._hanging < self.size and self._threads < self.at_most:
                self._start()
        return job

    def abandon(self, job: Job, on_late: Callable[[Any, BaseException | None], None]) -> bool:
        """Give a job up; return whether it may still be running.

        One that no thread has taken is withdrawn, and certainly never runs.
        """
        with self._lock:
            if not job.started:
                self._waiting.remove(job)
                return False
            job.abandoned = True
            job.on_late = on_late
            if job.ended:  # its result is on the way to the loop, and will come as a late one
                return True
            self._hanging += 1
            if self._waiting and self._threads - self._hanging < self.size and self._threads < self.at_most:
                self._start()
            return True

    def _start(self) -> None:
        self._threads += 1
        threading.Thread(target=self._work, name="placet-tool", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if self._threads - self._hanging > self.size:
                    self._threads -= 1
                    return
                self._idle += 1
                while not self._waiting:
                    self._lock.wait()
                self._idle -= 1
                job = self._waiting.popleft()
                job.started = True
            result: Any = None
            failure: BaseException | None = None
            try:
                result = job.context.run(job.work)
            except BaseException as error:  # noqa: BLE001 - whatever it was belongs to the job
                failure = error
            with self._lock:
                job.ended = True
                if job.abandoned:
                    self._hanging -= 1
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to be told
                job.loop.call_soon_threadsafe(_deliver, job, result, failure)
            del job, result, failure


def _deliver(job: Job, result: Any, failure: BaseException | None) -> None:
    if job.abandoned:
        if job.on_late is not None:
            job.on_late(result, failure)
    elif not job.future.done():
        if failure is not None:
            job.future.set_exception(failure if _may_travel(failure) else RuntimeError(repr(failure)))
        else:
            job.future.set_result(result)


def _may_travel(failure: BaseException) -> bool:
    """Whether a future takes the exception as it is: `SystemExit` would end the loop, `StopIteration` a generator."""
    return isinstance(failure, Exception) and not isinstance(failure, StopIteration)
