"""Retry-After: how long a server asks to wait, and what to do when nobody has that long.

The SDKs wait as long as they are asked to, so a run would sit until its time-out and then say no
more than that. They ask no more where a response says `x-should-retry: false`; a hook of their
HTTP client, which is the vendor's own way in, writes that on a response that asks for too long.
"""

import asyncio
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2

UNTIL: Final[ContextVar[float | None]] = ContextVar("placet_model_until", default=None)
"""Until when, on the loop's clock, the request of this task may take."""


def read_retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """Return how long a response asks to wait, or None when it asks for nothing that can be read.

    `Retry-After` is seconds or a date (RFC 9110, 10.2.3); `retry-after-ms` is OpenAI's own.
    """
    for name, unit in (("retry-after-ms", timedelta(milliseconds=1)), ("retry-after", timedelta(seconds=1))):
        try:
            return _wait(float(headers.get(name, "")), unit)
        except ValueError:
            continue
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, OverflowError):
        return None
    until = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return _wait((until - datetime.now(UTC)).total_seconds(), timedelta(seconds=1))


def _wait(asked: float, unit: timedelta) -> timedelta | None:
    try:
        return asked * unit if asked > 0 else None
    except OverflowError:  # for ever, or as good as that
        return timedelta.max


async def refuse_long_waits(response: httpx2.Response) -> None:
    """Tell the SDK not to ask again when the server wants a longer wait than is left."""
    until, asked = UNTIL.get(), read_retry_after(response.headers)
    if until is not None and asked is not None and asked.total_seconds() >= until - asyncio.get_running_loop().time():
        response.headers["x-should-retry"] = "false"


def hooked_client(kind: type[httpx2.AsyncClient]) -> httpx2.AsyncClient:
    """Return an HTTP client of an SDK's own kind that refuses long waits.

    It is closed when nobody has it any more, as the one is that the SDK makes for itself.
    """
    made = type("HookedClient", (kind,), {"__del__": _close_forgotten})
    client: httpx2.AsyncClient = made(event_hooks={"response": [refuse_long_waits]})
    return client


_CLOSING: Final = set["asyncio.Task[None]"]()


def _close_forgotten(client: httpx2.AsyncClient) -> None:
    try:
        if client.is_closed:
            return
        task = asyncio.get_running_loop().create_task(client.aclose())
    except (AttributeError, RuntimeError):  # never made, or no loop is left in which it could be closed
        return
    _CLOSING.add(task)
    task.add_done_callback(_CLOSING.discard)
