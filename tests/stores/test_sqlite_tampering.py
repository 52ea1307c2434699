"""Whoever can write the file but has no key cannot change the log unseen."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from placet.errors import StoreError
from placet.stores.sqlite import SqliteStore
from placet.testing.store_samples import an_entry
from tests.stores.tampering import TAMPERINGS, Tampering

KEY = b"an audit key of thirty-two bytes"


def tamper(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER audit_record_stays")
        connection.execute("DROP TRIGGER audit_record_is_kept")
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "placet.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, key=KEY)
    await store.open()
    await store.append(*(an_entry(decision=word) for word in "abc"))
    yield store
    await store.close()


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=lambda tampering: tampering.name)
async def test_what_was_changed_shows_where_it_was(store: SqliteStore, path: Path, tampering: Tampering) -> None:
    assert (await store.verify()).fault is None
    tamper(path, *tampering.statements)

    fault = (await store.verify()).fault

    assert fault is not None
    assert fault.sequence == tampering.place


async def test_a_cut_tail_shows_against_an_exported_head(store: SqliteStore, path: Path) -> None:
    heads = await store.heads()
    tamper(path, "DELETE FROM audit_record WHERE sequence = 4")

    alone, anchored = await store.verify(), await store.verify(heads)

    assert (alone.fault, alone.anchored) == (None, False)
    assert anchored.fault is not None
    assert (anchored.fault.sequence, anchored.anchored) == (4, True)


async def test_a_chain_that_is_deleted_whole_is_missed_once_a_later_one_names_it(
    store: SqliteStore, path: Path
) -> None:
    (head,) = await store.heads()
    later = SqliteStore(path, key=KEY)
    await later.open()
    await later.append(an_entry())
    await later.close()
    tamper(path, f"DELETE FROM audit_record WHERE writer = '{head.writer}'")  # noqa: S608 - our own name

    fault = (await store.verify()).fault

    assert fault is not None
    assert fault.writer == head.writer


async def test_a_record_that_cannot_be_read_is_a_store_error_to_whoever_reads(store: SqliteStore, path: Path) -> None:
    tamper(path, "UPDATE audit_record SET kind = 'none' WHERE sequence = 3")

    with pytest.raises(StoreError, match="verify"):
        async for _ in store.read():
            pass


async def test_another_key_does_not_verify(store: SqliteStore, path: Path) -> None:
    other = SqliteStore(path, key=b"another key of thirty-two bytes.")
    await other.open()
    shown = await other.verify()
    await other.close()

    assert shown.fault is not None
    assert shown.fault.sequence == 1
