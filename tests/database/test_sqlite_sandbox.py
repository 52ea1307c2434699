# ruff: noqa: S608 - the queries are what is tested
import asyncio
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from pydantic_core import to_json

from placet.database.answer import Fix, Rows, SqlRefusal
from placet.database.caps import Caps
from placet.database.relation import Relation
from placet.database.sqlite_access import Access
from placet.database.sqlite_pool import SqlitePool, SqliteSession
from placet.database.sqlite_sandbox import SqliteSandbox
from placet.errors import ConfigurationError
from tests.database.sandbox_cases import SQLITE_CASES, Case, load_lines
from tests.database.sqlite_shop import OPEN_COLUMNS, RELATIONS, make_shop

CAPS: Final = Caps(timeout=timedelta(seconds=0.4))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop(tmp_path_factory.mktemp("shop") / "shop.db")


@pytest.fixture
async def sandbox(shop: Path) -> AsyncIterator[SqliteSandbox]:
    async with SqliteSandbox(shop, RELATIONS, caps=CAPS) as opened:
        yield opened


async def refuse(sandbox: SqliteSandbox, sql: str) -> SqlRefusal:
    answer = await sandbox.query(sql)
    assert isinstance(answer, SqlRefusal), answer
    return answer


async def read(sandbox: SqliteSandbox, sql: str) -> Rows:
    answer = await sandbox.query(sql)
    assert isinstance(answer, Rows), answer
    return answer


def dump(path: Path) -> list[str]:
    database = sqlite3.connect(path)
    text = list(database.iterdump())
    database.close()
    return text


@pytest.mark.parametrize("case", SQLITE_CASES, ids=lambda case: case.id)
async def test_every_case_gets_its_answer(sandbox: SqliteSandbox, case: Case) -> None:
    started = time.monotonic()
    answer = await sandbox.query(case.sql)
    took = time.monotonic() - started

    assert isinstance(answer, Rows if case.is_allowed else SqlRefusal), answer
    assert took < CAPS.timeout.total_seconds() + 0.5


@pytest.mark.parametrize("sql", load_lines("sql-honest-sqlite.txt"))
async def test_honest_analytics_is_answered(sandbox: SqliteSandbox, sql: str) -> None:
    await read(sandbox, sql)


async def test_no_case_changes_a_byte(sandbox: SqliteSandbox, shop: Path) -> None:
    before = dump(shop)
    for case in SQLITE_CASES:
        if not case.is_allowed:
            await sandbox.query(case.sql)

    assert dump(shop) == before


async def test_an_answer_has_its_columns_rows_and_count(sandbox: SqliteSandbox) -> None:
    answer = await read(sandbox, "SELECT code, name FROM counties WHERE code IN ('CJ', 'MM') ORDER BY code")

    assert answer.as_json() == {
        "columns": [{"name": "code"}, {"name": "name"}],
        "rows": [["CJ", "Cluj"], ["MM", "Maramureș"]],
        "row_count": 2,
        "truncated": False,
        "elapsed_ms": round(answer.elapsed_ms, 1),
    }


async def test_rows_beyond_the_cap_are_not_shown_and_said(sandbox: SqliteSandbox) -> None:
    answer = await read(sandbox, "SELECT id FROM orders")

    assert (answer.row_count, answer.truncated) == (200, True)
    assert "aggregate" in (answer.advice or "")


async def test_as_many_rows_as_the_cap_are_all(sandbox: SqliteSandbox) -> None:
    answer = await read(sandbox, "SELECT id FROM orders LIMIT 200")

    assert (answer.row_count, answer.truncated) == (200, False)


async def test_cells_and_bytes_are_cut_and_said(sandbox: SqliteSandbox) -> None:
    long = "SELECT group_concat(name || id, '') AS t FROM counties, orders"
    cell = await read(sandbox, long)
    whole = await read(sandbox, f"SELECT t, id FROM ({long}), orders")

    assert len(str(cell.rows[0][0])) == CAPS.cell_characters + 1
    assert cell.truncated
    assert sum(len(to_json(row)) for row in whole.rows) <= CAPS.answer_bytes
    assert 10 < whole.row_count < 200


