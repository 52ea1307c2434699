from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.ports import Store
from placet.stores.memory import MemoryStore
from placet.stores.postgres import PostgresStore
from placet.stores.sqlite import SqliteStore
from placet.testing.store_contract import LAWS, SHARED_LAWS, Law, OpenStore, SharedLaw

KEY = b"an audit key of thirty-two bytes"


@pytest.fixture
async def open_sqlite(tmp_path: Path) -> AsyncIterator[OpenStore]:
    stores: list[SqliteStore] = []

    async def open_store() -> Store:
        store = SqliteStore(tmp_path / "placet.db", key=KEY)
        stores.append(store)
        await store.open()
        return store

    yield open_store
    for store in stores:
        await store.close()


@pytest.fixture
async def open_postgres(postgres: str) -> AsyncIterator[OpenStore]:
    stores: list[PostgresStore] = []

    async def open_store() -> Store:
        store = PostgresStore(postgres, key=KEY)
        stores.append(store)
        await store.open()
        return store

    yield open_store
    for store in stores:
        await store.close()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
async def test_the_memory_store_keeps(law: Law) -> None:
    await law(MemoryStore(key=KEY))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
async def test_the_sqlite_store_keeps(law: Law, open_sqlite: OpenStore) -> None:
    await law(await open_sqlite())


@pytest.mark.parametrize("law", SHARED_LAWS, ids=lambda law: law.__name__)
async def test_sqlite_stores_of_one_file_keep(law: SharedLaw, open_sqlite: OpenStore) -> None:
    await law(open_sqlite)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
async def test_the_postgres_store_keeps(law: Law, open_postgres: OpenStore) -> None:
    await law(await open_postgres())


@pytest.mark.parametrize("law", SHARED_LAWS, ids=lambda law: law.__name__)
async def test_postgres_stores_of_one_database_keep(law: SharedLaw, open_postgres: OpenStore) -> None:
    await law(open_postgres)
