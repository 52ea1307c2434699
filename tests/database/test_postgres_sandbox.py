# ruff: noqa: S608 - the queries are what is tested
import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Final

import psycopg
import pytest
import pytest_asyncio
from pydantic_core import to_json

from placet.database.answer import Fix, Rows, SqlRefusal
from placet.database.caps import Caps
from placet.database.guard import Guard, Passed
from placet.database.postgres_pool import PostgresPool
from placet.database.postgres_runner import PostgresRunner
from placet.database.postgres_sandbox import PostgresSandbox
from placet.database.relation import Relation
from placet.database.wire import Wire, rows, statement
from placet.errors import ConfigurationError
from tests.database.conftest import SMALL_CAPS, open_sandbox
from tests.database.sandbox_cases import POSTGRES_CASES, RELATIONS, SYNTAX_CASES, Case, load_lines, schema_sql
from tests.postgres_server import PostgresServer

SLACK: Final = 0.5


async def refuse(sandbox: PostgresSandbox, sql: str) -> SqlRefusal:
    answer = await sandbox.query(sql)
    assert isinstance(answer, SqlRefusal), answer
    return answer


async def read(sandbox: PostgresSandbox, sql: str) -> Rows:
    answer = await sandbox.query(sql)
    assert isinstance(answer, Rows), answer
    return answer


def unguard(sandbox: PostgresSandbox) -> None:
    """Take the guard away, to see what holds without it."""

    class Open(Guard):
        def check(self, sql: str) -> Passed | SqlRefusal:
            return Passed(sql, ())

    sandbox._guard = Open(sandbox._parser, sandbox.data)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(server: PostgresServer) -> AsyncIterator[PostgresSandbox]:
    """One sandbox for many queries, as an application has it."""
    async with open_sandbox(server) as opened:
        yield opened


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", [*POSTGRES_CASES, *SYNTAX_CASES], ids=lambda case: case.id)
async def test_every_case_gets_its_answer(shared: PostgresSandbox, case: Case) -> None:
    started = time.monotonic()
    answer = await shared.query(case.sql)
    took = time.monotonic() - started

    assert isinstance(answer, Rows if case.is_allowed else SqlRefusal), answer
    assert took < SMALL_CAPS.timeout.total_seconds() + SLACK
    if isinstance(answer, SqlRefusal):
        assert answer.code not in ("internal", "not_checked"), answer


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("sql", load_lines("sql-honest-postgres.txt"))
async def test_honest_analytics_is_answered(shared: PostgresSandbox, sql: str) -> None:
    await read(shared, sql)


@pytest.fixture(scope="module")
def large() -> Iterator[PostgresServer]:
    with PostgresServer() as started:
        with psycopg.connect(started.dsn(), autocommit=True) as connection:
            connection.execute(schema_sql(200_000).encode())
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("case", POSTGRES_CASES, ids=lambda case: case.id)
async def test_every_case_gets_its_answer_on_much_data(large: PostgresServer, case: Case) -> None:
    async with open_sandbox(large, Caps()) as opened:
        started = time.monotonic()
        answer = await opened.query(case.sql)

        assert isinstance(answer, Rows if case.is_allowed else SqlRefusal), answer
        assert time.monotonic() - started < opened.caps.timeout.total_seconds() + SLACK


async def test_an_answer_has_its_columns_types_rows_and_count(sandbox: PostgresSandbox) -> None:
    answer = await read(
        sandbox,
        "SELECT id, total, ordered_at::date AS day, total > 5, NULL, id / 2.0::float8 AS id, tags FROM orders,"
        " (SELECT ARRAY['a'] AS tags) t WHERE id = 1",
    )

    assert [(column.name, column.type) for column in answer.columns] == [
        ("id", "int8"), ("total", "numeric"), ("day", "date"), ("?column?", "bool"), ("?column?", "text"),
        ("id", "float8"), ("tags", "text[]"),
    ]  # fmt: skip
    id_, total, day, is_large, nothing, half, tags = answer.rows[0]
    assert (id_, is_large, nothing, half, tags) == (1, True, None, 0.5, "{a}")
    assert isinstance(total, str)
    assert len(str(day)) == len("2025-06-30")
    assert answer.as_json()["row_count"] == 1


