"""What has failed elsewhere, in public: arguments, schemas, values and outputs."""

import dataclasses
import datetime as dt
import json
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import jiter
import pytest

from placet.errors import ToolDefinitionError
from placet.tools.arguments import Arguments
from placet.tools.dialects import OPENAI
from placet.tools.docstring import read_docstring
from placet.tools.output import NO_CONTENT, OutputShaper, Shaped, ToolOutput
from placet.tools.provider_schema import Strictness, compile_schema
from placet.tools.tool import Tool, tool
from placet.tools.wire_tools import WireTool, compile_tools
from placet.values.decision import Deny, Reason
from placet.values.limits import RESULT_BYTES
from placet.values.principal import EVERYONE
from tests.tools.cases import CASES, arguments_of, build, build_case, define, ids_of, objects_in

# ── arguments ─────────────────────────────────────────────────────────────────────────

RECEIVED: dict[str, dict[str, Any]] = {
    "C003": {},
    "C005": {},
    "C006": {},
    "C007": {},
    "C013": {"city": "Oslo", "days": 2},
    "C017": {"note": '{"k": 1}'},
    "C018": {"note": "12345"},
    "C019": {"note": "007"},
    "C020": {"note": "true"},
    "C021": {"note": "null"},
    "C025": {"city": "Oslo", "days": 1},
    "C027": {"city": "Oslo", "unit": None},
}
REFUSED = {
    "C001": "not valid JSON",
    "C008": "must be one JSON object",
    "C011": "must be one JSON object",
    "C016": "names: must be a list; got text",
    "C024": "not valid JSON",
    "C026": "not valid JSON",
    "C028": "unit: is required",
    "C039": "confirm: must be true or false",
    "C041": "one key twice",
    "C185": "not valid JSON",
    "C186": "not valid JSON",
    "C187": "t: must be a number",
    "C188": "too large",
    "C193": "not valid JSON",
}
ELSEWHERE = {"C037"}
"""Cut at the token limit: the model client says so, and the call is refused before it is read."""


def test_every_case_of_arguments_has_its_expectation() -> None:
    cases = {*ids_of("args-json", "openai_message"), *ids_of("value-encoding", "openai_message")}

    assert cases == RECEIVED.keys() | REFUSED.keys() | ELSEWHERE


@pytest.mark.parametrize("case_id", RECEIVED)
def test_what_is_one_object_reaches_the_tool_unchanged(case_id: str) -> None:
    built = build(CASES[case_id]["input"]["tools"][0])

    assert built.call(arguments_of(case_id) or "") == RECEIVED[case_id]


@pytest.mark.parametrize("case_id", REFUSED)
def test_what_is_not_one_object_of_the_declared_form_is_refused(case_id: str) -> None:
    built = build(CASES[case_id]["input"]["tools"][0])

    refusal = built.call(arguments_of(case_id) or "")

    assert isinstance(refusal, Deny)
    assert refusal.reason is Reason.INVALID_ARGUMENTS
    assert REFUSED[case_id] in refusal.message
    assert not built.received


@pytest.mark.parametrize(("case_id", "note"), [("C013", "unwrapped"), ("C025", "end token"), ("C003", None)])
def test_what_was_mended_is_noted(case_id: str, note: str | None) -> None:
    read = build(CASES[case_id]["input"]["tools"][0]).read(arguments_of(case_id) or "")

    assert isinstance(read, Arguments)
    assert note in read.note if note and read.note else read.note is note


def test_c032_the_arms_of_a_union_are_closed() -> None:
    built = build_case("C032")

    refusal = built.call(CASES["C032"]["input"]["args"])

    assert isinstance(refusal, Deny)
    assert "q.offset: is unknown" in refusal.message
    assert not built.received


# ── schemas ───────────────────────────────────────────────────────────────────────────


def wire_of(made: Tool, form: str = "openai-chat", *, strict: bool = True) -> WireTool:
    return compile_tools([made.spec], form, strict=strict)[0]


def schema_sent(made: Tool, form: str = "openai-chat") -> dict[str, Any]:
    wire = wire_of(made, form)
    assert wire.compiled.strictness is Strictness.STRICT, wire.compiled.reason
    return dict(wire.compiled.schema)


def test_c030_nullable_and_required_are_two_things() -> None:
    built = build_case("C030")
    schema: Any = built.tool.spec.input_schema

    assert schema["required"] == ["major"]
    assert {"type": "null"} in schema["properties"]["major"]["anyOf"]
    assert built.call({"major": None}) == {"major": None}
    assert isinstance(built.call({"major": "null"}), Deny)


def test_c035_the_name_that_is_published_is_the_name_that_is_read() -> None:
    built = build_case("C035")

    definitions: Any = built.tool.spec.input_schema["$defs"]
    assert list(definitions["A"]["properties"]) == ["ext"]
    assert built.call(CASES["C035"]["input"]["args"])["a"].canonical == "v"


