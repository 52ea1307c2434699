"""Exact sliding windows, in memory."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from placet.stores.judgement import judge_takes
from placet.values.effect import ClaimRefused, Take


class Windows:
    """What was taken, by window. A window is known by its key and its length together."""

    def __init__(self) -> None:
        self._taken: dict[tuple[str, timedelta], deque[tuple[datetime, Decimal]]] = {}

    def put(self, key: str, per: timedelta, at: datetime, amount: Decimal) -> None:
        """Put in what was taken before. Older things first."""
        self._taken.setdefault((key, per), deque()).append((at, amount))

    def used(self, take: Take, at: datetime) -> Decimal:
        """Return what was taken in the window that ends at a time."""
        since = at - take.per
        taken = self._taken.get((take.key, take.per), ())
        return sum((amount for when, amount in taken if when > since), Decimal(0))

    def judge(self, takes: Sequence[Take], at: datetime) -> ClaimRefused | None:
        """Return which window is full, or None when all of them have room together."""
        return judge_takes(takes, lambda take: self.used(take, at))

    def take(self, takes: Sequence[Take], at: datetime) -> None:
        """Take all of it, and forget what has left the windows."""
        for take in takes:
            taken = self._taken.setdefault((take.key, take.per), deque())
            while taken and taken[0][0] <= at - take.per:
                taken.popleft()
            taken.append((at, take.amount))
