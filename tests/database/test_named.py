import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import psycopg
import pytest

from placet.database.answer import Fix, Rows, SqlAnswer, SqlRefusal
from placet.database.caps import Caps
from placet.database.named import Caller, NamedQueries
from placet.database.postgres_runner import PostgresRunner
from placet.database.query_file import read_queries
from placet.database.sqlite_runner import SqliteRunner
from placet.errors import ConfigurationError
from placet.values.json import Json
from placet.values.principal import Principal
from tests.postgres_server import PostgresServer

CAPS: Final = Caps(timeout=timedelta(seconds=0.6))

TABLES: Final = """
CREATE TABLE parcels (id integer PRIMARY KEY, customer text NOT NULL, state text NOT NULL, weight real,
  CHECK (weight > 0));
INSERT INTO parcels VALUES (1, 'ana', 'sent', 1.5), (2, 'ana', 'lost', 2.5), (3, 'dan', 'sent', 3.5),
  (4, '50%', 'sent', 1), (5, '500', 'sent', 1);
"""
QUERIES: Final = r"""
-- name: get_parcel
-- Say where a parcel is.
-- param: id int >= 1
-- bind: customer principal.id
-- returns: one
SELECT state, weight FROM parcels WHERE id = :id AND customer = :customer;

-- name: list_parcels
-- List parcels.
-- param: state enum(sent, lost)?
-- variant: sort: lightest = weight, id
-- variant: sort: heaviest = weight DESC, id
-- rows: 3
SELECT id FROM parcels WHERE state = coalesce(:state, state) ORDER BY {sort};

-- name: find_customers
-- Find customers by how their names begin.
-- param: start prefix 3..20
SELECT DISTINCT customer FROM parcels WHERE customer LIKE :start ESCAPE '\' ORDER BY customer;

-- name: find_states
-- Find states by what they say somewhere.
-- param: words contains? 3..20
SELECT DISTINCT state FROM parcels WHERE state LIKE :words ESCAPE '\' OR :words IS NULL ORDER BY state;

-- name: weigh
-- Say how much parcels weigh.
-- param: tenant text = ana
SELECT count(*) AS parcels, sum(weight) AS weight FROM parcels WHERE customer = :tenant;

-- name: lose_parcel
-- Mark a parcel as lost.
-- effect: write
-- waiver: a test
-- param: id int
-- bind: customer principal.id
UPDATE parcels SET state = 'lost' WHERE id = :id AND customer = :customer RETURNING id, state;

-- name: weigh_parcel
-- Write down what a parcel weighs.
-- effect: write
-- waiver: a test
-- param: id int
-- param: weight number
INSERT INTO parcels (id, customer, state, weight) VALUES (:id, 'ana', 'sent', :weight);
"""
ANA: Final = Caller(Principal("ana", attributes={"tenant": 7}), "ro")


@pytest.fixture(scope="module")
def parcels(server: PostgresServer) -> str:
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS parcels")
        connection.execute("CREATE DATABASE parcels")
    with psycopg.connect(server.dsn(database="parcels"), autocommit=True) as connection:
        connection.execute(TABLES.encode())
    return server.dsn(database="parcels")


