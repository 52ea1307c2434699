"""A store whose process may die at any verb: what was queued is lost, what was committed is not."""

import inspect
from collections.abc import Callable
from typing import Any

from placet.errors import StoreError
from placet.ports import Store
from tests.crash.points import QUEUED, VERBS


class MortalStore:
    """A store that stops answering at a chosen moment, so that whatever its process does then is as if undone.

    Args:
        store: The store that lives on.
    """

    def __init__(self, store: Store) -> None:
        self.lives_on = store
        self.is_dead = False
        self._moments_left: int | None = None
        self._queued: list[Callable[[], object]] = []

    def die_in(self, moments: int | None) -> None:
        """Die at the so-manieth moment from now; each awaited verb has one before it and one after it."""
        self._moments_left = moments

    def die(self) -> None:
        """Die now."""
        self.is_dead = True
        self._queued.clear()

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self.lives_on, name)
        if name not in VERBS or inspect.isasyncgenfunction(verb):
            return verb
        if name in QUEUED:

            def queued(*arguments: Any, **named: Any) -> None:
                if not self.is_dead:
                    self._queued.append(lambda: verb(*arguments, **named))

            return queued

        async def awaited(*arguments: Any, **named: Any) -> Any:
            self._moment()
            queued, self._queued = self._queued, []
            for step in queued:
                step()
            value = await verb(*arguments, **named)
            self._moment()
            return value

        return awaited

    def _moment(self) -> None:
        if self._moments_left is not None and not self.is_dead:
            self._moments_left -= 1
            if self._moments_left <= 0:
                self.die()
        if self.is_dead:
            raise StoreError("the process is dead")
