"""What SQLite's errors say to a model: what helps it, and nothing of a row or of what is hidden."""

import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from placet.database.answer import Fix
from placet.database.relation import Relation
from placet.database.sqlite_errors import explain
from placet.database.sqlite_hints import FOR_FUNCTIONS, FOR_RELATIONS, FOR_TEXTS, functions_there
from placet.database.sqlite_policy import FUNCTIONS, TABLES_OF_A_VALUE
from placet.database.sqlite_sandbox import SqliteSandbox
from tests.database.sqlite_shop import RELATIONS, make_shop
from tests.database.test_sqlite_sandbox import read, refuse


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop(tmp_path_factory.mktemp("shop") / "shop.db")


@pytest.fixture
async def sandbox(shop: Path) -> AsyncIterator[SqliteSandbox]:
    async with SqliteSandbox(shop, RELATIONS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("sql", "code", "fix", "word"),
    [
        ("SELECT totl FROM orders", "unknown_column", Fix.SQL, "total"),
        ("SELECT * FROM order_s", "unknown_relation", Fix.SQL, "orders"),
        ("SELECT date_trunc('month', ordered_at) FROM orders", "function_not_allowed", Fix.SQL, "strftime"),
        ("SELECT load_extension('x')", "function_not_allowed", Fix.POLICY, ""),
        ("SELECT code FROM counties c, counties d", "ambiguous", Fix.SQL, "alias"),
        ("SELEC 1", "not_a_query", Fix.POLICY, "SELECT"),
        ("SELECT id FORM orders", "syntax", Fix.SQL, ""),
        ("SELECT TOP 5 id FROM orders", "syntax", Fix.SQL, "LIMIT"),
        ("SELECT id FROM orders WHERE id = ?", "placeholder", Fix.SQL, "value itself"),
        ("SELECT id FROM orders WHERE id = :id", "placeholder", Fix.SQL, "value itself"),
        ("SELECT 1; SELECT 2", "several_statements", Fix.SQL, ""),
        ("EXPLAIN SELECT id FROM orders", "not_a_query", Fix.POLICY, "alone"),
        ("(SELECT id FROM orders)", "not_a_query", Fix.SQL, "brackets"),
        ("```sql\nSELECT id FROM orders\n```", "not_a_query", Fix.SQL, "fence"),
        ("SHOW TABLES", "not_a_query", Fix.POLICY, "describes"),
        ("SELECT '\ud800'", "bad_character", Fix.SQL, "surrogate"),
        (f'WITH q AS (SELECT 1 AS "{"x" * 9_000}") SELECT *, * FROM q', "too_large", Fix.SQL, "AS"),  # noqa: S608 - what is tested
        ("SELECT sum(avg(total)) FROM orders", "grouping", Fix.SQL, ""),
        ("SELECT json_extract('{', '$')", "bad_value", Fix.SQL, ""),
        ("", "not_a_query", Fix.POLICY, ""),
        ("SELECT 1 -- " + "x" * 10_000, "too_long", Fix.NARROW, ""),
        ("SELECT " + ",".join("1" for _ in range(1_500)), "too_long", Fix.NARROW, "words"),
        ("SELECT " + "(" * 61 + "1" + ")" * 61, "too_deep", Fix.SQL, "WITH"),
    ],
)
async def test_a_refusal_teaches(sandbox: SqliteSandbox, sql: str, code: str, fix: Fix, word: str) -> None:
    answer = await refuse(sandbox, sql)

    assert (answer.code, answer.fix) == (code, fix)
    assert word in f"{answer.message} {answer.hint} {answer.nearest}"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT json_extract('{}', status) FROM orders",
        "SELECT json_extract('{}', '$[' || status) FROM orders",
        "SELECT value FROM json_each('{}', (SELECT status FROM orders))",
        "SELECT json_extract(status, '$.a') FROM orders",
        "SELECT json_object(id, status) FROM orders",
        "SELECT id FROM orders WHERE status LIKE 'a' ESCAPE status",
        "SELECT ntile(status) OVER (ORDER BY id) FROM orders",
        "SELECT id FROM orders LIMIT (SELECT status FROM orders)",
        "SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN -1 PRECEDING AND CURRENT ROW) FROM orders",
    ],
)
async def test_of_a_value_that_does_not_do_no_letter_is_told(sandbox: SqliteSandbox, sql: str) -> None:
    cells = await read(sandbox, "SELECT DISTINCT status FROM orders")

    answer = await refuse(sandbox, sql)

    assert (answer.code, answer.fix) == ("bad_value", Fix.SQL)
    assert not any(str(cell) in str(answer.as_json()) for (cell,) in cells.rows)