async def test_numbers_that_are_no_json_are_texts(sandbox: PostgresSandbox) -> None:
    answer = await read(sandbox, "SELECT 'NaN'::float8, 'infinity'::float8, 'infinity'::timestamptz, 9007199254740993")

    assert answer.rows == (("NaN", "Infinity", "infinity", 9007199254740993),)


async def test_rows_beyond_the_cap_are_not_shown_and_said(sandbox: PostgresSandbox) -> None:
    more = await read(sandbox, "SELECT id FROM orders")
    all_ = await read(sandbox, "SELECT id FROM orders LIMIT 200")

    assert (more.row_count, more.truncated) == (200, True)
    assert "aggregate" in (more.advice or "")
    assert (all_.row_count, all_.truncated) == (200, False)


async def test_cells_and_bytes_are_cut_and_said(sandbox: PostgresSandbox) -> None:
    long = "SELECT string_agg(name, ',') AS t FROM (SELECT p.name FROM products p, counties c LIMIT 900) x"
    cell = await read(sandbox, long)
    whole = await read(sandbox, f"SELECT x.t, o.id FROM ({long}) x, (SELECT id FROM orders LIMIT 500) o")

    assert len(str(cell.rows[0][0])) == SMALL_CAPS.cell_characters + 1
    assert "cut" in (cell.advice or "")
    assert 10 < whole.row_count < 200
    assert sum(len(to_json(row)) for row in whole.rows) <= SMALL_CAPS.answer_bytes


TIGHT: Final = Caps(rows=3, cell_characters=5, answer_bytes=60, cost=8_000)


async def test_no_query_returns_more_than_its_caps(server: PostgresServer) -> None:
    cut = 0
    async with open_sandbox(server, TIGHT) as opened:
        for case in POSTGRES_CASES:
            answer = await opened.query(case.sql)
            if isinstance(answer, Rows):
                cut += answer.truncated
                cells = [cell for row in answer.rows for cell in row]
                texts = [cell for cell in cells if isinstance(cell, str)]
                assert answer.row_count <= TIGHT.rows
                assert all(len(text) <= TIGHT.cell_characters + len("…") for text in texts)
                assert sum(len(to_json(row)) for row in answer.rows) <= TIGHT.answer_bytes
    assert cut > 5


async def test_a_wide_answer_is_fetched_in_parts_and_whole(sandbox: PostgresSandbox) -> None:
    columns = ", ".join(f"status AS s{number}" for number in range(60))
    answer = await read(sandbox, f"SELECT {columns} FROM orders ORDER BY id LIMIT 150")

    assert (answer.row_count, len(answer.columns), answer.truncated) == (150, 60, False)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM orders ORDER BY id LIMIT 2 -- a comment",
        "SELECT id FROM orders ORDER BY id LIMIT 2 /* a comment */ ; -- more",
        "SELECT id AS x, id AS x FROM orders ORDER BY 1 LIMIT 2;",
        "SELECT 'ș' || id FROM orders ORDER BY id LIMIT 2 -- ț",
        "TABLE counties LIMIT 2",
        "VALUES (1), (2)",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "WITH a AS (SELECT 1 UNION SELECT 2) SELECT * FROM a",
    ],
)
async def test_every_shape_of_a_query_can_be_wrapped(sandbox: PostgresSandbox, sql: str) -> None:
    assert (await read(sandbox, sql)).row_count == 2


async def test_the_order_of_the_query_is_the_order_of_the_answer(sandbox: PostgresSandbox) -> None:
    answer = await read(sandbox, "SELECT total FROM orders ORDER BY total DESC")
    totals = [float(str(row[0])) for row in answer.rows]

    assert totals == sorted(totals, reverse=True)


