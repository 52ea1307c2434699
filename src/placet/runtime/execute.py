"""Execute: run a tool's own code under its timeout, and say how it ended.

An asynchronous read runs in the task of its caller, so that it costs no task of its own,
and its timer is armed only once it suspends. An asynchronous write runs in a task of its
own, which nothing but its timeout cancels: once its intent is stored, its end is awaited.
A synchronous tool runs in a thread. Whatever runs sees the caller's context variables and
keeps its own changes to them to itself.
"""

import asyncio
import contextlib
import contextvars
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Final, TypeAlias

from placet.errors import FatalToolError, ToolError
from placet.runtime.patience import wait_for_end, was_interrupted
from placet.runtime.pool import ToolThreads
from placet.values.construction import dataclass

GRACE: Final = 1.0
"""Seconds that an asynchronous tool has to end once it is cancelled."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The code has come to its end.

    Attributes:
        value: What it gave back.
    """

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The code has raised.

    Attributes:
        error: What it raised.
    """

    error: BaseException


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The code has passed its timeout.

    Attributes:
        may_still_be_running: Whether it could not be stopped.
        started: Whether it had begun at all.
    """

    may_still_be_running: bool = False
    started: bool = True


class Leave(BaseException):
    """Unwinds code in which a nested run waits. `except Exception` does not see it.

    Nobody relies on it to be seen: the nested runtime knows what is waited for, whatever the
    code makes of this.
    """


@dataclass(frozen=True, slots=True)
class Left:
    """The code was left because a run nested in it waits; it will be entered again.

    Attributes:
        waiting: The requests that are waited for.
    """

    waiting: tuple[str, ...]


Ending: TypeAlias = Returned | Raised | TimedOut

_FAILURES: Final = (Exception, SystemExit)
"""What ends a tool and nobody else: one that exits must not take the process along."""

OnLate: TypeAlias = Callable[[Ending], None]
"""Told how code ended that had been given up."""


def nobody(ending: Ending) -> None:
    """Be told of a late ending, and let it be."""


async def run_read(make: Callable[[], Any], seconds: float) -> Ending:  # noqa: C901, PLR0911 - one return for each ending
    """Return how asynchronous code ends that may be cancelled at any time.

    Args:
        make: Called, without arguments, for the coroutine or any other awaitable.
        seconds: Its timeout.

    Raises:
        asyncio.CancelledError: The caller was cancelled, and with it the code.
    """
    context = contextvars.copy_context()
    try:
        coroutine = context.run(make)
        if type(coroutine) is not types.CoroutineType and not asyncio.iscoroutine(coroutine):
            coroutine = _await(coroutine)
        first = context.run(coroutine.send, None)
    except StopIteration as done:
        return Returned(done.value)
    except asyncio.CancelledError as error:
        if was_interrupted():
            raise
        return Raised(error)
    except _FAILURES as error:  # whatever the tool raises is its ending
        return Raised(error)
    timer = _Timer(seconds)
    try:
        value = await _go_on(coroutine, context, first, timer)
    except asyncio.CancelledError as error:
        if timer.disarm():
            return TimedOut(may_still_be_running=timer.gave_up)
        if was_interrupted():
            raise
        return Raised(error)
    except _FAILURES as error:  # whatever the tool raises is its ending
        return TimedOut() if timer.disarm() else Raised(error)
    except BaseException:
        timer.disarm()
        raise
    timer.disarm()
    return Returned(value)


async def _await(awaitable: Any) -> Any:
    return await awaitable


class _Timer:
    """Cancels the current task after some seconds, gives its code up a moment later, and tells."""

    __slots__ = ("_fired", "_handle", "_loop", "_task", "gave_up")

    def __init__(self, seconds: float) -> None:
        self._task = asyncio.current_task()
        self._fired = 0
        self.gave_up = False
        self._loop = asyncio.get_running_loop()
        self._handle = self._loop.call_later(seconds, self._fire)

    def _fire(self) -> None:
        if self._task is None:
            return
        self.gave_up = self._fired > 0
        self._fired += 1
        self._task.cancel()
        if not self.gave_up:
            self._handle = self._loop.call_later(GRACE, self._fire)

    def disarm(self) -> bool:
        """Return whether the timer, and nobody else, has cancelled the task; take that cancelling back."""
        self._handle.cancel()
        if not self._fired or self._task is None:
            return False
        left = 0
        for _ in range(self._fired):
            left = self._task.uncancel()
        return left == 0


