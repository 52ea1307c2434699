"""What waits is waited for by programs without an event loop, from any of their threads."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from placet.runtime.own_loop import OwnLoop

REQUEST: ContextVar[str] = ContextVar("request", default="none")


@pytest.fixture
def own() -> Iterator[OwnLoop]:
    REQUEST.set("none")
    made = OwnLoop()
    yield made
    made.close()


async def seen() -> str:
    before = REQUEST.get()
    REQUEST.set("changed")
    await asyncio.sleep(0.001)
    return before


def test_work_of_many_threads_shares_one_loop(own: OwnLoop) -> None:
    async def where() -> int:
        await asyncio.sleep(0.001)
        return id(asyncio.get_running_loop())

    with ThreadPoolExecutor(16) as threads:
        assert len(set(threads.map(lambda _: own.run(where()), range(64)))) == 1


def test_each_caller_s_variables_are_seen_by_their_own_work_alone(own: OwnLoop) -> None:
    def ask(number: int) -> str:
        REQUEST.set(f"r{number}")
        return own.run(seen())

    assert [ask(number) for number in range(3)] == ["r0", "r1", "r2"]
    assert REQUEST.get() == "r2"
    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(ask, range(64))) == [f"r{number}" for number in range(64)]


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()])
def test_what_work_raises_is_raised_where_it_was_asked_for_and_the_loop_goes_on(
    own: OwnLoop, error: BaseException
) -> None:
    async def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        own.run(fail())
    assert own.run(seen()) == "none"


def test_an_interrupted_caller_cancels_its_work_and_waits_until_it_has_ended(own: OwnLoop) -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.05)
            ended.append("slow")

    interrupting = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    interrupting.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        own.run(slow())

    assert ended == ["slow"]
    assert time.monotonic() - began < 10


def test_closing_ends_the_thread_and_what_is_under_way_and_it_can_be_used_again(own: OwnLoop) -> None:
    began = threading.Event()
    endings: list[BaseException | str] = []

    async def slow() -> str:
        began.set()
        await asyncio.sleep(30)
        return "slept"

    def ask() -> None:
        try:
            endings.append(own.run(slow()))
        except asyncio.CancelledError as error:
            endings.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    began.wait()
    own.close()
    asking.join()

    assert [type(ending) for ending in endings] == [asyncio.CancelledError]
    assert not [thread for thread in threading.enumerate() if thread.name == "placet-loop"]
    assert own.run(seen()) == "none"


def test_closing_what_was_never_used_starts_nothing() -> None:
    unused = OwnLoop()
    unused.close()

    assert not unused.is_running
    assert not [thread for thread in threading.enumerate() if thread.name == "placet-loop"]
