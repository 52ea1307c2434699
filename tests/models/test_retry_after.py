"""How long a server asks to wait: waited where there is time, said at once where there is none; on each wire."""

import asyncio
import gc
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from placet.errors import ModelUnavailableError
from placet.models.retry_after import read_retry_after
from placet.runtime.sinks import ListSink
from placet.values.outcome import Stopped
from placet.values.run import StopReason
from tests.models.asking import ask
from tests.models.dialects import Client, Dialect
from tests.models.runs import ask_over_wire, both, on_each_wire
from tests.models.wire import Reply, WireServer, whole

LIMIT = timedelta(seconds=20)
"""Longer than a test may take: who waits it out is found out."""


def busy(headers: dict[str, str], status: int = 503) -> Reply:
    return whole({"error": {"message": "busy"}}, status=status, headers=headers)


def in_seconds(seconds: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@both
@on_each_wire
@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"retry-after": "21"}, "21 s"),
        ({"retry-after": "20.0"}, "20 s"),
        ({"retry-after": "86400"}, "86400 s"),
        ({"retry-after-ms": "60000"}, "60 s"),
        ({"retry-after": "100", "x-should-retry": "true"}, "100 s"),
        ({"retry-after": "inf"}, " s"),
        ({"retry-after": "date"}, " s"),
    ],
    ids=["21", "20.0", "a day", "ms", "although it may", "for ever", "a date"],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_a_wait_that_is_longer_than_what_is_left_is_not_begun(
    wire: WireServer, dialect: Dialect, headers: dict[str, str], said: str, status: int, streamed: bool
) -> None:
    headers = {name: in_seconds(600) if value == "date" else value for name, value in headers.items()}
    wire.plays(busy(headers, status))
    client = dialect.open(wire)
    loop = asyncio.get_running_loop()
    before = loop.time()

    with pytest.raises(ModelUnavailableError, match=rf"busy \(the server asks to wait .*{said}\)") as raised:
        await client.answer(ask(timeout=LIMIT), (lambda _: None) if streamed else None)
    await client.close()

    assert loop.time() - before < 5
    assert len(wire.requests) == 1
    assert raised.value.retry_after is not None
    assert raised.value.retry_after >= LIMIT


@pytest.mark.parametrize("streamed", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["whole", "streamed"])
@on_each_wire
async def test_a_wait_for_which_there_is_time_is_waited(wire: WireServer, dialect: Dialect, streamed: bool) -> None:
    wire.plays(busy({"retry-after": "1"}), dialect.says("hi", streamed=streamed))
    client = dialect.open(wire)
    loop = asyncio.get_running_loop()
    before = loop.time()

    answer = await client.answer(ask(timeout=LIMIT), (lambda _: None) if streamed else None)
    await client.close()

    assert answer.text == "hi"
    assert 1 <= loop.time() - before < 10


@on_each_wire
async def test_what_is_left_is_what_counts_not_what_there_was(wire: WireServer, dialect: Dialect) -> None:
    """The first wait uses up most of the time, so the second, of the same length, is not begun."""
    wire.plays(busy({"retry-after-ms": "1200"}))
    client = dialect.open(wire)
    loop = asyncio.get_running_loop()
    before = loop.time()

    with pytest.raises(ModelUnavailableError, match=r"asks to wait 1\.2 s"):
        await client.answer(ask(timeout=timedelta(seconds=2)))
    await client.close()

    assert len(wire.requests) == 2
    assert 1.2 <= loop.time() - before < 2


@on_each_wire
async def test_a_server_that_asks_for_nothing_is_asked_again_as_ever(wire: WireServer, dialect: Dialect) -> None:
    wire.plays(busy({}), dialect.says("hi", streamed=False))
    client = dialect.open(wire)

    assert (await client.answer(ask(timeout=LIMIT))).text == "hi"
    await client.close()


@both
@on_each_wire
async def test_a_run_stops_at_once_and_the_records_say_how_long(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    too_long, heard = busy({"retry-after": "3600"}, 429), ListSink()

    outcome = await ask_over_wire(wire, dialect, replies=[too_long], streamed=streamed, audit=[heard])

    assert isinstance(outcome, Stopped)
    assert outcome.reason is StopReason.MODEL
    assert any("asks to wait 3600 s" in entry.body for entry in heard.entries)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "3", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "3", "retry-after-ms": "soon"}, 3),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after": "Wed, 99 Oct 2015 07:28:00 GMT"}, None),
    ],
)
def test_what_can_be_read_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == (None if seconds is None else timedelta(seconds=seconds))


def test_for_ever_is_as_long_as_there_is() -> None:
    assert read_retry_after({"retry-after": "1e400"}) == timedelta.max
    assert read_retry_after({"retry-after": "1e300"}) == timedelta.max


def test_a_date_is_a_wait_until_then() -> None:
    asked = read_retry_after({"retry-after": in_seconds(600)})

    assert asked is not None
    assert timedelta(seconds=590) < asked <= timedelta(seconds=600)


@on_each_wire
async def test_a_client_that_is_forgotten_closes_its_connections(wire: WireServer, dialect: Dialect) -> None:
    """As the SDKs' own do; a connection left open would be a warning here, and so an error."""
    wire.plays(dialect.says("hi", streamed=False))
    client: Client | None = dialect.open(wire)
    assert client is not None
    await client.answer(ask())

    client = None
    gc.collect()

    await asyncio.wait_for(wire.dropped.wait(), 5)
