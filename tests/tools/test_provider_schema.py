"""Schemas as providers take them: inside the subset, with nothing lost in silence."""

import json
from typing import Any

import anthropic
import jsonschema_rs
import pytest

from placet.tools.dialects import ANTHROPIC, GEMINI, OPENAI
from placet.tools.provider_schema import CompiledSchema, Strictness, compile_schema
from placet.tools.tool import Tool
from placet.values.decision import Deny
from placet.values.principal import EVERYONE
from tests.tools.cases import build, objects_in

ORDER = """
class Line(BaseModel):
    sku: Annotated[str, Field(pattern='^[A-Z]{3}$', max_length=3)]
    count: Annotated[int, Field(ge=1, le=9, multiple_of=1)] = 1
class Order(BaseModel):
    reason: Literal['damaged', 'lost'] = 'damaged'
    amount: Annotated[float, Field(gt=0, description='How much.')]
    lines: Annotated[list[Line], Field(max_length=5)]
    first: Annotated[Line, Field(description='The first line.')]
    when: datetime | None = None
    tags: set[str] = set()
    raw: bytes = b''
    size: tuple[int, str] = (1, 'a')
def order(order: Order, note: str | int, kind: Literal[1, 2] = 1) -> str"""

SUBSET = {
    "type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "description", "$ref", "$defs",
    "format",
}  # fmt: skip


def compiled(source: str, dialect: Any) -> CompiledSchema:
    return compile_schema(build(source).tool.spec.input_schema, dialect, strict=True)


def raw(schema: dict[str, Any]) -> Tool:
    return Tool.define(
        name="raw", description="Do it.", parameters=schema, effect="read", roles={EVERYONE}, handler=lambda args: args
    )


def keywords_of(schema: Any) -> set[str]:
    """Every keyword that is used anywhere in a schema."""
    found: set[str] = set()
    pending = [schema]
    while pending:
        place = pending.pop()
        found |= place.keys()
        for key in ("properties", "$defs"):
            pending += place.get(key, {}).values()
        pending += place.get("anyOf", [])
        pending += [place["items"]] if "items" in place else []
    return found


