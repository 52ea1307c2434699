"""EventLog: what has happened in one run, numbered, for any number of watchers.

The run writes and never waits: a slow watcher slows nobody, it only reads later. Who joins
late gets the past first. A run that goes on after a wait goes on in the same log.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from placet.runtime.site import Emit
from placet.values.event import Event

KEPT_LOGS: Final = 200
"""How many logs of ended runs are kept for late joiners."""


@dataclass(slots=True, eq=False)
class EventLog:
    """The events of one run, in order, numbered from 1.

    Attributes:
        events: All of them so far.
        writers: How many segments are at work; normally one, or none while the run waits.
    """

    events: list[Event] = field(default_factory=list[Event])
    writers: int = 1
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, event: Event) -> None:
        """Add an event and wake the watchers."""
        self.events.append(event)
        self._wake()

    @property
    def ended(self) -> bool:
        """Whether no more will come, unless the run goes on."""
        return self.writers == 0

    def end(self) -> None:
        """Say that a segment has ended."""
        self.writers -= 1
        self._wake()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    async def watch(self, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """Yield the events with their numbers, the past first, until the run's segment has ended.

        Args:
            after: The number of the last event that the watcher has already seen.
        """
        number = max(0, after)
        while True:
            more = self._more
            while number < len(self.events):
                number += 1
                yield number, self.events[number - 1]
            if self.ended:
                return
            await more.wait()


@dataclass(slots=True, eq=False)
class EventLogs:
    """The logs of the runs of one agent, by run id; those of ended runs are forgotten in the end."""

    _logs: "OrderedDict[str, EventLog]" = field(default_factory=OrderedDict[str, EventLog])

    def open(self, run_id: str) -> EventLog:
        """Return the log of a run, a new one if it has none."""
        log = self._logs.get(run_id)
        if log is None or log.ended:
            log = self._logs[run_id] = EventLog()
            self._logs.move_to_end(run_id)
            self._forget()
        return log

    @contextmanager
    def going_on(self, run_id: str, emit: Emit | None) -> Generator[Emit | None]:
        """Give what a further segment of a run tells its events to: who asks, and the run's log if it has one.

        Args:
            run_id: The run.
            emit: Who asks to be told, or None.
        """
        log = self._logs.get(run_id)
        if log is None:
            yield emit
            return
        log.writers += 1
        try:
            yield log.add if emit is None else _both(log.add, emit)
        finally:
            log.end()

    def find(self, run_id: str) -> EventLog | None:
        """Return the log of a run, or None."""
        return self._logs.get(run_id)

    def _forget(self) -> None:
        ended = [run_id for run_id, log in self._logs.items() if log.ended]
        for run_id in ended[: max(0, len(ended) - KEPT_LOGS)]:
            del self._logs[run_id]


def _both(one: Emit, other: Emit) -> Emit:
    def tell(event: Event) -> None:
        one(event)
        other(event)

    return tell
