# ruff: noqa: S608 - the queries are what is tested
"""No query repeats its parts until preparing it fills the memory: each of these took seconds and hundreds of MB."""

import asyncio
from collections.abc import Iterator
from typing import Final

import pytest

from placet.database.answer import Fix, Rows, SqlRefusal
from placet.database.sqlite_growth import MOST_NAMES, measure_growth
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.database.sqlite_text import definitions, tokens
from placet.database.sqlite_words import words_of
from tests.database.sqlite_shop import RELATIONS, make_shop


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteSandbox]:
    opened = SqliteSandbox(make_shop(tmp_path_factory.mktemp("shop") / "shop.db", 100), RELATIONS)
    opened.open_here()
    yield opened
    asyncio.run(opened.close())


def wide(name: str, times: int) -> str:
    """Return an expression of so many names that is not deep."""
    return "+".join(f"max({','.join([name] * 31)})" for _ in range(times // 31))


def within(body: str = "?", after: str = "") -> str:
    """Return a sub-query whose column `x` comes to 8,649 names."""
    column = body.replace("?", f"{wide('y', 93)} AS x")
    return f"(SELECT {column} FROM (SELECT {wide('id', 93)} AS y FROM orders) {after})"


def backwards(levels: int) -> str:
    bodies = [f"a{n} AS (SELECT p.x FROM a{n + 1} p, a{n + 1} q)" for n in range(levels)]
    return f"WITH {', '.join(bodies)}, a{levels} AS (SELECT 1 AS x) SELECT x FROM a0"


def arms(name: str, source: str) -> str:
    return f"{name} AS ({' UNION ALL '.join([f'SELECT id AS x FROM {source}'] * 20)})"


GROWING: Final = {
    "three sub-queries": f"SELECT {wide('x', 93)} FROM {within()}",
    "no WITH, three SELECTs": f"SELECT {wide('x', 31)} FROM {within()}",
    "LIMIT does not keep apart": f"SELECT {wide('x', 93)} FROM {within(after='LIMIT 5')}",
    "IS DISTINCT FROM is no DISTINCT": f"SELECT {wide('x', 93)} FROM {within('1 IS DISTINCT FROM 2 AS z, ?')}",
    "IS NOT DISTINCT FROM ends no list": f"SELECT {wide('x', 93)} FROM {within('1 IS NOT DISTINCT FROM 2, ?')}",
    "window may be a name": f"SELECT {wide('x', 93)} FROM {within('1 AS window, ?')}",
    "rows may be a name": f"SELECT {wide('x', 93)} FROM {within()}".replace("x", "rows").replace("marows", "max"),
    "by may be a name": f"SELECT {wide('x', 93)} FROM {within()}".replace("y", "by"),
    "WHERE": f"SELECT 1 FROM {within()} WHERE {wide('x', 93)} > 0",
    "ORDER BY": f"SELECT 1 FROM {within()} ORDER BY {wide('x', 93)}",
    "ON": f"SELECT count(*) FROM counties JOIN {within()} ON {wide('x', 93)}",
    "many columns": f"SELECT {','.join('x' * 90)} FROM {within()}",
    "WHERE goes into what is grouped": f"SELECT 1 FROM {within(after='GROUP BY x')} WHERE {wide('x', 93)}",
    "WHERE goes into what is DISTINCT": f"SELECT 1 FROM {within('DISTINCT ?')} WHERE {wide('x', 93)}",
    "its own column, in WHERE": f"SELECT {wide('id', 310)} AS x FROM orders WHERE {wide('x', 310)}",
    "its own column, by its number": f"SELECT {wide('id', 217)} AS x FROM orders ORDER BY {','.join('1' * 60)}",
    "a sub-query in a column": f"SELECT {wide('x', 93)} FROM (SELECT (SELECT {wide('x', 93)} FROM {within()}) AS x)",
    "a column that is a sub-query": f"SELECT {wide('x', 93)} FROM (SELECT {wide('y', 93)} AS x FROM"
    f" (SELECT (SELECT {wide('id', 93)} FROM orders LIMIT 1) AS y))",
    "qualified names in WHERE": f"SELECT 1 FROM {within()} AS s WHERE {'+'.join(['s.x'] * 60)}",
    "a WITH looks ahead": backwards(16),
    "a WITH within, looking ahead": f"SELECT ({backwards(16)})",
    "UNION ALL of UNION ALL": f"WITH {arms('u', 'orders')}, {arms('v', 'u')}, {arms('w', 'v')} SELECT x FROM w",
    "quoted": f'WITH "a b" AS {within()} SELECT {wide("x", 93)} FROM "a b"',
    "quoted like a word of SQL": f'WITH "order" AS {within()} SELECT {wide("x", 93)} FROM [order]',
    "a string": f"WITH 'c' AS {within()} SELECT {wide('x', 93)} FROM 'c'",
    "a name, read by a string": f"WITH c AS {within()} SELECT {wide('x', 93)} FROM 'c'",
    "values alone": f"SELECT {wide('x', 93)} FROM (SELECT {wide('y', 93)} AS x FROM"
    f" (SELECT {wide('1', 310)} AS y FROM orders))",
    "texts": f"SELECT {wide('x', 93)} FROM (SELECT {wide('y', 93)} AS x FROM"
    f" (SELECT {wide(chr(39) * 2, 155)} AS y FROM orders))",
    "nothings": f"SELECT {wide('x', 93)} FROM (SELECT {wide('y', 93)} AS x FROM"
    f" (SELECT {wide('null', 155)} AS y FROM orders))",
    "calls": f"SELECT {wide('x', 93)} FROM (SELECT {wide('y', 93)} AS x FROM"
    f" (SELECT {wide('pi()', 155)} AS y FROM orders))",
    "by its qualified name": f"SELECT {wide('s.x', 93)} FROM {within()} AS s",
}


@pytest.mark.parametrize("growing", GROWING)
def test_what_grows_beyond_measure_is_not_prepared(sandbox: SqliteSandbox, growing: str) -> None:
    answer = sandbox.query_here(GROWING[growing])

    assert isinstance(answer, SqlRefusal)
    assert (answer.code, answer.fix) == ("too_large", Fix.NARROW)
    assert "repeats its own parts" in answer.message


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT x FROM {within()}",
        backwards(3),
        "WITH a AS (SELECT * FROM b), b AS (SELECT id AS x FROM orders) SELECT count(x) FROM a",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r",
        f"SELECT id FROM orders WHERE id IN ({','.join(map(str, range(1, 400)))})",
        f"WITH t AS (SELECT id, total * 2 AS x FROM orders) SELECT x FROM t WHERE id IN (1{', 7' * 299})",
        "SELECT x FROM (SELECT DISTINCT county_code AS x, 1 IS DISTINCT FROM 2 AS y FROM orders) WHERE y LIMIT 5",
        "SELECT id, sum(total) OVER w FROM orders WINDOW w AS (PARTITION BY status ORDER BY id) LIMIT 3",
    ],
)
def test_what_repeats_little_is_answered(sandbox: SqliteSandbox, sql: str) -> None:
    assert isinstance(sandbox.query_here(sql), Rows)


