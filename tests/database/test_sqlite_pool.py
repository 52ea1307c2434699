"""A query is ended on time from inside and from outside, and what fails takes no place for good."""

import asyncio
import sqlite3
import time
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from placet.database.answer import Rows, SqlAnswer, SqlRefusal
from placet.database.caps import Caps
from placet.database.sqlite_access import Access
from placet.database.sqlite_pool import GRACE, SqlitePool, SqliteSession
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.errors import ConfigurationError
from tests.database.sqlite_shop import RELATIONS, make_shop
from tests.database.test_sqlite_sandbox import BOMBS

CAPS: Final = Caps(timeout=timedelta(seconds=0.3), connections=1)
OPEN: Final = {"orders": frozenset({"id"})}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop(tmp_path_factory.mktemp("shop") / "shop.db")


@pytest.mark.parametrize("bomb", BOMBS)
async def test_the_progress_handler_alone_ends_a_query_on_time(shop: Path, bomb: str) -> None:
    async with SqliteSandbox(shop, RELATIONS, caps=CAPS) as sandbox:
        started = time.monotonic()
        answer = sandbox.query_here(BOMBS[bomb])

    assert isinstance(answer, SqlRefusal)
    assert time.monotonic() - started < CAPS.timeout.total_seconds() + 0.5


async def test_an_interrupt_alone_ends_a_query_on_time(shop: Path) -> None:
    pool = SqlitePool(shop, CAPS, lambda _: None)
    ended: list[float] = []

    def count_for_ever(session: SqliteSession) -> SqlAnswer:
        session.connection.set_progress_handler(None, 0)
        try:
            return session.fetch(BOMBS["recursion"])
        except sqlite3.OperationalError:
            ended.append(time.monotonic())
            return session.timed_out()

    started = time.monotonic()
    answer = await pool.use(count_for_ever)
    pool.close()

    assert isinstance(answer, SqlRefusal)
    assert ended
    assert ended[0] - started < CAPS.timeout.total_seconds() + GRACE


async def test_a_file_that_is_gone_takes_no_place(tmp_path: Path) -> None:
    path = make_shop(tmp_path / "shop.db", 5)
    async with SqliteSandbox(path, RELATIONS, caps=CAPS) as sandbox:
        path.unlink()
        for _ in range(3):
            with pytest.raises(ConfigurationError):
                await sandbox.query("SELECT 1")


async def test_no_thread_is_left_when_a_sandbox_is_closed(shop: Path) -> None:
    pool = SqlitePool(shop, CAPS, lambda _: None)
    await pool.use(lambda session: session.fetch("SELECT 1"))
    thread = pool._idle[0].thread
    assert thread.thread is not None
    assert thread.thread.is_alive()
    pool.close()
    await asyncio.to_thread(thread.thread.join, 5)

    assert not thread.thread.is_alive()


async def test_more_columns_than_the_cap_are_refused(shop: Path) -> None:
    caps = Caps(columns=3)
    async with SqliteSandbox(shop, RELATIONS, caps=caps) as sandbox:
        three, four = await sandbox.query("SELECT 1, 2, 3"), await sandbox.query("SELECT 1, 2, 3, 4")

    assert isinstance(three, Rows)
    assert isinstance(four, SqlRefusal)
    assert four.code == "too_large"


@pytest.mark.parametrize("caps", [Caps(query_characters=20), Caps(tokens=5), Caps(depth=1)])
async def test_a_plain_query_keeps_to_smaller_caps_too(shop: Path, caps: Caps) -> None:
    async with SqliteSandbox(shop, RELATIONS, caps=caps) as sandbox:
        answer = await sandbox.query("SELECT ((1)), 2, 3, 4, 5")

    assert isinstance(answer, SqlRefusal)
    assert answer.code in ("too_long", "too_deep")


READ: Final = sqlite3.SQLITE_READ


def test_what_depends_on_the_query_is_not_remembered() -> None:
    access = Access(OPEN, frozenset(), frozenset({"users"}))
    access.begin(frozenset({"m", "users"}))
    assert [access.answer(READ, "m", "", None, None) for _ in range(2)] == [sqlite3.SQLITE_OK] * 2
    access.begin(frozenset())

    assert access.answer(READ, "m", "", None, None) == sqlite3.SQLITE_DENY
    assert access.denied == (READ, "m", "")


def test_a_with_of_its_name_does_not_have_a_hidden_table_counted() -> None:
    access = Access(OPEN, frozenset(), frozenset({"users"}))
    access.begin(frozenset({"users"}))

    assert access.answer(READ, "users", "", None, None) == sqlite3.SQLITE_DENY


def test_a_table_of_the_name_of_a_with_is_not_counted() -> None:
    """It may have been made after the sandbox was opened."""
    access = Access(OPEN, frozenset(), frozenset())
    access.begin(frozenset({"m"}))

    assert access.answer(READ, "m", "", "main", None) == sqlite3.SQLITE_DENY


def test_what_is_denied_is_denied_again_and_noted_again() -> None:
    access = Access(OPEN, frozenset(), frozenset())
    for _ in range(2):
        access.begin(frozenset())
        assert access.answer(READ, "orders", "secret_note", "main", None) == sqlite3.SQLITE_DENY
        assert access.denied == (READ, "orders", "secret_note")


def test_what_is_allowed_is_remembered_for_that_question_alone() -> None:
    access = Access(OPEN, frozenset({"v"}), frozenset())
    assert access.answer(READ, "users", "id", "main", "v") == sqlite3.SQLITE_OK

    assert access.answer(READ, "users", "id", "main", "V ") == sqlite3.SQLITE_DENY
    assert access.answer(READ, "users", "id", "main", None) == sqlite3.SQLITE_DENY
    assert access.answer(sqlite3.SQLITE_INSERT, "users", "id", "main", "v") == sqlite3.SQLITE_DENY


def test_what_is_remembered_does_not_grow_without_end() -> None:
    access = Access(OPEN, frozenset(), frozenset())
    for number in range(5_000):
        assert access.answer(READ, "orders", "id", "main", f"m{number}") == sqlite3.SQLITE_OK
    assert access.answer.cache_info().currsize <= 1_000

    assert access.answer(READ, "orders", "id", "main", "x" * 10_000) == sqlite3.SQLITE_OK
    access.begin(frozenset())
    assert access.answer.cache_info().currsize == 0
