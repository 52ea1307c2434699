"""How many values a `generate_series` with constant bounds makes."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from placet.database.facts import Argument

_UNIT_SECONDS: Final = {
    "microsecond": 1e-6, "millisecond": 1e-3, "second": 1.0, "sec": 1.0, "s": 1.0, "minute": 60.0, "min": 60.0,
    "m": 60.0, "hour": 3600.0, "h": 3600.0, "day": 86_400.0, "d": 86_400.0, "week": 604_800.0, "w": 604_800.0,
    "month": 28 * 86_400.0, "mon": 28 * 86_400.0, "quarter": 84 * 86_400.0, "year": 365 * 86_400.0, "y": 365 * 86_400.0,
    "decade": 3650 * 86_400.0,
}  # fmt: skip
_INTERVAL: Final = re.compile(r"\s*(-?\d+(?:\.\d+)?)?\s*([a-z]+?)s?\s*(?=$|[\s\d-])", re.IGNORECASE)
_CLOCK: Final = re.compile(r"(-?)(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?")

MINUTE: Final = 60.0


def count_values(arguments: Sequence[Argument]) -> float | None:
    """Return how many values the series has, or None when its bounds are not constants."""
    if len(arguments) not in (2, 3) or not all(argument.is_constant for argument in arguments):
        return None
    start, stop = arguments[0].value, arguments[1].value
    step = arguments[2].value if len(arguments) == 3 else 1
    if _is_number(start) and _is_number(stop) and _is_number(step):
        return _count(float(start), float(stop), float(step))  # type: ignore[arg-type]
    if isinstance(start, str) and isinstance(stop, str) and isinstance(step, str):
        first, last, seconds = _moment(start), _moment(stop), seconds_of(step)
        if first is not None and last is not None and seconds is not None:
            return _count(first, last, seconds)
        if None not in (whole := [_integer(text) for text in (start, stop, step)]):
            return _count(*whole)  # type: ignore[arg-type]
    return None


def seconds_of(interval: str) -> float | None:
    """Return at least how many seconds an interval has, or None for a text that is none."""
    text = interval.strip()
    total = 0.0
    if clock := _CLOCK.search(text):
        sign = -1 if clock[1] else 1
        total += sign * (int(clock[2]) * 3600 + int(clock[3]) * 60 + float(clock[4] or 0))
        text = (text[: clock.start()] + text[clock.end() :]).strip()
    while text:
        found = _INTERVAL.match(text)
        if not found or found[2].lower() not in _UNIT_SECONDS:
            return None
        total += float(found[1] or 1) * _UNIT_SECONDS[found[2].lower()]
        text = text[found.end() :].strip()
    return total or None


def _count(start: float, stop: float, step: float) -> float:
    if step == 0:
        return 0  # PostgreSQL refuses it
    return max(0.0, (stop - start) / step + 1)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _integer(text: str) -> float | None:
    try:
        return float(int(text))
    except ValueError:
        return None


def _moment(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
