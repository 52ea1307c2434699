"""Attacks spliced into legitimate queries, wherever the grammar takes them."""

from typing import Final

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from postgast import PgQueryError, parse, scan
from postgast import pg_query_pb2 as pb

from placet.database.guard import Guard, Passed
from placet.database.libpg import PostgastParser
from tests.database.sandbox_cases import OPEN, POLICY, POSTGRES_CASES

GUARD: Final = Guard(PostgastParser(), OPEN, POLICY)
LEGITIMATE: Final = tuple(case.sql for case in POSTGRES_CASES if case.is_allowed)

ATTACKS: Final = (
    "pg_sleep(1)",
    "pg_read_file('x')",
    "pg_catalog.pg_advisory_lock(1)",
    "set_config('a', 'b', true)",
    "current_setting('data_directory')",
    "nextval('s')",
    "lo_import('/etc/passwd')",
    "query_to_xml('SELECT 1', true, true, '')",
    "pg_notify('a', 'b')",
    "repeat('x', 1000000000)",
    "array_fill(0, ARRAY[100000000])",
    "version()",
    "current_user",
    "session_user",
    "current_schema",
    "shop.next_invoice()",
    "public.lower('x')",
    '"pg_sleep"(1)',
    'U&"pg_sl\\0065ep"(1)',
    "'hr.payroll'::regclass",
    "CAST('x' AS pg_catalog.regproc)",
    "'x'::char(1000000)",
    "(SELECT max(salary) FROM hr.payroll)",
    "EXISTS (SELECT 1 FROM pg_catalog.pg_class)",
    "ARRAY(SELECT usename FROM pg_user)",
    "(TABLE core.customers)",
    "(SELECT 1 FROM orders FOR UPDATE)",
    "1 OPERATOR(shop.+) 1",
    "(o).wipe",
    "(ROW(1)).pg_typeof",
    "o.wipe",
    "core.orders.id",
    "'a' COLLATE pg_catalog.\"C\"",
    "xmlelement(NAME x)",
    "(WITH d AS (DELETE FROM orders RETURNING 1) SELECT 1 FROM d)",
    "lpad('x', 1000000)",
    "9.9 ^ 100000",
    "$1",
    "to_regclass('x')",
    "has_table_privilege('x', 'select')",
    "json_populate_record(NULL::hr.payroll, '{}')",
)

HARMLESS: Final = (
    "1",
    "'DROP TABLE x; --'",
    "(1 + 1)",
    "coalesce(NULL, 1)",
    "CASE WHEN true THEN 1 ELSE 2 END",
    "(SELECT max(total) FROM orders)",
    "(SELECT count(*) FROM shop.customers)",
    "extract(year FROM now())",
    "current_date",
    "ARRAY[1, 2]",
    "ROW(1, 2)",
    "CAST('1' AS integer)",
    "upper('x')",
    "shop.vat(1)",
    "json_build_object('a', 1)",
)

TAKES_CONSTANTS_ONLY: Final = ("too_large", "sample_not_allowed")
_SPOTS: Final = frozenset({pb.IDENT, pb.ICONST, pb.SCONST, pb.FCONST, pb.ASCII_42})


_NAMES_FOLLOW: Final = frozenset({pb.ASCII_46, pb.TYPECAST, pb.AS})
_NAMES_PRECEDE: Final = frozenset({pb.ASCII_46, pb.ASCII_40})


def find_spots(sql: str) -> list[pb.ScanToken]:
    """Return the tokens in whose place an expression may stand: no types, aliases, calls, or parts of a name."""
    tokens = [pb.ScanToken(), *scan(sql).tokens, pb.ScanToken()]
    return [
        token
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if token.token in _SPOTS
        and before.token not in _NAMES_FOLLOW | _SPOTS
        and after.token not in _SPOTS
        and not (token.token == pb.IDENT and after.token in _NAMES_PRECEDE)
    ]


def splice(sql: str, expression: str, place: int) -> str:
    """Put an expression where a name, a constant or a star stands."""
    text = sql.encode()
    spots = find_spots(sql)
    if not spots:
        return ""
    spot = spots[place % len(spots)]
    return (text[: spot.start] + b" " + expression.encode() + b" " + text[spot.end :]).decode()


def parses(sql: str) -> bool:
    try:
        parse(sql)
    except PgQueryError:
        return False
    return True


def check_attack(sql: str, attack: str, place: int, again: int) -> None:
    spliced = splice(splice(sql, attack, place), "(SELECT 1)", again)
    if attack not in spliced or not parses(spliced):
        spliced = splice(sql, attack, place)
    assume(spliced and parses(spliced))
    event("spliced")
    assert not isinstance(GUARD.check(spliced), Passed), spliced


def check_harmless(sql: str, expression: str, place: int) -> None:
    spliced = splice(sql, f"({expression})", place)
    assume(spliced and parses(spliced))
    answer = GUARD.check(spliced)
    if not isinstance(answer, Passed):
        # A relation or a function whose name was replaced is another one, and refused.
        assert answer.code in TAKES_CONSTANTS_ONLY, (spliced, answer)


ARGUMENTS: Final = (st.sampled_from(LEGITIMATE), st.sampled_from(ATTACKS), st.integers(0, 200), st.integers(0, 200))


@given(*ARGUMENTS)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_no_attack_gets_through_wherever_it_stands(sql: str, attack: str, place: int, again: int) -> None:
    check_attack(sql, attack, place, again)


@pytest.mark.slow
@given(*ARGUMENTS)
@settings(max_examples=20_000, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_no_attack_of_many_gets_through(sql: str, attack: str, place: int, again: int) -> None:
    check_attack(sql, attack, place, again)


@given(st.sampled_from(LEGITIMATE), st.sampled_from(HARMLESS), st.integers(0, 200))
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_no_harmless_expression_is_refused(sql: str, expression: str, place: int) -> None:
    check_harmless(sql, expression, place)


def test_every_attack_is_refused_at_every_place_of_one_query() -> None:
    sql = (
        "WITH a AS (SELECT o.id AS x FROM orders o) SELECT DISTINCT x, sum(x) FILTER (WHERE x > 1) OVER (PARTITION BY x"
        " ORDER BY x) FROM a JOIN products p ON p.id = a.x WHERE x IN (1, 2) AND x BETWEEN 3 AND 4 GROUP BY x HAVING x"
        " > 5 ORDER BY x LIMIT 6 OFFSET 7"
    )
    places = range(len(find_spots(sql)))
    parsed = [spliced for attack in ATTACKS for place in places if parses(spliced := splice(sql, attack, place))]

    assert len(parsed) > len(ATTACKS) * 15
    assert [spliced for spliced in parsed if isinstance(GUARD.check(spliced), Passed)] == []
