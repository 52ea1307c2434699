from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.database.parameters import Parameter, parse_parameter
from placet.errors import ConfigurationError
from placet.values.json import Json, JsonObject


def parse(text: str) -> Parameter:
    return parse_parameter(text, "q.sql:1")


SCHEMAS: Final[dict[str, JsonObject]] = {
    "order_id int >= 1 -- the number on the invoice": {
        "type": "integer", "minimum": 1, "maximum": 2**63 - 1, "description": "the number on the invoice",
    },
    "days int 1..90 = 30": {"type": "integer", "minimum": 1, "maximum": 90, "default": 30},
    "rate number 0..1.5": {"type": "number", "minimum": 0.0, "maximum": 1.5},
    "status enum(paid, shipped)": {"type": "string", "enum": ["paid", "shipped"]},
    "status enum(a, b)? = a": {"type": ["string", "null"], "enum": ["a", "b", None], "default": "a"},
    "id int >= 9007199254740993": {"type": "integer", "minimum": 9007199254740993, "maximum": 2**63 - 1},
    "essay text >= 250": {"type": "string", "minLength": 250, "maxLength": 250},
    "county text 2..2 /[A-Z]{2}/": {"type": "string", "minLength": 2, "maxLength": 2, "pattern": "^(?:[A-Z]{2})$"},
    "email prefix": {"type": "string", "minLength": 3, "maxLength": 200},
    "note text?": {"type": ["string", "null"], "minLength": 0, "maxLength": 200},
    "gift bool = false": {"type": "boolean", "default": False},
    "day date": {"type": "string", "format": "date"},
    "at datetime": {"type": "string", "format": "date-time"},
    "id uuid": {"type": "string", "format": "uuid"},
}  # fmt: skip


@pytest.mark.parametrize("text", SCHEMAS)
def test_a_declaration_is_a_schema(text: str) -> None:
    assert parse(text).schema() == SCHEMAS[text]


def test_what_has_a_default_or_may_be_null_need_not_be_sent() -> None:
    assert parse("a int").is_required
    assert not parse("a int = 1").is_required
    assert not parse("a int?").is_required


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "no parameter"),
        ("order_id", "no parameter"),
        ("order_id integer", "no parameter"),
        ("a int >= x", "says nothing"),
        ("a int 1..90 or so", "says nothing"),
        ("a int 9..1", "no value"),
        ("a bool 1..2", "no bounds"),
        ("a int /x/", "pattern is for a text"),
        ("a text /(/", "pattern"),
        ("a enum", "choices"),
        ("a enum(x, x)", "choices"),
        ("a enum(x) = y", "default"),
        ("a int 1..2 = 3", "default"),
        ("a prefix 1..5", "at least 3"),
        ("a prefix 0..5", "at least 3"),
        ("a string", "is 'text' meant"),
        ("a decimal(10,2) >= 0", "is 'number' meant"),
        ("a TIMESTAMP", "is 'datetime' meant"),
        ("a int > 0", "bounds as 1..90, >= 1 or <= 90"),
        ("a int 1..5?", r"'\?' stands behind the type"),
        ("a int 1..5 >= 3", "'>= 3' says nothing"),
        ("a int 1.5..3", "bounds are whole numbers"),
        ("a text -1..3", "none is below 0"),
        ("a text = 'paid'", "without quotes"),
        ("a text? = null", "none at all where it may be null"),
        ("a enum('paid', 'sent')", "without quotes"),
        ("a enum(paid|sent)", "with commas"),
    ],
)
def test_a_declaration_that_says_nothing_is_refused(text: str, word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        parse(text)


@pytest.mark.parametrize(
    ("text", "value", "bound"),
    [
        ("a int", 5, 5),
        ("a int", 2**63 - 1, 2**63 - 1),
        ("a number", 1.5, 1.5),
        ("a text", "ș", "ș"),
        ("a bool", True, True),
        ("a date", "2025-06-30", "2025-06-30"),
        ("a datetime", "2025-06-30T12:00:00Z", "2025-06-30 12:00:00+00:00"),
        ("a uuid", "{12345678-1234-5678-1234-567812345678}", "12345678-1234-5678-1234-567812345678"),
        ("a enum(x, y)", "y", "y"),
        ("a int?", None, None),
        ("a prefix", "50%", r"50\%%"),
        ("a contains", r"a_b\c", r"%a\_b\\c%"),
    ],
)
def test_a_value_of_the_parameter_is_bound(text: str, value: Json, bound: Json) -> None:
    assert parse(text).accept(value) == bound


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a int", True),
        ("a int", "5"),
        ("a int", 1.0),
        ("a int", 2**63),
        ("a int", None),
        ("a int 1..2", 3),
        ("a number", "1"),
        ("a number", float("nan")),
        ("a number", float("inf")),
        ("a number", 10**400),
        ("a text", 5),
        ("a text", "x" * 201),
        ("a text", "a\0b"),
        ("a text", "\ud800"),
        ("a text /[A-Z]+/", "ABc"),
        ("a text /[A-Z]+/", "AB\n"),
        ("a bool", 1),
        ("a date", "30.06.2025"),
        ("a datetime", "noon"),
        ("a datetime", "0001-01-01T00:00:00+14:00"),
        ("a datetime", "9999-12-31T23:59:59-01:00"),
        ("a uuid", "x"),
        ("a enum(x, y)", "z"),
        ("a prefix", "%"),
        ("a prefix", "ab"),
    ],
)
def test_a_value_of_none_is_refused(text: str, value: Json) -> None:
    with pytest.raises(ValueError, match=r"^a "):
        parse(text).accept(value)


@given(st.text(min_size=3, max_size=50).filter(lambda text: "\0" not in text and text.isprintable()))
def test_no_letter_of_a_match_is_a_wildcard(text: str) -> None:
    pattern = str(parse("a prefix").accept(text))
    plain = pattern.removesuffix("%").replace(r"\\", "\0").replace(r"\%", "").replace(r"\_", "")

    assert "%" not in plain
    assert "_" not in plain
