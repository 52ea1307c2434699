# ruff: noqa: S608 - the queries are what is tested
"""No query makes much out of little: PostgreSQL would fill its memory, or go on for minutes and look at no clock."""

from typing import Final

import pytest

from placet.database.answer import SqlRefusal
from tests.database.test_guard import GUARD, allow, refuse


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
        "SELECT * FROM generate_series(1, 1000 * 1000) g",
        "SELECT * FROM generate_series(1, 1, 1 / 2 / 100000.0) g, generate_series(0, 10, 10 / 4 / 100000.0) h",
        "SELECT power(9.9, 100 * 100), total ^ (40000.0 / 2) FROM orders",
        "SELECT power(9.9, 1e308 * 1e308), total ^ (1 - 1 / 0), total ^ (1 - true) FROM orders",
        f"SELECT power(9.9, {' * '.join(['2000000000'] * 30)}) FROM orders",
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
        "SELECT power(max(total) / min(total), 1.0 / 12) - 1, max(total) ^ (1 / (5 - 2.0)) FROM orders",
        "SELECT * FROM generate_series(1, 24 * 60) g, generate_series(0, 1 - 0.1, 1 / 10.0) h",
        "SELECT * FROM generate_series(date_trunc('hour', now()) - interval '23 hours', now(), '1 hour') h",
        "SELECT * FROM generate_series(now() - interval '1 day', now(), interval '15 minutes') h",
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
        (
            "WITH RECURSIVE "
            + ", ".join(f"a{n} AS NOT MATERIALIZED (SELECT x.id FROM a{n + 1} x, a{n + 1} y)" for n in range(18))
            + ", a18 AS (SELECT id FROM orders) SELECT count(*) FROM a0"
        ),
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
        "SELECT o.jsonb_agg @> o.jsonb_agg FROM orders o",
        "SELECT (id).array_agg @> (id).array_agg FROM orders",
        f"SELECT (s).to_tsquery FROM {LETTERS}",
    ],
)
def test_nothing_is_searched_for_what_is_as_long_as_itself(sql: str) -> None:
    """One such function runs for minutes in PostgreSQL, and neither cancellation nor time-out ends it."""
    assert refuse(sql).code == "too_large"


HIDING: Final = {
    "an array": "SELECT (ARRAY[s])[1] AS x FROM {t}",
    "an array of two": "SELECT (ARRAY['x'] || s)[2] AS x FROM {t}",
    "a row of VALUES": "SELECT v.x FROM {t}, LATERAL (VALUES ('a'), (t.s)) v(x)",
    "a row": "SELECT (r).f1 AS x FROM (SELECT ROW(s) AS r FROM {t}) q",
    "a match": "SELECT (regexp_match(s, '(.*)'))[1] AS x FROM {t}",
    "an ordered set": "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY s) AS x FROM {t}",
    "the most frequent": "SELECT mode() WITHIN GROUP (ORDER BY s) AS x FROM {t}",
    "a document": "SELECT jsonb_build_object('a', s) ->> 'a' AS x FROM {t}",
    "a scalar document": "SELECT to_jsonb(s) ->> 0 AS x FROM {t}",
    "a document of the grammar": "SELECT JSON_VALUE(JSON_OBJECT('a': s), '$.a') AS x FROM {t}",
    "a row as a document": "SELECT row_to_json(t) ->> 's' AS x FROM {t}",
    "a row in an aggregate": "SELECT json_agg(t) -> 0 ->> 's' AS x FROM {t}",
    "each of a document": "SELECT value AS x FROM {t}, jsonb_each_text(jsonb_build_object('a', s))",
    "a list of columns": "SELECT x FROM (SELECT 'a' AS x) z, (SELECT s FROM {t}) q(x)",
    "a star": "SELECT * FROM (SELECT t.* FROM {t}) q(x)",
    "an alias like another column": "SELECT q.x FROM (SELECT 'a' AS x) z, LATERAL (SELECT s AS x FROM {t}) q",
    "a column without a name": 'SELECT "case" AS x FROM (SELECT 1) z, (SELECT CASE WHEN true THEN s END FROM {t}) q',
    "the second of a UNION": "SELECT 'a' AS x, 1 UNION ALL SELECT t.*, 2 FROM {t}",
    "the alias of a join": "SELECT j.s AS x FROM ({t} CROSS JOIN counties) j",
    "a name in front": "WITH RECURSIVE q AS (SELECT x FROM c), c AS (SELECT s AS x FROM {t}) SELECT x FROM q",
}
"""Where a collection is put in, and taken out again."""


