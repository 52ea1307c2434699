"""What holds for the PostgreSQL store beside the contract: the schema, broken connections, broken verbs."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from placet.errors import ConfigurationError, StoreError, StoreVersionError
from placet.stores import postgres_connection
from placet.stores.postgres import PostgresStore
from placet.stores.postgres_connection import Connection
from placet.stores.postgres_writer import PostgresWriter, _DoubtError
from placet.testing.store_samples import (
    MINUTE,
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
from placet.values.effect import Claimed, EffectState
from placet.values.run import RunStatus
from tests.stores.conftest import KEY
from tests.stores.tampering import TAMPERINGS, Tampering

INTENT = an_entry(AuditKind.INTENT)

REFUSE_BAD_RULES = """
    ALTER TABLE placet.audit_record ADD CONSTRAINT no_bad_rules CHECK (rule <> 'bad')
"""
DIE_AT_COMMIT = """
    CREATE FUNCTION placet.die() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER die AFTER INSERT ON placet.audit_record DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.rule = 'die') EXECUTE FUNCTION placet.die();
"""


def execute(postgres: str, *statements: str) -> None:
    with closing(psycopg.connect(postgres, autocommit=True)) as connection:
        for statement in statements:
            connection.execute(statement.encode())


# ── opening ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("url", ["nonsense", "no_such_option=1"])
def test_a_url_that_cannot_be_read_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        PostgresStore(url, key=KEY)


def test_a_short_key_and_a_pool_of_one_are_refused(postgres: str) -> None:
    with pytest.raises(ConfigurationError):
        PostgresStore(postgres, key=b"short")
    with pytest.raises(ConfigurationError):
        PostgresStore(postgres, key=KEY, pool_size=1)


async def test_no_password_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_connection, "PATIENCE", 0.3)
    store = PostgresStore("postgresql://me:a-secret@127.0.0.1:1/nowhere", key=KEY)

    with pytest.raises(StoreError) as caught:
        await store.open()

    assert "a-secret" not in str(caught.value)


async def test_a_store_that_is_not_open_says_so(postgres: str) -> None:
    store = PostgresStore(postgres, key=KEY)

    with pytest.raises(StoreError, match="not open"):
        await store.append(an_entry())
    with pytest.raises(StoreError, match="not open"):
        await store.load_run("run_1")


async def test_a_store_is_opened_again_after_it_was_closed(store: PostgresStore) -> None:
    store.queue(an_entry())
    await store.close()
    await store.close()
    await store.open()
    await store.open()

    assert await entries_of(store) == [an_entry()]


async def test_stores_that_open_a_new_database_at_once_make_one_schema(postgres: str) -> None:
    stores = [PostgresStore(postgres, key=KEY, pool_size=2) for _ in range(6)]
    await asyncio.gather(*(store.open() for store in stores))
    await asyncio.gather(*(store.append(an_entry()) for store in stores))
    shown = await stores[0].verify()
    await asyncio.gather(*(store.close() for store in stores))

    assert (shown.records, shown.chains, shown.fault) == (12, 6, None)


async def test_a_newer_schema_is_refused(store: PostgresStore, postgres: str) -> None:
    execute(postgres, "UPDATE placet.schema_version SET version = 99")

    with pytest.raises(StoreVersionError):
        await PostgresStore(postgres, key=KEY).open()


async def test_a_role_that_may_not_make_tables_is_enough_from_then_on(store: PostgresStore, postgres: str) -> None:
    role = "placet_worker"
    execute(
        postgres,
        f"DROP ROLE IF EXISTS {role}",
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA placet TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA placet TO {role}",
    )
    worker = PostgresStore(make_conninfo(postgres, user=role), key=KEY)
    await worker.open()
    await open_and_suspend(worker, a_request())
    assert await worker.claim(a_claim(an_effect(), takes=(a_take(),), intent=INTENT)) == Claimed()
    await worker.close()
    execute(postgres, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


async def test_a_store_is_not_used_across_a_fork(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(StoreError, match="fork"):
            store.queue(an_entry())


# ── connections that break ────────────────────────────────────────────────────────────


async def test_connections_that_were_cut_are_replaced(store: PostgresStore, postgres: str) -> None:
    await store.append(an_entry(decision="1"))
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'placet'"
    execute(postgres, cut)
    await store.append(an_entry(decision="2"))
    execute(postgres, cut)
    assert await store.claim(a_claim(an_effect(), intent=an_entry(decision="3"))) == Claimed()

    assert [entry.decision for entry in await entries_of(store)] == ["1", "2", "3"]
    assert (await store.verify()).fault is None


async def test_a_connection_that_breaks_at_the_commit_leaves_a_doubt_that_is_said(
    store: PostgresStore, postgres: str
) -> None:
    await store.append(an_entry())
    execute(postgres, DIE_AT_COMMIT)
    with pytest.raises(StoreError, match="not known"):
        await store.claim(a_claim(an_effect(), intent=an_entry(rule="die")))
    await store.append(an_entry())

    assert await store.find_effect(an_effect().key) is None
    assert (await store.verify()).fault is None
    assert len(await entries_of(store)) == 2


async def test_a_commit_whose_answer_is_lost_stands(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.append(an_entry())
    commit = PostgresWriter._commit

    async def commit_and_break(self: PostgresWriter, connection: Connection, *rest: Any) -> None:
        await commit(self, connection, *rest)
        monkeypatch.setattr(PostgresWriter, "_commit", commit)
        place = (self._chain.sequence, self._chain.last)
        self._is_chain_known = False
        raise _DoubtError("the connection broke", place=place, is_guarded=False)

    monkeypatch.setattr(PostgresWriter, "_commit", commit_and_break)

    # A batch that renews a lease is not guessed, so it takes the two round trips of which the second is the commit.
    renewed, claimed = await asyncio.gather(
        store.renew_lease(a_lease(), NOW + MINUTE), store.claim(a_claim(an_effect(), intent=INTENT))
    )
    assert renewed is None
    assert claimed == Claimed()
    assert PostgresWriter._commit is commit
    assert await store.find_effect(an_effect().key) == an_effect()
    await store.append(an_entry())
    assert (await store.verify()).fault is None


async def test_a_chain_goes_on_after_a_commit_of_which_nobody_heard(store: PostgresStore) -> None:
    await store.append(an_entry())
    assert store._open is not None
    writer = store._open.writer
    sequence, last = writer._chain.sequence, writer._chain.last
    await store.append(an_entry())
    # As if the answer to this commit had been lost on the way.
    writer._chain.sequence, writer._chain.last = sequence, last
    writer._is_chain_known = False
    await store.append(an_entry())

    assert (await store.verify()).fault is None
    assert len(await entries_of(store)) == 3


async def test_a_lock_that_is_never_free_is_a_store_error(
    store: PostgresStore, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = postgres_connection.lock_keys([f"effect {an_effect().key}"])
    assert store._open is not None
    async with store._open.pool.connection() as one, store._open.pool.connection() as other:
        for connection in (one, other):
            await connection.execute("SET lock_timeout = '100ms'")
    with psycopg.connect(postgres) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(%s)", (keys[0],))
        with pytest.raises(StoreError, match="lock"):
            await store.claim(a_claim(an_effect(), intent=INTENT))
    assert await store.claim(a_claim(an_effect(), intent=INTENT)) == Claimed()


async def test_a_claim_survives_the_process_that_is_killed_right_after_it(store: PostgresStore, postgres: str) -> None:
    script = """
