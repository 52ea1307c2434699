"""One level of quotes around a list or an object is taken away, where a text cannot stand; noted, and never more."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from placet.tools.arguments import Arguments
from placet.tools.tool import Tool, tool
from placet.values.decision import Deny
from placet.values.principal import EVERYONE


class Address(BaseModel):
    street: str
    number: int


@tool(effect="read", roles={EVERYONE})
def ship(
    to: Address,
    lines: list[str],
    note: str = "",
    extra: dict[str, int] | None = None,
    either: list[str] | str = "",
) -> str:
    """Ship it."""
    return note


PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"$ref": "#/$defs/Address"},
        "lines": {"type": "array", "items": {"type": "string"}},
        "note": {"type": "string"},
        "extra": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "array"}, {"type": "string"}]},
        "any": {},
    },
    "required": ["to", "lines"],
    "$defs": {
        "Address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "number": {"type": "integer"}},
            "required": ["street", "number"],
        }
    },
}


def raw(parameters: dict[str, Any]) -> Tool:
    return Tool.define(
        name="ship",
        description="Ship it.",
        effect="read",
        roles={EVERYONE},
        parameters=parameters,
        handler=lambda args: args,
    )


OLDER = json.loads(json.dumps(PARAMETERS).replace("$defs", "definitions"))
TO = {"street": "Main St", "number": 5}
both = pytest.mark.parametrize(
    "made", [ship, raw(PARAMETERS), raw(OLDER)], ids=["typed", "raw", "raw, of an older draft"]
)


def read(made: Tool, **arguments: Any) -> Arguments | Deny:
    return made.reader.read(json.dumps(arguments))


@both
def test_a_list_and_an_object_in_quotes_are_what_is_in_the_quotes(made: Tool) -> None:
    plain = read(made, to=TO, lines=["a"])

    answer = read(made, to=json.dumps(TO), lines=json.dumps(["a"]))

    assert isinstance(answer, Arguments)
    assert isinstance(plain, Arguments)
    assert answer.text == plain.text, "it is digested, approved and run as if it had come so"
    assert answer.note == "one level of quotes around 'to', 'lines' was unwrapped"


@both
def test_a_text_stays_a_text(made: Tool) -> None:
    answer = read(made, to=TO, lines=json.dumps(["a"]), note='["a"]', either='["a"]')

    assert isinstance(answer, Arguments)
    assert (answer.json["note"], answer.json["either"]) == ('["a"]', '["a"]')


@both
@pytest.mark.parametrize(
    "lines",
    [
        pytest.param('["a", ', id="no JSON"),
        pytest.param('{"a": 1}', id="another kind"),
        pytest.param("[1]", id="another kind inside"),
        pytest.param('["a"] and more', id="something after it"),
        pytest.param(json.dumps('["a"]'), id="two levels"),
        pytest.param("[NaN]", id="no number"),
        pytest.param("[1e999]", id="too large a number"),
        pytest.param("[" * 70 + "]" * 70, id="too deep"),
        pytest.param("\ud83d", id="half a character"),
    ],
)
def test_anything_else_is_refused_as_it_was_sent(made: Tool, lines: str) -> None:
    assert isinstance(read(made, to=TO, lines=lines), Deny)


@both
def test_a_key_twice_within_quotes_is_refused(made: Tool) -> None:
    assert isinstance(read(made, to='{"street": "a", "number": 1, "number": 2}', lines=[]), Deny)


@both
def test_what_is_wrong_elsewhere_is_said_of_what_was_sent(made: Tool) -> None:
    answer = read(made, to=TO, lines=json.dumps(["a"]), colour="red")

    assert isinstance(answer, Deny)
    assert "colour" in answer.message


def test_where_the_schema_says_nothing_a_text_stays_a_text() -> None:
    answer = read(raw(PARAMETERS), to=TO, lines=json.dumps([]), any="[]")

    assert isinstance(answer, Arguments)
    assert answer.json["any"] == "[]"
