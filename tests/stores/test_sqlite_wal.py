"""When the WAL of a SQLite store is synced and written back, and what a disk that refuses to keep it may cost."""

# ruff: noqa: ASYNC240 - nothing else runs on the loop while a test looks at its file

import asyncio
import logging
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from placet.errors import StoreError
from placet.stores.sqlite import SqliteStore
from placet.stores.sqlite_wal import Checkpointer, WalFile
from placet.stores.sqlite_writer import CHECKPOINT_AFTER, Batch, Verb
from placet.testing.store_samples import a_claim, an_effect, an_entry, entries_of
from placet.values.audit import AuditKind
from placet.values.effect import Claim, Claimed

KEY = b"an audit key of thirty-two bytes"
INTENT = an_entry(AuditKind.INTENT)
CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"
LONG_AGO = 1.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "placet.db"


@pytest.fixture
def wal(path: Path) -> Path:
    return path.with_name("placet.db-wal")


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, key=KEY)
    await store.open()
    await store.append(an_entry())
    yield store
    await store.close()


def checkpointer_of(store: SqliteStore) -> Checkpointer:
    assert store._open is not None
    return store._open.writer._checkpointer


def wal_of(store: SqliteStore) -> WalFile:
    assert store._open is not None
    return store._open.writer._wal


def an_intent(number: int) -> Claim:
    return a_claim(an_effect(f"run_{number}:1.0", digest=str(number)), intent=INTENT)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - a thread tells nobody
            await asyncio.sleep(0.001)


# ── written back ──────────────────────────────────────────────────────────────────────


async def test_the_wal_is_written_back_by_a_thread_of_its_own_and_does_not_grow(store: SqliteStore, wal: Path) -> None:
    threads: set[str] = set()
    for connection in (checkpointer_of(store)._beside, checkpointer_of(store)._connection):
        connection.set_trace_callback(lambda sql: threads.add(threading.current_thread().name * (sql == CHECKPOINT)))
    for _ in range(4):
        for _ in range(CHECKPOINT_AFTER):
            await store.append(an_entry())
        await until(lambda: checkpointer_of(store).is_idle)
    await store.claim(an_intent(1))

    assert threads == {"", "placet-sqlite-checkpoint"}
    assert wal.stat().st_size < 3 * CHECKPOINT_AFTER * 4 * 4096


@asynccontextmanager
async def checkpoint_at_work(store: SqliteStore) -> AsyncIterator[None]:
    begun, may_end = threading.Event(), threading.Event()

    def hold(sql: str) -> None:
        if sql == CHECKPOINT:
            begun.set()
            may_end.wait(10)

    checkpointer_of(store)._beside.set_trace_callback(hold)
    checkpointer_of(store).write_back()
    await until(begun.is_set)
    try:
        yield
    finally:
        may_end.set()


async def test_nobody_waits_for_a_checkpoint(store: SqliteStore) -> None:
    async with checkpoint_at_work(store), asyncio.timeout(5):
        await store.append(an_entry())
        assert await store.claim(an_intent(1)) == Claimed()


async def test_the_loop_commits_nothing_while_the_wal_may_begin_anew(store: SqliteStore) -> None:
    threads: list[int] = []
    checkpointer = checkpointer_of(store)
    checkpointer._connection.set_trace_callback(
        lambda sql: threads.append(threading.get_ident()) if sql == "COMMIT" else None
    )
    async with checkpoint_at_work(store):
        await store.append(an_entry())
        await store.append(an_entry())
    await until(lambda: checkpointer.is_idle)
    await store.append(an_entry())

    assert [thread == threading.get_ident() for thread in threads] == [False, False, True]


async def test_a_wal_that_is_begun_anew_keeps_its_length(store: SqliteStore, wal: Path) -> None:
    await store.append(an_entry(body="x" * 1_000_000))
    size = wal.stat().st_size
    header = wal.read_bytes()[:32]
    checkpointer_of(store).write_back()
    await until(lambda: wal.read_bytes()[:32] != header)

    assert wal.stat().st_size == size


@pytest.mark.parametrize("closes", ["writer", "checkpointer"])
async def test_what_writes_the_wal_back_syncs_whatever_sqlite_was_built_with(store: SqliteStore, closes: str) -> None:
    checkpointer = checkpointer_of(store)
    checkpointer.write_back()
    await until(lambda: checkpointer.is_idle)
    connection = checkpointer._connection if closes == "writer" else checkpointer._beside
    (level,) = connection.execute("PRAGMA synchronous").fetchone()

    assert level == 1