async def test_what_a_query_met_and_we_do_not_know_is_for_the_log(sandbox: SqliteSandbox) -> None:
    answer = explain(sqlite3.OperationalError("near the cell 'paid'"), "SELECT 1", sandbox.data, is_understood=True)

    assert (answer.code, answer.fix) == ("internal", Fix.OPERATOR)
    assert "paid" not in str(answer.as_json())
    assert "paid" in str(answer.detail)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM orders LIMIT 1 UNION SELECT 1",
        "SELECT *",
        "VALUES (1), (1, 2)",
        "SELECT sum(id) OVER w FROM orders",
        "SELECT upper(status) OVER () FROM orders",
        "SELECT id FROM orders HAVING id > 1",
        "WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a",
        "WITH a(x, y) AS (SELECT 1) SELECT * FROM a",
        "SELECT group_concat(DISTINCT status, ',') FROM orders",
        "SELECT ?1",
        "SELECT 0x11111111111111111111",
    ],
)
async def test_what_sqlite_does_not_understand_is_the_querys_fault(sandbox: SqliteSandbox, sql: str) -> None:
    answer = await refuse(sandbox, sql)

    assert answer.fix is Fix.SQL
    assert answer.message != "the database failed"


async def test_of_a_broken_view_nothing_hidden_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE salaries (pay INT); CREATE VIEW shown AS SELECT pay AS p FROM salaries")
        async with SqliteSandbox(path, [Relation("shown")]) as opened:
            connection.executescript("DROP TABLE salaries")
            answer = await refuse(opened, "SELECT p FROM shown")

    assert answer.fix is Fix.OPERATOR
    assert "salaries" not in str(answer.as_json())


async def test_a_misspelt_word_is_pointed_at(sandbox: SqliteSandbox) -> None:
    answer = await refuse(sandbox, "SELECT totl FROM orders")

    assert (answer.position, answer.excerpt, answer.nearest) == (7, "SELECT ►totl FROM orders", ("total",))


