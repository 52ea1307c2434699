# ruff: noqa: S608 - the queries are what is tested
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest
from google.protobuf.message import DecodeError
from postgast import PgQueryError, parse
from postgast import pg_query_pb2 as pb
from postgast.walk import unwrap_node

from placet.database import rules
from placet.database.answer import Fix, SqlRefusal
from placet.database.caps import Caps
from placet.database.facts import Facts, Measure, Unparsable
from placet.database.guard import Guard, Passed
from placet.database.libpg import PostgastParser, _Reader
from placet.database.relation import KnownColumn, OpenData, Relation
from placet.database.rules import RULES, Rule
from tests.database.sandbox_cases import LEFT_TO_THE_DATABASE, OPEN, POLICY, POSTGRES_CASES, Case, load_lines

GUARD: Final = Guard(PostgastParser(), OPEN, POLICY)


def refuse(sql: str) -> SqlRefusal:
    answer = GUARD.check(sql)
    assert isinstance(answer, SqlRefusal), f"let through: {sql}"
    assert answer.code != "not_checked", answer.detail
    return answer


def allow(sql: str) -> Passed:
    answer = GUARD.check(sql)
    assert isinstance(answer, Passed), answer
    return answer


@pytest.mark.parametrize("case", POSTGRES_CASES, ids=lambda case: case.id)
def test_every_case_gets_its_answer(case: Case) -> None:
    if case.is_allowed or case.id in LEFT_TO_THE_DATABASE:
        allow(case.sql)
    else:
        refuse(case.sql)


@pytest.mark.parametrize("sql", load_lines("sql-refused-postgres.txt"))
def test_what_is_of_the_kinds_of_the_cases_is_refused_too(sql: str) -> None:
    refuse(sql)