CUBE: Final = "CUBE (id, customer_id, status, county_code, ordered_at, shipped_at, total)"


@pytest.mark.parametrize(
    ("sql", "code", "fix", "sqlstate", "word"),
    [
        ("SELECT totl FROM orders", "unknown_column", Fix.SQL, "42703", "orders has: id, customer_id"),
        ('SELECT id FROM orders WHERE status = "paid"', "unknown_column", Fix.SQL, "42703", "single quotes: 'paid'"),
        ("SELECT o.id FROM orders", "unknown_relation", Fix.SQL, "42P01", "alias"),
        ("SELECT * FROM ordres", "unknown_relation", Fix.SQL, None, "orders"),
        ("SELECT round(1.5::float8, 1)", "no_such_function", Fix.SQL, "42883", "round(x::numeric, 2)"),
        (
            "SELECT date_trunc(ordered_at, 'month') FROM orders",
            "no_such_function",
            Fix.SQL,
            "42883",
            "unit comes first",
        ),
        ("SELECT status, sum(total) FROM orders", "grouping", Fix.SQL, "42803", "GROUP BY"),
        ("SELECT id FROM orders WHERE sum(total) > 1", "grouping", Fix.SQL, "42803", "HAVING"),
        ("SELECT id FROM orders WHERE rank() OVER () = 1", "windowing", Fix.SQL, "42P20", "sub-query"),
        ("SELECT code FROM counties a, counties b", "ambiguous", Fix.SQL, "42702", "alias"),
        ("SELECT 1 / 0", "bad_value", Fix.SQL, "22012", "nullif"),
        ("SELECT (SELECT id FROM orders)", "bad_value", Fix.SQL, "21000", "aggregate"),
        ("SELECT 'x'::int", "bad_value", Fix.SQL, "22P02", '"x"'),
        ("SELECT int4range(1, 2, 'x')", "bad_value", Fix.SQL, "42601", "bound flags"),
        ("SELECT to_tsquery(chr(92))", "bad_value", Fix.SQL, "42601", "escaped character"),
        ("SELECT id = 'a' || 'b' FROM orders", "no_such_function", Fix.SQL, "42883", "cast"),
        ("SELECT id FORM orders", "syntax", Fix.SQL, None, "orders"),
        ("SELECT FROM orders", "no_columns", Fix.SQL, None, ""),
        ('SELECT "Status" FROM orders', "unknown_column", Fix.SQL, "42703", "write status"),
        ("SELECT id FROM orders WHERE status = ‘paid’", "unknown_column", Fix.SQL, "42703", "plain quotes"),  # noqa: RUF001
        (
            "SELECT status, count(*) AS n FROM orders GROUP BY 1 HAVING n > 5",
            "unknown_column",
            Fix.SQL,
            "42703",
            "repeat",
        ),
        ("SELECT (o).totl FROM orders o", "unknown_column", Fix.SQL, "42703", "column o.totl does not exist"),
        ("SELECT profile.tier FROM customers", "unknown_relation", Fix.SQL, "42P01", "profile ->> 'key'"),
        ("SELECT lag(total) FROM orders", "wrong_query", Fix.SQL, "42809", "OVER (PARTITION BY"),
        ("SELECT percentile_cont(total, 0.5) FROM orders", "wrong_query", Fix.SQL, "42809", "WITHIN GROUP (ORDER BY"),
        ("SELECT string_agg(id, ',') FROM orders", "no_such_function", Fix.SQL, "42883", "x::text"),
        ("SELECT ordered_at + 7 FROM orders", "no_such_function", Fix.SQL, "42883", "interval '7 days'"),
        ("SELECT id FROM orders WHERE id LIKE '5%'", "no_such_function", Fix.SQL, "42883", "::text LIKE"),
        ("SELECT * FROM orders TABLESAMPLE system (1)", "not_supported", Fix.SQL, "0A000", "random() < 0.01"),
        (f"SELECT 1 FROM orders GROUP BY {CUBE}, {CUBE}", "too_large", Fix.NARROW, "54001", "too many grouping sets"),
        ("SELECT 1 AS a ORDER BY b", "unknown_column", Fix.SQL, "42703", ""),
        ("SELECT count(*) FROM order_items a, order_items b", "too_large", Fix.NARROW, None, "join"),
        ("SELECT pg_sleep(1)", "function_not_allowed", Fix.POLICY, None, ""),
    ],
)
async def test_a_refusal_teaches(
    sandbox: PostgresSandbox, sql: str, code: str, fix: Fix, sqlstate: str | None, word: str
) -> None:
    answer = await refuse(sandbox, sql)

    assert (answer.code, answer.fix, answer.sqlstate) == (code, fix, sqlstate), answer
    assert word in f"{answer.message} {answer.hint} {answer.nearest}"