@pytest.fixture(params=["sqlite", "postgres"])
async def queries(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[NamedQueries]:
    async with make_queries(request.param, request, tmp_path, QUERIES) as opened:
        yield opened


def make_queries(kind: str, request: pytest.FixtureRequest, directory: Path, text: str) -> NamedQueries:
    if kind == "sqlite":
        file = directory / "parcels.db"
        with sqlite3.connect(file) as database:
            database.executescript(TABLES)
        database.close()
        reads, writes = SqliteRunner(file, caps=CAPS), SqliteRunner(file, caps=CAPS, writable=True)
        return NamedQueries(read_queries(text), reads=reads, writes=writes)
    dsn = request.getfixturevalue("parcels")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS parcels; {TABLES}".encode())
    return NamedQueries(
        read_queries(text), reads=PostgresRunner(dsn, caps=CAPS), writes=PostgresRunner(dsn, caps=CAPS, writable=True)
    )


async def ask(queries: NamedQueries, name: str, caller: Caller = ANA, **arguments: Json) -> SqlAnswer:
    return await queries.find(name).run(arguments, caller)


def rows(answer: SqlAnswer) -> list[list[Json]]:
    assert isinstance(answer, Rows), answer
    return [list(row) for row in answer.rows]


def refusal(answer: SqlAnswer) -> SqlRefusal:
    assert isinstance(answer, SqlRefusal), answer
    return answer


async def test_a_query_answers_with_the_values_of_the_model_and_of_the_runtime(queries: NamedQueries) -> None:
    assert rows(await ask(queries, "get_parcel", id=1)) == [["sent", 1.5]]
    assert rows(await ask(queries, "get_parcel", id=3)) == []
    assert rows(await ask(queries, "get_parcel", Caller(Principal("dan")), id=3)) == [["sent", 3.5]]


async def test_what_the_runtime_binds_is_not_the_models_to_send(queries: NamedQueries) -> None:
    query = queries.find("get_parcel")

    assert query.input_schema() == {
        "type": "object",
        "properties": {"id": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1}},
        "required": ["id"],
        "additionalProperties": False,
    }
    answer = refusal(await ask(queries, "get_parcel", id=3, customer="dan"))
    assert answer.code == "bad_argument"
    assert "'customer'" in answer.message


async def test_a_value_that_cannot_be_bound_refuses_and_opens_nothing(queries: NamedQueries) -> None:
    (statement,) = read_queries("-- name: q\n-- Ask.\n-- bind: t principal.attributes.tenant int\nSELECT :t + 0 AS t")
    reads = queries._reads
    async with NamedQueries([statement], reads=reads) as opened:
        bound = rows(await ask(opened, "q"))
        missing = refusal(await ask(opened, "q", Caller(Principal("dan"))))
        wrong = refusal(await ask(opened, "q", Caller(Principal("dan", attributes={"tenant": "all"}))))

    assert bound == [[7]]
    assert (missing.code, missing.fix, wrong.code) == ("not_permitted", Fix.POLICY, "not_permitted")
    assert "all" not in str(wrong.as_json())


async def test_the_language_and_the_tenant_are_bound_by_the_runtime(queries: NamedQueries) -> None:
    text = (
        "-- name: q\n-- Ask.\n-- bind: lang language\n-- bind: tenant principal.attributes.tenant int\n"
        "SELECT CAST(:lang AS text) AS lang, CAST(:tenant AS integer) AS tenant"
    )
    async with NamedQueries(read_queries(text), reads=queries._reads) as opened:
        answer = rows(await ask(opened, "q"))
        sent = refusal(await ask(opened, "q", tenant=8))

    assert answer == [["ro", 7]]
    assert opened.find("q").input_schema()["properties"] == {}
    assert sent.code == "bad_argument"


@pytest.mark.parametrize("arguments", [{}, {"id": "1"}, {"id": 0}, {"id": True}, {"id": None}, {"id": 1, "x": 2}])
async def test_arguments_that_are_none_are_refused(queries: NamedQueries, arguments: dict[str, Json]) -> None:
    answer = refusal(await queries.find("get_parcel").run(arguments, ANA))

    assert (answer.code, answer.fix) == ("bad_argument", Fix.SQL)


async def test_variants_are_texts_of_the_developer_and_rows_are_capped(queries: NamedQueries) -> None:
    lightest = await ask(queries, "list_parcels")
    heaviest = await ask(queries, "list_parcels", sort="heaviest", state="sent")

    assert rows(lightest) == [[4], [5], [1]]
    assert rows(heaviest) == [[3], [1], [4]]
    assert isinstance(lightest, Rows)
    assert lightest.truncated
    assert refusal(await ask(queries, "list_parcels", sort="id; DROP TABLE parcels")).code == "bad_argument"


async def test_a_wildcard_of_the_model_matches_itself(queries: NamedQueries) -> None:
    assert rows(await ask(queries, "find_customers", start="50%")) == [["50%"]]
    assert rows(await ask(queries, "find_customers", start="%%%")) == []
    assert rows(await ask(queries, "find_customers", start="ana")) == [["ana"]]


