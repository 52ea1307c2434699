"""Arguments of tools that are given by a JSON Schema."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from placet.errors import ToolDefinitionError
from placet.tools.arguments import Arguments
from placet.tools.raw_arguments import LOOK_AROUND_BYTES, RawArguments, plain_dict
from placet.tools.schema_validator import compile_validator
from placet.tools.tool import Tool
from placet.values.decision import Deny
from placet.values.principal import EVERYONE
from tests.tools.cases import CONTEXT


def define(schema: dict[str, Any]) -> Tool:
    return Tool.define(
        name="raw", description="Do it.", parameters=schema, effect="read", roles={EVERYONE}, handler=lambda args: args
    )


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def read(schema: dict[str, Any], arguments: Any) -> Arguments | Deny:
    return define(schema).reader.read(arguments if isinstance(arguments, str) else json.dumps(arguments))


def refused(schema: dict[str, Any], arguments: Any) -> str:
    refusal = read(schema, arguments)
    assert isinstance(refusal, Deny), refusal
    return f"{refusal.message} | {refusal.hint}"


def text(schema: dict[str, Any], arguments: Any) -> str:
    taken = read(schema, arguments)
    assert isinstance(taken, Arguments), taken
    again = read(schema, taken.text)
    assert isinstance(again, Arguments)
    assert again.text == taken.text, "reading what was written gives the same"
    return taken.text


def test_the_handler_gets_a_dict_of_its_own() -> None:
    made = define(of(city={"type": "string"}))
    taken = made.reader.read('{"city": "Oslo"}')
    assert isinstance(taken, Arguments)

    received = made.execute(taken.value, None, CONTEXT)
    received["api_key"] = "sk-TEST-123"

    assert "sk-TEST-123" not in taken.text
    assert plain_dict(taken.value) == {"city": "Oslo"}


@pytest.mark.parametrize("name", ["items", "get", "keys", "copy", "values", "_values", "pop"])
def test_every_argument_is_an_attribute_whatever_its_name(name: str) -> None:
    taken = read(of(**{name: {}}), {name: 7})

    assert isinstance(taken, Arguments)
    assert getattr(taken.value, name) == 7
    assert taken.value[name] == 7


def test_an_argument_that_is_not_there_is_no_attribute() -> None:
    arguments = RawArguments({"a": 1})

    with pytest.raises(AttributeError, match="items"):
        arguments.items  # noqa: B018 - looked at for its error
    assert ("a" in arguments, list(arguments), len(arguments)) == (True, ["a"], 1)
    assert arguments == RawArguments({"a": 1})


# ── closed ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "schema",
    [
        of(city={}),
        {"properties": {"city": {}}},
        {"type": ["object", "null"], "properties": {"city": {}}},
        {"allOf": [of(city={}), of(days={})]},
        {"anyOf": [of(city={}), of(days={})]},
        {"$ref": "#/$defs/a", "$defs": {"a": of(city={})}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [of(city={}), {"$ref": "#/definitions/d"}],
         "definitions": {"d": of(days={})}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/d",
         "definitions": {"d": of(city={})}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "oneOf": [of(city={"type": "string"})]},
    ],
)  # fmt: skip
def test_an_unknown_argument_is_refused_with_the_nearest_name(schema: dict[str, Any]) -> None:
    assert text(schema, {"city": "Oslo"}) == '{"city":"Oslo"}'

    assert "ctiy: is unknown to this tool" in refused(schema, {"city": "Oslo", "ctiy": "x"})


def test_the_nearest_name_is_said() -> None:
    assert refused(of(city={}), {"ctiy": "x"}) == "ctiy: is unknown to this tool | did you mean 'city'?"


@pytest.mark.parametrize("place", ["$defs", "definitions"])
def test_the_nearest_name_is_said_behind_a_reference_too(place: str) -> None:
    schema = {
        **of(to={"$ref": f"#/{place}/Address"}),
        place: {"Address": {**of(city={}), "additionalProperties": False}},
    }

    assert refused(schema, {"to": {"ctiy": "x"}}).endswith("| did you mean 'city'?")


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, of()])
def test_a_tool_without_parameters_takes_none(schema: dict[str, Any]) -> None:
    assert text(schema, "") == "{}"
    assert "is unknown" in refused(schema, {"a": 1})


def test_objects_inside_are_closed_too() -> None:
    inner = of(x={})
    schema = of(o=inner, many={"type": "array", "items": inner})

    assert "o.y: is unknown" in refused(schema, {"o": {"y": 1}})
    assert "many.1.y: is unknown" in refused(schema, {"many": [{}, {"y": 1}]})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": True},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "patternProperties": {"^k": {}}},
        of() | {"unevaluatedProperties": True},
    ],
)
def test_what_the_schema_itself_leaves_open_stays_open(schema: dict[str, Any]) -> None:
    assert text(schema, {"k": 1}) == '{"k":1}'


def test_a_combination_inside_is_left_as_it_is() -> None:
    schema = of(o={"allOf": [of(x={}), of(y={})]})

    assert text(schema, {"o": {"x": 1, "y": 2}}) == '{"o":{"x":1,"y":2}}'


# ── validated ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("property_schema", "value"),
    [
        ({"type": "integer"}, "zz"), ({"type": "integer"}, True), ({"type": "string"}, 1), ({"enum": ["a"]}, "zz"),
        ({"const": 5}, "zz"), ({"type": "number", "maximum": 5}, 6), ({"type": "string", "pattern": "^[0-9]+$"}, "zz"),
        ({"format": "date"}, "2031-02-30"), ({"format": "date-time"}, "zz"), ({"format": "email"}, "zz"),
        ({"format": "uuid"}, "zz"), ({"format": "ipv4"}, "999.1.1.1"), ({"format": "uri"}, "not a uri"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 3), ({"type": "array", "uniqueItems": True}, [1, 1]),
    ],
)  # fmt: skip
def test_what_the_schema_does_not_take_is_refused_and_not_repeated(property_schema: Any, value: Any) -> None:
    said = refused(of(password=property_schema), {"password": value})

    assert said.startswith("password: ")
    assert "zz" not in said


def test_required_names_the_argument() -> None:
    assert refused(of(city={}) | {"required": ["city"]}, {}) == "city: is required | None"


# ── written down ──────────────────────────────────────────────────────────────────────


def test_defaults_are_written_down() -> None:
    schema = of(
        unit={"default": "C"},
        place=of(country={"default": "NO"}),
        stops={"type": "array", "items": of(minutes={"default": 5})},
    )

    assert json.loads(text(schema, {"place": {}, "stops": [{}, {"minutes": 1}]})) == {
        "unit": "C",
        "place": {"country": "NO"},
        "stops": [{"minutes": 5}, {"minutes": 1}],
    }


def test_a_default_that_is_not_valid_is_left_out() -> None:
    assert text(of(days={"type": "integer", "default": "three"}), {}) == "{}"


def test_the_schemas_own_default_is_not_changed_by_a_call() -> None:
    made = define(of(tags={"default": []}))
    first = made.reader.read("{}")
    assert isinstance(first, Arguments)
    first.value.tags.append("left over")

    again = made.reader.read("{}")

    assert isinstance(again, Arguments)
    assert again.value.tags == []


def test_equal_arguments_are_written_alike() -> None:
    schema = of(n={"type": "integer"}, o={"type": "object", "additionalProperties": True})

    assert text(schema, '{"n": 5.0, "o": {"a": 1, "b": 2}}') == text(schema, '{"o": {"b": 2, "a": 1}, "n": 5}')


def test_names_that_look_like_secrets_are_kept_out() -> None:
    assert define(of(api_key={}, city={})).spec.secret_fields == {"api_key"}


# ── offline, and in bounded time ──────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "reference", ["https://example.com/s.json", "http://127.0.0.1:1/s", "file:///etc/passwd", "urn:x:y", "#/$defs/none"]
)
def test_nothing_is_fetched(reference: str) -> None:
    with pytest.raises(ToolDefinitionError, match="offline"):
        define(of(a={"$ref": reference}))


def test_not_even_a_file_that_is_there_is_read(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type": "integer"}')

    with pytest.raises(ToolDefinitionError, match="is not fetched"):
        define(of(a={"$ref": (tmp_path / "s.json").as_uri()}))


async def test_not_even_a_server_that_answers_is_asked() -> None:
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(ToolDefinitionError, match="is not fetched"):
            await asyncio.to_thread(define, of(a={"$ref": f"http://127.0.0.1:{port}/s.json"}))

    assert not asked


def test_a_schema_may_refer_to_itself() -> None:
    schema = of(child={"$ref": "#"}, name={"type": "string"})

    assert text(schema, {"child": {"child": {"name": "a"}}})
    assert "child.nmae: is unknown" in refused(schema, {"child": {"nmae": "a"}})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"}, of(a={"type": "integr"}), of(a={"pattern": "["}), of(a={"minimum": "x"}),
        {"type": "object", "properties": {"a": object()}},
    ],
)  # fmt: skip
def test_what_is_no_schema_of_an_object_is_refused_when_it_is_defined(schema: dict[str, Any]) -> None:
    with pytest.raises(ToolDefinitionError, match="'raw'"):
        define(schema)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]$", "(.*a){20}zz"])
def test_a_pattern_takes_linear_time(pattern: str) -> None:
    validator, linear = compile_validator({"pattern": pattern})
    started = time.perf_counter()

    assert not validator.is_valid("a" * 90_000 + "!")
    assert linear
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("pattern", ["^(?=(a+)+$)(a|aa)+$", r"(a+)\1+b", "(?=(.*a){12})zz"])
def test_where_a_pattern_looks_around_long_arguments_are_refused(pattern: str) -> None:
    schema = of(a={"pattern": pattern})
    started = time.perf_counter()

    assert "pattern" in refused(schema, {"a": "a" * 1_500 + "!"})
    assert str(LOOK_AROUND_BYTES) in refused(schema, {"a": "a" * LOOK_AROUND_BYTES})
    assert time.perf_counter() - started < 5


def test_a_pattern_that_looks_around_still_works() -> None:
    schema = of(amount={"pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"})

    assert text(schema, {"amount": "12.30"}) == '{"amount":"12.30"}'
    assert "pattern" in refused(schema, {"amount": "-"})
