import time

import pytest

from placet.database.sqlite_text import count_matches, definitions, find_unbounded_search, is_query, tokens


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("WITH a AS (SELECT 1) SELECT 1", {"a"}),
        ('with a(x, y) as not materialized (select 1), "B ""b" AS (SELECT 2) SELECT 3', {"a", 'b "b'}),
        ("WITH RECURSIVE 'c' /* AS ( */ AS -- no\n MATERIALIZED(SELECT 1) SELECT 2", {"c"}),
        ("SELECT 'x AS (' AS y, a AS b FROM c AS d", set()),
        ("SELECT CAST(a AS text) FROM (SELECT 1) AS b", set()),
        ("WITH ș AS (SELECT 1) SELECT 1", {"ș"}),
        ("SELECT [a] AS [b] -- AS (\n, `c` /* AS ( */", set()),
    ],
)
def test_a_name_before_as_and_a_bracket_is_one_of_with(sql: str, names: set[str]) -> None:
    assert definitions(tokens(sql)) == names


@pytest.mark.parametrize("sql", ["SELECT 1", " /* a */ -- b\n with x", "values(1)", "\n\tSeLeCt\n1"])
def test_a_query_begins_as_one(sql: str) -> None:
    assert is_query(sql)


@pytest.mark.parametrize(
    "sql", ["", "SELECTED 1", ";SELECT 1", "EXPLAIN SELECT 1", "(SELECT 1)", "-- SELECT 1", "/* SELECT"]
)
def test_what_begins_otherwise_is_none(sql: str) -> None:
    assert not is_query(sql)


def test_strings_and_comments_hold_no_words() -> None:
    assert count_matches(tokens("SELECT 'like' LIKE \"glob\" -- like\n OR x GLOB /* like */ 'y'")) == 3
    assert find_unbounded_search(tokens("SELECT 'trim(a, b)', trim('a, b', 'c'), trim(f(a, b))")) is None
    assert find_unbounded_search(tokens("SELECT trim(f(a, b), c)")) is not None


@pytest.mark.parametrize("text", ["/**/", "'", '"', "[", "`", "/*", "--", "'a''", "((", "a."])
def test_no_text_takes_long_to_read(text: str) -> None:
    started = time.process_time()
    is_query(text * 2_500 + "x")
    tokens((text * 10_000)[:10_000])

    assert time.process_time() - started < 5  # what grows with the square of the text takes minutes