WITHOUT_THE_RULE: Final = {
    "is_one_query": "SELECT 1; SELECT 2",
    "has_known_nodes": "SELECT * FROM orders FOR UPDATE",
    "reads_open_relations": "SELECT * FROM hr.payroll",
    "calls_listed_functions": "SELECT pg_advisory_lock(id) FROM orders",
    "names_listed_types": "SELECT 'hr.payroll'::regclass",
    "uses_bare_operators": "SELECT total OPERATOR(public.+) 1 FROM orders",
    "calls_nothing_by_a_dot": "SELECT c.wipe FROM counties c",
    "names_no_system_column": "SELECT o.id FROM orders o ORDER BY o.ctid",
    "samples_plainly": "SELECT * FROM orders TABLESAMPLE bernoulli (id)",
    "builds_bounded_values": "WITH a AS (SELECT 'xxxxxxxxxx' s)"
    + "".join(
        f", {name} AS MATERIALIZED (SELECT s||s||s||s||s||s||s||s||s||s s FROM {before})"
        for before, name in zip("abcdefg", "bcdefgh", strict=True)
    )
    + " SELECT s FROM h",
    "expands_boundedly": "SELECT x"
    + " FROM (SELECT x + x AS x" * 18
    + " FROM (SELECT id AS x FROM orders) q"
    + ") q" * 18,
    "searches_for_short_texts": "SELECT strpos(string_agg(name, ''), string_agg(code, '')) FROM counties",
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_each_rule_alone_stops_what_the_others_let_through(rule: Rule) -> None:
    attack = WITHOUT_THE_RULE[rule.__name__]
    others = tuple(other for other in RULES if other is not rule)

    assert isinstance(Guard(PostgastParser(), OPEN, POLICY).check(attack), SqlRefusal)
    assert isinstance(Guard(PostgastParser(), OPEN, POLICY, rules=others).check(attack), Passed)


@pytest.mark.parametrize(
    "sql",
    [
        "WITH orders AS (SELECT 1 AS id) SELECT id FROM orders",
        "WITH a AS (SELECT 1 x), b AS (SELECT x FROM a) SELECT * FROM b",
        "WITH RECURSIVE a AS (SELECT x FROM b), b AS (SELECT 1 x) SELECT * FROM a",
        "WITH a AS (SELECT 1 x) SELECT (SELECT x FROM a), y.* FROM (SELECT * FROM a) y",
        "WITH a AS (SELECT 1 x) SELECT x FROM a UNION SELECT x FROM a",
    ],
)
def test_a_name_of_with_is_a_relation_where_it_is_in_scope(sql: str) -> None:
    allow(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "WITH payroll AS (SELECT * FROM payroll) SELECT * FROM payroll",
        "WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a",
        "SELECT * FROM (WITH secret AS (SELECT 1) SELECT * FROM secret) q, secret",
        "WITH payroll AS (SELECT 1) SELECT * FROM hr.payroll",
    ],
)
def test_a_name_of_with_hides_nothing_outside_its_scope(sql: str) -> None:
    assert refuse(sql).code == "unknown_relation"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'x'::char(10000000)",
        "SELECT B'1'::bit(80000000)",
        "SELECT lpad(name, length(name) * 1000000, 'x') FROM counties",
        "SELECT power(9.9, 40000)",
        "SELECT 10::numeric ^ total FROM orders",
        "SELECT to_char(total, name) FROM orders, counties",
        "SELECT count(*) FROM generate_series(1, 10 * 1000000000) g",
        "SELECT * FROM generate_series('0001-01-01'::timestamp, '9999-12-31', '1 second') g",
        "SELECT * FROM generate_series(now(), now() + interval '1 year', '1 second') g",
        (
            "WITH a AS (SELECT replace('aaaaaaaaaa', 'a', 'aaaaaaaaaa') s), "
            "b AS (SELECT replace(s, 'a', s) s FROM a), c AS (SELECT replace(s, 'a', s) s FROM b) "
            "SELECT s||s||s||s||s||s||s FROM c"
        ),
        f"SELECT replace(replace(s, 'a', s), 'a', s) FROM (SELECT '{'a' * 4000}' AS s) q",
        (
            "SELECT s||s||s||s||s||s||s||s||s||s FROM (SELECT s||s||s||s||s||s||s||s||s||s AS s FROM (SELECT"
            " s||s||s||s||s||s||s||s||s||s||s||s AS s FROM (SELECT (1e131000)::text AS s) a) b) c"
        ),
        (
            "SELECT s||s||s||s||s||s||s||s||s||s FROM (SELECT s||s||s||s||s||s||s||s||s||s AS s FROM (SELECT"
            " s||s||s||s||s||s||s||s||s||s AS s FROM (SELECT s||s||s||s||s||s||s||s||s||s||s||s AS s FROM (SELECT"
            " lpad('', 1000, 'x') AS s) a) b) c) d"
        ),
    ],
)
def test_no_size_is_made_out_of_a_number(sql: str) -> None:
    assert refuse(sql).code == "too_large"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT code::char(2), total::numeric(14, 2) FROM counties, orders",
        "SELECT power(1.05::double precision, id) FROM orders",
        "SELECT total ^ 2, power(total, 0.5) FROM orders",
        "SELECT * FROM generate_series(current_date - 30, current_date, interval '1 day') d",
        "SELECT * FROM generate_series(timestamptz '2025-01-01', '2025-01-31 23:00', '1 hour') d",
        "SELECT * FROM generate_series(date '2000-01-01', date '2025-12-31', '1 month') d",
        "SELECT DISTINCT ON (status) status, o.* FROM orders o ORDER BY status",
        "SELECT c.count FROM (SELECT count(*) FROM orders) c",
        (
            "SELECT first || ' ' || middle || ' ' || last || ', ' || street || ' ' || city || ' ' || zip AS line "
            "FROM (SELECT name first, sku middle, category last, name street, sku city, sku zip FROM products) p"
        ),
        (
            "SELECT json_agg(json_build_object('c', c.name, 'o', (SELECT json_agg(json_build_object('id', o.id, 't', "
            "o.total, 's', o.status, 'd', o.ordered_at)) FROM orders o WHERE o.county_code = c.code))) FROM counties c"
        ),
    ],
)
def test_what_stays_small_is_let_through(sql: str) -> None:
    allow(sql)


