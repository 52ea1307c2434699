"""What a tool writes in the store's own transaction: with the ledger, or not at all."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from placet.errors import StoreError
from placet.ports import Store
from placet.stores.postgres import PostgresStore
from placet.stores.sqlite import SqliteStore
from placet.testing.store_samples import a_claim, an_effect, an_entry
from placet.values.audit import AuditKind
from placet.values.effect import AlreadyDone, Committed, EffectState, NotCommitted, Statement

KEY = b"k" * 32
OUTCOME = an_entry(AuditKind.OUTCOME)
STOCK = "CREATE TABLE stock (item text PRIMARY KEY, amount integer NOT NULL CHECK (amount >= 0))"

OTHERWISE = Statement("UPDATE stock SET amount = 1").otherwise

Place = tuple[Callable[[], Store], Callable[[str], list[tuple[Any, ...]]]]


@pytest.fixture(params=["sqlite", "postgres"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """Return what opens a store, and what asks its database."""
    if request.param == "sqlite":
        path = tmp_path / "store.db"

        def ask(sql: str) -> list[tuple[Any, ...]]:
            connection = sqlite3.connect(path, isolation_level=None)
            try:
                return connection.execute(sql).fetchall()
            finally:
                connection.close()

        first = SqliteStore(path, key=KEY)  # a file of its own, into which the tables come
        await first.open()
        await first.close()
        ask(STOCK)
        ask("INSERT INTO stock VALUES ('pen', 3), ('ink', 5)")
        yield lambda: SqliteStore(path, key=KEY), ask
        return
    dsn = request.getfixturevalue("postgres")

    def ask_postgres(sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(dsn, autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    ask_postgres("DROP TABLE IF EXISTS stock")
    ask_postgres(STOCK)
    ask_postgres("INSERT INTO stock VALUES ('pen', 3), ('ink', 5)")
    yield lambda: PostgresStore(dsn, key=KEY), ask_postgres
    ask_postgres("DROP TABLE stock")


def take(item: str, amount: int, *, rows: int | None = 1) -> Statement:
    """Return a statement that both databases read alike: it has no parameters."""
    sql = f"UPDATE stock SET amount = amount - {amount} WHERE item = '{item}'"  # noqa: S608 - of this test
    return Statement(sql, rows=rows, otherwise="there is no such item")


async def records(store: Store) -> list[AuditKind]:
    return [record.entry.kind async for record in store.read() if record.entry.kind is not AuditKind.WRITER]


async def test_statements_effect_and_record_stand_together(place: Place) -> None:
    make, ask = place
    store = make()
    await store.open()
    await store.claim(a_claim(an_effect()))

    answer = await store.commit_effect(an_effect().key, '"sold"', [take("pen", 1), take("ink", 2)], OUTCOME)

    effect = await store.find_effect(an_effect().key)
    assert answer == Committed()
    assert effect is not None
    assert (effect.state, effect.result) == (EffectState.DONE, '"sold"')
    assert ask("SELECT amount FROM stock ORDER BY item") == [(3,), (2,)]
    assert (await records(store))[-1] is AuditKind.OUTCOME
    await store.close()


@pytest.mark.parametrize(
    ("second", "otherwise", "detail"),
    [
        (take("paper", 1), "there is no such item", "0 rows instead of 1"),
        (take("pen", 9), "", "CHECK|check"),
        (Statement("UPDATE nowhere SET x = 1"), "", "nowhere"),
        (Statement("UPDATE stock SET amount ="), "", "syntax|incomplete"),
        (Statement("UPDATE stock SET amount = 1; COMMIT"), "", "one statement|multiple commands"),
        (Statement("UPDATE stock SET amount = 1 WHERE item = 'ink'", rows=2), OTHERWISE, "1 rows instead of 2"),
    ],
)
async def test_one_statement_that_fails_undoes_the_others_and_leaves_the_effect(
    place: Place, second: Statement, otherwise: str, detail: str
) -> None:
    make, ask = place
    store = make()
    await store.open()
    await store.claim(a_claim(an_effect()))

    answer = await store.commit_effect(an_effect().key, '"sold"', [take("ink", 2), second], OUTCOME)

    effect = await store.find_effect(an_effect().key)
    assert isinstance(answer, NotCommitted), answer
    assert answer.otherwise == otherwise
    assert any(word in answer.detail for word in detail.split("|")), answer.detail
    assert effect is not None
    assert effect.state is EffectState.RUNNING
    assert ask("SELECT amount FROM stock ORDER BY item") == [(5,), (3,)]
    assert AuditKind.OUTCOME not in await records(store)
    await store.close()


async def test_of_two_workers_the_first_writes_and_the_second_hears_what_it_has_recorded(place: Place) -> None:
    make, ask = place
    first, second = make(), make()
    await first.open()
    await second.open()
    await first.claim(a_claim(an_effect()))

    answers = await asyncio.gather(
        first.commit_effect(an_effect().key, '"one"', [take("ink", 2)], OUTCOME),
        second.commit_effect(an_effect().key, '"two"', [take("ink", 2)], OUTCOME),
    )

    effect = await first.find_effect(an_effect().key)
    assert effect is not None
    assert sorted(type(answer).__name__ for answer in answers) == ["AlreadyDone", "Committed"]
    (late,) = [answer for answer in answers if isinstance(answer, AlreadyDone)]
    assert late.effect.result == effect.result
    assert ask("SELECT amount FROM stock WHERE item = 'ink'") == [(3,)]
    await first.close()
    await second.close()


@pytest.mark.parametrize("state", [EffectState.DONE, EffectState.FAILED])
async def test_an_effect_that_has_ended_is_not_written_again(place: Place, state: EffectState) -> None:
    make, ask = place
    store = make()
    await store.open()
    await store.claim(a_claim(an_effect()))
    await store.settle(an_effect().key, state, '"before"', OUTCOME)

    answer = await store.commit_effect(an_effect().key, '"after"', [take("ink", 2)], OUTCOME)

    assert isinstance(answer, AlreadyDone)
    assert (answer.effect.state, answer.effect.result) == (state, '"before"')
    assert ask("SELECT amount FROM stock WHERE item = 'ink'") == [(5,)]
    await store.close()


async def test_what_is_unknown_may_be_written(place: Place) -> None:
    make, ask = place
    store = make()
    await store.open()
    await store.claim(a_claim(an_effect()))
    await store.settle(an_effect().key, EffectState.UNKNOWN, None, OUTCOME)

    assert await store.commit_effect(an_effect().key, '"sold"', [take("ink", 2)], OUTCOME) == Committed()
    assert ask("SELECT amount FROM stock WHERE item = 'ink'") == [(3,)]
    await store.close()


async def test_where_nothing_was_claimed_nothing_is_written(place: Place) -> None:
    make, ask = place
    store = make()
    await store.open()

    with pytest.raises(StoreError, match="there is none"):
        await store.commit_effect("nothing", '"sold"', [take("ink", 2)], OUTCOME)

    assert ask("SELECT amount FROM stock WHERE item = 'ink'") == [(5,)]
    await store.close()


async def test_what_fails_takes_nothing_along_that_was_asked_for_beside_it(place: Place) -> None:
    """The verbs of one tick share a transaction; one that fails undoes itself alone."""
    make, ask = place
    store = make()
    await store.open()
    await store.claim(a_claim(an_effect()))
    other = an_effect("other", digest="other")
    await store.claim(a_claim(other))

    failed, done, _ = await asyncio.gather(
        store.commit_effect(an_effect().key, '"sold"', [take("ink", 2), take("pen", 9)], OUTCOME),
        store.commit_effect(other.key, '"sold"', [take("ink", 1)], OUTCOME),
        store.append(an_entry(AuditKind.CALL)),
    )

    assert isinstance(failed, NotCommitted)
    assert done == Committed()
    assert ask("SELECT amount FROM stock WHERE item = 'ink'") == [(4,)]
    assert (await store.verify()).fault is None
    await store.close()
