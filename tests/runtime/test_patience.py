"""What must come to its end is waited for through every cancelling, and no longer than it may take."""

import asyncio
import time
from contextvars import ContextVar

import pytest

from placet.runtime.patience import see_through, wait_for_end, was_interrupted

WHERE: ContextVar[str] = ContextVar("where", default="outside")


async def later(seconds: float, value: int = 1) -> int:
    await asyncio.sleep(seconds)
    return value


async def test_the_end_is_waited_for_but_not_longer_than_so_many_seconds() -> None:
    slow, quick = asyncio.create_task(later(5)), asyncio.create_task(later(0.01))
    began = time.monotonic()

    await wait_for_end(quick, 5)
    await wait_for_end(slow, 0.05)

    assert (quick.done(), slow.done()) == (True, False)
    assert time.monotonic() - began < 2
    slow.cancel()


async def test_who_is_cancelled_meanwhile_is_told_when_the_waiting_has_ended() -> None:
    work = asyncio.create_task(later(0.05))
    seen: list[bool] = []

    async def wait(seconds: float | None) -> None:
        try:
            await wait_for_end(work, seconds)
        except asyncio.CancelledError:
            seen.append(work.done())
            raise

    for seconds, done in ((0.01, False), (None, True)):
        waiting = asyncio.create_task(wait(seconds))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert seen.pop() is done
    assert work.result() == 1


async def test_what_ends_as_the_time_is_up_wakes_once_and_in_the_context_of_who_waits() -> None:
    loop = asyncio.get_running_loop()

    async def wait() -> tuple[str, int]:
        WHERE.set("inside")
        woken = 0
        for _ in range(200):
            end = loop.create_future()
            loop.call_later(0.0005, end.set_result, None)
            await wait_for_end(end, 0.0005)
            woken += 1
            await asyncio.sleep(0)
        return WHERE.get(), woken

    assert await asyncio.create_task(wait()) == ("inside", 200)


async def test_work_is_seen_through_and_the_cancelling_stays_pending() -> None:
    async def caller() -> tuple[int, bool]:
        return await see_through(later(0.02, 7)), was_interrupted()

    task = asyncio.create_task(caller())
    await asyncio.sleep(0)
    task.cancel()

    assert await task == (7, True)
