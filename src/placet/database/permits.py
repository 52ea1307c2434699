"""So many at once, whichever loop or thread they come from."""

import asyncio
import threading
from collections import deque
from typing import TypeAlias

_Waiting: TypeAlias = tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class Permits:
    """A number of permits, which are taken and given back.

    A semaphore of `asyncio` belongs to the loop that first waited for it. An application that answers from
    several threads has several loops, and some end while what they have begun still runs.

    Args:
        count: How many.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[_Waiting] = deque()
        self._lock = threading.Lock()

    async def take(self, seconds: float) -> bool:
        """Return whether there was one, or one came in time. Whoever waits longest has the next."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            loop = asyncio.get_running_loop()
            handed: asyncio.Future[None] = loop.create_future()
            self._waiting.append((loop, handed))
        try:
            async with asyncio.timeout(seconds):
                await handed
        except BaseException as error:
            self._leave(loop, handed)
            if isinstance(error, TimeoutError):
                return False
            raise
        return True

    def give(self) -> None:
        """Give one back, from any thread."""
        with self._lock:
            while self._waiting:
                loop, handed = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(self._hand, handed)
                except RuntimeError:  # the loop is closed, so nobody waits
                    continue
                return
            self._free += 1

    def _hand(self, handed: "asyncio.Future[None]") -> None:
        if handed.done():  # who has waited has left
            self.give()
        else:
            handed.set_result(None)

    def _leave(self, loop: asyncio.AbstractEventLoop, handed: "asyncio.Future[None]") -> None:
        """Wait no longer, and give on what was handed over in the same moment."""
        with self._lock:
            if (loop, handed) in self._waiting:
                self._waiting.remove((loop, handed))
        if handed.done() and not handed.cancelled():
            self.give()
