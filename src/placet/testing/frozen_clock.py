"""FrozenClock: a clock that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta


class FrozenClock:
    """A clock that stands still until it is moved.

    Args:
        at: Where it stands, aware; 2026-11-29, noon, UTC when left out.
    """

    def __init__(self, at: datetime | None = None) -> None:
        self._at = at or datetime(2026, 11, 29, 12, tzinfo=UTC)
        self._seconds = 0.0

    def now(self) -> datetime:
        """Return where it stands, in UTC."""
        return self._at

    def monotonic(self) -> float:
        """Return the seconds by which it was moved so far."""
        return self._seconds

    def move(self, seconds: float) -> None:
        """Move it, forward or back; measured time goes forward alone."""
        self._at += timedelta(seconds=seconds)
        self._seconds += max(0.0, seconds)