TIGHT: Final = Caps(rows=3, cell_characters=5, answer_bytes=60)


async def test_no_query_returns_more_than_its_caps(shop: Path) -> None:
    cut = 0
    async with SqliteSandbox(shop, RELATIONS, caps=TIGHT) as opened:
        for case in SQLITE_CASES:
            answer = await opened.query(case.sql) if case.is_allowed else None
            if isinstance(answer, Rows):
                cut += answer.truncated
                cells = [cell for row in answer.rows for cell in row]
                texts = [cell for cell in cells if isinstance(cell, str)]
                assert answer.row_count <= TIGHT.rows
                assert all(len(text) <= TIGHT.cell_characters + len("…") for text in texts)
                assert sum(len(to_json(row)) for row in answer.rows) <= TIGHT.answer_bytes
    assert cut > 5


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM users",
        "SELECT 1 FROM users",
        "SELECT EXISTS (SELECT 1 FROM users)",
        "SELECT * FROM users",
        "SELECT nope FROM users",
        "SELECT id FROM users a, users b",
        "SELECT (SELECT password FROM users)",
        "SELECT * FROM emails",
        "SELECT (WITH users AS (SELECT 1) SELECT 1), (SELECT count(*) FROM users)",
        "SELECT * FROM nowhere",
        "SELECT count(*) FROM main.sqlite_master",
    ],
)
async def test_what_is_hidden_and_what_is_missing_are_told_alike(sandbox: SqliteSandbox, sql: str) -> None:
    answer = await refuse(sandbox, sql)

    assert answer.code == "unknown_relation"
    assert answer.hint == "there are: orders, counties, masked_users"


async def test_a_view_reads_what_its_reader_may_not(sandbox: SqliteSandbox) -> None:
    answer = await read(sandbox, "SELECT email FROM masked_users ORDER BY id")

    assert answer.rows == (("a***",), ("d***",))


@pytest.mark.parametrize(
    "sql",
    [
        "WITH masked_users AS (SELECT password FROM users) SELECT * FROM masked_users",
        "WITH emails AS (SELECT password FROM users) SELECT * FROM emails",
        "WITH 'Masked_Users' AS (SELECT password FROM users) SELECT * FROM masked_users",
        "WITH [emails](p) AS NOT MATERIALIZED (SELECT password FROM users) SELECT p FROM emails",
        'WITH a AS (SELECT 1), "emails" /* */ ( x ) as --\n materialized (SELECT id FROM users) SELECT x FROM emails',
        "SELECT (WITH `emails` AS (SELECT max(password) p FROM users) SELECT p FROM emails)",
    ],
)
async def test_a_with_does_not_read_with_the_rights_of_a_view(sandbox: SqliteSandbox, sql: str) -> None:
    assert (await refuse(sandbox, sql)).code == "shadowed"


async def test_a_with_may_have_the_name_of_an_open_table(sandbox: SqliteSandbox) -> None:
    answer = await read(sandbox, "WITH orders AS (SELECT code FROM counties) SELECT count(*) FROM orders")

    assert answer.rows == ((5,),)


async def test_a_hidden_column_is_told_like_a_missing_one(sandbox: SqliteSandbox) -> None:
    hidden = await refuse(sandbox, "SELECT secret_note FROM orders")
    missing = await refuse(sandbox, "SELECT secret_nope FROM orders")

    assert hidden.message.replace("note", "") == missing.message.replace("nope", "")
    assert (hidden.code, hidden.hint) == (missing.code, missing.hint)


async def test_a_star_over_a_hidden_column_is_answered_with_the_open_ones(sandbox: SqliteSandbox) -> None:
    answer = await refuse(sandbox, "SELECT * FROM orders")

    assert answer.code == "hidden_column"
    assert answer.hint == "name the columns: " + ", ".join(OPEN_COLUMNS)