async def test_a_misspelt_word_is_pointed_at_in_the_words_of_the_query(sandbox: PostgresSandbox) -> None:
    answer = await refuse(sandbox, "SELECT 'ș', totl FROM orders")

    assert (answer.position, answer.excerpt) == (12, "SELECT 'ș', ►totl FROM orders")
    assert answer.nearest == ("total",)


SAYING: Final = {
    "sku::int": "SKU-",
    "sku::date": "SKU-",
    "(sku || ':!')::tsquery": "SKU-",
    "(chr(39) || sku)::tsvector": "SKU-",
    "to_tsquery(name || ' !')": "Produs",
    "jsonb_path_query_first('{}', ('$k' || id + 7654000)::jsonpath)": "k765",
    "make_date(id + 7654000, 13, 1)": "765",
    "make_timestamptz(2020, 1, 1, 1, id + 7654000, 1)": "765",
    "pg_catalog.normalize(sku, name)": "Produs",
    "regexp_count(sku, 'x', -id - 7654000)": "765",
    "percentile_cont(id + 76500::float8) WITHIN GROUP (ORDER BY id)": "765",
    "now() AT TIME ZONE translate(sku, '0123456789', 'aaaaaaaaaa')": "SKU-",
    "date_trunc(sku, now())": "sku-",
    "encode('a', sku)": "SKU-",
    "chr(id + 7654000)": "765",
    "jsonb_path_query_first(to_jsonb(sku), '$.double()')": "SKU-",
    "JSON_VALUE(to_jsonb(sku), '$' RETURNING int ERROR ON ERROR)": "SKU-",
    "JSON_OBJECT(sku: 1, sku: 2 WITH UNIQUE KEYS)": "SKU-",
    "jsonb_set('[1]', ARRAY[sku], '1')": "SKU-",
    "to_date(sku, 'YYYY-MM')": "SKU-",
    "sku::json": "SKU",
}
"""Expressions over products on which the server says what stands in a row, and how that begins."""


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("expression", SAYING)
async def test_a_value_of_the_data_is_in_no_message(shared: PostgresSandbox, expression: str) -> None:
    answer = await refuse(shared, f"SELECT {expression} FROM products GROUP BY id, sku, name")

    assert (answer.code, answer.fix) == ("bad_value", Fix.SQL)
    assert SAYING[expression] in str(answer.detail)
    assert SAYING[expression] not in f"{answer.message} {answer.hint}"


async def test_a_long_value_makes_no_long_message(sandbox: PostgresSandbox) -> None:
    unguard(sandbox)
    answer = await refuse(sandbox, "SELECT repeat('x', 3000000)::int FROM orders LIMIT 1")

    assert answer.message == "invalid input syntax for type integer: <value>"
    assert len(str(answer.detail)) < 20_000


