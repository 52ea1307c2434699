"""Reading runs by their ids, each with what was queued in it before."""

from collections import OrderedDict

from placet.ports import StoredRun
from placet.stores.postgres_connection import Pool
from placet.stores.postgres_reads import find_runs
from placet.stores.postgres_together import Together
from placet.stores.postgres_writer import PostgresWriter


class RunReader:
    """Reads runs for one store object, on the event loop in which it was opened.

    Args:
        pool: Open.
        writer: Writes into the runs.
    """

    def __init__(self, pool: Pool, writer: PostgresWriter) -> None:
        self._writer = writer
        self._queued: OrderedDict[str, int] = OrderedDict()
        self._runs = Together(pool, find_runs)

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
        return await self._runs.ask(run_id)
