from typing import Final

import pytest

from placet.database.answer import Fix, SqlRefusal
from placet.database.relation import KnownColumn, OpenData, Relation
from placet.database.sqlstate import ServerFault, explain, explain_statement

ORDERS: Final = Relation("orders", "api")
DATA: Final = OpenData([ORDERS], {"api.orders": (KnownColumn("id", "int8"), KnownColumn("total", "numeric"))})

MEANINGS: Final = {
    "42703": ("unknown_column", Fix.SQL),
    "42P01": ("unknown_relation", Fix.SQL),
    "42883": ("no_such_function", Fix.SQL),
    "42803": ("grouping", Fix.SQL),
    "42P20": ("windowing", Fix.SQL),
    "42702": ("ambiguous", Fix.SQL),
    "42601": ("syntax", Fix.SQL),
    "22P02": ("bad_value", Fix.SQL),
    "22007": ("bad_value", Fix.SQL),
    "22012": ("bad_value", Fix.SQL),
    "2201B": ("bad_value", Fix.SQL),
    "21000": ("bad_value", Fix.SQL),
    "42501": ("not_permitted", Fix.POLICY),
    "25006": ("read_only", Fix.POLICY),
    "57014": ("timeout", Fix.NARROW),
    "53400": ("too_large", Fix.NARROW),
    "54000": ("too_large", Fix.NARROW),
    "53200": ("too_large", Fix.NARROW),
    "54001": ("too_deep", Fix.SQL),
    "55P03": ("busy", Fix.WAIT),
    "40001": ("busy", Fix.WAIT),
    "53300": ("busy", Fix.WAIT),
    "57P01": ("busy", Fix.WAIT),
    "08006": ("busy", Fix.WAIT),
    "": ("busy", Fix.WAIT),
    "XX000": ("internal", Fix.OPERATOR),
    "F0000": ("internal", Fix.OPERATOR),
    "42999": ("wrong_query", Fix.SQL),
}


def read(sqlstate: str, message: str = "secret words", sql: str = "SELECT 1", **parts: object) -> SqlRefusal:
    fault = ServerFault(sqlstate, message, detail="Key (iban)=(RO49)", **parts)  # type: ignore[arg-type]  # as each test says
    return explain(fault, sql, DATA, ["api.orders"])


@pytest.mark.parametrize("sqlstate", MEANINGS)
def test_every_sqlstate_has_a_word_and_a_way_out(sqlstate: str) -> None:
    answer = read(sqlstate)

    assert (answer.code, answer.fix) == MEANINGS[sqlstate]
    assert "RO49" not in str(answer.as_json())
    assert "RO49" in str(answer.detail)


@pytest.mark.parametrize("sqlstate", ["42501", "25006", "57014", "53200", "08006", "XX000", "57P01"])
def test_what_the_database_says_of_itself_is_not_repeated(sqlstate: str) -> None:
    assert "secret words" not in str(read(sqlstate).as_json())


@pytest.mark.parametrize(
    ("message", "sql", "told"),
    [
        ('invalid input syntax for type integer: "a@b.ro"', "SELECT x::int", "type integer: <value>"),
        ('invalid input syntax for type integer: "abc"', "SELECT 'abc'::int", 'type integer: "abc"'),
        ('invalid input syntax for type integer: "a"', "SELECT a::int", "type integer: <value>"),
        ('value "99999999999" is out of range', "SELECT x::int", "value <value> is out of range"),
        ('invalid input syntax for type date: "it"s"', "SELECT x::date", "type date: <value>"),
        ('invalid input syntax for type date: "a" hunter2 "b"', "SELECT x::date", "type date: <value>"),
        ("division by zero", "SELECT 1 / x", "division by zero"),
    ],
)
def test_a_value_is_told_only_where_the_query_wrote_it(message: str, sql: str, told: str) -> None:
    assert read("22P02", message, sql).message.endswith(told)


def test_a_missing_column_is_answered_with_those_there_are() -> None:
    answer = read("42703", 'column "totl" does not exist', "SELECT totl FROM orders", position=8)

    assert answer.hint == "orders has: id, total"
    assert answer.nearest == ("total",)
    assert (answer.position, answer.excerpt) == (7, "SELECT ►totl FROM orders")


def test_what_a_statement_has_wrong_is_for_the_operator_alone() -> None:
    for sqlstate in ("42P01", "42501", "42703", "25006", "XX000"):
        answer = explain_statement(ServerFault(sqlstate, 'relation "payroll" does not exist'))

        assert (answer.code, answer.fix) == ("internal", Fix.OPERATOR)
        assert "payroll" not in str(answer.as_json())


def test_a_position_behind_the_text_is_its_end() -> None:
    assert read("42601", "syntax error at end of input", "SELECT", position=99).position == 6