async def test_what_a_function_of_the_database_has_wrong_names_nothing_that_is_hidden(server: PostgresServer) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION shop.broken(what text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN"
            " CASE what WHEN 'column' THEN RETURN (SELECT iba FROM hr.payroll);"
            " WHEN 'table' THEN RETURN (SELECT iban FROM hr.payrol);"
            " ELSE RAISE EXCEPTION 'the payroll says %', what USING ERRCODE = what, HINT = 'see the payroll'; END CASE;"
            " END $$; GRANT EXECUTE ON FUNCTION shop.broken TO llm_ro"
        )
    try:
        async with PostgresSandbox(server.dsn("llm_ro"), RELATIONS, functions={"shop.broken"}, insecure=True) as opened:
            for what in ("column", "table", "22023", "22P02", "42601", "0A000", "P0001", "23505", "21000"):
                answer = await refuse(opened, f"SELECT shop.broken('{what}')")
                told = str(answer.as_json())
                assert "function broken" in str(answer.detail)
                assert "payrol" not in told
                assert "iba" not in told
    finally:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute("DROP FUNCTION shop.broken")


ENDLESS: Final = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
BOMBS: Final = {
    "recursion": ENDLESS + "SELECT count(*) FROM r",
    "sort": ENDLESS + "SELECT n FROM r ORDER BY random()",
    "texts": "WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
    "json": "WITH RECURSIVE r(s) AS (SELECT '[1]'::jsonb UNION ALL SELECT s || s FROM r) SELECT max(s::text) FROM r",
    "hash": "SELECT count(DISTINCT md5(g::text || h)) FROM generate_series(1, 100000) g, generate_series(1, 80) h",
    "aggregate": "SELECT length(string_agg(md5(g::text), '')) FROM generate_series(1, 100000) g, generate_series(1, 9)",
    "regex": "SELECT count(*) FROM generate_series(1, 100000) g WHERE g::text || md5(g::text) ~ '(.*)(.*)(.*)(.*)x\\1'",
    "numbers": "SELECT sum(power(g::numeric, 999)) FROM generate_series(1, 100000) g",
    "division": "SELECT sum(1e131000 / (g + 7e65000)) FROM generate_series(1, 100000) g",
    "paths": f"SELECT jsonb_path_exists('[{'1,' * 2_500}1]', '$[*] ? (exists($[*] ? (@ == $[*] && @ == 2)))')",
    "levels": f"SELECT count(*) FROM jsonb_path_query('{'[' * 50}1{']' * 50}', '$.**.**.**.**.**.**')",
    "automaton": f"SELECT 'x' ~ '{'(x?){0,40}' * 8}'",
    "wildcards": f"SELECT count(*) FROM generate_series(1, 99999) g WHERE lpad(g::text, 999, 'a') LIKE '{'%a' * 300}b'",
    "documents": "WITH RECURSIVE r(d, n) AS (SELECT '{}'::jsonb, 1 UNION ALL SELECT jsonb_build_object(1, d, 2, d),"
    " n + 1 FROM r WHERE n < 60) SELECT max(n) FROM r",
    "words": "WITH RECURSIVE r(w, n) AS (SELECT 'a b ', 1 UNION ALL SELECT concat(w, n, w), n + 1 FROM r WHERE n < 40)"
    " SELECT max(length(to_tsvector(w))) FROM r",
    "days": "SELECT count(*) FROM generate_series('4713-01-01 BC'::timestamp, '294276-01-01', '1 day')",
    "letters": "SELECT sum(length(normalize(lpad(g::text, 999, 'ﷺ'), NFKD))) FROM generate_series(1, 100000) g",
}


@pytest.mark.parametrize("bomb", BOMBS)
async def test_no_query_outlives_its_time(sandbox: PostgresSandbox, bomb: str) -> None:
    started = time.monotonic()
    answer = await sandbox.query(BOMBS[bomb])
    took = time.monotonic() - started

    assert took < SMALL_CAPS.timeout.total_seconds() + SLACK
    assert isinstance(answer, Rows) or answer.fix is Fix.NARROW, answer


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
async def test_no_query_outlives_the_standard_time(large: PostgresServer, bomb: str) -> None:
    async with open_sandbox(large, Caps()) as opened:
        started = time.monotonic()
        answer = await opened.query(BOMBS[bomb])

        assert time.monotonic() - started < opened.caps.timeout.total_seconds() + SLACK
        assert isinstance(answer, Rows) or answer.fix is Fix.NARROW, answer


