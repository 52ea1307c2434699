import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from placet.database.answer import Rows, SqlAnswer
from placet.database.caps import Caps
from placet.database.permits import Permits
from placet.database.sqlite_sandbox import SqliteSandbox
from tests.database.sqlite_shop import RELATIONS, make_shop

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"


async def test_one_that_is_given_back_goes_to_who_has_waited_longest() -> None:
    permits = Permits(1)
    assert await permits.take(1)
    waiting = [asyncio.create_task(permits.take(1)) for _ in range(2)]
    await asyncio.sleep(0)
    permits.give()

    done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    assert done == {waiting[0]}
    permits.give()
    assert await waiting[1]


async def test_who_waits_too_long_has_none() -> None:
    permits = Permits(1)
    assert await permits.take(1)

    assert not await permits.take(0.01)
    permits.give()
    assert await permits.take(0)


@pytest.mark.parametrize("given_first", [True, False])
async def test_who_is_cancelled_gives_on_what_was_handed_over(given_first: bool) -> None:
    permits = Permits(1)
    assert await permits.take(1)
    waiting = asyncio.create_task(permits.take(5))
    await asyncio.sleep(0)
    if given_first:
        permits.give()
        await asyncio.sleep(0)
        waiting.cancel()
    else:
        waiting.cancel()
        permits.give()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert await permits.take(1)


def test_loops_of_many_threads_wait_for_the_same() -> None:
    permits = Permits(2)
    at_once: list[int] = []
    running = 0
    lock = threading.Lock()

    async def work() -> None:
        nonlocal running
        assert await permits.take(5)
        with lock:
            running += 1
            at_once.append(running)
        await asyncio.sleep(0.001)
        with lock:
            running -= 1
        permits.give()

    async def several() -> None:
        await asyncio.gather(*(work() for _ in range(20)))

    threads = [threading.Thread(target=asyncio.run, args=(several(),)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(at_once) == 100
    assert max(at_once) == 2


def test_a_loop_that_ends_keeps_no_connection(tmp_path: Path) -> None:
    caps = Caps(connections=1, timeout=timedelta(seconds=0.3), wait=timedelta(seconds=2))
    sandbox = SqliteSandbox(make_shop(tmp_path / "shop.db", 5), RELATIONS, caps=caps)
    sandbox.open_here()

    async def leave() -> None:
        asked = asyncio.create_task(sandbox.query(ENDLESS))
        await asyncio.sleep(0.05)
        asked.cancel()

    async def ask() -> SqlAnswer:
        return await sandbox.query("SELECT 1")

    asyncio.run(leave())

    assert isinstance(asyncio.run(ask()), Rows)
    asyncio.run(sandbox.close())
