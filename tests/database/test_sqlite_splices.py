"""Attacks spliced into legitimate queries for SQLite, wherever its grammar takes them."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from placet.database.answer import Rows, SqlRefusal
from placet.database.caps import Caps
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.database.sqlite_text import Token, tokens
from tests.database.sandbox_cases import SQLITE_CASES
from tests.database.sqlite_shop import RELATIONS, make_shop

LEGITIMATE: Final = (
    *(case.sql for case in SQLITE_CASES if case.is_allowed),
    "SELECT o.id, c.name FROM orders o JOIN counties c ON c.code = county_code WHERE total > 5 ORDER BY o.id LIMIT 7",
    """WITH a AS (SELECT id AS x, total AS y FROM orders)
    SELECT x, sum(y) FILTER (WHERE y > 1) OVER (PARTITION BY x ORDER BY y) FROM a
    WHERE x IN (1, 2) AND y BETWEEN 3 AND 4 GROUP BY x HAVING x > 5 ORDER BY x LIMIT 6 OFFSET 7""",
)

ATTACKS: Final = (
    "load_extension('/tmp/x.so')",
    "writefile('/tmp/x', 'y')",
    "readfile('/etc/passwd')",
    "randomblob(100000000)",
    "zeroblob(100000000)",
    "printf('%.*c', 900000000, 'x')",
    "format('%900000000d', 1)",
    "\"printf\"('%d', 1)",
    "sqlite_version()",
    "sqlite_compileoption_get(1)",
    "last_insert_rowid()",
    "changes()",
    "fts3_tokenizer('x')",
    "(SELECT password FROM users)",
    "(SELECT max(email) FROM main.users)",
    "(SELECT secret_note FROM orders LIMIT 1)",
    "(SELECT sql FROM sqlite_master LIMIT 1)",
    "(SELECT name FROM sqlite_schema LIMIT 1)",
    "(SELECT name FROM sqlite_temp_schema LIMIT 1)",
    "(SELECT seq FROM sqlite_sequence)",
    "(SELECT name FROM pragma_table_info('users') LIMIT 1)",
    "(SELECT file FROM pragma_database_list)",
    "(SELECT pageno FROM dbstat LIMIT 1)",
    "(SELECT data FROM sqlite_dbpage LIMIT 1)",
    "EXISTS (SELECT 1 FROM users)",
    "(SELECT count(*) FROM emails)",
    "(WITH masked_users AS (SELECT password p FROM users) SELECT p FROM masked_users)",
    "(WITH emails(p) AS (SELECT password FROM users) SELECT p FROM emails)",
    "(SELECT password FROM (SELECT * FROM users) AS masked_users)",
    "(SELECT 1 FROM orders JOIN users USING (id))",
    "(SELECT 1 UNION SELECT password FROM users)",
    "(VALUES ((SELECT password FROM users)))",
    "(SELECT value FROM json_each((SELECT password FROM users)))",
    "trim('x', (SELECT group_concat(name) FROM counties))",
    "replace('x', hex(1), 'y')",
    "?",
    ":x",
    "@x",
    "$x",
)

HARMLESS: Final = (
    "1", "'DROP TABLE x; --'", "(1 + 1)", "coalesce(NULL, 1)", "CASE WHEN 1 THEN 1 ELSE 2 END",
    "(SELECT max(total) FROM orders)", "(SELECT email FROM masked_users LIMIT 1)", "upper('x')", "date('now')",
    "json_extract('{}', '$.a')", "CAST('1' AS integer)", "(SELECT 1 UNION SELECT 2)",
)  # fmt: skip

CAPS: Final = Caps(timeout=timedelta(seconds=2), rows=20)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop(tmp_path_factory.mktemp("shop") / "shop.db", 30)


@pytest.fixture(scope="module")
def sandbox(shop: Path) -> Iterator[SqliteSandbox]:
    opened = SqliteSandbox(shop, RELATIONS, caps=CAPS)
    opened.open_here()
    yield opened
    asyncio.run(opened.close())


def splice(sql: str, expression: str, place: int) -> str:
    """Put an expression where a name, a number, a text or a star stands."""
    spots = [word for word in tokens(sql) if word.kind in ("word", "number", "string", "quoted") or word.text == "*"]
    spot: Token = spots[place % len(spots)]
    length = len(spot.text) + 2 * (spot.kind in ("string", "quoted")) + (spot.kind == "string") * spot.text.count("'")
    return f"{sql[: spot.position]} {expression} {sql[spot.position + length :]}"


def runs_unguarded(shop: Path, sql: str) -> bool:
    """Return whether SQLite itself takes it: a splice that is no query would prove nothing."""
    with closing(sqlite3.connect(f"file:{shop}?mode=ro", uri=True)) as connection:
        try:
            connection.execute(f"EXPLAIN {sql}").fetchall()
        except sqlite3.ProgrammingError:
            return True  # a placeholder, which is one of the attacks
        except sqlite3.Error as error:
            return "no such function" in str(error) or "no such table" in str(error)
    return True


ARGUMENTS: Final = (st.sampled_from(LEGITIMATE), st.sampled_from(ATTACKS), st.integers(0, 200))
SETTINGS: Final = settings(
    max_examples=400, deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)  # fmt: skip


@given(*ARGUMENTS)
@SETTINGS
def test_no_attack_gets_through_wherever_it_stands(
    shop: Path, sandbox: SqliteSandbox, sql: str, attack: str, place: int
) -> None:
    check_attack(shop, sandbox, sql, attack, place)


@pytest.mark.slow
@given(*ARGUMENTS)
@settings(SETTINGS, max_examples=10_000)
def test_no_attack_of_many_gets_through(shop: Path, sandbox: SqliteSandbox, sql: str, attack: str, place: int) -> None:
    check_attack(shop, sandbox, sql, attack, place)


def check_attack(shop: Path, sandbox: SqliteSandbox, sql: str, attack: str, place: int) -> None:
    spliced = splice(sql, attack, place)
    assume(runs_unguarded(shop, spliced))
    event("spliced")
    answer = sandbox.query_here(spliced)

    assert isinstance(answer, SqlRefusal), spliced
    assert answer.code != "internal", (spliced, answer.detail)
    assert "hunter" not in str(answer.as_json())


@given(st.sampled_from(LEGITIMATE), st.sampled_from(HARMLESS), st.integers(0, 200))
@SETTINGS
def test_no_harmless_expression_is_refused(
    shop: Path, sandbox: SqliteSandbox, sql: str, expression: str, place: int
) -> None:
    spliced = splice(sql, f"({expression})", place)
    with closing(sqlite3.connect(f"file:{shop}?mode=ro", uri=True)) as connection:
        try:
            connection.execute(spliced).fetchmany(30)
        except sqlite3.Error:
            assume(False)
    answer = sandbox.query_here(spliced)

    assert isinstance(answer, Rows) or answer.code in ("hidden_column", "timeout"), (spliced, answer)


def test_every_attack_is_refused_at_every_place_of_one_query(shop: Path, sandbox: SqliteSandbox) -> None:
    sql = LEGITIMATE[-1]
    tried = [
        spliced
        for attack in ATTACKS
        for place in range(len(tokens(sql)))
        if runs_unguarded(shop, spliced := splice(sql, attack, place))
    ]

    assert len(tried) > len(ATTACKS) * 10
    assert [spliced for spliced in tried if isinstance(sandbox.query_here(spliced), Rows)] == []
