"""What holds for the SQLite store beside the contract: the file, the thread, the broken disk."""

# ruff: noqa: ASYNC240 - nothing else runs on the loop while a test looks at its file

import asyncio
import logging
import os
import queue
import sqlite3
import stat
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from placet.errors import ConfigurationError, StoreError, StoreVersionError
from placet.stores.sqlite import SqliteStore
from placet.stores.sqlite_writer import AT_ONCE, SqliteWriter
from placet.testing.store_samples import (
    NOW,
    a_claim,
    a_decision,
    a_lease,
    a_request,
    a_run,
    a_take,
    an_approval_entry,
    an_effect,
    an_entry,
    entries_of,
    open_and_suspend,
)
from placet.values.audit import AuditKind
from placet.values.decision import Reason
from placet.values.effect import ClaimAnswer, Claimed, ClaimRefused, EffectState
from placet.values.principal import Principal
from placet.values.run import RunStatus

KEY = b"an audit key of thirty-two bytes"
INTENT = an_entry(AuditKind.INTENT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "placet.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, key=KEY)
    await store.open()
    yield store
    await store.close()


def writer_of(store: SqliteStore) -> SqliteWriter:
    assert store._open is not None
    return store._open.writer


def connection_of(store: SqliteStore) -> sqlite3.Connection:
    return writer_of(store)._connection


class Trace:
    """What the writing connection executes, and on which thread."""

    def __init__(self, store: SqliteStore) -> None:
        self.lines: list[tuple[str, int]] = []
        connection_of(store).set_trace_callback(lambda sql: self.lines.append((sql, threading.get_ident())))

    def threads(self, sql: str) -> list[int]:
        return [thread for line, thread in self.lines if line == sql]


# ── the file ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", ["", ":memory:", "file:placet.db?mode=memory"])
def test_what_is_no_file_is_refused(path: str) -> None:
    with pytest.raises(ConfigurationError):
        SqliteStore(path, key=KEY)


def test_a_short_key_is_refused(path: Path) -> None:
    with pytest.raises(ConfigurationError):
        SqliteStore(path, key=b"short")


async def test_the_file_is_for_its_owner_alone(store: SqliteStore, path: Path) -> None:
    await store.append(an_entry())

    for file in (path, path.with_name("placet.db-wal")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_newer_file_is_refused_untouched(store: SqliteStore, path: Path) -> None:
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=99")
    before = path.read_bytes()

    with pytest.raises(StoreVersionError):
        await SqliteStore(path, key=KEY).open()

    assert path.read_bytes() == before


async def test_a_database_of_something_else_is_refused_untouched(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER)")
    before = path.read_bytes()

    with pytest.raises(StoreError, match="something else"):
        await SqliteStore(path, key=KEY).open()

    assert path.read_bytes() == before


async def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_text("not a database, and long enough to be looked at as one" * 100)

    with pytest.raises(StoreError):
        await SqliteStore(path, key=KEY).open()


async def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        await SqliteStore(tmp_path / "missing" / "placet.db", key=KEY).open()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
async def test_a_file_may_have_any_name_and_be_linked_to(tmp_path: Path) -> None:
    file, link = tmp_path / "placet \udcff.db", tmp_path / "link.db"
    file.touch()
    link.symlink_to(file)
    store = SqliteStore(link, key=KEY)
    await store.open()
    await store.claim(a_claim(an_effect(), intent=INTENT))

    assert await store.find_effect(an_effect().key) == an_effect()
    await store.close()


async def test_a_store_that_is_not_open_says_so(path: Path) -> None:
    store = SqliteStore(path, key=KEY)

    with pytest.raises(StoreError, match="not open"):
        await store.append(an_entry())
    with pytest.raises(StoreError, match="not open"):
        store.queue(an_entry())
    with pytest.raises(StoreError, match="not open"):
        await store.load_run("run_1")


async def test_a_store_is_opened_again_after_it_was_closed(store: SqliteStore) -> None:
    store.queue(an_entry())
    await store.close()
    await store.close()
    await store.open()
    await store.open()

    assert await entries_of(store) == [an_entry()]


async def claim(store: SqliteStore) -> ClaimAnswer:
    return await store.claim(a_claim(takes=(a_take(),), intent=INTENT))


def test_one_store_serves_one_event_loop_after_another(path: Path) -> None:
    store = SqliteStore(path, key=KEY)
    asyncio.run(store.open())
    for _ in range(3):
        asyncio.run(store.append(an_entry()))
        assert asyncio.run(claim(store)) == Claimed()
    assert len(asyncio.run(entries_of(store))) == 6
    asyncio.run(store.close())


@pytest.mark.parametrize("statement", ["UPDATE audit_record SET rule = 'other'", "DELETE FROM audit_record"])
async def test_the_audit_table_is_append_only(store: SqliteStore, path: Path, statement: str) -> None:
    await store.append(an_entry())

    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)


# ── batches, and which thread writes them ─────────────────────────────────────────────


async def test_appends_of_one_tick_share_one_commit_on_the_loops_thread(store: SqliteStore) -> None:
    await store.append(an_entry())
    trace = Trace(store)

    await asyncio.gather(*(store.append(an_entry()) for _ in range(50)))

    assert trace.threads("COMMIT") == [threading.get_ident()]


async def test_many_verbs_at_once_do_not_hold_the_loop_and_keep_their_order(store: SqliteStore) -> None:
    await store.append(an_entry())
    trace = Trace(store)
    turns: list[int] = []
    words = [str(number) for number in range(2 * AT_ONCE)]
    appends = [asyncio.ensure_future(store.append(an_entry(decision=word))) for word in words]
    while not appends[-1].done():
        turns.append(len(trace.threads("COMMIT")))
        await asyncio.sleep(0)
    await asyncio.gather(*appends)

    # An append is a record and the verb that waits for it.
    assert trace.threads("COMMIT") == [threading.get_ident()] * 4
    assert {1, 2, 3} <= set(turns)
    assert [entry.decision for entry in await entries_of(store)][1:] == words


async def test_what_is_appended_together_is_not_cut(store: SqliteStore) -> None:
    await store.append(an_entry())
    trace = Trace(store)
    await asyncio.gather(*(store.append(*[an_entry()] * (AT_ONCE - 10)) for _ in range(3)))

    assert len(trace.threads("COMMIT")) == 2
    assert len(await entries_of(store)) == 1 + 3 * (AT_ONCE - 10)


async def test_the_first_commit_which_syncs_the_header_of_the_wal_is_the_threads(store: SqliteStore) -> None:
    trace = Trace(store)

    await store.append(an_entry())
    await store.append(an_entry())

    first, second = trace.threads("COMMIT")
    assert first != threading.get_ident()
    assert second == threading.get_ident()


async def test_what_takes_long_is_committed_by_the_thread(store: SqliteStore) -> None:
    await store.claim(a_claim(an_effect(), intent=INTENT))
    trace = Trace(store)

    await store.commit_effect(an_effect().key, "{}", (), INTENT)
    await store.purge_runs(NOW, an_entry(AuditKind.PURGE))

    assert len(trace.threads("COMMIT")) == 2
    assert threading.get_ident() not in trace.threads("COMMIT")


async def test_a_read_commits_only_what_would_change_its_answer(store: SqliteStore) -> None:
    store.state_principal(Principal("c17", {"support"}))
    assert await store.find_principal("c17") is not None
    trace = Trace(store)
    store.queue(an_entry())
    await store.find_principal("c17")
    await store.usage([a_take()], NOW)
    await store.find_effect("run_1:1.0")
    await store.find_approval(id="apr_1")
    assert not trace.threads("COMMIT")

    store.open_run(a_run(), a_lease())
    assert await store.load_run("run_1") is not None
    assert trace.threads("COMMIT") == [threading.get_ident()]


class Syncs:
    """What was on the disk for certain, and which thread has brought it there: WAL and file as each sync left them."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.threads: list[int] = []
        self.may_end = threading.Event()
        self.may_end.set()
        self.kept: tuple[bytes, bytes] = (b"", b"")
        self.error: OSError | None = None
        monkeypatch.setattr("placet.stores.sqlite_wal._sync", self.sync)

    def sync(self, file: int) -> None:
        self.threads.append(threading.get_ident())
        journal = self.path.with_name("placet.db-wal")
        assert os.path.samestat(os.fstat(file), journal.stat())
        kept = (self.path.read_bytes(), journal.read_bytes())
        assert self.may_end.wait(10)
        if self.error is not None:
            raise self.error
        self.kept = kept

    async def after_a_power_cut(self, folder: Path) -> SqliteStore:
        """Return what a power cut leaves for certain, opened."""
        file, journal = self.kept
        (folder / "cut.db").write_bytes(file)
        (folder / "cut.db-wal").write_bytes(journal)
        store = SqliteStore(folder / "cut.db", key=KEY)
        await store.open()
        return store


@pytest.fixture
def syncs(store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> Syncs:
    assert store is not None
    return Syncs(path, monkeypatch)


async def test_durable_claims_share_a_commit_and_a_sync_that_is_never_the_loops(
    store: SqliteStore, syncs: Syncs
) -> None:
    await store.append(an_entry())
    trace = Trace(store)

    await asyncio.gather(
        *(store.claim(a_claim(an_effect(f"run_{n}:1.0", digest=str(n)), intent=INTENT)) for n in range(100))
    )

    assert trace.threads("COMMIT") == [threading.get_ident()]
    assert len(syncs.threads) == 1
    assert threading.get_ident() not in syncs.threads


async def test_what_is_durable_is_synced_and_nothing_else(store: SqliteStore, syncs: Syncs) -> None:
    writer, synced = writer_of(store), []
    for durable, takes_long in ((True, False), (False, False), (True, True), (False, True), (True, False)):
        before = len(syncs.threads)
        await writer.submit(None, durable=durable, takes_long=takes_long)
        synced.append(len(syncs.threads) - before)

    assert synced == [1, 0, 1, 0, 1]


async def test_verbs_that_must_survive_a_power_cut_are_durable(store: SqliteStore, syncs: Syncs) -> None:
    await open_and_suspend(store, a_request(), a_request("apr_2"))
    store.open_run(a_run("run_2"), a_lease("run_2"))
    for verb in (
        store.claim(a_claim(an_effect(), intent=INTENT)),
        store.suspend_run(a_lease("run_2"), "{}", (), (), NOW),
        store.decide_approval(a_decision("apr_2"), an_approval_entry()),
        store.void_approval("apr_2", INTENT),
        store.commit_effect(an_effect().key, "{}", (), INTENT),
        store.purge_runs(NOW, an_entry(AuditKind.PURGE)),
        store.mark_demo(),
    ):
        before = len(syncs.threads)
        await verb
        assert len(syncs.threads) == before + 1


async def test_what_a_durable_verb_has_said_is_there_after_a_power_cut(
    store: SqliteStore, syncs: Syncs, tmp_path: Path
) -> None:
    await open_and_suspend(store, a_request())
    await store.claim(a_claim(an_effect(), intent=INTENT))
    await store.append(an_entry(decision="lost"))

    cut = await syncs.after_a_power_cut(tmp_path)

    assert await cut.find_approval(id="apr_1") == a_request()
    assert await cut.find_effect(an_effect().key) == an_effect()
    assert await entries_of(cut) == [INTENT]
    assert (await cut.verify()).fault is None
    await cut.close()


async def test_a_durable_verb_is_answered_after_the_sync_and_the_loop_commits_meanwhile(
    store: SqliteStore, syncs: Syncs
) -> None:
    await store.append(an_entry())
    syncs.may_end.clear()
    claim = asyncio.ensure_future(store.claim(a_claim(an_effect(), intent=INTENT)))
    try:
        await store.append(an_entry())
        assert await store.find_effect(an_effect().key) == an_effect()
        assert not claim.done()
    finally:
        syncs.may_end.set()

    assert await claim == Claimed()


async def test_a_disk_that_refuses_to_keep_a_claim_refuses_the_claim(
    store: SqliteStore, syncs: Syncs, caplog: pytest.LogCaptureFixture
) -> None:
    syncs.error = OSError("the disk is broken")
    with caplog.at_level(logging.ERROR, "placet"), pytest.raises(StoreError, match="not known what is kept"):
        await store.claim(a_claim(an_effect(), intent=INTENT))
    syncs.error = None

    assert "the disk is broken" in caplog.text
    again = await store.claim(a_claim(an_effect("run_1:2.0"), intent=INTENT))
    assert isinstance(again, ClaimRefused)
    assert again.reason is Reason.EFFECT_RUNNING


async def test_nothing_overtakes_what_is_with_the_thread(store: SqliteStore) -> None:
    claim = asyncio.ensure_future(store.claim(a_claim(an_effect(), intent=an_entry(decision="1"))))
    await asyncio.sleep(0)
    appends = [asyncio.ensure_future(store.append(an_entry(decision="2")))]
    await asyncio.sleep(0)
    appends.append(asyncio.ensure_future(store.append(an_entry(decision="3"))))
    await asyncio.gather(claim, *appends)

    assert [entry.decision for entry in await entries_of(store)] == ["1", "2", "3"]


async def test_nothing_overtakes_what_the_thread_has_not_begun(store: SqliteStore) -> None:
    writer = writer_of(store)
    jobs, writer._jobs = writer._jobs, queue.SimpleQueue()
    claim = asyncio.ensure_future(store.claim(a_claim(an_effect(), intent=an_entry(decision="1"))))
    await asyncio.sleep(0.01)
    append = asyncio.ensure_future(store.append(an_entry(decision="2")))
    await asyncio.sleep(0.01)
    while not writer._jobs.empty():
        jobs.put(writer._jobs.get())
    writer._jobs = jobs
    await asyncio.gather(claim, append)

    assert [entry.decision for entry in await entries_of(store)] == ["1", "2"]


async def test_what_has_left_a_window_is_forgotten(store: SqliteStore) -> None:
    for second in range(200):
        await store.claim(a_claim(at=NOW + timedelta(seconds=second), takes=(a_take(at_most=Decimal(1000)),)))

    (rows,) = connection_of(store).execute("SELECT count(*) FROM taken").fetchone()
    assert rows == 60


async def test_the_loop_does_not_wait_for_another_writer(store: SqliteStore, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        append = asyncio.ensure_future(store.append(an_entry()))
        slowest = 0.0
        for _ in range(20):
            before = time.perf_counter()
            await asyncio.sleep(0.002)
            slowest = max(slowest, time.perf_counter() - before)
        assert not append.done()
        other.execute("ROLLBACK")
        await append

    assert slowest < 0.2
    assert await entries_of(store) == [an_entry()]


async def test_one_who_gives_up_waiting_takes_nobody_with_him(store: SqliteStore) -> None:
    appends = [asyncio.ensure_future(store.append(an_entry(decision=str(number)))) for number in range(3)]
    await asyncio.sleep(0)
    appends[1].cancel()
    await asyncio.gather(appends[0], appends[2])

    assert [entry.decision for entry in await entries_of(store)] == ["0", "1", "2"]


async def test_closing_leaves_one_file(store: SqliteStore, path: Path) -> None:
    await store.append(an_entry())
    await store.close()

    assert [file.name for file in path.parent.iterdir()] == ["placet.db"]


# ── a disk that is full, a verb that cannot be written ────────────────────────────────


def fill(store: SqliteStore) -> None:
    (pages,) = connection_of(store).execute("PRAGMA page_count").fetchone()
    connection_of(store).execute(f"PRAGMA max_page_count={pages}")


def make_room(store: SqliteStore) -> None:
    connection_of(store).execute("PRAGMA max_page_count=1000000")


async def test_a_full_disk_leaves_nothing_half_written(store: SqliteStore) -> None:
    await store.append(an_entry())
    heads = await store.heads()
    fill(store)
    large = an_effect(digest="d" * 30_000)
    with pytest.raises(StoreError, match="nothing was stored"):
        await store.claim(a_claim(large, takes=(a_take(),), intent=an_entry(body="x" * 30_000)))
    with pytest.raises(StoreError, match="nothing was stored"):
        await store.append(an_entry(body="x" * 30_000))
    make_room(store)

    assert await store.find_effect(large.key) is None
    assert [int(used) for used in await store.usage([a_take()], NOW)] == [0]
    assert await store.heads() == heads
    await store.append(an_entry())
    assert (await store.verify()).fault is None


async def test_a_queue_that_cannot_be_written_fails_the_next_verb_once(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    await store.append(an_entry())
    fill(store)
    store.queue(an_entry(body="x" * 30_000))
    with caplog.at_level(logging.ERROR, "placet"), pytest.raises(StoreError):
        await store.claim(a_claim(an_effect(), intent=INTENT))
    make_room(store)

    assert store.lost == 1
    assert "lost" in caplog.text
    assert await store.find_effect(an_effect().key) is None
    assert await store.claim(a_claim(an_effect(), intent=INTENT)) == Claimed()
    assert await entries_of(store) == [an_entry(), INTENT]


async def test_a_claim_that_cannot_be_written_spoils_no_other(store: SqliteStore) -> None:
    store.queue(an_entry(decision="queued"))
    good = [a_claim(an_effect(f"run_{n}:1.0", digest=str(n)), intent=INTENT) for n in range(4)]
    bad = a_claim(an_effect("\ud800"), intent=INTENT)
    answers = await asyncio.gather(
        *(store.claim(claim) for claim in (*good[:2], bad, *good[2:])), return_exceptions=True
    )

    assert [answer == Claimed() for answer in answers] == [True, True, False, True, True]
    assert isinstance(answers[2], StoreError)
    assert [entry.decision for entry in await entries_of(store)] == ["queued", *["allow"] * 4]
    assert store.lost == 0


async def test_a_settlement_that_cannot_be_written_leaves_the_effect_as_it_was(store: SqliteStore) -> None:
    await store.claim(a_claim(an_effect(), intent=INTENT))
    with pytest.raises(StoreError):
        await store.settle(an_effect().key, EffectState.DONE, "\ud800", INTENT)

    assert await store.find_effect(an_effect().key) == an_effect()
    assert await entries_of(store) == [INTENT]


async def test_a_store_whose_lock_is_never_free_says_so(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("placet.stores.sqlite_connection.PATIENCE", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            await store.append(an_entry())
        other.execute("ROLLBACK")
    await store.append(an_entry())

    assert await entries_of(store) == [an_entry()]


async def test_a_file_that_breaks_is_a_store_error_to_whoever_reads(store: SqliteStore, path: Path) -> None:
    await open_and_suspend(store)
    await store.close()
    size = path.stat().st_size
    os.truncate(path, 4096)
    with path.open("ab") as file:
        file.write(b"\xff" * (size - 4096))

    async def look() -> None:
        await store.open()
        await store.load_run("run_1")

    with pytest.raises(StoreError):
        await look()


@pytest.mark.parametrize(
    "refused", ["UPDATE ON run_snapshot", "INSERT ON approval", "INSERT ON audit_record", "UPDATE ON run"]
)
async def test_a_wait_that_cannot_be_written_whole_keeps_nothing(store: SqliteStore, path: Path, refused: str) -> None:
    """Snapshot, questions and records stand together, so none stands without the others."""
    store.open_run(a_run(), a_lease())
    await store.append(an_entry())
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(f"CREATE TRIGGER refuse BEFORE {refused} BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(StoreError):
        await store.suspend_run(a_lease(), '{"turn":1}', [a_request()], [INTENT], NOW)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("DROP TRIGGER refuse")
    run = await store.load_run("run_1")

    assert run is not None
    assert (run.status, run.snapshot) == (RunStatus.RUNNING, '{"turn":0}')
    assert await store.list_approvals() == []
    assert await entries_of(store) == [an_entry()]