def without_types_of_enums(schema: Any) -> Any:
    if isinstance(schema, list):
        return [without_types_of_enums(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: without_types_of_enums(value) for key, value in schema.items() if not (key == "type" and "enum" in schema)
    }


# ── OpenAI ────────────────────────────────────────────────────────────────────────────


def test_openai_gets_closed_objects_with_everything_required() -> None:
    made = compiled(ORDER, OPENAI)

    assert made.strictness is Strictness.STRICT
    for place in objects_in(made.schema):
        assert place["additionalProperties"] is False
        assert place["required"] == list(place["properties"])
    assert keywords_of(made.schema) <= SUBSET | OPENAI.keywords
    jsonschema_rs.meta.validate(dict(made.schema))


def test_openai_may_leave_out_what_is_optional_by_null() -> None:
    made = compiled(ORDER, OPENAI)
    sent: Any = made.schema

    assert {"type": "null"} in sent["properties"]["kind"]["anyOf"]
    assert {"type": "null"} in sent["$defs"]["Line"]["properties"]["count"]["anyOf"]
    assert "null" not in json.dumps(sent["$defs"]["Line"]["properties"]["sku"])


def test_what_openai_left_out_by_null_gets_its_default() -> None:
    built = build(ORDER)
    made = compile_schema(built.tool.spec.input_schema, OPENAI, strict=True)
    line = {"sku": "ABC", "count": None}
    nothing = dict.fromkeys(("reason", "when", "tags", "raw", "size"))
    order = {"amount": 5, "lines": [line], "first": line, **nothing}
    sent = {"order": order, "note": "a", "kind": None}
    jsonschema_rs.validator_for(dict(made.schema)).validate(sent)

    received = built.call(made.restore(json.dumps(sent)))

    assert not isinstance(received, Deny), received
    assert received["kind"] == 1
    assert (received["order"].reason, received["order"].when, received["order"].size) == ("damaged", None, (1, "a"))
    assert received["order"].lines[0].count == 1


def test_null_where_it_is_required_stays_and_is_refused() -> None:
    built = build("def f(a: int, b: int | None, c: int = 1) -> str")
    made = compile_schema(built.tool.spec.input_schema, OPENAI, strict=True)

    assert built.call(made.restore('{"a": 1, "b": null, "c": null}')) == {"a": 1, "b": None, "c": 1}
    assert json.loads(made.restore('{"a": null, "b": null, "c": null}')) == {"a": None, "b": None}
    assert isinstance(built.call(made.restore('{"a": null, "b": null, "c": 1}')), Deny)


@pytest.mark.parametrize("text", ["", "nonsense", "[1]", '{"a": 1, "a": 2}', '{"a": 1}'])
def test_what_needs_no_restoring_is_left_to_the_reader(text: str) -> None:
    assert compiled("def f(a: int, c: int = 1) -> str", OPENAI).restore(text) == text


def test_openai_is_sent_no_default_and_the_model_reads_of_it() -> None:
    sent: Any = compiled(ORDER, OPENAI).schema

    assert "default" not in keywords_of(sent)
    assert sent["$defs"]["Order"]["properties"]["reason"]["description"] == '(default: "damaged")'


def test_what_openai_does_not_enforce_is_reported_and_said() -> None:
    made = compiled(ORDER, OPENAI)
    sent: Any = made.schema

    assert made.unenforced == (
        "Line.sku: maxLength", "Order.first.sku: maxLength", "Order.tags: uniqueItems", "Order.raw: contentEncoding",
        "Order.size: which item is of which type",
    )  # fmt: skip
    assert sent["$defs"]["Line"]["properties"]["sku"]["description"] == "(maxLength: 3)"


@pytest.mark.parametrize("pattern", ["^(?!0)[0-9]+$", "(?<=a)b", "(?=x)", "(?<!a)b"])
def test_openai_is_sent_no_look_around(pattern: str) -> None:
    full: Any = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": pattern}},
        "additionalProperties": False,
    }

    made = compile_schema(full, OPENAI, strict=True)

    assert "pattern" not in keywords_of(made.schema)
    assert made.unenforced == ("a: pattern",)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"properties": {"a": {"type": "object"}}}, "a is an object of any keys"),
        ({"properties": {"a": {"type": "object", "additionalProperties": {}}}}, "a is an object of any keys"),
        ({"properties": {"a": {"type": "object", "patternProperties": {"^x": {}}}}}, "a is an object of any keys"),
        ({"properties": {"a": {}}}, "a may be anything"),
        ({"properties": {"a": True}}, "a may be anything"),
        ({"properties": {"a": {"type": "array"}}}, "a is a list of anything"),
        ({"properties": {"a": {"not": {"type": "string"}}}}, "a says 'not'"),
        ({"properties": {"a": {"allOf": [{"type": "string"}, {"minLength": 2}]}}}, "a says 'allOf'"),
        ({"properties": {"a": {"type": "string"}}, "if": {}, "then": {}}, "the arguments say 'if'"),
        ({"anyOf": [{"properties": {"a": {"type": "string"}}}]}, "the arguments say 'anyOf'"),
        ({"additionalProperties": True}, "arguments is an object of any keys"),
        ({"properties": {"a": {"enum": [str(n) for n in range(1_001)]}}}, "1001 enum values"),
        ({"properties": {"a": {"enum": ["x" * 70 + str(n) for n in range(251)]}}}, "enum of more than 15000"),
        ({"properties": {f"p{n}": {"type": "string"} for n in range(5_001)}}, "5001 properties"),
        ({"properties": {"p" * 120_001: {"type": "string"}}}, "characters of names"),
    ],
)  # fmt: skip
def test_what_the_subset_cannot_say_is_relaxed_with_its_reason(schema: dict[str, Any], reason: str) -> None:
    made = compile_schema({"type": "object", "additionalProperties": False, **schema}, OPENAI, strict=True)

    assert made.strictness is Strictness.RELAXED
    assert reason in made.reason


def test_objects_nested_too_deep_for_openai_are_relaxed() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(11):
        schema = {"type": "object", "properties": {"a": schema}, "additionalProperties": False}

    assert "nested deeper" in compile_schema(schema, OPENAI, strict=True).reason


def test_the_forms_of_a_root_are_told_as_properties() -> None:
    full = raw({
        "oneOf": [
            {"properties": {"city": {"type": "string"}}, "required": ["city"]},
            {"$ref": "#/$defs/place"},
        ],
        "allOf": [{"properties": {"days": {"type": "integer"}}, "required": ["days"]}],
        "$defs": {"place": {"properties": {"lat": {"type": "number"}}, "required": ["lat"]}},
    }).spec.input_schema  # fmt: skip

    for dialect in (OPENAI, ANTHROPIC, GEMINI):
        sent: Any = compile_schema(full, dialect, strict=True).schema
        assert set(sent["properties"]) == {"city", "days", "lat"}
        assert sent["required"] == ["days"]
        assert not {"oneOf", "allOf", "anyOf"} & sent.keys()


# ── Anthropic ─────────────────────────────────────────────────────────────────────────


def test_anthropic_gets_what_its_own_sdk_would_send() -> None:
    made = compiled(ORDER, ANTHROPIC)

    assert made.strictness is Strictness.STRICT
    assert anthropic.transform_schema(dict(made.schema)) == without_types_of_enums(made.schema)
    assert keywords_of(made.schema) <= SUBSET


