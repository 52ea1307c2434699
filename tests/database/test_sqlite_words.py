"""The quick look at a text may be uncertain, but where it is certain the exact one agrees."""

import sqlite3
from contextlib import closing
from typing import Final

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from placet.database.sqlite_growth import measure_growth
from placet.database.sqlite_policy import MOST_MATCHES
from placet.database.sqlite_text import count_matches, definitions, depth, find_unbounded_search, tokens
from placet.database.sqlite_words import glance, words_of
from tests.database.sandbox_cases import SQLITE_CASES, Case, load_lines
from tests.database.test_sqlite_growth import GROWING
from tests.database.test_sqlite_sandbox import BOMBS, REPORT, chain
from tests.database.test_sqlite_splices import ATTACKS, HARMLESS, LEGITIMATE

DEPTH: Final = 60
TOKENS: Final = 2_000
HONEST: Final = (*LEGITIMATE, *load_lines("sql-honest-sqlite.txt"), REPORT)
TEXTS: Final = (
    *HONEST, *BOMBS.values(), *(sql for sql in GROWING.values() if len(sql) < TOKENS),
    chain("SELECT a.x FROM ? a, ? b", 6), chain("SELECT x + x AS x FROM ?", 9),
)  # fmt: skip
PIECES: Final = (
    "'",
    '"',
    "''",
    "--x\n",
    "/* ( */",
    "/*",
    "[a b]",
    "`m`",
    '"m"',
    "'m'",
    "(",
    ")",
    ",",
    ".",
    ";",
    "?",
    "$",
    "ș",
    "\u0130",
    " AS (",
    " AS NOT MATERIALIZED (",
    " m AS (SELECT 1 AS x)",
    "WITH m AS (SELECT 1 AS x) ",
    " 'm' AS (",
    ' "trim" AS (',
    " FROM m",
    " FROM m a, m b",
    " FROM 'm'",
    ' FROM "m"',
    " UNION ALL SELECT x FROM m",
    "SELECT ",
    "(SELECT x FROM m)",
    "trim(x, y)",
    "replace(x, 'a', y)",
    "instr(a, 'b')",
    "trim('a,b', 'c')",
    "trim(f(a, (b)), c)",
    '"trim"(x, y)',
    "trim ( x /* a */ , 'y' )",
    "replace(a, 'it''s', b)",
    "trim(x, -5)",
    "trim(x, char(10))",
    "trim(x, x'41')",
    "LIKE 'a'",
    "x GLOB y",
    "values",
    " LIMIT 5",
    " GROUP BY x",
    "DISTINCT ",
    " IS DISTINCT FROM 2",
    "x+x+x AS x",
    "1.5",
    "1e5",
    "x'ff'",
    "a.b",
    " . ",
    "window",
    "with",
    "as",
    " not ",
    "materialized",
    "by",
    "(x, y)",
    "\n",
    "\t",
)


@st.composite
def spliced(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(0, 4))):
        piece = draw(st.sampled_from((*PIECES, *ATTACKS, *HARMLESS)))
        place, gone = draw(st.integers(0, len(text))), draw(st.sampled_from((0, 0, 1, 6)))
        text = f"{text[:place]}{piece}{text[place + gone :]}"
    return text


