"""Questions to PostgreSQL that are asked at once: they are one, and each is answered as if it had been alone."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from decimal import Decimal

import pytest
from psycopg import DataError, OperationalError

from placet.errors import StoreError
from placet.stores.postgres import PostgresStore
from placet.stores.postgres_connection import Connection, Pool, make_pool
from placet.stores.postgres_together import MOST_AT_ONCE, Together
from placet.testing.store_samples import MINUTE, NOW, a_claim, a_take
from placet.values.effect import Claimed


@pytest.fixture
async def pool(postgres: str) -> AsyncIterator[Pool]:
    pool = make_pool(postgres, 2)
    await pool.open(wait=True)
    yield pool
    await pool.close()


class Doubles:
    """Answers with the double of each number; refuses what is negative, and breaks at zero."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def find(self, connection: Connection, numbers: Sequence[int]) -> Sequence[int]:
        self.asked.append(len(numbers))
        await connection.execute("SELECT 1")
        if min(numbers) < 0:
            raise DataError("no such number")
        if min(numbers) == 0:
            raise OperationalError("the connection broke")
        return [2 * number for number in numbers]


async def test_what_is_asked_at_once_is_one_question(pool: Pool) -> None:
    doubles = Doubles()
    together = Together(pool, doubles.find)
    answers = await asyncio.gather(*(together.ask(number) for number in (3, 1, 2, 1)))

    assert answers == [6, 2, 4, 2]
    assert doubles.asked == [4]


async def test_what_is_asked_meanwhile_is_asked_afterwards(pool: Pool) -> None:
    doubles = Doubles()
    together = Together(pool, doubles.find)
    first = asyncio.ensure_future(together.ask(1))
    while not doubles.asked:  # noqa: ASYNC110 - whoever asks tells nobody that it has begun
        await asyncio.sleep(0)
    await asyncio.gather(first, *(together.ask(number) for number in range(1, MOST_AT_ONCE + 2)))

    assert doubles.asked == [1, MOST_AT_ONCE, 1]


async def test_a_question_that_cannot_be_asked_spoils_no_other(pool: Pool) -> None:
    together = Together(pool, Doubles().find)
    one, bad, two = await asyncio.gather(*(together.ask(number) for number in (1, -1, 2)), return_exceptions=True)

    assert (one, two) == (2, 4)
    assert isinstance(bad, StoreError)


async def test_a_connection_that_breaks_fails_all_who_have_asked_at_once(pool: Pool) -> None:
    doubles = Doubles()
    together = Together(pool, doubles.find)
    failed = await asyncio.gather(*(together.ask(number) for number in (1, 0, 2)), return_exceptions=True)

    assert all(isinstance(error, StoreError) for error in failed)
    assert doubles.asked == [3]
    assert await together.ask(4) == 8


async def test_an_answer_that_is_missing_is_nobody_elses(pool: Pool) -> None:
    async def one_too_few(_: Connection, numbers: Sequence[int]) -> Sequence[int]:
        return numbers[1:]

    together = Together(pool, one_too_few)
    with pytest.raises(ValueError, match="shorter"):
        await together.ask(1)


async def test_one_who_gives_up_waiting_takes_nobody_with_him(pool: Pool) -> None:
    together = Together(pool, Doubles().find)
    waiting = [asyncio.ensure_future(together.ask(number)) for number in (1, 2, 3)]
    await asyncio.sleep(0)
    waiting[1].cancel()

    assert list(await asyncio.gather(waiting[0], waiting[2])) == [2, 6]


async def test_each_is_told_how_much_of_its_own_windows_is_used(postgres: str) -> None:
    store = PostgresStore(postgres, key=b"an audit key of thirty-two bytes")
    await store.open()
    one, other = a_take(at_most=Decimal(9), amount=Decimal("1.5")), a_take(key="other", at_most=Decimal(9))
    for seconds, takes in ((0, (one,)), (30, (one, other))):
        assert await store.claim(a_claim(takes=takes, at=NOW + timedelta(seconds=seconds))) == Claimed()
    used = await asyncio.gather(
        store.usage([one, other], NOW + timedelta(seconds=30)),
        store.usage([], NOW),
        store.usage([other, a_take(key="none"), one], NOW + MINUTE),
    )
    await store.close()

    assert list(used) == [[Decimal(3), Decimal(1)], [], [Decimal(1), Decimal(0), Decimal("1.5")]]