# ── a disk that refuses ───────────────────────────────────────────────────────────────


class Disk:
    """Refuses to sync for a while, and lets the WAL look old when it does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.refuses = True
        monkeypatch.setattr("placet.stores.sqlite_wal._sync", self.sync)

    def sync(self, file: int) -> None:
        if self.refuses:
            os.utime(file, (LONG_AGO, LONG_AGO))
            raise OSError("the disk is broken")


@pytest.fixture
def disk(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> Disk:
    assert store is not None
    return Disk(monkeypatch)


async def test_what_a_failed_sync_may_have_lost_is_written_again_at_once(
    store: SqliteStore, wal: Path, disk: Disk
) -> None:
    with pytest.raises(StoreError, match="not known what is kept"):
        await store.claim(an_intent(1))
    disk.refuses = False

    assert wal.stat().st_mtime > LONG_AGO
    assert await store.claim(an_intent(2)) == Claimed()
    assert await entries_of(store) == [an_entry(), INTENT, INTENT]
    assert (await store.verify()).fault is None


async def test_nothing_is_durable_before_what_may_be_lost_is_written_again(
    store: SqliteStore, wal: Path, disk: Disk
) -> None:
    file = wal_of(store)._file
    wal_of(store)._file = os.open(wal, os.O_RDONLY)
    with pytest.raises(StoreError, match="not known what is kept"):
        await store.claim(an_intent(1))
    disk.refuses = False
    with pytest.raises(StoreError, match="not known what is kept"):
        await store.claim(an_intent(2))
    await store.append(an_entry())
    os.close(wal_of(store)._file)
    wal_of(store)._file = file

    assert wal.stat().st_mtime > LONG_AGO
    assert await store.claim(an_intent(3)) == Claimed()


async def test_somebody_in_the_way_of_writing_it_again_refuses_what_must_be_durable(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("placet.stores.sqlite_connection.PATIENCE", 0.05)
    assert store._open is not None
    loop = asyncio.get_running_loop()
    committed = Verb(None, (), loop.create_future(), durable=True)
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await asyncio.to_thread(wal_of(store).doubt)
        store._open.writer._jobs.put(Batch([committed], loop, durable=True, is_committed=True))
        with pytest.raises(StoreError, match="locked"):
            await asyncio.wait_for(committed.future, 10)
        other.execute("ROLLBACK")

    assert await store.claim(an_intent(1)) == Claimed()


async def test_a_checkpoint_that_fails_may_have_lost_something_too(
    store: SqliteStore, wal: Path, caplog: pytest.LogCaptureFixture
) -> None:
    os.utime(wal, (LONG_AGO, LONG_AGO))

    def refuse(action: int, *_: object) -> int:
        return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_OK

    checkpointer_of(store)._beside.set_authorizer(refuse)
    with caplog.at_level(logging.WARNING, "placet"):
        checkpointer_of(store).write_back()
        await until(lambda: wal.stat().st_mtime > LONG_AGO)
    checkpointer_of(store)._beside.set_authorizer(None)
    await until(lambda: "tried again" in caplog.text)

    assert await entries_of(store) == [an_entry()]


async def test_writing_the_wal_again_changes_nothing_in_it(store: SqliteStore, wal: Path) -> None:
    await store.append(an_entry(body="x" * 3_000_000))
    before = wal.read_bytes()
    for _ in range(2):
        os.utime(wal, (LONG_AGO, LONG_AGO))
        wal_of(store).doubt()

        assert wal.stat().st_mtime > LONG_AGO
        assert wal.read_bytes() == before
    assert len(before) > 3_000_000


def test_a_wal_is_not_written_again_while_somebody_else_writes(
    path: Path, wal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("placet.stores.sqlite_connection.PATIENCE", 0.05)
    connections = [sqlite3.connect(path, timeout=0, isolation_level=None) for _ in range(2)]
    connections[0].execute("PRAGMA journal_mode=WAL")
    connections[1].execute("BEGIN IMMEDIATE")
    file = WalFile(connections[0], threading.Lock())
    os.utime(wal, (LONG_AGO, LONG_AGO))
    file.doubt()
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        file.sync()

    assert wal.stat().st_mtime == LONG_AGO
    connections[1].execute("ROLLBACK")
    file.sync()
    file.close()
    for connection in connections:
        connection.close()
