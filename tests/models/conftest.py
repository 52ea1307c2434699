"""A wire server for each test, and clients that are closed after it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from placet.models.anthropic_messages import AnthropicMessages
from placet.models.openai_chat import OpenAIChat
from placet.models.openai_responses import OpenAIResponses
from tests.models.dialects import Client
from tests.models.wire import WireServer, serve


@pytest.fixture
async def wire() -> AsyncIterator[WireServer]:
    async with serve() as server:
        yield server


@asynccontextmanager
async def opening(kind: Callable[..., Client], url: str) -> AsyncIterator[Callable[..., Client]]:
    """Give what makes clients of a server, and close them afterwards."""
    async with AsyncExitStack() as opened:

        def make(**settings: Any) -> Client:
            client = kind("asked-model", **{"base_url": url, "api_key": "key-of-the-test", **settings})
            opened.push_async_callback(client.close)
            return client

        yield make


@pytest.fixture
async def open_chat(wire: WireServer) -> AsyncIterator[Callable[..., Client]]:
    async with opening(OpenAIChat, f"{wire.url}/v1") as make:
        yield make


@pytest.fixture
async def open_messages(wire: WireServer) -> AsyncIterator[Callable[..., Client]]:
    async with opening(AnthropicMessages, wire.url) as make:
        yield make


@pytest.fixture
async def open_responses(wire: WireServer) -> AsyncIterator[Callable[..., Client]]:
    async with opening(OpenAIResponses, f"{wire.url}/v1") as make:
        yield make