@pytest.mark.parametrize("place", HIDING)
def test_a_collection_is_one_wherever_it_has_been(place: str) -> None:
    assert (
        "compared"
        in refuse(f"SELECT strpos(x, 'b' || left(x, 200000)) FROM ({HIDING[place].format(t=LETTERS)}) y").message
    )


@pytest.mark.parametrize(
    "rounds",
    [
        "SELECT 'a', 'a' UNION ALL SELECT y || y, x FROM r",
        "SELECT 'a', 'a' UNION ALL SELECT replace('xx', 'x', y), x FROM r",
        "SELECT 'a', 'a' UNION ALL SELECT z.z, x FROM (SELECT y || y AS z, x FROM r) z",
        "SELECT '1', '1' UNION ALL SELECT JSON_ARRAY(y, y)::text, x FROM r",
    ],
)
def test_what_grows_by_way_of_another_column_grows(rounds: str) -> None:
    sql = f"WITH RECURSIVE r(x, y) AS ({rounds}) SELECT strpos(y, 'b' || left(y, 200000)) FROM r LIMIT 40"

    assert "compared" in refuse(sql).message


def test_a_query_that_would_be_looked_through_for_too_long_is_refused() -> None:
    nested = "SELECT 1 AS x"
    for level in range(12):
        nested = (
            f"WITH RECURSIVE r{level} AS (SELECT 1 AS x UNION ALL ({nested})) SELECT a.x FROM r{level} a, r{level} b"
        )

    answer = GUARD.check(nested)
    assert isinstance(answer, SqlRefusal)


def test_long_built_documents_are_not_compared() -> None:
    """They are no collections, and as long."""
    long = f"(SELECT replace('{'x' * 900}', 'x', '1,2,3,4,5,6,7,8,9,') s) t"

    assert "compared" in refuse(f"SELECT ('[' || s || '1]')::jsonb @> ('[' || s || '2]')::jsonb FROM {long}").message
    assert (
        "compared" in refuse(f"SELECT ('{{' || s || '1}}')::int[] <@ ('{{' || s || '2}}')::int[] FROM {long}").message
    )


BUILT: Final = (
    "WITH a AS MATERIALIZED (SELECT lpad('', 990, '1,') || '1,' s FROM counties), "
    "b AS MATERIALIZED (SELECT s||s||s||s||s||s||s||s||s||s s FROM a), "
    "c AS MATERIALIZED (SELECT s||s||s||s||s||s s FROM b), "
    "d AS MATERIALIZED (SELECT s||s||s||s||s||s||s||s||s||s s FROM c) SELECT {work} FROM d"
)
TEXT: Final = "(SELECT string_agg(g::text, '') s, jsonb_agg(g) j FROM generate_series(1, 100000) g) t"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {', '.join(f'md5(s || {n})' for n in range(40))} FROM {TEXT}",
        f"SELECT {', '.join('length(upper(initcap(reverse(s))))' for _ in range(15))} FROM {TEXT}",
        f"SELECT {', '.join('length((j || j)::text)' for _ in range(15))} FROM {TEXT}",
        "SELECT md5(string_agg(lpad('', 1000, 'x'), '')) FROM generate_series(1, 100000) g, generate_series(1, 9) h",
        f"SELECT length(string_agg('{'x' * 900}' || g, '')) FROM generate_series(1, 100000) g, generate_series(1, 9) h",
        f"SELECT json_array_length(('[' || s || '1]')::json) FROM {TEXT}",
        f"SELECT s::tsquery FROM {TEXT}",
        f"SELECT s::int FROM {TEXT}",
        f"SELECT ('{{' || s || '1}}')::int[] FROM {TEXT}",
        f"SELECT normalize(s), encode(s::bytea, 'hex') FROM {TEXT}",
        f"SELECT s IS JSON, JSON_VALUE(s, '$') FROM {TEXT}",
        f"SELECT JSON_VALUE(j::text, '$') FROM {TEXT}",
        BUILT.format(work=", ".join(f"jsonb_array_length(('[' || s || '{n}]')::jsonb)" for n in range(20))),
        BUILT.format(work=", ".join(f"length(normalize(s || '{n}', NFKD))" for n in range(20))),
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
        "SELECT string_agg(rpad(name, 12) || lpad(code, 8, '.'), ', ') FROM counties",
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