def nest(expression: str, levels: int) -> str:
    return f"SELECT {expression} AS x" + f" FROM (SELECT {expression} AS x" * levels + " FROM orders" + ") q" * levels


def chain(body: str, levels: int, how: str = "NOT MATERIALIZED") -> str:
    bodies = (f", a{n} AS {how} ({body.replace('?', f'a{n - 1}')})" for n in range(1, levels))
    return f"WITH a0 AS (SELECT id FROM orders){''.join(bodies)} SELECT count(*) FROM a{levels - 1}"


REPORT: Final = """
    WITH m AS (
      SELECT date_trunc('month', ordered_at) AS month, county_code, sum(total) AS revenue, count(*) AS n
      FROM orders WHERE status <> 'cancelled' GROUP BY 1, 2
    ), g AS (
      SELECT month, county_code, revenue, n, revenue - lag(revenue) OVER w AS change,
        round(100 * (revenue - lag(revenue) OVER w) / nullif(lag(revenue) OVER w, 0), 2) AS percent
      FROM m WINDOW w AS (PARTITION BY county_code ORDER BY month)
    ), r AS (SELECT g.*, rank() OVER (PARTITION BY month ORDER BY percent DESC NULLS LAST) AS place FROM g),
    t AS (SELECT month, sum(revenue) AS total FROM m GROUP BY month)
    SELECT r.month, c.name, r.revenue, r.change, r.percent, r.place, round(100 * r.revenue / t.total, 2) AS share,
      CASE WHEN r.percent > 10 THEN 'up' WHEN r.percent < -10 THEN 'down' ELSE 'flat' END AS trend
    FROM r JOIN t USING (month) JOIN counties c ON c.code = r.county_code WHERE r.place <= 5 ORDER BY r.month, r.place
"""
LETTERS: Final = "(SELECT string_agg('a', '') s FROM generate_series(1, 100000) g, generate_series(1, 9) h) t"
COLLECTED: Final = (
    "(SELECT array_agg(g) a, array_agg(g + 1) b, jsonb_agg(g) j, jsonb_agg(g::text) k, array_agg(g::text) t"
    " FROM generate_series(1, 100000) g) x"
)


