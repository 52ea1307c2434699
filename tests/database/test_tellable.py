import pytest

from placet.database.tellable import tell


@pytest.mark.parametrize(
    ("message", "sql", "told"),
    [
        ('invalid input syntax for type integer: "a@b.ro"', "SELECT x::int", "type integer: <value>"),
        ('invalid input syntax for type integer: "abc"', "SELECT 'abc'::int", 'type integer: "abc"'),
        ('invalid input syntax for type integer: "a"', "SELECT a::int", "type integer: <value>"),
        ('value "99999999999" is out of range for type integer', "x::int", "<value> is out of range for type integer"),
        ('invalid input syntax for type date: "it"s"', "SELECT x::date", "type date: <value>"),
        ('invalid input syntax for type date: "a" hunter2 "b"', "SELECT x::date", "type date: <value>"),
        ('invalid input syntax for type date: "a\nhunter2"', "SELECT x::date", "type date: <value>"),
        ('invalid value "hu" for "YYYY"', "SELECT to_date(x, 'YYYY')", 'invalid value <value> for "YYYY"'),
        ('invalid value "hunter" for "2" for "YYYY"', "SELECT to_date(x, 'YYYY')", 'value <value> for "YYYY"'),
        ("date field value out of range: 1949-13-01", "make_date(y, 13, 1)", "out of range: <value>"),
        ("invalid normalization form: hunter2", "normalize(a, b)", "normalization form: <value>"),
        ("percentile value 76.5 is not between 0 and 1", "percentile_cont(x)", "value <value> is not between 0 and 1"),
        ('argument "hunter2" of jsonpath item method .double() is invalid for type real', "", "invalid for type real"),
        ("invalid regular expression: parentheses () not balanced", "a ~ b", "parentheses () not balanced"),
        ("cannot call jsonb_each_text on a non-object", "", "cannot call jsonb_each_text on a non-object"),
        ("division by zero", "SELECT 1 / x", "division by zero"),
    ],
)
def test_a_value_is_told_only_where_the_query_wrote_it(message: str, sql: str, told: str) -> None:
    shown = tell(message, sql) or ""

    assert shown.endswith(told)
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    "message",
    [
        "no hunter2 here",
        "division by zero: hunter2",
        'invalid input syntax for type hunter2: "x"',
        "invalid regular expression: 4111",
        "ungültige Eingabesyntax für Typ integer: »hunter2«",
        "sintaxis de entrada no válida para tipo integer: «hunter2»",
        'column "salary" does not exist',
        'relation "hr.payroll" does not exist',
        "",
    ],
)
def test_what_is_of_no_known_shape_is_not_told(message: str) -> None:
    assert tell(message, "SELECT 1") is None
