from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Final

import psycopg
import pytest

from placet.database.caps import Caps
from placet.database.postgres_sandbox import PostgresSandbox
from tests.database.sandbox_cases import RELATIONS, schema_sql
from tests.postgres_server import PostgresServer

SMALL_ORDERS: Final = 10_000
"""A twentieth of the data that the caps are made for, so the cost cap of the tests is smaller too."""

SMALL_CAPS: Final = Caps(timeout=timedelta(seconds=0.6), cost=8_000)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as started:
        with psycopg.connect(started.dsn(), autocommit=True) as connection:
            connection.execute(schema_sql(SMALL_ORDERS).encode())
        yield started


@pytest.fixture
async def sandbox(server: PostgresServer) -> AsyncIterator[PostgresSandbox]:
    async with open_sandbox(server) as opened:
        yield opened


def open_sandbox(server: PostgresServer, caps: Caps = SMALL_CAPS) -> PostgresSandbox:
    return PostgresSandbox(server.dsn("llm_ro"), RELATIONS, functions={"shop.vat"}, caps=caps)