@pytest.mark.parametrize(
    "sql",
    [
        nest("x + x", 18),
        nest("CASE WHEN x > x THEN x ELSE x END", 10),
        nest("coalesce(" + ", ".join(["x"] * 250) + ")", 2),
        nest("(SELECT max(x) FROM counties WHERE x > x)", 12),
        "SELECT ((SELECT q FROM (SELECT ((SELECT r FROM (SELECT ((SELECT o FROM orders o LIMIT 1)).*) r)).*) q)).*",
        chain("SELECT x.id FROM ? x, ? y", 18),
        chain("SELECT id FROM ? UNION ALL SELECT id FROM ?", 18),
        chain("WITH b AS (SELECT x.id FROM ? x, ? y) SELECT id FROM b", 18),
        chain("SELECT id FROM ? WHERE id IN (SELECT id FROM ?)", 18, how=""),
    ],
)
def test_no_query_repeats_its_parts_until_planning_fills_the_memory(sql: str) -> None:
    answer = refuse(sql)

    assert answer.code == "too_large"
    assert "MATERIALIZED" in (answer.hint or "") or "out of itself" in answer.message or "compared" in answer.message


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT strpos(s, 'b' || s) FROM {LETTERS}",
        f"SELECT position(s IN s) FROM {LETTERS}",
        f"SELECT replace(s, left(s, 500000), '') FROM {LETTERS}",
        f"SELECT split_part(s, 'b' || s, 1), 1 FROM {LETTERS}",
        f"SELECT string_to_array(s, substring(s, 1, 500000) || 'b') FROM {LETTERS}",
        f"SELECT translate(s, reverse(s), '') FROM {LETTERS}",
        f"SELECT btrim(s, s), ltrim(s, s), rtrim(s, s), trim(BOTH s FROM s) FROM {LETTERS}",
        f"SELECT s LIKE '%' || s || 'b' FROM {LETTERS}",
        f"SELECT s NOT ILIKE '%' || s || 'b' FROM {LETTERS}",
        f"SELECT s ~~ s FROM {LETTERS}",
        f"SELECT strpos(s, '{'a' * 200}b') FROM {LETTERS}",
        f"SELECT a @> b FROM {COLLECTED}",
        f"SELECT a && b, a <@ b FROM {COLLECTED}",
        f"SELECT j @> j FROM {COLLECTED}",
        f"SELECT k ?| t, k ?& t FROM {COLLECTED}",
        f"SELECT k - t FROM {COLLECTED}",
        "SELECT ARRAY(SELECT id FROM orders) @> ARRAY(SELECT id FROM orders)",
        "SELECT JSON_ARRAYAGG(id RETURNING jsonb) @> JSON_ARRAYAGG(id RETURNING jsonb) FROM orders",
        f"SELECT jsonb_path_query_array(j, '$[*] ? (exists($[*] ? (@ == -1)))') FROM {COLLECTED}",
        f"SELECT j @? '$[*] ? (exists($[*] ? (@ == -1)))' FROM {COLLECTED}",
        (
            "SELECT ts_rank(v, plainto_tsquery(s)) FROM (SELECT to_tsvector(string_agg(name, ' ')) v,"
            " string_agg(name, ' ') s FROM products) x"
        ),
        (
            "WITH RECURSIVE r(s, n) AS (SELECT 'a', 1 UNION ALL SELECT s || s, n + 1 FROM r WHERE n < 20)"
            " SELECT strpos(s, 'b' || s) FROM r"
        ),
    ],
)
def test_nothing_is_searched_for_what_is_as_long_as_itself(sql: str) -> None:
    """One such function runs for minutes in PostgreSQL, and neither cancellation nor time-out ends it."""
    assert refuse(sql).code == "too_large"


TEXT: Final = "(SELECT string_agg(g::text, '') s, jsonb_agg(g) j FROM generate_series(1, 100000) g) t"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {', '.join(f'md5(s || {n})' for n in range(40))} FROM {TEXT}",
        f"SELECT {', '.join('length(upper(initcap(reverse(s))))' for _ in range(15))} FROM {TEXT}",
        f"SELECT {', '.join('length((j || j)::text)' for _ in range(15))} FROM {TEXT}",
        "SELECT md5(string_agg(lpad('', 1000, 'x'), '')) FROM generate_series(1, 100000) g, generate_series(1, 9) h",
        f"SELECT length(string_agg('{'x' * 900}' || g, '')) FROM generate_series(1, 100000) g, generate_series(1, 9) h",
    ],
)
def test_no_row_works_on_collections_for_longer_than_a_query_may_take(sql: str) -> None:
    """Between the functions of one row PostgreSQL looks at no clock."""
    assert refuse(sql).code == "too_large"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT county_code, left(string_agg(status, ', '), 99), length(string_agg(status, '')) FROM orders GROUP BY 1",
        (
            "SELECT json_agg(json_build_object('id', id, 'status', status, 'county', county_code, 'total', total, 'at',"
            " ordered_at, 'customer', customer_id, 'shipped', shipped_at)) FROM orders"
        ),
        "SELECT string_agg(replace(name, category, ''), ', ') FROM products",
        "SELECT strpos(string_agg(name, ','), 'Cluj') > 0 FROM counties",
        "SELECT county_code FROM orders GROUP BY 1 HAVING string_agg(status, ',') LIKE '%paid%'",
        "SELECT name FROM counties WHERE name ILIKE '%' || code || '%' AND 1 = ANY(ARRAY(SELECT id FROM orders o))",
        "SELECT array_agg(id) @> ARRAY[1::bigint] FROM orders",
        "SELECT (array_agg(total ORDER BY id))[1] - (array_agg(total ORDER BY id DESC))[1] FROM orders",
        "SELECT cardinality(array_agg(id)) - cardinality(array_agg(DISTINCT customer_id)) FROM orders",
        "SELECT length(string_agg(a, '')) - length(string_agg(b, '')) FROM (SELECT name a, code b FROM counties) x",
        "SELECT t, count(*) FROM products p, unnest(tags) t WHERE translate(t, 'ăâ', 'aa') <> '' GROUP BY t",
        "SELECT jsonb_agg(profile) FROM customers WHERE profile @? '$.tier' AND profile @> '{\"newsletter\": true}'",
        chain("SELECT x.id FROM ? x JOIN ? y USING (id)", 5, how=""),
        chain("SELECT x.id FROM ? x", 40, how="MATERIALIZED"),
        REPORT,
    ],
)
def test_honest_searches_and_repetitions_are_let_through(sql: str) -> None:
    allow(sql)


