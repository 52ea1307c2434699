import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.errors import ConfigurationError
from placet.redaction.pack import KINDS
from placet.redaction.redact import Redactor
from placet.values.json import Json

PLAIN = Redactor()
DECLARED = Redactor(frozenset({"note", "customer.tax_id", "endereço"}))
PERSONAL = Redactor(personal=frozenset(KINDS))
ALL = Redactor(frozenset({"note", "a.b"}), personal=frozenset(KINDS))


@pytest.mark.parametrize(
    ("value", "redacted"),
    [
        ({"password": "x", "n": 1}, {"password": "[redacted]", "n": 1}),
        ({"a": [{"apiKey": {"id": 1}}]}, {"a": [{"apiKey": "[redacted]"}]}),
        ({"pin": 1234, "tokens": 512, "tokens_used": 5}, {"pin": "[redacted]", "tokens": 512, "tokens_used": 5}),
        ({"tokens": ["abc"], "x": {"tokens": {"input": 5}}}, {"tokens": "[redacted]", "x": {"tokens": {"input": 5}}}),
        ({"token": None, "password": True}, {"token": None, "password": True}),
        ({"name": "Authorization", "value": "x"}, {"name": "Authorization", "value": "[redacted]"}),
        ({"Name": "X-Api-Key", "Val": "x"}, {"Name": "X-Api-Key", "Val": "[redacted]"}),
        ({"field": "password", "value": {"a": "x"}}, {"field": "password", "value": "[redacted]"}),
        ({"name": "Title", "value": "x"}, {"name": "Title", "value": "x"}),
        ([["Host", "x"], ["X-Api-Key", "y"]], [["Host", "x"], ["X-Api-Key", "[redacted]"]]),
        (["token", 5], ["token", 5]),
        (["token", "a", "b"], ["token", "a", "b"]),
        ({"error": "db password=hunter2"}, {"error": "db password=[redacted]"}),
        ({"body": '{"pin": "99", "n": 1}'}, {"body": '{"pin":"[redacted]","n":1}'}),
        ({"ghp_0123456789abcdefghij": 1}, {"[redacted]": 1}),
        ("Bearer abcdef123", "Bearer [redacted]"),
        ((1, "x"), [1, "x"]),
        ({1: "x"}, {"1": "x"}),
        ({"at": datetime(2026, 1, 1, tzinfo=UTC), "b": b"password"}, {"at": "[datetime]", "b": "[bytes]"}),
    ],
)
def test_secrets_are_taken_out_of_values(value: Any, redacted: Any) -> None:
    assert PLAIN.value(value) == redacted


def test_declared_fields_go_by_name_at_any_depth_and_by_the_end_of_a_path() -> None:
    value: Json = {"Note": 1, "x": [{"note": {"a": 1}}], "customer": [{"tax_id": 1, "name": "Ana"}], "tax_id": 3}

    assert DECLARED.value(value) == {
        "Note": "[redacted]",
        "x": [{"note": "[redacted]"}],
        "customer": [{"tax_id": "[redacted]", "name": "Ana"}],
        "tax_id": 3,
    }


def test_a_declared_path_counts_wherever_its_end_stands() -> None:
    value: Json = {"order": {"Customer": {"tax_id": 1}, "tax_id": 2}}

    assert DECLARED.value(value) == {"order": {"Customer": {"tax_id": "[redacted]"}, "tax_id": 2}}


def test_a_letter_in_disguise_hides_no_name_from_the_first_glance() -> None:
    assert PLAIN.json_text('{"p\\u0061ssword":"x"}') == '{"password":"[redacted]"}'


@pytest.mark.parametrize("value", [["token", "hunter2"], {"Header": "token", "VALUE": "hunter2"}])
def test_what_goes_of_a_pair_is_known_where_it_is_quoted(value: Json) -> None:
    assert PLAIN.secrets_in(value) == {"hunter2"}


def test_a_value_is_copied_and_not_changed() -> None:
    value: Json = {"args": {"api_key": "sk-TEST-123", "items": [1]}}
    copy = PLAIN.value(value)

    assert copy == {"args": {"api_key": "[redacted]", "items": [1]}}
    assert value == {"args": {"api_key": "sk-TEST-123", "items": [1]}}


