# ruff: noqa: S608 - the queries are what is tested
"""How large a regular expression becomes when its repetitions are written out."""

import random
import time
from contextlib import suppress
from typing import Final

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.database.guard import Guard, Passed
from placet.database.libpg import PostgastParser
from placet.database.regex import measure_pattern
from tests.database.sandbox_cases import OPEN, POLICY
from tests.database.test_guard import allow, refuse
from tests.postgres_server import PostgresServer

SLACK: Final = 0.5


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("", 0),
        ("^abc", 4),
        ("a{3}", 3),
        ("a{2,30}?b", 32),
        ("a{7,}", 7),
        ("(ab){10}", 30),
        ("((a?){1,255}){2}", 1532),
        (r"\d{3}", 3),
        ("[]{2}a-f]{4}", 4),
        ("[[:alpha:]_-]{100}x", 101),
        ("a(?#b){9}", 9),
        ("(a?) {9}", 27),
        ("(a) # so often\n{9}", 18),
        (r"\(ab\)\{10\}", 30),
        ("a)){9}", 11),
        ("((a", 1),
        ("[{9}", 1),
        ("{}{,}", 0),
    ],
)
def test_each_part_counts_as_often_as_it_is_repeated(pattern: str, size: int) -> None:
    assert measure_pattern(pattern) >= size
    assert measure_pattern(pattern) <= size * 2


@given(st.text(r"ab([{}])?*+:.=\#", max_size=40), st.integers(2, 255))
def test_whatever_is_repeated_counts_as_often(pattern: str, times: int) -> None:
    assert measure_pattern(f"(a{{{times}}})") >= times
    assert measure_pattern(pattern) >= 0
    assert measure_pattern(f"(x{{9}}){{{times}}}") == (9 + 1) * times


LARGE = "(b*a?){1,255}a(b*a?){1,255}"
UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"


@pytest.mark.parametrize(
    "condition",
    [
        f"name ~ '{LARGE}'",
        f"name !~* '{LARGE}'::text",
        f"'{LARGE}' ~ '{LARGE}'",
        f"name SIMILAR TO '{LARGE}' ESCAPE '#'",
        f"name ~ ANY (ARRAY['a', '{LARGE}'])",
        f"name ~ ALL ('{{{LARGE}}}')",
        f"name ~ ANY (SELECT '{LARGE * 3}' FROM counties)",
        f"regexp_count(name, '{LARGE}') > 1",
        f"regexp_like(pattern => '{LARGE}', string => name)",
        f"substring(name FROM '{LARGE}') = 'a'",
        f"substring(name SIMILAR '{LARGE}' ESCAPE '#') = 'a'",
        f"substring(name, '{LARGE}', '#') = 'a'",
        f"(regexp_match(name, '{LARGE}'))[1] = 'a'",
        f"jsonb_path_exists(to_jsonb(name), '$ ? (@ like_regex \"{LARGE}\")')",
        f"to_jsonb(name) @? '$ ? (@ like_regex \"{LARGE}\")'",
        f"to_jsonb(name) @@ '$ like_regex \"{LARGE}\"'::jsonpath",
        f"EXISTS (SELECT FROM regexp_split_to_table(name, '{LARGE}'))",
        f"name ~ (code || '{LARGE}' || code || '{LARGE}')",
        f"name ~ lower('{LARGE * 3}')",
        f"name ~ (SELECT max('{LARGE * 3}'))",
        f"substring(name FROM CASE WHEN code = 'CJ' THEN '{LARGE * 3}' END) = 'a'",
        "name ~ (SELECT string_agg('a?', '') FROM counties)",
        "name ~ ANY (SELECT string_agg('a?', '') FROM counties)",
        "name ~ (WITH RECURSIVE r(p) AS (SELECT 'a?' UNION ALL SELECT p || p FROM r LIMIT 20) SELECT max(p) FROM r)",
    ],
)
def test_no_pattern_is_large(condition: str) -> None:
    """PostgreSQL compiles it to its end, past its time."""
    assert refuse(f"SELECT code FROM counties WHERE {condition}").code == "too_large"


@pytest.mark.parametrize(
    "condition",
    [
        f"name ~ '{UUID}'",
        r"name ~* '^[a-z0-9._%+-]{1,64}@[a-z0-9.-]{1,255}\.[a-z]{2,10}$'",
        f"name ~* '{'|'.join(['Cluj-Napoca', 'Iași', 'Timișoara'] * 20)}'",
        "name ~ ('^' || left(code, 3))",
        "name ~ ANY (ARRAY['^C', '^B'])",
        "name SIMILAR TO '(Cl|Bi)%'",
        "substring(name FROM strpos(name, '-') + 1) = 'Napoca'",
        "substring(name, 1, length(name) - 1) = 'x'",
        "substring(name FROM '^[A-Z]{1,3}') = 'CJ'",
        f"to_tsvector(name) @@ to_tsquery('{' | '.join(['cluj', 'napoca', 'iasi'] * 10)}')",
        'to_jsonb(name) @? \'$.items[*] ? (@.name like_regex "^a" flag "i")\'',
        "regexp_replace(name, '[^a-z]+', '', 'gi') = 'cluj'",
        "(~ length(name)) < 0",
        "name ~ (SELECT '^' || max(code) FROM counties)",
    ],
)
def test_honest_patterns_are_let_through(condition: str) -> None:
    allow(f"SELECT code FROM counties WHERE {condition}")


ATOMS: Final = [
    "a",
    "(a?)",
    "(a|b)",
    "[a-z]",
    "(a*)",
    "(?:a?b?)",
    r"\w",
    "(?=a)",
    r"\y",
    "a|",
    "(b*a?)",
    "(|a)",
    "()",
    "é",
]
REPEATS: Final = ["", "?", "*", "+", "{1,255}", "{0,100}", "{50}", "{255}", "{2,}", "{0,255}?", "{1,30}"]


def make_pattern(choose: random.Random, levels: int) -> str:
    """Return a regular expression of the kind that takes PostgreSQL long to compile."""
    match choose.randrange(5 if levels else 1):
        case 0:
            return choose.choice(ATOMS)
        case 1 | 2:
            return f"({make_pattern(choose, levels - 1)}){choose.choice(REPEATS)}"
        case 3:
            return make_pattern(choose, levels - 1) + choose.choice(REPEATS) + make_pattern(choose, levels - 1)
        case _:
            return make_pattern(choose, levels - 1) * choose.choice((2, 5, 20, 100))


@pytest.mark.slow
def test_every_pattern_that_is_let_through_ends_on_time(server: PostgresServer) -> None:
    choose = random.Random(1)  # noqa: S311 - nothing secret
    made = {make_pattern(choose, choose.randrange(1, 7))[:2_000] for _ in range(4_000)}
    guard = Guard(PostgastParser(), OPEN, POLICY)
    passed = [found for one in made if isinstance(found := guard.check(f"SELECT 'aabaab' ~ '{one}'"), Passed)]
    largest = sorted(passed, key=lambda one: measure_pattern(one.statement))[-600:]
    late: list[tuple[float, str]] = []
    with psycopg.connect(server.dsn("llm_ro"), autocommit=True) as connection:
        connection.execute("SET statement_timeout = '100ms'")
        for one in largest:
            started = time.monotonic()
            with suppress(psycopg.errors.QueryCanceled, psycopg.errors.InvalidRegularExpression):
                connection.execute(one.statement.encode())
            late.append((time.monotonic() - started, one.statement))

    assert max(late)[0] < 0.1 + SLACK, max(late)
    assert len(made) - len(passed) > 100