ENDLESS: Final = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
BOMBS: Final = {
    "recursion": ENDLESS + "SELECT count(*) FROM r",
    "cross join": "SELECT count(*) FROM orders a, orders b, orders c, orders d",
    "sort": ENDLESS + "SELECT n FROM r ORDER BY random()",
    "distinct": ENDLESS + "SELECT count(DISTINCT n * 7919 % 100000007) FROM r",
    "large values": ENDLESS + "SELECT max(length(upper(hex(hex(hex(hex(n)))))))  FROM r",
    "group": ENDLESS + "SELECT n % 1000003, count(*) FROM r GROUP BY 1 ORDER BY 2",
    "like": ENDLESS + "SELECT count(*) FROM r WHERE hex(hex(hex(hex(n)))) LIKE '%a%b%c%d%e%f%1%2%3_%'",
    "doubling": "WITH RECURSIVE r(s) AS (SELECT 'xxxxx' UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
    "window": ENDLESS + "SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN 1000 PRECEDING AND CURRENT ROW) FROM r",
    "json": ENDLESS + "SELECT sum(json_array_length(json_array(n, n, n))) FROM r",
}


@pytest.mark.parametrize("bomb", BOMBS)
async def test_no_query_outlives_its_time(sandbox: SqliteSandbox, bomb: str) -> None:
    started = time.monotonic()
    answer = await refuse(sandbox, BOMBS[bomb])

    assert time.monotonic() - started < CAPS.timeout.total_seconds() + 0.5
    assert answer.code in ("timeout", "too_large")
    assert answer.fix is Fix.NARROW


IN_A_SMALL_THREAD: Final = """
import sys, threading
from placet.database.sqlite_sandbox import SqliteSandbox
from tests.database.sqlite_shop import RELATIONS

sandbox = SqliteSandbox(sys.argv[1], RELATIONS)
sandbox.open_here()

def climb():
    for tower in sys.argv[2:]:
        for n in (10, 59, 61, 100, 200, 400, 800, 1600):
            sandbox.query_here(eval(tower, {"n": n})[:10_000])
    print("alive")

threading.stack_size(512 * 1024)
thread = threading.Thread(target=climb)
thread.start()
thread.join()
"""
TOWERS: Final = (
    "'SELECT 1' + '+1' * n",
    "'SELECT ' + '(' * n + '1' + ')' * n",
    "'SELECT ' + '-' * n + '1'",
    "'SELECT ' + 'NOT ' * n + '1'",
    "'SELECT ' + '(SELECT ' * n + '1' + ')' * n",
    "'SELECT 1' + ' UNION SELECT 1' * n",
    "'SELECT 1 FROM ' + '(SELECT*FROM ' * n + 'counties' + ')' * n",
    "'SELECT 1 FROM ' + '(' * n + 'counties' + ')' * n",
    "'SELECT 1' + ' IS NULL' * n",
    "'SELECT ' + 'CASE WHEN 1 THEN ' * n + '1' + ' END' * n",
    "'SELECT ' + 'abs(' * n + '1' + ')' * n",
    "'SELECT 1 FROM counties' + ', counties' * n",
    "'SELECT 1 WHERE 1' + ' AND 1' * n",
    "'WITH ' + 'a AS (WITH ' * n + 'a AS (SELECT 1) SELECT 1' + ') SELECT 1' * n",
    "'SELECT ' + \"json_extract('\" + '[' * n + ']' * n + \"', '$')\"",
    "'SELECT ' + '/*' * n",
)


def test_no_query_takes_the_process_down_with_it(shop: Path) -> None:
    root = Path(__file__).parent.parent.parent
    command = [sys.executable, "-c", IN_A_SMALL_THREAD, str(shop), *TOWERS]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 - our own words

    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