def test_anthropic_may_leave_out_what_is_optional() -> None:
    sent: Any = compiled(ORDER, ANTHROPIC).schema

    assert sent["required"] == ["order", "note"]
    assert (compiled(ORDER, ANTHROPIC).optional, compiled(ORDER, ANTHROPIC).unions) == (8, 2)


def test_bounds_are_no_part_of_anthropics_grammar_and_said_instead() -> None:
    made = compiled(ORDER, ANTHROPIC)
    sent: Any = made.schema

    assert sent["$defs"]["Order"]["properties"]["amount"]["description"] == "How much. (exclusiveMinimum: 0)"
    assert "Order.amount: exclusiveMinimum" in made.unenforced
    assert "Line.sku: pattern" in made.unenforced


def test_a_type_that_holds_itself_is_relaxed_for_anthropic() -> None:
    made = compiled("class Node(BaseModel):\n    children: list['Node'] = []\ndef f(root: Node) -> str", ANTHROPIC)

    assert made.strictness is Strictness.RELAXED
    assert "Node holds itself" in made.reason


def test_several_types_are_several_forms_for_anthropic() -> None:
    several: Any = {
        "type": ["string", "array", "null"],
        "items": {"type": "string"},
        "format": "date",
        "description": "d",
    }
    full = raw({"properties": {"a": several}}).spec.input_schema

    sent: Any = compile_schema(full, ANTHROPIC, strict=True).schema

    assert sent["properties"]["a"] == {
        "anyOf": [
            {"type": "string", "format": "date"},
            {"type": "array", "items": {"type": "string"}},
            {"type": "null"},
        ],
        "description": "d",
    }


# ── Gemini ────────────────────────────────────────────────────────────────────────────


def test_gemini_gets_no_references_no_null_and_enums_of_text() -> None:
    sent = compiled(ORDER, GEMINI).schema
    used = keywords_of(sent)

    assert used <= (SUBSET - {"$ref", "$defs", "additionalProperties"}) | GEMINI.keywords | {"nullable"}
    assert '"null"' not in json.dumps(sent)
    kind: Any = sent["properties"]
    assert kind["kind"]["enum"] == ["1", "2"]


def test_enums_of_any_kind_come_back_as_they_are_declared() -> None:
    built = build("def f(a: Literal[1, 'one', None], b: Literal[True, False], c: str) -> str")
    made = compile_schema(built.tool.spec.input_schema, GEMINI, strict=False)

    assert built.call(made.restore('{"a": "1", "b": "true", "c": "1"}')) == {"a": 1, "b": True, "c": "1"}
    assert built.call(made.restore('{"a": "one", "b": "false", "c": "null"}')) == {"a": "one", "b": False, "c": "null"}
    assert built.call(made.restore('{"a": null, "b": true, "c": ""}')) == {"a": None, "b": True, "c": ""}


def test_enums_are_restored_in_lists_and_unions() -> None:
    built = build(
        "class I(BaseModel):\n    n: Literal[1, 2]\ndef f(many: list[Literal[1, 2]], x: I | None = None) -> str"
    )
    made = compile_schema(built.tool.spec.input_schema, GEMINI, strict=False)

    received = built.call(made.restore('{"many": ["1", "2"], "x": {"n": "2"}}'))

    assert (received["many"], received["x"].n) == ([1, 2], 2)


def test_what_gemini_cannot_say_is_left_out_and_reported() -> None:
    full = raw({"properties": {"a": {"not": {"type": "string"}}, "b": {"type": "object"}}}).spec.input_schema

    made = compile_schema(full, GEMINI, strict=False)

    assert "a: not" in made.unenforced
    assert "not" not in keywords_of(made.schema)


# ── nobody's subset ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("strict", [True, False])
def test_where_nothing_is_enforced_the_full_schema_is_sent(strict: bool) -> None:
    full = build(ORDER).tool.spec.input_schema

    assert compile_schema(full, None, strict=strict).schema is full
    assert compile_schema(full, OPENAI, strict=False).schema is full


def test_a_tool_is_not_changed_by_being_told() -> None:
    full = build(ORDER).tool.spec.input_schema
    before = json.dumps(full)

    for dialect in (OPENAI, ANTHROPIC, GEMINI):
        compile_schema(full, dialect, strict=True)

    assert json.dumps(full) == before


def test_a_reference_that_leads_nowhere_is_not_strict() -> None:
    full: Any = {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}, "additionalProperties": False}

    assert compile_schema(full, OPENAI, strict=True).strictness is Strictness.RELAXED


def test_a_wire_that_cannot_carry_it_refuses() -> None:
    made = compiled("class Node(BaseModel):\n    children: list['Node'] = []\ndef f(root: Node) -> str", GEMINI)

    assert made.strictness is Strictness.REFUSED
