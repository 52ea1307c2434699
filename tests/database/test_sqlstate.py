from typing import Final

import pytest

from placet.database.answer import Fix, SqlRefusal
from placet.database.relation import KnownColumn, OpenData, Relation
from placet.database.sqlstate import ServerFault, explain, explain_result, explain_statement

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
    ("sqlstate", "message", "code", "told"),
    [
        ("22P02", 'invalid input syntax for type integer: "RO49"', "bad_value", "type integer: <value>"),
        ("42601", 'syntax error in tsquery: "RO49"', "bad_value", "in tsquery: <value>"),
        ("42704", 'could not find jsonpath variable "RO49"', "bad_value", "variable <value>"),
        ("54000", "requested character too large for encoding: 49", "bad_value", "encoding: <value>"),
        ("54000", "RO49 target lists can have at most 1664 entries", "too_large", "than it may have"),
        ("22012", "division by zero", "bad_value", "division by zero"),
        ("22023", "RO49 said a function of the database's own", "bad_value", "does not fit what is done with it"),
        ("22P02", "ungültige Eingabesyntax für Typ integer: »RO49«", "bad_value", "does not fit what is done with it"),
        ("0A000", "RO49 cannot be done", "not_supported", "cannot do this"),
        ("42703", 'column "RO49" does not exist', "internal", "in the log"),
        ("42P01", 'relation "hr.RO49" does not exist', "internal", "in the log"),
        ("42883", "function RO49() does not exist", "internal", "in the log"),
    ],
)
def test_once_a_query_is_understood_no_word_of_a_row_is_told(sqlstate: str, message: str, code: str, told: str) -> None:
    fault = ServerFault(sqlstate, message, "perhaps RO49", 8, "Key (iban)=(RO49)")
    answer = explain_result(fault, "SELECT iban FROM orders", DATA)

    assert (answer.code, answer.message[-len(told) :]) == (code, told)
    assert "RO49" not in str(answer.as_json())
    assert "RO49" in str(answer.detail)


def test_what_is_not_permitted_later_is_told_like_what_is_not_at_first() -> None:
    fault = ServerFault("42501", "permission denied for table payroll")

    assert explain_result(fault, "SELECT 1", DATA) == explain(fault, "SELECT 1", DATA)
    assert "payroll" not in str(explain(fault, "SELECT 1", DATA).as_json())


def test_a_bound_value_that_does_not_fit_is_told_by_no_word_of_the_database() -> None:
    odd = explain_statement(ServerFault("22023", "no RO49 here", "look at RO49"))
    known = explain_statement(ServerFault("22008", "date field value out of range: 1949-13-01"))

    assert (odd.code, "RO49" in str(odd.as_json())) == ("bad_value", False)
    assert known.message == "date field value out of range: <value>"


def test_a_missing_column_is_answered_with_those_there_are() -> None:
    answer = read("42703", 'column "totl" does not exist', "SELECT totl FROM orders", position=8)

    assert answer.hint == "orders has: id, total"
    assert answer.nearest == ("total",)
    assert (answer.position, answer.excerpt) == (7, "SELECT ►totl FROM orders")


@pytest.mark.parametrize(
    ("message", "sql", "told"),
    [
        ("operator does not exist: hr.payroll = integer", "SELECT p = 1", "operator does not exist: <type> = integer"),
        ('function sum("Odd name"."t t") does not exist', "SELECT sum(p)", "function sum(<type>) does not exist"),
        ('invalid input value for enum core.status: "x"', "s = 'x'", 'invalid input value for enum <type>: "x"'),
        ("cannot cast type api.size to integer", "SELECT s::int", "cannot cast type api.size to integer"),
        ("column o.totl does not exist", "SELECT O.totl", "column o.totl does not exist"),
        ('invalid input syntax for type numeric: "1.5x"', "SELECT '1.5x'::numeric", 'for type numeric: "1.5x"'),
    ],
)
def test_no_type_of_a_hidden_schema_is_named(message: str, sql: str, told: str) -> None:
    assert read("42883", message, sql).message.endswith(told)


def test_what_a_statement_has_wrong_is_for_the_operator_alone() -> None:
    for sqlstate in ("42P01", "42501", "42703", "25006", "XX000"):
        answer = explain_statement(ServerFault(sqlstate, 'relation "payroll" does not exist'))

        assert (answer.code, answer.fix) == ("internal", Fix.OPERATOR)
        assert "payroll" not in str(answer.as_json())


def test_a_position_behind_the_text_is_its_end() -> None:
    assert read("42601", "syntax error at end of input", "SELECT", position=99).position == 6