async def test_no_query_outlives_the_standard_time(shop: Path, bomb: str) -> None:
    async with SqliteSandbox(shop, RELATIONS) as opened:
        started = time.monotonic()
        await refuse(opened, BOMBS[bomb])

        assert time.monotonic() - started < opened.caps.timeout.total_seconds() + 0.5


@pytest.mark.parametrize(
    "call",
    [
        "trim(name, hex(code))",
        "SELECT ltrim(name, (SELECT group_concat(name) FROM counties))",
        '"rtrim"(name, name)',
        "instr(name, name || name)",
        "instr(name, lower(name))",
        "instr(lower(name), lower('" + "x" * 101 + "'))",
        "replace(name, name, 'x')",
        "[trim] ( name , code )",
    ],
)
async def test_nothing_searches_for_a_text_of_unknown_length(sandbox: SqliteSandbox, call: str) -> None:
    answer = await refuse(sandbox, f"SELECT {call.removeprefix('SELECT ')} FROM counties")

    assert (answer.code, answer.fix) == ("too_large", Fix.SQL)


async def test_a_search_for_a_text_that_is_written_out_is_let_through(sandbox: SqliteSandbox) -> None:
    answer = await read(
        sandbox,
        "SELECT trim(name), trim(name, 'C'), instr(name, 'lu'), replace(replace(name, char(10), ''), 'u', name)"
        " FROM counties WHERE code = 'CJ' AND instr(lower(name), lower('CLUJ')) = 1",
    )

    assert answer.rows == (("Cluj", "luj", 2, "ClClujj"),)


async def test_a_query_that_is_late_is_answered_while_others_run(sandbox: SqliteSandbox) -> None:
    late, quick = await asyncio.gather(sandbox.query(BOMBS["recursion"]), sandbox.query("SELECT 1"))

    assert isinstance(late, SqlRefusal)
    assert isinstance(quick, Rows)


async def test_more_queries_than_connections_wait_their_turn(shop: Path) -> None:
    caps = Caps(timeout=timedelta(seconds=0.5), wait=timedelta(seconds=0.1), connections=1)
    async with SqliteSandbox(shop, RELATIONS, caps=caps) as opened:
        first = asyncio.create_task(opened.query(BOMBS["recursion"]))
        await asyncio.sleep(0)
        second = await refuse(opened, "SELECT 1")
        await first
        third = await read(opened, "SELECT 1")

    assert (second.code, second.fix) == ("busy", Fix.WAIT)
    assert third.rows == ((1,),)


async def test_a_caller_that_goes_away_ends_its_query(shop: Path) -> None:
    caps = Caps(timeout=timedelta(seconds=10), connections=1)
    async with SqliteSandbox(shop, RELATIONS, caps=caps) as opened:
        task = asyncio.create_task(opened.query(BOMBS["recursion"]))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        started = time.monotonic()
        await read(opened, "SELECT 1")

    assert time.monotonic() - started < 1


async def test_texts_that_are_no_unicode_and_numbers_that_are_no_json_are_shown(sandbox: SqliteSandbox) -> None:
    answer = await read(sandbox, "SELECT CAST(x'ff41' AS text), 9e999, x'00ff', 9223372036854775807, NULL, 1.5")

    assert answer.rows == (("\ufffdA", "inf", "00ff", 9223372036854775807, None, 1.5),)