async def test_words_that_are_looked_for_may_be_left_out(queries: NamedQueries) -> None:
    assert rows(await ask(queries, "find_states", words="ent")) == [["sent"]]
    assert rows(await ask(queries, "find_states")) == [["lost"], ["sent"]]
    assert rows(await ask(queries, "find_states", words="%%%")) == []


async def test_a_text_is_a_value_whatever_it_says(queries: NamedQueries) -> None:
    answer = await ask(queries, "weigh", tenant="ana' OR '1'='1")

    assert rows(answer) == [[0, None]]
    assert rows(await ask(queries, "weigh")) == [[2, 4.0]]


async def test_a_write_is_committed_and_gives_its_rows(queries: NamedQueries) -> None:
    assert rows(await ask(queries, "lose_parcel", id=1)) == [[1, "lost"]]
    assert rows(await ask(queries, "get_parcel", id=1)) == [["lost", 1.5]]
    assert rows(await ask(queries, "lose_parcel", id=3)) == []


GONE: Final = (
    "WITH gone AS (SELECT id FROM parcels WHERE customer = :who) DELETE FROM parcels WHERE id IN (SELECT id FROM gone)"
)


async def test_a_write_that_gives_no_rows_back_says_how_many_it_has_changed(queries: NamedQueries) -> None:
    header = "-- name: q\n-- Ask.\n-- effect: write\n-- waiver: a test\n-- param: who text\n"
    answers: list[list[list[Json]]] = []
    for words in ("-- returns: one\nUPDATE parcels SET state = 'lost' WHERE customer = :who", GONE):
        made = NamedQueries(read_queries(header + words), reads=queries._reads, writes=queries._writes)
        await made.open()
        answers += [rows(await ask(made, "q", who=who)) for who in ("ana", "nobody")]
        assert [name for name, _, _ in made.find("q").columns] == ["changed"]

    assert answers == [[[2]], [[0]], [[2]], [[0]]]


async def test_a_write_that_conflicts_changes_nothing_and_says_so(queries: NamedQueries) -> None:
    twice = refusal(await ask(queries, "weigh_parcel", id=1, weight=1))
    wrong = refusal(await ask(queries, "weigh_parcel", id=9, weight=-1))

    assert (twice.code, twice.fix, twice.is_certain) == ("conflict", Fix.SQL, True)
    assert (wrong.code, wrong.is_certain) == ("conflict", True)
    assert "parcels" not in str(twice.as_json())
    assert rows(await ask(queries, "weigh")) == [[2, 4.0]]


