"""A wire server for each test, and clients that are closed after it."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from placet.models.openai_chat import OpenAIChat
from tests.models.wire import WireServer, serve


@pytest.fixture
async def wire() -> AsyncIterator[WireServer]:
    async with serve() as server:
        yield server


@pytest.fixture
async def open_chat(wire: WireServer) -> AsyncIterator[Callable[..., OpenAIChat]]:
    """Make a client of the wire server."""
    opened: list[OpenAIChat] = []

    def make(**settings: Any) -> OpenAIChat:
        client = OpenAIChat("asked-model", **{"base_url": f"{wire.url}/v1", "api_key": "key-of-the-test", **settings})
        opened.append(client)
        return client

    yield make
    for client in opened:
        await client.close()