async def test_a_server_that_is_deaf_keeps_nobody_waiting(server: PostgresServer) -> None:
    pool = PostgresPool(server.dsn("llm_ro"), SMALL_CAPS)

    async def sleep(wire: Wire) -> Rows:
        await wire.send(statement(b"SELECT pg_sleep(20)"))
        return Rows(columns=(), rows=())

    started = time.monotonic()
    answer = await pool.use(sleep)
    took = time.monotonic() - started
    await pool.close()

    assert isinstance(answer, SqlRefusal)
    assert took < SMALL_CAPS.timeout.total_seconds() + SLACK
    assert await count_active(server) == 0


async def count_active(server: PostgresServer) -> int:
    """Return how many queries of the role still run, when that stays so for two seconds."""
    async with await psycopg.AsyncConnection.connect(server.dsn(), autocommit=True) as connection:
        count = 0
        for _ in range(20):
            cursor = await connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE usename = 'llm_ro' AND state = 'active'"
            )
            row = await cursor.fetchone()
            count = row[0] if row else 0
            if count == 0:
                break
            await asyncio.sleep(0.1)
        return count


async def test_a_caller_that_goes_away_leaves_nothing_behind(server: PostgresServer, sandbox: PostgresSandbox) -> None:
    task = asyncio.create_task(sandbox.query(BOMBS["recursion"]))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (await read(sandbox, "SELECT 1")).rows == ((1,),)
    assert await count_active(server) == 0


async def test_more_queries_than_connections_wait_their_turn(server: PostgresServer) -> None:
    caps = Caps(timeout=timedelta(seconds=0.6), wait=timedelta(seconds=0.1), connections=1)
    async with open_sandbox(server, caps) as opened:
        first = asyncio.create_task(opened.query(BOMBS["recursion"]))
        await asyncio.sleep(0.1)
        second = await refuse(opened, "SELECT 1")
        await first
        third = await read(opened, "SELECT 1")

    assert (second.code, second.fix) == ("busy", Fix.WAIT)
    assert third.rows == ((1,),)


async def test_a_lost_connection_is_replaced(server: PostgresServer, sandbox: PostgresSandbox) -> None:
    await read(sandbox, "SELECT 1")
    await asyncio.sleep(0.1)
    async with await psycopg.AsyncConnection.connect(server.dsn(), autocommit=True) as connection:
        await connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'llm_ro'")

    assert (await read(sandbox, "SELECT 2")).rows == ((2,),)


async def test_a_database_that_is_away_is_to_be_waited_for() -> None:
    with PostgresServer() as own:
        with psycopg.connect(own.dsn(), autocommit=True) as connection:
            connection.execute(schema_sql(100).encode())
        opened = open_sandbox(own)
        await opened.open()
    answer = await refuse(opened, "SELECT 1")
    await opened.close()

    assert (answer.code, answer.fix, answer.retryable) == ("busy", Fix.WAIT, True)


async def test_connections_are_used_again_and_carry_nothing_over(server: PostgresServer) -> None:
    pool = PostgresPool(server.dsn("llm_ro"), Caps(connections=1))
    seen: list[bytes | None] = []

    async def leave_traces(wire: Wire) -> Rows:
        await wire.send(statement(b"BEGIN"))
        (result,) = await wire.send(statement(b"SELECT pg_backend_pid()"))
        seen.append(rows(result)[0][0])
        await wire.send(statement(b"SELECT set_config('app.tenant', '2', false), pg_advisory_lock(42)"))
        await wire.send(statement(b"COMMIT"))
        return Rows(columns=(), rows=())

    async def look(wire: Wire) -> Rows:
        (result,) = await wire.send(
            statement(
                b"SELECT pg_backend_pid(), current_setting('app.tenant', true),"
                b" (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')"
            )
        )
        seen.extend(rows(result)[0])
        return Rows(columns=(), rows=())

    await pool.use(leave_traces)
    await asyncio.sleep(0.2)
    await pool.use(look)
    await pool.close()

    assert seen[0] == seen[1]
    assert seen[2:] == [b"", b"0"]