@pytest.mark.parametrize(
    ("sql", "hidden", "missing"),
    [
        ("SELECT o.? FROM orders o", "secret_note", "secret_nope"),
        ("SELECT ? FROM orders", "SECRET_NOTE", "SECRET_NOPE"),
        ("SELECT main . orders.? FROM orders", "secret_note", "secret_nope"),
        ("SELECT nope, ? FROM orders", "secret_note", "secret_nope"),
        ("SELECT o.[?] + o.? FROM orders o", "secret_note", "secret_nope"),
        ("SELECT 1 FROM ?", "USERS", "USENS"),
        ("SELECT 1 FROM main.?", "users", "usens"),
        ("SELECT ?.id FROM ?", "users", "usens"),
        ("SELECT id FROM ? a, ? b", "users", "usens"),
    ],
)
async def test_a_hidden_name_is_told_like_a_missing_one_however_it_is_written(
    sandbox: SqliteSandbox, sql: str, hidden: str, missing: str
) -> None:
    told = [
        re.sub(rf"\b{name}\b", "?", str((await refuse(sandbox, sql.replace("?", name))).as_json()))
        for name in (hidden, missing)
    ]

    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT ordered_at::date FROM orders", "CAST"),
        ("SELECT id FROM orders WHERE ordered_at > now() - INTERVAL '7 days'", "date(x"),
        ("SELECT ordered_at - INTERVAL '1 day' FROM orders", "date(x"),
        ("SELECT id FROM orders WHERE ordered_at > DATE '2025-01-31'", "text"),
        ("SELECT EXTRACT(YEAR FROM ordered_at) FROM orders", "strftime"),
        ("SELECT id FROM orders WHERE status ILIKE 'paid'", "LIKE"),
        ("SELECT DISTINCT ON (status) status, id FROM orders", "row_number"),
        ("SELECT group_concat(status SEPARATOR ', ') FROM orders", "sub-query"),
        ("SELECT id FROM orders FETCH FIRST 5 ROWS ONLY", "LIMIT"),
        ("SELECT id FROM orders WHERE id = ANY (SELECT 5)", "IN"),
        ("SELECT 1 UNION (SELECT 2)", "brackets"),
        ("SELECT id, FROM orders", "comma"),
        ("SELECT 1 FROM orders WHERE status = 'it\\'s'", "doubled"),
        ("SELECT id FROM orders WHERE status = \u2018paid\u2019", "straight"),
        ("SELECT\u00a0id FROM orders", "U+00A0"),
        ("SELECT id FROM orders WHERE status = 'paid", "not closed"),
        ("SELECT id FROM orders WHERE", "ends before"),
        ("SELECT median(total) FROM orders", "row_number"),
        ("SELECT greatest(1, 2)", "max"),
        ("SELECT x.value FROM generate_series(1, 10) x", "RECURSIVE"),
        ("SELECT sum(total) OVER () AS s FROM orders WHERE s > 5", "around"),
    ],
)
async def test_what_other_databases_write_is_told_as_sqlite_writes_it(
    sandbox: SqliteSandbox, sql: str, word: str
) -> None:
    answer = await refuse(sandbox, sql)

    assert answer.fix is Fix.SQL
    assert word in f"{answer.message} {answer.hint}"


@pytest.mark.parametrize("sql", ["SELECT `id` [x] FORM orders", "SELECT id FORM orders LIMIT 5, 10"])
async def test_what_sqlite_takes_is_not_called_wrong(sandbox: SqliteSandbox, sql: str) -> None:
    assert (await refuse(sandbox, sql)).hint is None


def test_what_is_hinted_is_open() -> None:
    hints = [*FOR_FUNCTIONS.values(), *FOR_RELATIONS.values(), *(hint for _, hint in FOR_TEXTS)]
    called = {name for hint in hints for name in re.findall(r"\b([a-z_0-9]+)\(", hint)}

    assert called - {"n"} <= FUNCTIONS | TABLES_OF_A_VALUE


async def test_what_is_nearest_is_there(sandbox: SqliteSandbox) -> None:
    for name in ("string_agg", "concat", "median", "if", "percentile", "timediff", "unhex", "octet_length"):
        answer = await sandbox.query(f"SELECT {name}(1)")
        if name not in functions_there():
            assert name not in answer.as_json().get("nearest", [])  # type: ignore[operator]  # a list


async def test_a_function_that_is_misspelt_is_no_question_of_policy(sandbox: SqliteSandbox) -> None:
    answer = await refuse(sandbox, "SELECT cuont(id) FROM orders")

    assert (answer.fix, answer.nearest[0]) == (Fix.SQL, "count")


async def test_a_long_name_is_told_short(sandbox: SqliteSandbox) -> None:
    long = "x" * 9_000
    for sql in ("SELECT ? FROM orders", "SELECT 1 FROM ?", "SELECT ?(1)", "SELECT 1 AS x ?", "SELECT ?.x.y.z"):
        assert len(str((await refuse(sandbox, sql.replace("?", long))).as_json())) < 1_000