BROKEN: Final = {
    "SELECT nothing FROM parcels": "nothing",
    "SELECT id FROM parcles": "parcles",
    "SELECT id FROM parcels WHERE": "understand",
    "SELECT sum(id), state FROM parcels GROUP BY statee": "statee",
}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("sql", BROKEN)
async def test_a_broken_query_fails_the_start_and_is_named(
    kind: str, sql: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    made = make_queries(kind, request, tmp_path, f"-- name: broken\n-- Ask.\n{sql}")

    with pytest.raises(ConfigurationError, match=BROKEN[sql]) as refused:
        await made.open()
    assert "queries.sql:1 (broken)" in str(refused.value)
    await made.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_all_that_is_broken_is_said_at_once(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    asked = "\n".join(f"-- name: q{number}\n-- Ask.\n{sql};" for number, sql in enumerate(("SELECT 1", *BROKEN)))
    made = make_queries(kind, request, tmp_path, asked)

    with pytest.raises(ConfigurationError) as refused:
        await made.open()
    assert [line.partition(": ")[0] for line in str(refused.value).splitlines()] == [
        f"queries.sql:{3 * number + 1} (q{number})" for number in range(1, len(BROKEN) + 1)
    ]
    await made.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_broken_variant_fails_the_start(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    text = "-- name: q\n-- Ask.\n-- variant: s: a = id\n-- variant: s: b = idd\nSELECT id FROM parcels ORDER BY {s}"
    made = make_queries(kind, request, tmp_path, text)

    with pytest.raises(ConfigurationError, match="idd"):
        await made.open()
    await made.close()


POSTGRES_SAYS: Final = {
    "SELECT id,\n  wieght FROM parcels": r"not exist, at 'SELECT id, ►wieght FROM parcels'; Perhaps",
    "SELECT id FROM parcels WHERE (:a IS NULL OR id = :a)": r" of parameter :a, at '.*►:a IS NULL.*'; .*:a::bigint$",
    "SELECT id FROM parcels WHERE id = :a AND": r"syntax error at end of input, at '.*:a AND►'",
    "WITH x AS (DELETE FROM parcels RETURNING id) SELECT * FROM x WHERE id = :a": "data-modifying statement",
    "SELECT id FROM parcels WHERE id = :a FOR UPDATE": "it locks rows",
}


@pytest.mark.parametrize("sql", POSTGRES_SAYS)
async def test_what_postgres_does_not_understand_is_said_in_the_words_of_the_file(parcels: str, sql: str) -> None:
    param = "-- param: a int?\n" if ":a" in sql else ""
    made = NamedQueries(read_queries(f"-- name: q\n-- Ask.\n{param}{sql}"), reads=PostgresRunner(parcels))

    with pytest.raises(ConfigurationError, match=POSTGRES_SAYS[sql]) as refused:
        await made.open()
    assert str(refused.value).startswith("queries.sql:1 (q): ")
    assert "$1" not in str(refused.value)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT id FROM parcels WHERE", "incomplete input"),
        ("SELECT id FROM parcels WHERE id = ?", r"written as :name, not as '\?'"),
        ("SELECT id FROM parcels WHERE customer LIKE @start", "written as :name, not as '@start'"),
    ],
)
async def test_what_sqlite_does_not_understand_is_said_of_the_statement_alone(
    request: pytest.FixtureRequest, tmp_path: Path, sql: str, said: str
) -> None:
    made = make_queries("sqlite", request, tmp_path, f"-- name: q\n-- Ask.\n{sql}")

    with pytest.raises(ConfigurationError, match=said):
        await made.open()
    await made.close()


async def test_a_right_that_the_login_lacks_fails_the_start(parcels: str, server: PostgresServer) -> None:
    with psycopg.connect(parcels, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("CREATE TABLE IF NOT EXISTS payslips (id int)")
        connection.execute("GRANT SELECT ON parcels TO reader")
    reader = server.dsn(user="reader", database="parcels")

    read = "-- name: q\n-- Ask.\nSELECT id FROM {}".format
    async with NamedQueries(read_queries(read("parcels")), reads=PostgresRunner(reader)) as opened:
        assert len(rows(await ask(opened, "q"))) == 5
    write = (
        "-- name: q\n-- Ask.\n-- effect: write\n-- waiver: a test\n-- param: a int\nDELETE FROM parcels WHERE id = :a"
    )
    for text in (read("payslips"), write):
        runner = PostgresRunner(reader, writable=True)
        with pytest.raises(
            ConfigurationError, match=r"q\): the login user=reader .* may not run it: permission denied"
        ):
            await NamedQueries(read_queries(text), reads=runner, writes=runner).open()


async def test_a_time_is_the_same_moment_wherever_it_is_said(queries: NamedQueries) -> None:
    column = "CAST('2025-06-30 12:00:00+00' AS timestamptz)"
    if isinstance(queries._reads, SqliteRunner):
        column = "datetime('2025-06-30T12:00:00Z')"
    text = f"-- name: q\n-- Ask.\n-- param: at datetime\nSELECT {column} >= :at AS since"
    async with NamedQueries(read_queries(text), reads=queries._reads) as opened:
        answers = [
            rows(await ask(opened, "q", at=at))[0][0]
            for at in ("2025-06-30T12:00:00Z", "2025-06-30T14:00:00+02:00", "2025-06-30T11:00:00-02:00")
        ]

    assert [bool(answer) for answer in answers] == [True, True, False]


async def test_a_time_whose_offset_would_be_dropped_fails_the_start(parcels: str) -> None:
    text = "-- name: q\n-- Ask.\n-- param: at datetime\nSELECT timestamp '2025-06-30 12:00' >= {} AS since"
    with pytest.raises(ConfigurationError, match="drop the offset from UTC; write :at::timestamptz"):
        await NamedQueries(read_queries(text.format(":at")), reads=PostgresRunner(parcels)).open()
    runner = PostgresRunner(parcels, time_zone="Europe/Bucharest")
    async with NamedQueries(read_queries(text.format(":at::timestamptz")), reads=runner) as opened:
        assert rows(await ask(opened, "q", at="2025-06-30T09:00:00Z")) == [[True]]
        assert rows(await ask(opened, "q", at="2025-06-30T09:00:01Z")) == [[False]]


async def test_a_number_may_be_larger_than_any_of_sqlite(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    text = "-- name: q\n-- Ask.\n-- param: most number\nSELECT count(*) AS n FROM parcels WHERE weight < :most"
    async with make_queries("sqlite", request, tmp_path, text) as opened:
        assert rows(await ask(opened, "q", most=10**30)) == [[5]]


async def test_what_is_left_out_is_said_to_whoever_only_fills_in_arguments(queries: NamedQueries) -> None:
    text = "-- name: q\n-- Ask.\n-- rows: 2\nSELECT id, customer FROM parcels"
    async with NamedQueries(read_queries(text), reads=queries._reads) as opened:
        answer = await ask(opened, "q")

    assert isinstance(answer, Rows)
    assert answer.advice == "the first 2 rows are shown: ask for less by the arguments"


async def test_columns_that_could_not_be_told_apart_fail_the_start(parcels: str) -> None:
    nothing = "-- name: q\n-- Ask.\n-- effect: write\n-- waiver: a test\n-- returns: one\nTRUNCATE parcels"
    runner = PostgresRunner(parcels, writable=True)
    with pytest.raises(ConfigurationError, match="names no column of it; leave `returns` away"):
        await NamedQueries(read_queries(nothing), reads=runner, writes=runner).open()
    for words, mend in (("returns: one", "names of their own"), ("redact: iban", "'iban'")):
        text = f"-- name: q\n-- Ask.\n-- {words}\nSELECT 1 AS id, 2 AS id"
        made = NamedQueries(read_queries(text), reads=PostgresRunner(parcels))
        with pytest.raises(ConfigurationError, match=mend):
            await made.open()
        await made.close()


async def test_a_write_that_nobody_runs_fails_the_start(tmp_path: Path) -> None:
    statements = read_queries(QUERIES)
    with sqlite3.connect(tmp_path / "p.db") as database:
        database.executescript(TABLES)
    database.close()
    reads = SqliteRunner(tmp_path / "p.db")

    with pytest.raises(ConfigurationError, match="lose_parcel"):
        NamedQueries(statements, reads=reads)
    with pytest.raises(ConfigurationError, match="opened to be read"):
        await NamedQueries(statements, reads=reads, writes=reads).open()
    await reads.close()


async def test_postgres_publishes_types_and_refuses_parameters_of_other_types(parcels: str, tmp_path: Path) -> None:
    del tmp_path
    text = "-- name: q\n-- Ask.\n-- param: id text\nSELECT id FROM parcels WHERE id = :id"
    made = NamedQueries(read_queries(text), reads=PostgresRunner(parcels))
    with pytest.raises(ConfigurationError, match="declared text, and the statement takes int4"):
        await made.open()
    await made.close()
    text = "-- name: q\n-- Ask.\nSELECT id, state, weight::numeric AS n, now() AS t FROM parcels"
    async with NamedQueries(read_queries(text), reads=PostgresRunner(parcels)) as opened:
        columns = opened.find("q").columns

    assert [(name, kind, schema["type"]) for name, kind, schema in columns] == [
        ("id", "int4", "integer"), ("state", "text", "string"), ("n", "numeric", "string"),
        ("t", "timestamptz", "string"),
    ]  # fmt: skip


async def test_a_choice_that_the_enum_of_the_database_lacks_fails_the_start(parcels: str) -> None:
    with psycopg.connect(parcels, autocommit=True) as connection:
        connection.execute(
            "DROP TABLE IF EXISTS boxes; DROP TYPE IF EXISTS size; CREATE TYPE size AS ENUM ('small', 'large');"
            "CREATE TABLE boxes (size size)"
        )
    text = "-- name: q\n-- Ask.\n-- param: size enum(small, {choice})\nSELECT * FROM boxes WHERE size = :size"

    async with NamedQueries(read_queries(text.format(choice="large")), reads=PostgresRunner(parcels)) as opened:
        assert rows(await ask(opened, "q", size="large")) == []
    with pytest.raises(ConfigurationError, match=r"queries\.sql:1 \(q\): 'size' may be 'huge'.*it has large, small"):
        await NamedQueries(read_queries(text.format(choice="huge")), reads=PostgresRunner(parcels)).open()


async def test_a_query_that_writes_by_a_function_is_stopped_by_the_reading_transaction(parcels: str) -> None:
    with psycopg.connect(parcels, autocommit=True) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION sneak() RETURNS int LANGUAGE sql AS 'DELETE FROM parcels RETURNING 1'"
        )
    text = "-- name: q\n-- Ask.\nSELECT sneak() AS x"
    async with NamedQueries(read_queries(text), reads=PostgresRunner(parcels)) as opened:
        answer = refusal(await ask(opened, "q"))

    assert (answer.sqlstate, answer.code, answer.fix) == ("25006", "internal", Fix.OPERATOR)
    assert "parcels" not in str(answer.as_json())


async def test_what_a_function_raises_is_said_as_written(parcels: str) -> None:
    with psycopg.connect(parcels, autocommit=True) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION refuse() RETURNS int LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'the parcel has left' USING HINT = 'call the courier'; END $$"
        )
    text = "-- name: q\n-- Ask.\nSELECT refuse() AS x"
    async with NamedQueries(read_queries(text), reads=PostgresRunner(parcels)) as opened:
        answer = refusal(await ask(opened, "q"))

    assert (answer.code, answer.message, answer.hint) == ("refused", "the parcel has left", "call the courier")


SLOW: Final = {
    "sqlite": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) AS n FROM r",
    "postgres": "SELECT pg_sleep(10)::text AS n",
}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_slow_query_is_answered_on_time(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    async with make_queries(kind, request, tmp_path, f"-- name: q\n-- Ask.\n{SLOW[kind]}") as opened:
        started = time.monotonic()
        answer = refusal(await ask(opened, "q"))

    assert answer.code == "timeout"
    assert time.monotonic() - started < CAPS.timeout.total_seconds() + 0.5


async def test_a_write_whose_end_nobody_has_seen_is_not_certain(parcels: str, server: PostgresServer) -> None:
    text = "-- name: q\n-- Ask.\n-- effect: write\n-- waiver: a test\nSELECT pg_sleep(0.4)::text AS n"
    runner = PostgresRunner(parcels, caps=CAPS, writable=True)
    async with NamedQueries(read_queries(text), reads=runner, writes=runner) as opened:
        task = asyncio.create_task(ask(opened, "q"))
        await asyncio.sleep(0.2)
        async with await psycopg.AsyncConnection.connect(server.dsn(), autocommit=True) as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'parcels'"
                " AND state = 'active' AND pid <> pg_backend_pid()"
            )
        answer = refusal(await task)

    assert not answer.is_certain
    assert answer.fix is Fix.OPERATOR


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_one_loop_has_opened_answers_in_another(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """As where a command's application opens its queries before the command's own loop runs."""
    made = make_queries(kind, request, tmp_path, QUERIES)
    asyncio.run(made.open())

    async def answer() -> SqlAnswer:
        answers = [await ask(made, "get_parcel", id=1) for _ in range(3)]
        await made.close()
        return answers[-1]

    assert rows(asyncio.run(answer())) == [["sent", 1.5]]


async def test_queries_that_are_not_there_are_named(queries: NamedQueries) -> None:
    with pytest.raises(ConfigurationError, match="get_parcel"):
        queries.find("get_parcle")
