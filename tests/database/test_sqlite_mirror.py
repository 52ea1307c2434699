# ruff: noqa: S608 - the queries are what is tested
"""What SQLite does not ask about: what `USING` and `NATURAL JOIN` compare, and how it reads a text."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from placet.database.answer import Rows, SqlRefusal
from placet.database.relation import Relation
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.errors import ConfigurationError
from tests.database.sqlite_shop import RELATIONS, make_shop


def open_shop(path: Path, orders: int = 40) -> SqliteSandbox:
    sandbox = SqliteSandbox(make_shop(path, orders), RELATIONS)
    sandbox.open_here()
    return sandbox


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteSandbox]:
    opened = open_shop(tmp_path_factory.mktemp("shop") / "shop.db")
    yield opened
    asyncio.run(opened.close())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT password FROM users a FULL JOIN users b USING (password)",
        "SELECT email, password FROM users NATURAL FULL JOIN users b",
        "SELECT count(*) FROM users JOIN (SELECT 'ana@example.ro' AS email) USING (email)",
        "SELECT masked_users.email FROM users NATURAL FULL JOIN masked_users",
        "SELECT secret_note FROM orders a FULL JOIN orders b USING (secret_note)",
        'SELECT secret_note FROM orders a FULL JOIN orders b using ("SECRET_NOTE")',
        "SELECT count(*) FROM orders JOIN (SELECT 'hunter4' AS secret_note) USING (secret_note)",
        "SELECT 1 FROM orders, (SELECT 'x' AS secret_note) JOIN (SELECT 'hunter4' AS secret_note) USING (secret_note)",
        "SELECT count(*) FROM orders NATURAL JOIN (SELECT 'hunter4' AS secret_note)",
        "SELECT * FROM orders NATURAL FULL JOIN orders b",
        "SELECT name, sql FROM sqlite_master a FULL JOIN sqlite_master b USING (name, sql)",
        'SELECT sql FROM "SQLITE_SCHEMA" a FULL JOIN main.sqlite_schema b USING (sql)',
        "WITH sqlite_master AS (SELECT 1 AS x) SELECT count(*) FROM main.sqlite_master",
        "WITH users AS (SELECT 1 AS id) SELECT count(*) FROM main.users",
        "WITH users AS (SELECT 1 AS id) SELECT (SELECT count(*) FROM users), (SELECT password FROM main.users)",
        "WITH \ufeffemails AS (SELECT password FROM users) SELECT * FROM emails",
        "WITH a AS (SELECT 1),\ufeffmasked_users AS (SELECT password FROM users) SELECT * FROM masked_users",
        "SELECT \ufefftrim(name, name) FROM counties",
        "WITH 'x' AS (SELECT 1 AS password) SELECT password FROM 'users' a FULL JOIN 'users' b USING (password)",
        "WITH 'x' (password) AS (SELECT 1) SELECT 1 FROM 'users' a JOIN 'users' b USING (id) JOIN 'x' USING (password)",
        "WITH 'x' AS NOT MATERIALIZED (SELECT 1 AS id) SELECT count(*) FROM 'users' a JOIN 'users' b USING (id)",
    ],
)
def test_what_sqlite_does_not_ask_about_is_refused(sandbox: SqliteSandbox, sql: str) -> None:
    answer = sandbox.query_here(sql)

    assert isinstance(answer, SqlRefusal), answer
    assert answer.code != "internal"
    assert "hunter" not in str(answer.as_json()).replace("'hunter4' AS", "")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.id, status FROM orders a JOIN (SELECT max(id) AS id FROM orders) USING (id)",
        "SELECT code FROM counties LEFT JOIN (SELECT county_code AS code FROM orders) USING (code) LIMIT 3",
        "SELECT code, name FROM counties a NATURAL JOIN counties b",
        "SELECT 'using', 'NATURAL', count(*) FROM orders",
        "SELECT id FROM orders JOIN (SELECT 7 AS id, 'a''b' AS status) USING (id) WHERE ordered_at > 'ș' ORDER BY 1",
        "WITH users AS (SELECT DISTINCT customer_id FROM orders) SELECT count(*) FROM users",
        "\ufeffSELECT 1",
    ],
)
def test_honest_joins_are_answered(sandbox: SqliteSandbox, sql: str) -> None:
    assert isinstance(sandbox.query_here(sql), Rows)


@pytest.mark.parametrize(
    ("sql", "hidden", "missing"),
    [
        ("SELECT 1 FROM ? WHERE )", "users", "usens"),
        ("SELECT 1 FROM ? WHERE id = ':x' AND :x", "users", "usens"),
        ("SELECT 1; SELECT 1 FROM ?", "users", "usens"),
        ("SELECT id, ? FROM orders", "users", "usens"),
        ("SELECT nope, ?.id FROM orders ?", "users", "usens"),
        ("SELECT nope FROM (? JOIN orders)", "users", "usens"),
        ("SELECT nope FROM orders WHERE 1 IN ?", "users", "usens"),
        ("WITH ? AS (SELECT 1 AS id) SELECT totl FROM orders, ?", "users", "usens"),
        ("SELECT 1 FROM orders a JOIN orders b USING (?)", "secret_note", "secret_nope"),
    ],
)
def test_a_hidden_name_is_told_like_a_missing_one(sandbox: SqliteSandbox, sql: str, hidden: str, missing: str) -> None:
    told: list[str] = []
    for name in (hidden, missing):
        answer = sandbox.query_here(sql.replace("?", name))
        assert isinstance(answer, SqlRefusal)
        told.append(str(answer.as_json()).replace(name, "?").replace("masked_?", "masked_users"))

    assert told[0] == told[1]


COLUMNS = st.sampled_from(
    ["id", "a.id", "b.id", "secret_note", "status", "email", "password", "x", "*", "count(*)", "1"]
)
SOURCES = st.sampled_from(
    ["orders", "users", "masked_users", "counties", "(SELECT id, 'hunter4' AS secret_note FROM orders)",
     "(SELECT 1 AS id, 'ana@example.ro' AS email)", "(SELECT 'hunter2' AS password, 3 AS x)", "w"]
)  # fmt: skip
JOINS = st.sampled_from(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "NATURAL JOIN", "NATURAL FULL JOIN", ","])
CONSTRAINTS = st.sampled_from(
    ["", "USING (id)", "USING (secret_note)", "USING (email, id)", "USING (password)", "ON a.id = b.id"]
)


@st.composite
def joins(draw: st.DrawFn) -> str:
    columns = ", ".join(draw(st.lists(COLUMNS, min_size=1, max_size=2)))
    join = draw(JOINS)
    constraint = "" if join == "," or "NATURAL" in join else draw(CONSTRAINTS)
    start = draw(
        st.sampled_from(["", "WITH w AS (SELECT 1 AS id), users AS (SELECT 2 AS id) ", "WITH w AS (SELECT 3 AS x) "])
    )
    return f"{start}SELECT {columns} FROM {draw(SOURCES)} a {join} {draw(SOURCES)} b {constraint}"


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteSandbox]:
    """The same shop, where all that is hidden is something else."""
    path = tmp_path_factory.mktemp("others") / "shop.db"
    opened = open_shop(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "UPDATE orders SET secret_note = id || 'z'; UPDATE users SET password = 'other' || id;"
            "INSERT INTO users VALUES (200, 'q@x', 'y')"
        )
    yield opened
    asyncio.run(opened.close())


@given(joins())
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_answer_depends_on_what_is_hidden(sandbox: SqliteSandbox, others: SqliteSandbox, sql: str) -> None:
    one, other = sandbox.query_here(sql), others.query_here(sql)
    event(type(one).__name__)

    assert type(one) is type(other)
    if isinstance(one, Rows) and isinstance(other, Rows):
        assert sorted(map(str, one.rows)) == sorted(map(str, other.rows))
    elif isinstance(one, SqlRefusal) and isinstance(other, SqlRefusal):
        assert one.as_json() == other.as_json()


def test_where_nothing_is_hidden_natural_joins_are_answered(tmp_path: Path) -> None:
    opened = SqliteSandbox(make_shop(tmp_path / "shop.db", 5), [Relation("orders"), Relation("users")])
    opened.open_here()

    assert isinstance(opened.query_here("SELECT count(*) FROM orders NATURAL JOIN users"), Rows)
    asyncio.run(opened.close())


async def test_a_letter_beyond_ascii_is_not_one_with_its_capital(tmp_path: Path) -> None:
    """To Python it is, and to SQLite it is not: one of them may be hidden."""
    path = tmp_path / "news.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("CREATE TABLE ȘTIRI (știre, ȘTIRE); INSERT INTO ȘTIRI VALUES ('open', 'hidden')")
    async with SqliteSandbox(path, [Relation("ȘTIRI", columns={"știre": ""})]) as opened:
        answer = opened.query_here("SELECT știre FROM ȘTIRI")
        assert isinstance(answer, Rows)
        assert answer.rows == (("open",),)
        assert isinstance(opened.query_here("SELECT ȘTIRE FROM ȘTIRI"), SqlRefusal)
        assert isinstance(opened.query_here("SELECT a.ȘTIRE FROM ȘTIRI a JOIN ȘTIRI b USING (ȘTIRE)"), SqlRefusal)


def test_a_virtual_table_fails_the_start(tmp_path: Path) -> None:
    path = tmp_path / "words.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts4 (body)")

    with pytest.raises(ConfigurationError, match="virtual"):
        SqliteSandbox(path, [Relation("words")]).open_here()