import asyncio, os, signal, sys
from placet.stores.postgres import PostgresStore
from placet.testing.store_samples import *

async def main():
    store = PostgresStore(sys.argv[1], key=b"an audit key of thirty-two bytes")
    await store.open()
    await store.claim(a_claim(an_effect(), intent=an_entry()))
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    command = [sys.executable, "-W", "error", "-c", script, postgres]
    process = await asyncio.to_thread(subprocess.run, command, check=False)

    assert process.returncode == -signal.SIGKILL
    assert await store.find_effect(an_effect().key) == an_effect()
    assert (await store.verify()).records == 2


def test_locks_are_taken_in_one_order_whoever_takes_them() -> None:
    names = [f"window {number}" for number in range(50)]
    keys = postgres_connection.lock_keys(names)

    assert keys == sorted(keys) == postgres_connection.lock_keys(reversed([*names, *names]))
    assert len(keys) == 50


async def test_what_has_left_a_window_is_forgotten(store: PostgresStore, postgres: str) -> None:
    for second in range(0, 200, 10):
        await store.claim(a_claim(at=NOW + timedelta(seconds=second), takes=(a_take(at_most=Decimal(1000)),)))

    with closing(psycopg.connect(postgres)) as connection:
        row = connection.execute("SELECT count(*) FROM placet.taken").fetchone()
    assert row == (6,)