def test_c161_an_object_of_any_keys_is_never_closed_to_be_strict() -> None:
    built = build_case("C161")

    wire = wire_of(built.tool)

    assert wire.compiled.strictness is Strictness.RELAXED
    assert "meta" in wire.compiled.reason
    sent: Any = wire.compiled.schema
    assert sent["properties"]["meta"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert built.call({"target": "t", "meta": {"a": 1}}) == {"target": "t", "meta": {"a": 1}}


@pytest.mark.parametrize("kinds", [["object", "null"], None])
def test_c163_an_object_is_closed_however_its_type_is_written(kinds: list[str] | None) -> None:
    schema: dict[str, Any] = dict(CASES["C163"]["input"]["schema"])
    del schema["type"]
    if kinds:
        schema["type"] = kinds
    nested: dict[str, Any] = {"type": "object", "properties": {"o": schema}, "required": ["o"]}

    for full in (nested, schema):
        compiled = compile_schema(full, OPENAI, strict=True)

        assert compiled.strictness is Strictness.STRICT
        for place in objects_in(compiled.schema):
            assert place["additionalProperties"] is False
            assert place["required"] == list(place["properties"])


def test_c164_a_discriminated_union_goes_out_as_closed_forms() -> None:
    built = build_case("C164")

    sent = schema_sent(built.tool)

    assert "oneOf" not in json.dumps(sent)
    assert "discriminator" not in json.dumps(sent)
    assert all(place["additionalProperties"] is False for place in objects_in(sent))
    assert built.call({"pet": {"kind": "dog", "leash": "red"}})["pet"].leash == "red"
    assert type(built.received[-1]["pet"]).__name__ == "Dog"
    wrong = built.call({"pet": {"kind": "cow", "leash": "red"}})
    assert wrong.message == "pet: 'kind' must be one of 'cat', 'dog'"


def test_c165_a_description_beside_a_reference_is_kept() -> None:
    sent = schema_sent(build_case("C165").tool)

    address = sent["properties"]["addr"]
    assert address["description"] == "where to ship"
    assert address["additionalProperties"] is False
    assert "$ref" not in address


def test_c167_a_type_that_holds_itself_keeps_its_references() -> None:
    built = build_case("C167")

    sent = schema_sent(built.tool)

    assert sent["properties"]["root"] == {"$ref": "#/$defs/Node"}
    children = sent["$defs"]["Node"]["properties"]["children"]
    assert {"items": {"$ref": "#/$defs/Node"}, "type": "array"} in children["anyOf"]
    assert built.call({"root": {"name": "a", "children": [{"name": "b"}]}})["root"].children[0].name == "b"
    assert wire_of(built.tool, "anthropic").compiled.strictness is Strictness.RELAXED


def test_c167_a_wire_without_references_refuses_it_by_name() -> None:
    with pytest.raises(ToolDefinitionError, match="Node holds itself"):
        wire_of(build_case("C167").tool, "gemini")


def test_c169_a_wire_of_text_enums_gets_text_and_the_tool_a_number() -> None:
    built = build_case("C169")
    wire = wire_of(built.tool, "gemini", strict=False)

    sent: Any = wire.compiled.schema
    assert sent["properties"]["pt"]["type"] == "string"
    assert sent["properties"]["pt"]["enum"] == ["10", "11", "12"]
    assert built.call(wire.compiled.restore(json.dumps(CASES["C169"]["input"]["args"]))) == {"pt": 10}
    assert isinstance(built.call(wire.compiled.restore('{"pt": "13"}')), Deny)


def test_c171_a_tuple_has_its_length() -> None:
    built = build_case("C171")

    view = schema_sent(built.tool)["properties"]["view"]

    assert "prefixItems" not in view
    assert (view["items"], view["minItems"], view["maxItems"]) == ({"type": "integer"}, 2, 2)
    assert built.call({"view": [3, 9]}) == {"view": (3, 9)}
    assert isinstance(built.call({"view": [3]}), Deny)
    assert isinstance(built.call({"view": [3, 9, 1]}), Deny)


def test_c173_a_decimal_is_exact_and_needs_no_look_around() -> None:
    built = build_case("C173")

    sent = json.dumps(schema_sent(built.tool))

    assert "(?" not in sent
    received = built.call(CASES["C173"]["input"]["args"])["amount"]
    assert str(received) == "12.30"
    assert isinstance(received, Decimal)


def test_c174_open_keywords_are_refused_when_the_tool_is_defined() -> None:
    with pytest.raises(ToolDefinitionError, match=r"'f' takes \*\*kwargs"):
        build_case("C174")


def test_c175_a_positional_parameter_is_called_by_its_name() -> None:
    built = build_case("C175")

    assert built.tool.spec.input_schema["type"] == "object"
    assert built.call(CASES["C175"]["input"]["args"]) == {"x": 1}


@pytest.mark.parametrize("case_id", ["C176", "C179"])
def test_descriptions_of_parameters_come_from_the_docstring_and_leave_it(case_id: str) -> None:
    case = CASES[case_id]["input"]

    doc = read_docstring(case["docstring"])

    assert doc.parameters == {"city": "where", "days": "how long"}
    assert "Args" not in doc.text
    assert "where" not in doc.text


def test_c176_the_schema_and_the_text_of_a_tool_keep_them_apart() -> None:
    function = define(CASES["C176"]["input"]["py"])
    function.__doc__ = CASES["C176"]["input"]["docstring"]

    spec = tool(effect="read", roles={EVERYONE})(function).spec

    properties: Any = spec.input_schema["properties"]
    assert spec.description == "One line."
    assert properties["city"]["description"] == "where"
    assert properties["days"]["description"] == "how long"


def test_c180_what_a_partial_has_bound_appears_nowhere() -> None:
    partial = define(CASES["C180"]["input"]["py"])

    made = tool(effect="read", roles={EVERYONE}, description="Do it.")(partial)

    assert made.name == "base"
    properties: Any = made.spec.input_schema["properties"]
    assert list(properties) == ["q"]
    refusal = made.reader.read('{"token": "other", "q": 1}')
    assert isinstance(refusal, Deny)
    assert "s3cr3t" not in f"{made.spec!r} {made!r} {refusal!r}"


def test_c183_constraints_and_validators_of_annotations_hold() -> None:
    built = build_case("C183")

    assert isinstance(built.call(CASES["C183"]["input"]["args"]), Deny)
    assert built.call({"n": 5, "s": " a "}) == {"n": 5, "s": "a"}


def test_c184_what_json_has_no_type_for_arrives_as_what_it_is() -> None:
    built = build_case("C184")

    assert built.call(CASES["C184"]["input"]["args"]) == {
        "when": dt.datetime(2031, 5, 6, 7, 8, 9, tzinfo=dt.UTC),
        "tags": {"a", "b"},
        "u": uuid.UUID("8b1e1f0e-0000-4000-8000-000000000001"),
        "span": dt.timedelta(seconds=90),
        "raw": b"hi",
    }
    properties: Any = built.tool.spec.input_schema["properties"]
    assert properties["raw"] == {"type": "string", "contentEncoding": "base64"}


# ── outputs ───────────────────────────────────────────────────────────────────────────


def value_of(case_id: str) -> Any:
    names = {"datetime": dt, "uuid": uuid, "Path": Path, "dataclasses": dataclasses}
    return eval(CASES[case_id]["input"]["py_expr"], names)  # noqa: S307 - the cases are ours


def shape(value: Any) -> Shaped:
    return OutputShaper(tool="t").shape(value)


TOLD = {
    "C189": '{"mean":null,"max":null,"n":3}',
    "C194": "x\ufffdy",
    "C196": "2031-05-06T00:00:00Z",
    "C200": "00000000-0000-0000-0000-000000000001",
    "C201": "/tmp/x",  # noqa: S108 - the case's own
    "C202": '{"x":1}',
    "C204": '{"1":"a","1,2":"b"}',
    "C205": "[0,1,2]",
}
CANNOT_BE_TOLD = {"C203": "not serialisable", "C207": "not serialisable (cycle)", "C208": "not serialisable"}


def test_every_returned_value_has_its_expectation() -> None:
    cases = {*ids_of("tool-output", "return_value"), *ids_of("value-encoding", "return_value")}

    assert cases == TOLD.keys() | CANNOT_BE_TOLD.keys() | {"C209"}


@pytest.mark.parametrize("case_id", TOLD)
def test_what_a_tool_returns_is_told_by_the_documented_rule(case_id: str) -> None:
    shaped = shape(value_of(case_id))

    assert (shaped.content, shaped.is_error) == (TOLD[case_id], False)
    shaped.content.encode()


def test_c189_a_result_is_json_by_a_strict_parser() -> None:
    assert jiter.from_json(shape(value_of("C189")).content.encode(), allow_inf_nan=False)


@pytest.mark.parametrize("case_id", CANNOT_BE_TOLD)
def test_what_has_no_json_form_is_an_error_of_that_call_alone(case_id: str) -> None:
    shaped = shape(value_of(case_id))

    assert shaped.is_error
    assert shaped.code == "bad_output"
    assert CANNOT_BE_TOLD[case_id] in shaped.content


def test_c209_a_huge_result_keeps_head_and_tail_and_says_its_size() -> None:
    huge = value_of("C209")

    for value in (huge, ToolOutput(huge)):
        shaped = shape(value)
        assert len(shaped.content.encode()) <= RESULT_BYTES
        assert shaped.cut_from == 10_000_000
        assert shaped.content.startswith("é")
        assert shaped.content.endswith("é")
        assert "10000000 bytes" in shaped.content
        assert "\ufffd" not in shaped.content


def test_c213_an_error_without_content_still_says_something() -> None:
    case = CASES["C213"]["input"]

    shaped = shape(ToolOutput(case["content"], is_error=case["isError"]))

    assert (shaped.content, shaped.is_error, shaped.code) == (NO_CONTENT, True, "tool_error")