@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("SELECT 1; SELECT 2", "42601"),
        ("COMMIT; DROP TABLE core.orders", "42601"),
        ("SET TRANSACTION READ WRITE", None),
        ("SELECT nextval('core.order_id_seq')", "42501"),
        ("SELECT * FROM core.customers", "42501"),
        ("SELECT pg_read_file('/etc/passwd')", "42501"),
        ("INSERT INTO shop.orders SELECT * FROM shop.orders", None),
        ("INSERT INTO shop.orders SELECT * FROM shop.orders RETURNING id", "42601"),
        ("SELECT 1) AS x, (SELECT 2", "42601"),
        ("CREATE TEMP TABLE x (a int)", None),
        ("SHOW ALL", "42601"),
        ("SELECT lo_create(0)", "25006"),
        ("WITH d AS (DELETE FROM orders RETURNING 1) SELECT 1 FROM d", "0A000"),
        ("SELECT set_config('transaction_read_only', 'off', true)", "25001"),
    ],
)
async def test_what_the_guard_stops_the_database_stops_too(
    sandbox: PostgresSandbox, sql: str, sqlstate: str | None
) -> None:
    """What has no columns is stopped before anything is run, by `wrap`."""
    unguard(sandbox)
    answer = await refuse(sandbox, sql)

    assert answer.sqlstate == sqlstate, answer


async def test_a_setting_of_one_query_is_gone_in_the_next(server: PostgresServer) -> None:
    async with open_sandbox(server, Caps(connections=1, timeout=timedelta(seconds=2))) as opened:
        unguard(opened)
        await read(opened, "SELECT set_config('statement_timeout', '0', false), set_config('search_path', 'hr', false)")
        await asyncio.sleep(0.1)
        answer = await read(opened, "SELECT current_setting('statement_timeout'), current_setting('search_path')")

    assert answer.rows == (("2s", '"shop", "pg_temp"'),)


async def test_a_query_has_the_memory_of_the_sandbox_and_gives_no_notices_whatever_its_role_has(
    server: PostgresServer,
) -> None:
    large = {
        "work_mem": "'1GB'", "max_parallel_workers_per_gather": "8", "jit": "on", "client_min_messages": "notice",
    }  # fmt: skip
    usual = {
        "work_mem": "'16MB'", "max_parallel_workers_per_gather": "0", "jit": "off", "client_min_messages": "error",
    }  # fmt: skip
    async with open_sandbox(server) as opened:
        try:
            with psycopg.connect(server.dsn(), autocommit=True) as connection:
                for name, value in large.items():
                    connection.execute(f"ALTER ROLE llm_ro SET {name} = {value}".encode())
            unguard(opened)
            answer = await read(opened, "SELECT " + ", ".join(f"current_setting('{name}')" for name in large))
        finally:
            with psycopg.connect(server.dsn(), autocommit=True) as connection:
                for name, value in usual.items():
                    connection.execute(f"ALTER ROLE llm_ro SET {name} = {value}".encode())

    assert answer.rows == (("16MB", "0", "off", "error"),)


async def test_backslashes_are_read_as_the_parser_reads_them(server: PostgresServer) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("ALTER ROLE llm_ro SET standard_conforming_strings = off")
    try:
        async with open_sandbox(server) as opened:
            answer = await read(opened, r"SELECT '\' AS a, ' || version() || \' AS b")
    finally:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute("ALTER ROLE llm_ro RESET standard_conforming_strings")

    assert answer.rows == (("\\", " || version() || \\"),)