async def test_a_file_or_a_relation_or_a_column_that_is_not_there_fails_the_start(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nothing\.db"):
        SqliteSandbox(tmp_path / "nothing.db", RELATIONS)
    with pytest.raises(ConfigurationError, match="'ordres'"):
        await SqliteSandbox(shop, [Relation("ordres")]).open()
    with pytest.raises(ConfigurationError, match="'totl'"):
        await SqliteSandbox(shop, [Relation("orders", columns={"totl": ""})]).open()
    (tmp_path / "text.db").write_text("no database, but long enough to be looked at" * 100)
    with pytest.raises(ConfigurationError, match=r"text\.db"):
        await SqliteSandbox(tmp_path / "text.db", RELATIONS).open()


async def test_a_granted_function_may_be_called(shop: Path) -> None:
    async with SqliteSandbox(shop, RELATIONS, functions=["soundex"]) as opened:
        answer = await read(opened, "SELECT soundex('Cluj')")

    assert answer.rows == (("C420",),)


def test_a_sandbox_answers_in_the_thread_that_asks(shop: Path) -> None:
    sandbox = SqliteSandbox(shop, RELATIONS, caps=CAPS)
    asyncio.run(sandbox.open())

    assert isinstance(sandbox.query_here("SELECT 1"), Rows)
    assert isinstance(sandbox.query_here(BOMBS["recursion"]), SqlRefusal)
    asyncio.run(sandbox.close())


async def test_a_value_that_grows_too_large_is_stopped_by_its_size(sandbox: SqliteSandbox) -> None:
    assert (await refuse(sandbox, BOMBS["doubling"])).code == "too_large"


async def test_no_more_patterns_are_matched_than_can_be_in_time(sandbox: SqliteSandbox) -> None:
    patterns = " OR ".join(f"name LIKE '%{number}'" for number in range(31))
    answer = await refuse(sandbox, f"SELECT name FROM counties WHERE {patterns}")

    assert answer.code == "too_large"
    assert (await refuse(sandbox, f"SELECT 1 FROM counties WHERE name LIKE '{'%a' * 60}'")).code == "too_large"


REPORT: Final = """
    WITH m AS (
      SELECT substr(ordered_at, 1, 7) AS month, county_code, sum(total) AS revenue, count(*) AS n
      FROM orders WHERE status <> 'cancelled' AND total > 0 AND total < 9000 GROUP BY 1, 2
    ), g AS (
      SELECT month, county_code, revenue,
        revenue - lag(revenue) OVER (PARTITION BY county_code ORDER BY month) AS change FROM m
    ), r AS (SELECT g.*, rank() OVER (PARTITION BY month ORDER BY change DESC) AS place FROM g),
    t AS (SELECT month, sum(revenue) AS total FROM m GROUP BY month)
    SELECT r.month, c.name, r.revenue, r.change, r.place, round(100 * r.revenue / t.total, 2) AS share,
      CASE WHEN r.change > 100 THEN 'up' WHEN r.change < -100 THEN 'down' ELSE 'flat' END AS trend
    FROM r JOIN t USING (month) JOIN counties c ON c.code = r.county_code WHERE r.place <= 3 ORDER BY 1, 5
"""


def chain(body: str, levels: int) -> str:
    bodies = (f", a{n} AS ({body.replace('?', f'a{n - 1}')})" for n in range(1, levels))
    return f"WITH a0 AS (SELECT id AS x FROM orders){''.join(bodies)} SELECT count(x) FROM a{levels - 1}"


@pytest.mark.parametrize(
    "sql",
    [
        chain("SELECT a.x FROM ? a, ? b", 20),
        chain("SELECT a.x FROM ? a JOIN ? b USING (x)", 20),
        chain("SELECT x FROM ? UNION ALL SELECT x FROM ?", 20),
        chain("SELECT (SELECT x FROM ?) + (SELECT x FROM ?) AS x", 20),
        chain("SELECT x FROM ? WHERE x IN (SELECT x FROM ?)", 20),
        chain("WITH b AS (SELECT p.x FROM ? p, ? q) SELECT x FROM b", 20),
        chain("SELECT x + x AS x FROM ?", 24),
        chain("SELECT CASE WHEN x > x THEN x ELSE -x END AS x FROM ?", 12),
        "SELECT count(x)" + " FROM (SELECT x + x AS x" * 15 + " FROM (SELECT id AS x FROM orders)" + ")" * 15,
    ],
)
async def test_no_query_repeats_its_parts_until_preparing_fills_the_memory(sandbox: SqliteSandbox, sql: str) -> None:
    started = time.monotonic()
    answer = await refuse(sandbox, sql)

    assert (answer.code, answer.fix) == ("too_large", Fix.NARROW)
    assert time.monotonic() - started < 0.2


@pytest.mark.parametrize(
    "sql",
    [
        chain("SELECT a.x FROM ? a JOIN ? b USING (x)", 4),
        chain("SELECT x + x AS x FROM ?", 9),
        chain("SELECT x, count(*) AS n, sum(x) + max(x) - min(x) AS s FROM ? GROUP BY x", 8),
        REPORT,
    ],
)  # fmt: skip
async def test_an_honest_report_may_name_its_parts_again(sandbox: SqliteSandbox, sql: str) -> None:
    await read(sandbox, sql)


async def test_what_no_text_may_hold_is_told(sandbox: SqliteSandbox) -> None:
    assert (await refuse(sandbox, "SELECT 1\0; SELECT 2")).code == "bad_character"


async def test_more_tables_than_can_be_joined_are_told(sandbox: SqliteSandbox) -> None:
    tables = ", ".join(f"counties a{number}" for number in range(70))

    assert (await refuse(sandbox, f"SELECT 1 FROM {tables}")).code == "too_large"


def test_a_connection_cannot_write_even_when_nothing_authorises_it(shop: Path) -> None:
    pool = SqlitePool(shop, CAPS, lambda _: Access({}, frozenset(), frozenset()))
    connection = pool.connect()

    assert connection.execute("PRAGMA query_only").fetchone() == (1,)
    assert connection.execute("PRAGMA temp_store").fetchone() == (1,)
    connection.execute("PRAGMA query_only = 0")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM orders")
    connection.close()


def test_an_interrupt_that_comes_too_late_ends_nothing(shop: Path) -> None:
    pool = SqlitePool(shop, CAPS, lambda _: Access({}, frozenset(), frozenset()))
    session = SqliteSession(pool.connect(), Access({}, frozenset(), frozenset()), Caps())
    first = session.begin(time.monotonic())
    session.end()
    session.begin(time.monotonic())

    def interrupt_the_first() -> int:
        session.interrupt(first)
        return 1

    session.connection.create_function("interrupt_the_first", 0, interrupt_the_first)
    answer = session.fetch("SELECT interrupt_the_first(), count(*) FROM orders a JOIN orders b ON a.id = b.id")

    assert isinstance(answer, Rows)
    session.connection.close()


async def test_one_who_waits_is_answered_though_sqlite_is_deaf(shop: Path) -> None:
    pool = SqlitePool(shop, CAPS, lambda _: Access({}, frozenset(), frozenset()))
    ended = threading.Event()

    def sleep(_: SqliteSession) -> Rows:
        ended.wait(5)
        return Rows(columns=(), rows=())

    started = time.monotonic()
    answer = await pool.use(sleep)
    ended.set()
    pool.close()

    assert isinstance(answer, SqlRefusal)
    assert time.monotonic() - started < CAPS.timeout.total_seconds() + 0.5


def test_rows_that_come_too_late_are_not_shown(shop: Path) -> None:
    pool = SqlitePool(shop, CAPS, lambda _: Access({}, frozenset(), frozenset()))
    session = SqliteSession(pool.connect(), Access({}, frozenset(), frozenset()), CAPS)
    session.begin(time.monotonic() - 10)

    assert isinstance(session.fetch("SELECT 1"), SqlRefusal)
    session.connection.close()


def test_of_all_that_sqlite_may_do_it_may_read() -> None:
    access = Access({"orders": frozenset({"id"})}, frozenset(), frozenset())
    allowed = [
        action for action in range(100) if access.answer(action, "orders", "id", "main", None) == sqlite3.SQLITE_OK
    ]

    assert allowed == [sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE]
    assert access.answer(sqlite3.SQLITE_READ, "orders", "id", "temp", None) == sqlite3.SQLITE_DENY
