"""The engine's own words: what is a call, and what is none."""

import pytest

from placet.errors import ModelProtocolError
from placet.models.local_answer import read_calls


def say(calls: str, more: str = "") -> str:
    return f'{{"type":"call","success":true,"function_calls":{calls},"suppressed_calls":[]{more}}}'


def test_arguments_stay_as_they_were_written() -> None:
    said = say('[ {"name":"pay", "arguments": {"amount": 49.90, "n":1e3,"amount":2} } ]')

    (call,) = read_calls(said, 1)

    assert (call.name, call.arguments) == ("pay", '{"amount": 49.90, "n":1e3,"amount":2}')


def test_ids_say_where_a_call_stands() -> None:
    two = '[{"name":"a","arguments":{}},{"arguments":{},"name":"b"}]'

    assert [(call.id, call.name) for call in read_calls(say(two), 7)] == [("call_7_0", "a"), ("call_7_1", "b")]


def test_a_call_that_is_held_back_is_none() -> None:
    said = '{"type":"call","function_calls":[],"suppressed_calls":[{"name":"a","arguments":{}}]}'

    assert read_calls(said, 1) == ()


@pytest.mark.parametrize(
    "said",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"type":"call"}',
        '{"type":"text","function_calls":[]}',
        say("{}"),
        say("null"),
        say("[1]"),
        say("[[]]"),
        say('[{"name":"a"}]'),
        say('[{"arguments":{}}]'),
        say('[{"name":1,"arguments":{}}]'),
        say('[{"name":"a","arguments":[]}]'),
        say('[{"name":"a","arguments":"{}"}]'),
        say('[{"name":"a","arguments":{},"id":"x"}]'),
        say('[{"name":"a","name":"b","arguments":{}}]'),
        say("[]", ',"function_calls":[{"name":"a","arguments":{}}]'),
        say("[]") + " and more",
        say("[]")[:-1],
        "[" * 100_000,
    ],
)
def test_what_is_not_exactly_a_call_is_refused(said: str) -> None:
    with pytest.raises(ModelProtocolError):
        read_calls(said, 1)