def test_a_relation_that_is_hidden_and_one_that_is_not_there_are_told_alike() -> None:
    hidden = refuse("SELECT * FROM hr.payroll")
    missing = refuse("SELECT * FROM hr.payrolx")

    assert hidden.message.replace("payroll", "") == missing.message.replace("payrolx", "")
    assert (hidden.code, hidden.hint, hidden.fix) == (missing.code, missing.hint, missing.fix)


def test_the_nearest_name_is_one_that_is_open() -> None:
    answer = refuse("SELECT * FROM order")
    assert answer.code == "syntax"
    assert refuse("SELECT * FROM ordres").nearest == ("orders",)
    assert refuse("SELECT * FROM customers_leaky").nearest == ("customers",)


def test_a_relation_outside_the_search_path_needs_its_schema() -> None:
    data = OpenData([Relation("orders", "shop"), Relation("rates", "fx")], search_path=("shop",))
    guard = Guard(PostgastParser(), data)

    assert isinstance(guard.check("SELECT * FROM rates"), SqlRefusal)
    assert guard.check("SELECT * FROM fx.rates") == Passed("SELECT * FROM fx.rates", ("fx.rates",))


def test_a_view_may_call_a_column_as_the_system_does() -> None:
    shown = OpenData([Relation("orders", "shop")], {"shop.orders": (KnownColumn("xmin", "int8"),)})

    assert isinstance(Guard(PostgastParser(), shown).check("SELECT xmin FROM orders"), Passed)
    assert refuse("SELECT xmin FROM orders").code == "unknown_column"


def test_what_is_sent_ends_before_the_semicolon() -> None:
    assert allow("SELECT 'ș;' AS a ; -- ț").statement == "SELECT 'ș;' AS a "
    assert allow("SELECT name FROM counties -- ș").statement == "SELECT name FROM counties -- ș"


def test_a_refusal_points_at_its_place() -> None:
    answer = refuse("SELECT 'ș', pg_sleep(1) FROM orders")

    assert answer.position == 12
    assert answer.excerpt == "SELECT 'ș', ►pg_sleep(1) FROM orders"
    assert answer.fix is Fix.POLICY


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT datediff(a, b) FROM orders", "subtract"),
        ("SELECT `id` FROM orders", "double quotes"),
        ("SELECT id FROM orders LIMIT 5, 10", "OFFSET"),
        ("SELECT TOP 5 id FROM orders", "LIMIT"),
        ("SELECT id FROM orders WHERE id = :id", "value itself"),
        ("SELECT id FROM orders FOR UPDATE", "FOR UPDATE"),
        ("```sql\nSELECT 1\n```", "fence"),
    ],
)
def test_a_refusal_says_how_to_write_it(sql: str, hint: str) -> None:
    answer = refuse(sql)

    assert hint in (answer.hint or "")


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT 'x'::shop.text", "type_not_allowed"),
        ("SELECT 'x'::SETOF text", "type_not_allowed"),
        ("SELECT 1 FROM orders WHERE id OPERATOR(shop.=) ANY (SELECT id FROM orders)", "operator_not_allowed"),
        ("SELECT id FROM orders ORDER BY id USING OPERATOR(shop.<)", "operator_not_allowed"),
        ("SELECT name FROM counties ORDER BY name COLLATE shop.c", "collation_not_allowed"),
        ("SELECT * FROM orders TABLESAMPLE shop.bernoulli (5)", "sample_not_allowed"),
        ("SELECT shop.orders.id FROM shop.orders", "long_column"),
        ("SELECT * FROM postgres.shop.orders", "unknown_relation"),
        ("SELECT TREAT(1 AS pg_sleep)", "function_not_allowed"),
        ("SELECT COLLATION FOR ('a')", "function_not_allowed"),
        ("SELECT (SELECT c FROM counties c LIMIT 1).wipe", "unknown_column"),
        ("SELECT (ARRAY[c])[1].wipe FROM counties c", "unknown_column"),
    ],
)
def test_what_names_a_schema_or_calls_by_another_way_is_refused(sql: str, code: str) -> None:
    assert refuse(sql).code == code


