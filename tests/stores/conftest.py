import os
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from placet.stores.postgres import PostgresStore
from tests.postgres_server import PostgresServer

KEY = b"an audit key of thirty-two bytes"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Where a PostgreSQL is: the one that PLACET_TEST_POSTGRES names, or one of our own."""
    stated = os.environ.get("PLACET_TEST_POSTGRES")
    if stated:
        yield stated
        return
    with PostgresServer() as server:
        yield server.dsn()


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str) -> Iterator[str]:
    """A database of the session's own."""
    name = f"placet_test_{uuid4().hex[:12]}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        try:
            yield make_conninfo(postgres_server, dbname=name)
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def postgres(postgres_database: str) -> str:
    """A database without a schema of placet's, for one test."""
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS placet CASCADE")
    return postgres_database


@pytest.fixture
async def store(postgres: str) -> AsyncIterator[PostgresStore]:
    """A store on PostgreSQL, open. A module about another kind of store has a fixture of its own."""
    store = PostgresStore(postgres, key=KEY)
    await store.open()
    yield store
    await store.close()
