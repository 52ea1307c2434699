"""Points at which a process can be made to die: before and after every verb of its store, and inside its tools.

Nothing of the product is replaced: a `Store` is a port, and this one passes every verb on to a
real store. Which points there are is found by running a story once and looking at what was passed.
"""

import inspect
import os
import signal
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from placet.ports import Store

VERBS: Final = frozenset(
    name for name in dir(Store) if not name.startswith("_") and inspect.isfunction(getattr(Store, name))
)
"""Every verb of the port, so that one which is added later is passed too."""

QUEUED: Final = frozenset(
    name
    for name in VERBS
    if not inspect.iscoroutinefunction(getattr(Store, name)) and getattr(Store, name).__annotations__["return"] is None
)
"""Those that nobody waits for. Each other one has ended when what it gives has been awaited."""


class Points:
    """The points that a process passes, in order, and the one at which it ends.

    Args:
        wanted: Where a signal is sent to the process itself, or None for nowhere.
        by: The signal: SIGKILL ends it, SIGSTOP freezes it.
        before: Called just before the signal is sent.
        after: Called when the process goes on after it.
    """

    def __init__(
        self, wanted: str | None, by: signal.Signals, before: Callable[[], None], after: Callable[[], None]
    ) -> None:
        self.passed: list[str] = []
        self._wanted = wanted
        self._by = by
        self._before = before
        self._after = after
        self._times: Counter[str] = Counter()

    def reach(self, name: str) -> None:
        """Pass a point; the same name a second time is another point."""
        self._times[name] += 1
        point = f"{name} #{self._times[name]}"
        self.passed.append(point)
        if point == self._wanted:
            self._before()
            os.kill(os.getpid(), self._by)
            self._after()


class PointedStore:
    """A store, each of whose verbs is a point before it begins and a point when it has ended."""

    def __init__(self, store: Store, points: Points) -> None:
        self._store = store
        self._points = points

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._store, name)
        if name not in VERBS or inspect.isasyncgenfunction(verb):
            return verb
        points = self._points
        if name in QUEUED:

            def queued(*arguments: Any, **named: Any) -> Any:
                points.reach(f"before {name}")
                value = verb(*arguments, **named)
                points.reach(f"after {name}")
                return value

            return queued

        async def awaited(*arguments: Any, **named: Any) -> Any:
            points.reach(f"before {name}")
            value = await verb(*arguments, **named)
            points.reach(f"after {name}")
            return value

        return awaited