async def test_days_begin_where_the_sandbox_says(server: PostgresServer) -> None:
    sql = "SELECT timestamptz '2025-06-30 22:30:00+00'::date, extract(isodow FROM timestamptz '2025-06-30 22:30:00+00')"
    opened = PostgresSandbox(server.dsn("llm_ro"), RELATIONS, functions={"shop.vat"}, time_zone="Europe/Bucharest")
    async with opened:
        answer = await read(opened, sql)

    assert answer.rows == (("2025-07-01", "2"),)


async def test_a_function_that_was_made_for_rows_is_not_reached_by_a_dot(server: PostgresServer) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION shop.reveal(shop.counties, int DEFAULT 1) RETURNS text LANGUAGE sql SECURITY DEFINER"
            " AS 'SELECT max(iban) FROM hr.payroll'"
        )
    try:
        opened = PostgresSandbox(server.dsn("llm_ro"), RELATIONS, insecure=True)
        await opened.open()
        guarded = await refuse(opened, "SELECT c.reveal FROM counties c")
        unguard(opened)
        reached = await read(opened, "SELECT c.reveal FROM counties c")
        await opened.close()
    finally:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute("DROP FUNCTION shop.reveal")

    assert guarded.code == "unknown_column"
    assert str(reached.rows[0][0]).startswith("RO")


async def test_a_relation_or_a_column_or_a_server_that_is_not_there_fails_the_start(server: PostgresServer) -> None:
    dsn = server.dsn("llm_ro")
    with pytest.raises(ConfigurationError, match=r"shop\.ordres"):
        await PostgresSandbox(dsn, [Relation("ordres", "shop")]).open()
    with pytest.raises(ConfigurationError, match="'totl'"):
        await PostgresSandbox(dsn, [Relation("orders", "shop", columns={"totl": ""})]).open()
    with pytest.raises(ConfigurationError, match=r"hr\.payroll"):
        await PostgresSandbox(dsn, [Relation("payroll", "hr")]).open()
    with pytest.raises(ConfigurationError, match=r"Europe/Bucuresti.*`time_zone`"):
        await PostgresSandbox(dsn, RELATIONS, time_zone="Europe/Bucuresti").open()
    with pytest.raises(ConfigurationError, match=r"Europe/Bucuresti.*`time_zone`"):
        await PostgresRunner(dsn, time_zone="Europe/Bucuresti").open()
    with pytest.raises(ConfigurationError, match="user=llm_ro host=/nowhere") as refused:
        await PostgresSandbox("host=/nowhere user=llm_ro password=hunter2", RELATIONS).open()
    assert "hunter2" not in str(refused.value)
    with pytest.raises(ConfigurationError, match="not open"):
        await PostgresSandbox(dsn, RELATIONS).query("SELECT 1")


async def test_queries_run_beside_each_other(sandbox: PostgresSandbox) -> None:
    answers = await asyncio.gather(*(sandbox.query(f"SELECT {number}") for number in range(20)))

    assert [answer.rows[0][0] for answer in answers if isinstance(answer, Rows)] == list(range(20))


@pytest.mark.parametrize(
    "aggregate",
    ["array_agg(id)", "json_agg(status)", "string_agg(status, ',') OVER (ORDER BY id)", "orders.json_agg"],
)
async def test_no_aggregate_collects_what_would_fill_the_memory(server: PostgresServer, aggregate: str) -> None:
    async with open_sandbox(server, Caps(collected_bytes=100_000)) as opened:
        answer = await refuse(opened, f"SELECT {aggregate} FROM orders")
        few = await read(opened, f"SELECT {aggregate} FROM orders WHERE id < 50")
        counted = await read(opened, "SELECT count(*) FROM orders")

    assert (answer.code, answer.fix) == ("too_large", Fix.NARROW)
    assert "collect" in answer.message
    assert few.row_count
    assert counted.row_count