def test_a_node_that_the_reader_cannot_unwrap_is_reported() -> None:
    tree = parse("SELECT 1")
    tree.stmts[0].stmt.select_stmt.target_list.append(pb.Node.FromString(b"\xfa\xff\x03\x00"))

    assert "Node" in _Reader("SELECT 1").read(tree).nodes


class _Broken:
    def measure(self, _: str) -> Measure | Unparsable:
        return Measure(1, 0, 0)

    def read(self, _: str) -> Facts | Unparsable:
        raise IndexError


class _FromTheFuture(_Broken):
    def read(self, _: str) -> Facts | Unparsable:
        return Facts(statements=("SelectStmt",), nodes={"SelectStmt": 0, "TeleportClause": 7})


def test_a_parser_that_breaks_refuses() -> None:
    answer = Guard(_Broken(), OPEN).check("SELECT 1")

    assert isinstance(answer, SqlRefusal)
    assert (answer.code, answer.detail) == ("not_checked", "IndexError()")


def test_a_node_that_nobody_knows_refuses() -> None:
    answer = Guard(_FromTheFuture(), OPEN).check("SELECT 1")

    assert isinstance(answer, SqlRefusal)
    assert (answer.code, answer.position) == ("construct_not_allowed", 7)


TOWERS: Final = (
    "'SELECT 1' + '+1' * n",
    "'SELECT ' + 'NOT ' * n + 'true'",
    "'SELECT ' + '@ ' * n + '1'",
    "'SELECT 1' + ' ISNULL' * n",
    "'SELECT 1' + ' IS NULL' * n",
    "'SELECT 1' + '::int' * n",
    "'SELECT 1' + ' UNION SELECT 1' * n",
    "'SELECT 1, 2' + ' UNION SELECT 1, 2' * n",
    "'SELECT ' + 'CASE ' * n + '1' + ' WHEN 1 THEN 1 END' * n",
    "'SELECT ' + 'CASE WHEN 1=1 THEN ' * n + '1' + ' END' * n",
    "'SELECT 1' + ' BETWEEN 1 AND 2 IS NULL' * n",
    "'SELECT * FROM a' + ' JOIN a ON true' * n",
    "'SELECT * FROM ' + 'a JOIN ' * n + 'a' + ' ON true' * n",
    "'SELECT * FROM a' + ' CROSS JOIN a' * n",
    "'SELECT 1' + ' COLLATE c' * n",
    "'SELECT 1' + ' AT TIME ZONE 1' * n",
    "'SELECT 1' + ' AT LOCAL' * n",
    "'SELECT 1' + ' OPERATOR(pg_catalog.+) 1' * n",
    "'SELECT a' + '[1]' * n",
    "'SELECT a' + '.b' * n",
    "'SELECT 1' + ' AND 1' * n",
    "'SELECT ' + '(' * n + '1' + ')' * n",
    "'SELECT ' + '(SELECT ' * n + '1' + ')' * n",
    "'SELECT ' + 'f(' * n + '1' + ')' * n",
    "'SELECT ARRAY' + '[' * n + '1' + ']' * n",
    "'SELECT ' + 'ROW(' * n + '1' + ')' * n",
    "'SELECT ' + '(' * n",
    "'SELECT ' + '/*' * n",
    "'EXPLAIN ' * n + 'SELECT 1'",
    "';' * n",
)
"""Texts that are as deep as they are long."""


