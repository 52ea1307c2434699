"""Reading runs by their ids: what is asked for while a question is on its way is one question afterwards."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from psycopg import DataError

from placet.ports import StoredRun
from placet.stores.postgres_connection import Pool, mapped
from placet.stores.postgres_reads import find_runs
from placet.stores.postgres_writer import PostgresWriter

MOST_AT_ONCE: Final = 100
"""How many runs one question is about, so that nobody waits long for the snapshots of others."""

Asked: TypeAlias = "tuple[str, asyncio.Future[StoredRun | None]]"


class RunReader:
    """Reads runs for one store object, on the event loop in which it was opened.

    Args:
        pool: Open.
        writer: Writes into the runs.
    """

    def __init__(self, pool: Pool, writer: PostgresWriter) -> None:
        self._pool = pool
        self._writer = writer
        self._queued: OrderedDict[str, int] = OrderedDict()
        self._asked: list[Asked] = []
        self._task: asyncio.Task[None] | None = None

    def note(self, run_id: str, ticket: int) -> None:
        """Note what was queued last in a run, and forget of others what is committed."""
        self._queued[run_id] = ticket
        self._queued.move_to_end(run_id)
        # The ticket that was just given is not done, so there is always an oldest.
        while self._writer.has_done(self._queued[oldest := next(iter(self._queued))]):
            del self._queued[oldest]

    async def find(self, run_id: str) -> StoredRun | None:
        """Return the run with its journal, with all that was queued in it before, or None.

        Raises:
            StoreError: The store cannot be read.
        """
        if not self._writer.has_done(self._queued.get(run_id, 0)):
            await self._writer.submit(None)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[StoredRun | None] = loop.create_future()
        self._asked.append((run_id, future))
        if self._task is None:
            self._task = loop.create_task(self._answer_all(), name="placet-postgres-runs")
        return await future

    async def _answer_all(self) -> None:
        try:
            while self._asked:
                asked, self._asked = self._asked[:MOST_AT_ONCE], self._asked[MOST_AT_ONCE:]
                await self._answer(asked)
        finally:
            self._task = None

    async def _answer(self, asked: Sequence[Asked]) -> None:
        try:
            found = await self._find({run_id for run_id, _ in asked})
        except Exception as error:  # noqa: BLE001 - what it was is said to whoever waits
            # An id that is no text of PostgreSQL's is the fault of whoever asks for it, and of nobody else.
            if len(asked) > 1 and isinstance(error.__cause__, DataError | UnicodeError):
                for one in asked:
                    await self._answer([one])
                return
            for _, future in asked:
                if not future.done():
                    future.set_exception(error)
        else:
            for run_id, future in asked:
                if not future.done():
                    future.set_result(found.get(run_id))

    async def _find(self, run_ids: set[str]) -> Mapping[str, StoredRun]:
        with mapped("read"):
            async with self._pool.connection() as connection:
                return await find_runs(connection, run_ids)