def names(sql: str) -> int:
    read = tokens(sql)
    return measure_growth(words_of(read, definitions(read))).names


@pytest.mark.parametrize(
    ("sql", "most"),
    [
        ("SELECT round(a, 2) AS b FROM c", 3),
        ("SELECT a + a FROM (SELECT b + b AS a FROM c)", 4),
        ("SELECT a + a FROM (SELECT sum(b + b) AS a FROM c GROUP BY 1)", 6),  # 1 stands for b + b
        ("SELECT a + a FROM (SELECT DISTINCT b + b AS a FROM c)", 2),
        ("SELECT sum(a) OVER (PARTITION BY b ORDER BY c) FROM d", 5),
        ("SELECT CASE WHEN a > 1 AND a IS NOT NULL THEN 'x' ELSE 'y' END FROM b", 7),
    ],
)
def test_names_are_counted_where_they_stand(sql: str, most: int) -> None:
    assert names(sql) == most


def test_a_chain_doubles_until_it_is_too_much() -> None:
    def chain(levels: int) -> str:
        return "SELECT x + x AS x FROM (" * levels + "SELECT id AS x FROM orders" + ")" * levels

    assert [names(chain(levels)) for levels in range(5)] == [1, 2, 4, 8, 16]
    assert names(chain(13)) <= MOST_NAMES < names(chain(14))