def depth_of(node: Any) -> int:
    below = [unwrap_node(item) for field, value in node.ListFields() if field.message_type for item in
             (value if field.is_repeated else [value])]  # fmt: skip
    return 1 + max(map(depth_of, below), default=0)


@pytest.mark.parametrize("tower", TOWERS)
def test_the_tokens_never_promise_a_flatter_tree_than_there_is(tower: str) -> None:
    """A sub-select is three nodes and two tokens, and there is nothing steeper."""
    for n in range(40, 3, -1):
        sql = eval(tower, {"n": n})  # noqa: S307 - our own words
        try:
            depth = depth_of(parse(sql))
        except (PgQueryError, DecodeError):
            continue
        measure = PostgastParser().measure(sql)
        assert isinstance(measure, Measure)
        assert depth <= measure.nesting * 2 + 12
        return


IN_A_SMALL_THREAD: Final = """
import sys, threading
from placet.database.guard import Guard
from placet.database.libpg import PostgastParser, _Reader
from tests.database.sandbox_cases import OPEN

guard = Guard(PostgastParser(), OPEN)

def climb():
    for tower in sys.argv[1:]:
        for n in (10, 40, 60, 100, 190, 210, 400, 660, 999, 1400, 1998, 5000):
            guard.check(eval(tower, {"n": n}))
    print("alive")

threading.stack_size(512 * 1024)
thread = threading.Thread(target=climb)
thread.start()
thread.join()
"""


def test_no_query_takes_the_process_down_with_it() -> None:
    root = Path(__file__).parent.parent.parent
    command = [sys.executable, "-c", IN_A_SMALL_THREAD, *TOWERS]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 - our own words

    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr


@pytest.mark.parametrize("tower", TOWERS)
def test_no_query_keeps_the_guard_busy(tower: str) -> None:
    for n in (64, 200, 2000):
        started = time.perf_counter()
        GUARD.check(eval(tower, {"n": n})[:10_000])  # noqa: S307 - our own words
        assert time.perf_counter() - started < 0.5


def test_the_caps_hold_before_the_parser_is_asked() -> None:
    caps = Caps(query_characters=50, tokens=20, depth=3, nesting=10, comments=1)
    guard = Guard(_Broken(), OPEN, caps=caps)
    real = Guard(PostgastParser(), OPEN, caps=caps)

    def code(guard: Guard, sql: str) -> str:
        answer = guard.check(sql)
        assert isinstance(answer, SqlRefusal)
        return answer.code

    assert code(guard, "SELECT 1" + " " * 50) == "too_long"
    assert code(guard, "SELECT\x0b1") == "bad_character"
    assert code(guard, "SELECT /*1*/ /*2*/ 3") == "too_long"
    assert code(real, "SELECT 1,1,1,1,1,1,1,1,1,1,1,1") == "too_long"
    assert code(real, "SELECT ((((1))))") == "too_deep"
    assert code(real, "SELECT 1+1+1+1+1+1+1+1+1+1+1") in ("too_deep", "too_long")
    assert code(real, "SELECT $1") == "placeholder"


def test_every_rule_is_asked() -> None:
    own = {
        rule for rule in vars(rules).values() if getattr(rule, "__module__", "") == rules.__name__ and callable(rule)
    }

    assert own == {*RULES, rules.find}


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT id FROM orders; SELECT id FROM orders", "several_statements"),
        ("UPDATE orders SET total = 0", "not_a_query"),
        ("COMMIT", "not_a_query"),
        (";", "empty"),
    ],
)
def test_one_statement_that_reads_is_a_query(sql: str, code: str) -> None:
    assert refuse(sql).code == code
