# ruff: noqa: S608 - the queries are what is tested
"""What the guard lets through: queries of open relations and listed functions, and nothing else."""

from typing import Final

import pytest
from postgast import parse
from postgast import pg_query_pb2 as pb

from placet.database import rules
from placet.database.answer import Fix, SqlRefusal
from placet.database.caps import Caps
from placet.database.facts import Facts, Measure, Unparsable
from placet.database.guard import Guard, Passed
from placet.database.libpg import PostgastParser, _Reader
from placet.database.relation import KnownColumn, OpenData, Relation
from placet.database.rules import RULES, Rule
from tests.database.sandbox_cases import (
    LEFT_TO_THE_DATABASE,
    OPEN,
    POLICY,
    POSTGRES_CASES,
    SYNTAX_CASES,
    Case,
    load_lines,
)

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


@pytest.mark.parametrize("case", [*POSTGRES_CASES, *SYNTAX_CASES], ids=lambda case: case.id)
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
    "names_bare_configurations": "SELECT to_tsvector('hr.x', name) FROM products",
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
    "matches_small_patterns": "SELECT name FROM counties WHERE name ~ '((a?){1,255}){1,255}'",
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


def test_a_relation_that_is_hidden_and_one_that_is_not_there_are_told_alike() -> None:
    hidden = refuse("SELECT * FROM hr.payroll")
    missing = refuse("SELECT * FROM hr.payrolx")

    assert hidden.message.replace("payroll", "") == missing.message.replace("payrolx", "")
    assert (hidden.code, hidden.hint, hidden.fix) == (missing.code, missing.hint, missing.fix)


@pytest.mark.parametrize(
    "name", ["'hr.x'", "'nowhere.x'", "'postgres.hr.x'", "'\"hr\".x'", "3748", "NULL", "E'hr\\x2ex'"]
)
def test_no_text_search_configuration_tells_what_schemas_there_are(name: str) -> None:
    answers = [refuse(f"SELECT {call}({name}, 'a')") for call in ("to_tsvector", "pg_catalog.to_tsquery")]

    assert {answer.code for answer in answers} == {"configuration_not_allowed"}
    allow("SELECT to_tsvector('simple', name) @@ to_tsquery('english'::text, 'a'), to_tsvector(name) FROM products")


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
        ("SELECT id FROM orders WHERE status IN (?, ?)", "value itself"),
        ("SELECT id FROM orders FOR UPDATE", "FOR UPDATE"),
        ("```sql\nSELECT 1\n```", "fence"),
        ("SELECT now() - INTERVAL 6 MONTH", "interval '6 months'"),
        ("SELECT group_concat(name SEPARATOR ', ') FROM counties", "string_agg"),
        ("SELECT * EXCEPT (total) FROM orders", "name the columns"),
        ("SELECT id FROM orders MINUS SELECT id FROM orders", "EXCEPT"),
        ("SELECT extract(month, ordered_at) FROM orders", "extract(month FROM"),
        ("SELECT try_cast(total AS int) FROM orders", "pattern first"),
        ("SELECT id FROM orders WHERE status = 'paid' && total > 5", "AND and OR"),
        ("SELECT id FROM orders WHERE id = %s", "value itself"),
        ("DESCRIBE orders", "another tool"),
        ("SELECT repeat('*', id) FROM orders", "left(rpad("),
        ("SELECT lpad('', length(name), '*') FROM counties", "left(rpad("),
        ("SELECT * FROM generate_series(1, (SELECT max(id) FROM orders)) n", "WHERE n <="),
        ("SELECT last_day(ordered_at), if(true, 1, 0) FROM orders", "interval '1 month - 1 day'"),
        ("SELECT total::string FROM orders", "use text"),
        ("SELECT CAST(ordered_at AS datetime) FROM orders", "timestamp"),
    ],
)
def test_a_refusal_says_how_to_write_it(sql: str, hint: str) -> None:
    answer = refuse(sql)

    assert hint in (answer.hint or "")
    assert answer.fix is Fix.SQL


def test_what_stands_in_quotes_or_is_an_operator_is_not_taken_for_other_sql() -> None:
    assert refuse("SELECT id FRM orders o, customers WHERE note = 'a ? b `c` :d' AND profile ? 'tier'").hint is None
    assert refuse("WITH d AS (DELETE FROM orders RETURNING id) SELECT id FROM d").fix is Fix.POLICY
    assert refuse("SELECT 1 OPERATOR(pg_catalog.+) 1").fix is Fix.SQL


def test_what_is_only_misspelt_is_not_to_be_given_up() -> None:
    misspelt = [
        refuse("SELECT date_trunk('month', ordered_at) FROM orders"),
        refuse("SELECT total::numric FROM orders"),
    ]

    assert [(answer.fix, answer.nearest[0]) for answer in misspelt] == [(Fix.SQL, "date_trunc"), (Fix.SQL, "numeric")]
    assert refuse("SELECT current_setting('x')").fix is Fix.POLICY
    assert refuse("SELECT 'hr.payroll'::regclass").fix is Fix.POLICY


def test_what_has_no_place_of_its_own_is_not_said_to_stand_at_the_beginning() -> None:
    locked = refuse("SELECT id FROM orders FOR UPDATE")
    deleted = refuse("WITH d AS (DELETE FROM orders RETURNING id) SELECT id FROM d")

    assert (locked.position, locked.excerpt) == (None, None)
    assert deleted.excerpt == "WITH d AS (DELETE FROM ►orders RETURNING id) SELECT id FROM d"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT 'x'::shop.text", "type_not_allowed"),
        ("SELECT 'x'::SETOF text", "type_not_allowed"),
        ("SELECT 1 FROM orders WHERE id OPERATOR(shop.=) ANY (SELECT id FROM orders)", "operator_not_allowed"),
        ("SELECT id FROM orders ORDER BY id USING OPERATOR(shop.<)", "operator_not_allowed"),
        ("SELECT name FROM counties ORDER BY name COLLATE shop.c", "collation_not_allowed"),
        ("SELECT * FROM orders TABLESAMPLE shop.bernoulli (5)", "sample_not_allowed"),
        ("SELECT core.orders.id FROM shop.orders", "long_column"),
        ("SELECT core.orders.* FROM shop.orders", "long_column"),
        ("SELECT postgres.shop.orders.id FROM shop.orders", "long_column"),
        ("SELECT shop.counties.wipe FROM shop.counties", "unknown_column"),
        ("SELECT shop.counties.ctid FROM shop.counties", "unknown_column"),
        ("SELECT * FROM postgres.shop.orders", "unknown_relation"),
        ("SELECT TREAT(1 AS pg_sleep)", "function_not_allowed"),
        ("SELECT COLLATION FOR ('a')", "function_not_allowed"),
        ("SELECT (SELECT c FROM counties c LIMIT 1).wipe", "unknown_column"),
        ("SELECT (ARRAY[c])[1].wipe FROM counties c", "unknown_column"),
    ],
)
def test_what_names_a_schema_or_calls_by_another_way_is_refused(sql: str, code: str) -> None:
    assert refuse(sql).code == code


def test_a_column_may_be_named_with_the_schema_of_an_open_relation() -> None:
    allow('SELECT shop.orders.id, shop.orders.*, "shop"."orders"."total" FROM shop.orders')
    data = OpenData([Relation("orders", "shop"), Relation("orders", "old")])
    two = Guard(PostgastParser(), data).check("SELECT shop.orders.id FROM shop.orders JOIN old.orders ON true")

    assert isinstance(two, Passed)


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
