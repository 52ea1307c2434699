"""Questions of one kind to PostgreSQL: what is asked while one is on its way is one question afterwards."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from psycopg import DataError

from placet.stores.postgres_connection import Connection, Pool, mapped

Q = TypeVar("Q")
A = TypeVar("A")

MOST_AT_ONCE: Final = 100
"""How many are asked together, so that nobody waits long for the answers of others."""


class Together(Generic[Q, A]):
    """Asks questions of one kind for one store object, on the event loop in which it was opened.

    Args:
        pool: Open.
        find: Answers questions, in their order, as of a moment after it was called.
    """

    def __init__(self, pool: Pool, find: Callable[[Connection, Sequence[Q]], Awaitable[Sequence[A]]]) -> None:
        self._pool = pool
        self._find = find
        self._asked: list[tuple[Q, asyncio.Future[A]]] = []
        self._task: asyncio.Task[None] | None = None

    async def ask(self, question: Q) -> A:
        """Return the answer.

        Raises:
            StoreError: The store cannot be read.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[A] = loop.create_future()
        self._asked.append((question, future))
        if self._task is None:
            self._task = loop.create_task(self._answer_all(), name="placet-postgres-questions")
        return await future

    async def _answer_all(self) -> None:
        try:
            while self._asked:
                asked, self._asked = self._asked[:MOST_AT_ONCE], self._asked[MOST_AT_ONCE:]
                await self._answer(asked)
        finally:
            self._task = None

    async def _answer(self, asked: Sequence[tuple[Q, "asyncio.Future[A]"]]) -> None:
        try:
            with mapped("read"):
                async with self._pool.connection() as connection:
                    answers = await self._find(connection, [question for question, _ in asked])
            answered = list(zip(asked, answers, strict=True))
        except Exception as error:  # noqa: BLE001 - what it was is said to whoever waits
            # What is no text of PostgreSQL's is the fault of whoever asks for it, and of nobody else.
            if len(asked) > 1 and isinstance(error.__cause__, DataError | UnicodeError):
                for one in asked:
                    await self._answer([one])
                return
            for _, future in asked:
                if not future.done():
                    future.set_exception(error)
        else:
            for (_, future), answer in answered:
                if not future.done():
                    future.set_result(answer)