# ── verbs that cannot be written ──────────────────────────────────────────────────────


async def test_a_claim_that_cannot_be_written_spoils_no_other(store: PostgresStore) -> None:
    store.queue(an_entry(decision="queued"))
    good = [a_claim(an_effect(f"run_{n}:1.0", digest=str(n)), intent=INTENT) for n in range(4)]
    bad = a_claim(an_effect("a\0key"), intent=INTENT)
    answers = await asyncio.gather(
        *(store.claim(claim) for claim in (*good[:2], bad, *good[2:])), return_exceptions=True
    )

    assert [answer == Claimed() for answer in answers] == [True, True, False, True, True]
    assert isinstance(answers[2], StoreError)
    assert [entry.decision for entry in await entries_of(store)] == ["queued", *["allow"] * 4]
    assert (await store.verify()).fault is None
    assert store.lost == 0


async def test_a_queue_that_cannot_be_written_fails_the_next_verb_once(
    store: PostgresStore, postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    execute(postgres, REFUSE_BAD_RULES)
    store.queue(an_entry(rule="bad"))
    with caplog.at_level(logging.ERROR, "placet"), pytest.raises(StoreError, match="nothing was stored"):
        await store.claim(a_claim(an_effect(), intent=INTENT))

    assert store.lost == 1
    assert "lost" in caplog.text
    assert await store.find_effect(an_effect().key) is None
    assert await store.claim(a_claim(an_effect(), intent=INTENT)) == Claimed()
    assert await entries_of(store) == [INTENT]
    assert (await store.verify()).fault is None


async def test_a_queue_that_cannot_be_written_fails_also_a_verb_with_a_transaction_to_itself(
    store: PostgresStore, postgres: str
) -> None:
    await open_and_suspend(store, a_request())
    execute(postgres, REFUSE_BAD_RULES)
    store.queue(an_entry(rule="bad"))
    with pytest.raises(StoreError):
        await store.decide_approval(a_decision(), an_approval_entry())
    assert await entries_of(store) == []

    await store.decide_approval(a_decision(), an_approval_entry())
    assert await entries_of(store) == [an_approval_entry()]


async def test_a_decision_that_cannot_be_recorded_is_not_taken(store: PostgresStore, postgres: str) -> None:
    await open_and_suspend(store, a_request())
    execute(postgres, REFUSE_BAD_RULES)
    with pytest.raises(StoreError):
        await store.decide_approval(a_decision(), an_entry(rule="bad"))

    assert await store.find_approval(id="apr_1") == a_request()


@pytest.mark.parametrize(
    ("snapshot", "token_hash", "rule"),
    [("a\ud800", "hash", "good"), ('{"turn":1}', "a\ud800", "good"), ('{"turn":1}', "hash", "bad")],
)
async def test_a_wait_that_cannot_be_written_whole_keeps_nothing(
    store: PostgresStore, postgres: str, snapshot: str, token_hash: str, rule: str
) -> None:
    """Snapshot, questions and records stand together, so none stands without the others."""
    store.open_run(a_run(), a_lease())
    await store.append(an_entry())
    execute(postgres, REFUSE_BAD_RULES)
    with pytest.raises(StoreError):
        await store.suspend_run(
            a_lease(), snapshot, [a_request(), a_request("apr_2", token_hash=token_hash)], [an_entry(rule=rule)], NOW
        )
    run = await store.load_run("run_1")

    assert run is not None
    assert (run.status, run.snapshot) == (RunStatus.RUNNING, '{"turn":0}')
    assert await store.list_approvals() == []
    assert await entries_of(store) == [an_entry()]


async def test_a_settlement_that_cannot_be_written_leaves_the_effect_as_it_was(store: PostgresStore) -> None:
    await store.claim(a_claim(an_effect(), intent=INTENT))
    with pytest.raises(StoreError):
        await store.settle(an_effect().key, EffectState.DONE, "a\0result", INTENT)

    assert await store.find_effect(an_effect().key) == an_effect()


@pytest.mark.parametrize("odd", ["a\0b", "\ud800"])
async def test_what_is_no_text_is_a_store_error_to_whoever_looks_for_it(store: PostgresStore, odd: str) -> None:
    with pytest.raises(StoreError):
        await store.find_approval(token_hash=odd)


async def test_one_who_gives_up_waiting_takes_nobody_with_him(store: PostgresStore) -> None:
    appends = [asyncio.ensure_future(store.append(an_entry(decision=str(number)))) for number in range(3)]
    await asyncio.sleep(0)
    appends[1].cancel()
    await asyncio.gather(appends[0], appends[2])

    assert [entry.decision for entry in await entries_of(store)] == ["0", "1", "2"]


async def test_more_than_one_batch_keeps_its_order(store: PostgresStore) -> None:
    store.open_run(a_run(), a_lease(until=NOW + MINUTE))
    verbs = []
    for number in range(700):
        store.journal(a_lease(), str(number))
        verbs.append(store.append(an_entry(decision=str(number))))
    await asyncio.gather(*verbs)
    run = await store.load_run("run_1")

    assert run is not None
    assert run.journal == tuple(str(number) for number in range(700))
    assert [entry.decision for entry in await entries_of(store)] == [str(number) for number in range(700)]


# ── tampering ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "statement",
    ["UPDATE placet.audit_record SET rule = 'x'", "DELETE FROM placet.audit_record", "TRUNCATE placet.audit_record"],
)
async def test_the_audit_table_is_append_only(store: PostgresStore, postgres: str, statement: str) -> None:
    await store.append(an_entry())

    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        execute(postgres, statement)


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=lambda tampering: tampering.name)
async def test_what_was_changed_shows_where_it_was(store: PostgresStore, postgres: str, tampering: Tampering) -> None:
    await store.append(*(an_entry(decision=word) for word in "abc"))
    assert (await store.verify()).fault is None
    execute(
        postgres,
        "ALTER TABLE placet.audit_record DISABLE TRIGGER USER",
        "SET search_path = placet;" + ";".join(tampering.statements),
    )

    fault = (await store.verify()).fault

    assert fault is not None
    assert fault.sequence == tampering.place


async def test_a_cut_tail_shows_against_an_exported_head(store: PostgresStore, postgres: str) -> None:
    await store.append(*(an_entry(decision=word) for word in "abc"))
    heads = await store.heads()
    execute(
        postgres,
        "ALTER TABLE placet.audit_record DISABLE TRIGGER USER",
        "DELETE FROM placet.audit_record WHERE sequence = 4",
    )

    alone, anchored = await store.verify(), await store.verify(heads)

    assert (alone.fault, alone.anchored) == (None, False)
    assert anchored.fault is not None
    assert (anchored.fault.sequence, anchored.anchored) == (4, True)