def is_read(sql: str) -> bool:
    """Return whether SQLite takes it for a query, whatever it names."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"EXPLAIN {sql}")
        except sqlite3.ProgrammingError:
            return True  # a placeholder
        except sqlite3.Error as error:
            return "no such" in str(error)
    return True


def check(sql: str) -> None:
    defined = glance(sql, TOKENS, DEPTH)
    event("uncertain" if defined is None else "certain")
    if defined is None:
        return
    read = tokens(sql)
    exact = definitions(read)

    assert len(read) <= TOKENS
    assert depth(read) <= DEPTH
    assert count_matches(read) <= MOST_MATCHES
    assert find_unbounded_search(read) is None
    assert not measure_growth(words_of(read, exact)).is_too_large or not is_read(sql)  # 2SELECT is no word of SQLite
    if "with" in sql.lower() and is_read(sql):
        assert defined == exact


SETTINGS: Final = settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))


@given(spliced())
@SETTINGS
def test_where_the_quick_look_is_certain_the_exact_one_agrees(sql: str) -> None:
    check(sql)


@pytest.mark.slow
@given(spliced())
@settings(SETTINGS, max_examples=30_000)
def test_where_the_quick_look_is_certain_the_exact_one_agrees_on_many(sql: str) -> None:
    check(sql)


@pytest.mark.parametrize("sql", HONEST)
def test_an_honest_query_needs_no_second_look(sql: str) -> None:
    defined = glance(sql, TOKENS, DEPTH)

    assert defined is not None
    assert defined >= {name for name in ("m", "g", "r", "t") if f"{name} AS (" in sql and "WITH" in sql}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 61 + "1" + ")" * 61,
        "SELECT 1 WHERE " + " OR ".join("a LIKE 'b'" for _ in range(31)),
        "SELECT trim(a, b) FROM c",
        "SELECT trim(a, 'b' || c) FROM d",
        f"SELECT trim(a, '{'b' * 101}')",
        "SELECT replace(f(a, (b)), \"c\", 'd')",
        "WITH 'a' AS (SELECT 1) SELECT 1",
        'WITH "a b" AS (SELECT 1) SELECT 1',
        "WITH ș AS (SELECT 1) SELECT 1",
        "SELECT 'a",
        'SELECT "a',
        "SELECT 1 -- " + "x" * 2_000,
        *GROWING.values(),
    ],
)
def test_what_must_be_looked_at_is_not_certain(sql: str) -> None:
    assert glance(sql, TOKENS, DEPTH) is None


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("WITH a AS (SELECT 1), b(x, y) AS NOT MATERIALIZED (SELECT 1, 2) SELECT 1 FROM a, b", {"a", "b"}),
        ('WITH "A" AS (SELECT 1), [b] AS (SELECT 2), `c` AS (SELECT 3) SELECT 1', {"a", "b", "c"}),
        ("SELECT (WITH a AS (SELECT 1) SELECT x FROM a) FROM (WITH b AS (SELECT 2) SELECT 2)", {"a", "b"}),
        ("/* x AS ( */ WITH a -- AS (\n AS (SELECT 'y AS (') SELECT CAST(1 AS text), 2 AS c FROM d AS e", {"a"}),
        ("WITH materialized AS (SELECT 1) SELECT 1", {"materialized"}),
    ],
)
def test_what_a_with_defines_is_told(sql: str, names: set[str]) -> None:
    assert (glance(sql, TOKENS, DEPTH) or set()) == names


@pytest.mark.parametrize("number", ["7", "1000", "99.5", "12345678901234567890"])
def test_a_literal_of_its_own_changes_nothing(number: str) -> None:
    text = "WITH a AS (SELECT b, ? AS c FROM d WHERE e > ?) SELECT sum(c) FROM a GROUP BY 1 LIMIT ?"

    assert glance(text.replace("?", number), TOKENS, DEPTH) == frozenset({"a"})


def test_the_digits_of_a_name_are_no_literal() -> None:
    text = "WITH a? AS (SELECT 1), b.? AS (SELECT 1), c$? AS (SELECT 1) SELECT 1"

    for digit in "12":
        assert glance(text.replace("?", digit), TOKENS, DEPTH) == frozenset({f"a{digit}", f"c${digit}"})


def test_a_needle_of_many_digits_is_looked_at() -> None:
    text = "SELECT trim(a, ?) FROM b"

    assert glance(text.replace("?", "1" * 20), TOKENS, DEPTH) is not None
    assert glance(text.replace("?", "1" * 21), TOKENS, DEPTH) is None


def test_caps_of_ones_own_count() -> None:
    assert glance("SELECT (1)", TOKENS, 0) is None
    assert glance("SELECT (1)", 9, DEPTH) is None


@pytest.mark.parametrize("case", [case for case in SQLITE_CASES if case.is_allowed], ids=lambda case: case.id)
def test_a_case_that_is_let_through_needs_no_second_look(case: Case) -> None:
    assert glance(case.sql, TOKENS, DEPTH) is not None