@types.coroutine
def _go_on(
    coroutine: Coroutine[Any, Any, Any],
    context: contextvars.Context,
    waited_for: Any,
    timer: _Timer | None,
    error: BaseException | None = None,
) -> Generator[Any, Any, Any]:
    """Drive a coroutine that has already made its first step, in a context of its own.

    Once its timer has given it up, it is left to a task of its own, so that code which
    will not be cancelled holds up nobody.
    """
    try:
        if error is not None:
            waited_for = context.run(coroutine.throw, error)
        while True:
            try:
                sent = yield waited_for
            except BaseException as thrown:
                if timer is not None and timer.gave_up:
                    _leave_alone(coroutine, context, thrown)
                    raise
                waited_for = context.run(coroutine.throw, thrown)
            else:
                waited_for = context.run(coroutine.send, sent)
    except StopIteration as done:
        return done.value


_LEFT_ALONE: Final[set["asyncio.Task[Any]"]] = set()
"""Tasks of code that would not end; held here, as the loop itself holds tasks only weakly."""


def _leave_alone(coroutine: Coroutine[Any, Any, Any], context: contextvars.Context, error: BaseException) -> None:
    async def rest() -> None:
        with contextlib.suppress(SystemExit):
            await _go_on(coroutine, context, None, None, error)

    task = asyncio.get_running_loop().create_task(rest())
    _LEFT_ALONE.add(task)
    task.add_done_callback(_forget)


def _forget(task: "asyncio.Task[Any]") -> None:
    _LEFT_ALONE.discard(task)
    if not task.cancelled():
        task.exception()  # looked at, so that nobody is warned of an exception that nobody waits for


async def run_write(make: Callable[[], Any], seconds: float, on_late: OnLate = nobody) -> Ending:
    """Return how asynchronous code ends that must not be cancelled by anybody's fate but its own.

    When the caller is cancelled, the code's end is awaited all the same, up to its timeout,
    and the cancelling comes after: see `was_interrupted`.

    Args:
        make: Called, without arguments, for the coroutine or any other awaitable.
        seconds: Its timeout. It is cancelled then, and awaited for a moment.
        on_late: Told how it ended, when it would not end in time.
    """

    async def body() -> Ending:
        try:
            return Returned(await make())
        except SystemExit as error:  # caught within the task: out of it, it would end the loop
            return Raised(error)

    task = asyncio.get_running_loop().create_task(body(), context=contextvars.copy_context())
    await _wait(task, seconds)
    if task.done():
        return _ending(task)
    task.cancel()
    await _wait(task, GRACE)
    if not task.done():
        task.add_done_callback(lambda ended: on_late(_ending(ended)))
        return TimedOut(may_still_be_running=True)
    ending = _ending(task)
    return ending if isinstance(ending, Returned) else TimedOut()


async def _wait(task: "asyncio.Task[Ending]", seconds: float) -> None:
    """Wait for a task, and go on waiting when the caller is cancelled meanwhile."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(0)  # what ends in its first step needs neither a timer nor to wake anybody
    while not task.done() and (left := until - loop.time()) > 0:
        try:
            await wait_for_end(task, left)
        except asyncio.CancelledError:
            # The task's `cancelling()` stays above zero; the caller asks `was_interrupted`
            # once the outcome is recorded, and ends then.
            continue


def _ending(task: "asyncio.Task[Ending]") -> Ending:
    if task.cancelled():
        return Raised(asyncio.CancelledError())
    error = task.exception()
    return task.result() if error is None else Raised(error)


async def run_sync(
    work: Callable[[], Any], seconds: float, threads: ToolThreads, on_late: OnLate = nobody, *, finish: bool = False
) -> Ending:
    """Return how synchronous code ends in a thread.

    Python cannot stop a thread: past the timeout the caller is answered, and the ending
    says honestly whether the code may still be running.

    Args:
        work: Called without arguments.
        seconds: Its timeout, waiting for a thread included.
        threads: Where it runs.
        on_late: Told how it ended, when it ended too late.
        finish: Whether its end is awaited also when the caller is cancelled.

    Raises:
        asyncio.CancelledError: The caller was cancelled, and `finish` is off.
    """
    job = threads.submit(work, contextvars.copy_context())

    def late(value: Any, failure: BaseException | None) -> None:
        on_late(Returned(value) if failure is None else Raised(failure))

    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while not job.future.done() and (left := until - loop.time()) > 0:
        try:
            await asyncio.wait({job.future}, timeout=left)
        except asyncio.CancelledError:
            if not finish:
                threads.abandon(job, late)
                raise
    if job.future.done():
        error = job.future.exception()
        return Returned(job.future.result()) if error is None else Raised(error)
    running = threads.abandon(job, late)
    return TimedOut(may_still_be_running=running, started=running)


def ends_the_run(ending: Ending) -> bool:
    """Return whether the tool said that the run must end."""
    return isinstance(ending, Raised) and isinstance(ending.error, FatalToolError)


def says_nothing_was_done(ending: Ending) -> bool:
    """Return whether it is certain that the code has done nothing to the world."""
    match ending:
        case Raised(error=ToolError()):
            return True
        case TimedOut(started=False):
            return True
        case _:
            return False