def test_without_patterns_only_what_is_declared_goes() -> None:
    redactor = Redactor(frozenset({"note"}), patterns=False)

    assert redactor.value({"note": 1, "password": "x"}) == {"note": "[redacted]", "password": "x"}
    assert redactor.text("note=abc password=x") == "note=[redacted] password=x"
    assert redactor.json_text('{"password":"x"}') == '{"password":"x"}'


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ('{"note": "x", "n": 1}', '{"note":"[redacted]","n":1}'),
        ('{"NOTE":"x"}', '{"NOTE":"[redacted]"}'),
        ('{"n\\u006fte":"x"}', '{"note":"[redacted]"}'),
        ('{"endere\\u00e7o":"x"}', '{"endere\\u00e7o":"[redacted]"}'),
        ('{"endereço":"x"}', '{"endere\\u00e7o":"[redacted]"}'),
        ('{"pass\\u0077ord":"x"}', '{"password":"[redacted]"}'),
        ('{"url":"https:\\/\\/a:b@h"}', '{"url":"https://[redacted]@h"}'),
        ('{"note": "cut off in the', '{"note": "[redacted]"'),
        ('{"note": "x", "ok": tru', '{"note": "[redacted]", "ok": tru'),
        ('{"s":"{\\"note\\":\\"x\\"}"}', '{"s":"{\\"note\\":\\"[redacted]\\"}"}'),
        ("note: hunter2", "note: [redacted]"),
        ('{"note":"x","note":null}', '{"note":"[redacted]"}'),
        ('{"a":{"note":"x"},"a":1}', '{"a":[{"note":"[redacted]"},1]}'),
        ('{"s":"pin=1234","s":"y"}', '{"s":["pin=[redacted]","y"]}'),
        ('{"n":1,"n":2}', '{"n":1,"n":2}'),
        ('[{"name":"note","value":"x"},["note","y"]]', '[{"name":"note","value":"[redacted]"},["note","[redacted]"]]'),
        ("[('note', 'a b')]", "[('note', '[redacted]')]"),
    ],
)
def test_json_texts_are_redacted_whole_or_cut(text: str, redacted: str) -> None:
    assert DECLARED.json_text(text) == redacted


@pytest.mark.parametrize(
    "text",
    ['{"order_id": 8842,  "title": "Dom Casmurro"}', "[]", "", "8842", '{"shipping": "opinion"}', '{"a":1,"a":2}'],
)
@pytest.mark.parametrize("redactor", [PLAIN, DECLARED, PERSONAL])
def test_a_text_with_nothing_to_hide_is_the_same_text(redactor: Redactor, text: str) -> None:
    assert redactor.json_text(text) is text
    assert redactor.text(text) is text


def test_a_false_alarm_leaves_the_text_as_it_was_written() -> None:
    text = '{"note_count":  1, "words": "the token has expired"}'

    assert PLAIN.json_text(text) is text


def test_a_text_that_is_json_is_redacted_as_json() -> None:
    assert DECLARED.text('{"note": "two words", "n": 1}') == '{"note":"[redacted]","n":1}'


def test_what_a_tool_quotes_of_its_own_secret_arguments_is_hidden() -> None:
    arguments: Json = {"password": "correct horse", "pin": 99, "order_id": 8842, "customer": {"tax_id": "X1"}}
    known = DECLARED.secrets_in(arguments)

    assert known == {"correct horse", "99", "X1"}
    assert DECLARED.text("no such login: correct horse/99 for 8842, 1990, (X1)", known=known) == (
        "no such login: [redacted]/[redacted] for 8842, 1990, ([redacted])"
    )


PEOPLE: Json = {"to": "ana@shop.example", "cpf": 52998224725, "nif": "501442600", "n": "501442600", "order": 12345678}


def test_personal_data_go_where_they_are_asked_for() -> None:
    hidden = {"to": "[email]", "cpf": "[cpf]", "nif": "[nif]", "n": "501442600", "order": 12345678}

    assert PERSONAL.value(PEOPLE) == hidden
    assert PERSONAL.text("write to ana@shop.example") == "write to [email]"
    assert PLAIN.value(PEOPLE) == PEOPLE


def test_an_unknown_kind_of_personal_data_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'ibann'"):
        Redactor(personal=frozenset({"ibann"}))


@pytest.mark.parametrize("name", ["", "a.", ".a", "a..b"])
def test_a_declared_field_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="needs a name"):
        Redactor(frozenset({name}))


def test_what_is_nested_too_deep_is_not_kept() -> None:
    nested: Any = {"password": "hunter2"}
    for _ in range(50_000):
        nested = [nested]

    objects: Any = {"password": "hunter2"}
    for _ in range(50_000):
        objects = {"a": objects}

    assert "hunter2" not in str(PLAIN.value(nested))
    assert "hunter2" not in str(PLAIN.value(objects))
    assert "hunter2" not in PLAIN.json_text("[" * 50_000 + '{"password":"hunter2"}' + "]" * 50_000)


def test_a_number_too_long_for_python_does_not_break_redaction() -> None:
    assert "hunter2" not in PLAIN.json_text('{"password":"hunter2","n":1' + "0" * 5000 + "}")


NAMED = ["password", "note", "a", "b", "tokens", "name", "value", "Authorization", "pin"]
SAID = ["Bearer abcdef1", "note: x", "ana@shop.example", "pin=1", '{"note":', "52998224725", 'password="x']
NAMES = st.sampled_from(NAMED) | st.text(max_size=5)
TEXTS = st.sampled_from(SAID) | st.text()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
@pytest.mark.parametrize("redactor", [PLAIN, DECLARED, ALL])
def test_redacting_twice_is_redacting_once_and_raises_nothing(redactor: Redactor, value: Any) -> None:
    once = redactor.value(value)
    text = redactor.json_text(json.dumps(value))
    free = redactor.text(str(value))

    assert json.dumps(redactor.value(once)) == json.dumps(once)
    assert redactor.json_text(text) == text
    assert redactor.text(free) == free
    text.encode()


@given(JSON)
@pytest.mark.parametrize("redactor", [PLAIN, DECLARED, ALL])
def test_a_json_text_keeps_out_what_its_value_would(redactor: Redactor, value: Any) -> None:
    text = json.dumps(value)

    assert json.dumps(json.loads(redactor.json_text(text))) == json.dumps(redactor.value(json.loads(text)))
