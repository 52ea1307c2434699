"""How the PostgreSQL store looks up: by index, in tables that have grown since its first look, too."""

from contextlib import closing
from decimal import Decimal

import psycopg

from placet.stores.postgres import PostgresStore
from placet.testing.store_samples import MINUTE, NOW, a_claim, a_lease, a_run, a_take, an_effect, an_entry
from placet.values.audit import AuditKind
from placet.values.effect import Claimed, EffectState
from placet.values.run import RunStatus

KEY = b"an audit key of thirty-two bytes"
INTENT = an_entry(AuditKind.INTENT)
GROWN = 3_000
GROW = """
    INSERT INTO placet.effect SELECT 'k' || n, 'p', 'tool', 'd' || n, 'run', 'unknown', 1, NULL, NULL, 1
    FROM generate_series(1, 3000) AS n;
    INSERT INTO placet.run (id, agent, principal_id, status, parent, owner, fence, created_at, updated_at)
    SELECT 'r' || n, 'agent', 'p', 'running', '', 'worker', 1, 1, 1 FROM generate_series(1, 3000) AS n;
    INSERT INTO placet.taken SELECT 'w' || n, 60000000, 1e16, 1 FROM generate_series(1, 3000) AS n
"""
READ = """
    SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname IN ('effect', 'run', 'taken'))
         + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname IN ('effect', 'run', 'taken'))
"""


def execute(postgres: str, *statements: str) -> None:
    with closing(psycopg.connect(postgres, autocommit=True)) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def rows_read(postgres: str) -> int:
    with closing(psycopg.connect(postgres, autocommit=True)) as connection:
        row = connection.execute(READ.encode()).fetchone()
    assert row is not None
    return int(row[0])


async def carry_out(store: PostgresStore, number: int) -> None:
    """Open a run, make three calls in it, and close it: the last looks first, for who renews a lease cannot guess."""
    run, lease, take = a_run(f"run_{number}"), a_lease(f"run_{number}"), a_take(at_most=Decimal(1000))
    store.open_run(run, lease)
    for turn, takes in enumerate(((), (take,), (take,))):
        effect = an_effect(f"run_{number}:{turn}.0", run_id=run.id, digest=f"{number}:{turn}")
        claim = store.claim(a_claim(effect, lease=lease, takes=takes, intent=INTENT))
        if turn == 2:
            await store.renew_lease(lease, NOW + MINUTE)
        assert await claim == Claimed()
        await store.settle(effect.key, EffectState.DONE, None, INTENT)
    await store.close_run(lease, RunStatus.DONE, "{}", (INTENT,), NOW + MINUTE)


async def test_what_is_looked_up_in_tables_that_have_grown_is_looked_up_by_index(postgres: str) -> None:
    """Plans are made for tables that are empty, and kept."""
    tables = ("effect", "run", "taken")
    store = PostgresStore(postgres, key=KEY)
    await store.open()
    execute(postgres, *(f"ALTER TABLE placet.{table} SET (autovacuum_enabled = off)" for table in tables))
    for number in range(10):
        await carry_out(store, number)
    execute(postgres, GROW)
    before = rows_read(postgres)
    for number in range(10, 20):
        await carry_out(store, number)
    # What a connection has read is counted once it ends.
    await store.close()

    assert rows_read(postgres) - before < GROWN
