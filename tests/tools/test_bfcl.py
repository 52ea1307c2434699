"""BFCL's gold calls: what real schemas take is taken, and a call with a fault in it is refused."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_rs
import pytest

from placet.errors import ToolDefinitionError
from placet.tools.arguments import Arguments
from placet.tools.dialects import ANTHROPIC, GEMINI, OPENAI, Dialect
from placet.tools.provider_schema import Strictness, compile_schema
from placet.tools.tool import Tool
from placet.values.principal import EVERYONE
from tests.tools.downloads import download

pytestmark = pytest.mark.slow

SETS = (
    "simple_python", "multiple", "parallel", "parallel_multiple", "live_simple", "live_multiple", "live_parallel",
    "live_parallel_multiple",
)  # fmt: skip
TYPES = {"dict": "object", "float": "number", "tuple": "array"}


class Gold(NamedTuple):
    """One call that a row expects."""

    id: str
    tool: Tool
    raw: dict[str, Any]
    arguments: dict[str, Any]


def translate(schema: Any) -> Any:
    """A schema in the words of JSON Schema: BFCL writes `dict`, `float`, `tuple` and `any`."""
    if isinstance(schema, list):
        return [translate(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: translate(value) for key, value in schema.items()}
    if isinstance(made.get("type"), str):
        kind = TYPES.get(made["type"], made["type"])
        made["type"] = kind
        if kind == "any":
            del made["type"]
    return made


def choose(options: Any, schema: Any) -> Any:
    """The first accepted value that its schema takes; an empty text says that it may be left out."""
    given = options if isinstance(options, list) else [options]
    values = [resolve(option, schema) for option in given if option != ""]
    valid = [value for value in values if not isinstance(schema, dict) or jsonschema_rs.is_valid(schema, value)]
    return next(iter(valid or ([] if "" in given else values)), None)


def resolve(value: Any, schema: Any) -> Any:
    """A value of the answer: inside objects every field is a list of what is accepted."""
    if isinstance(value, dict):
        properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
        chosen = {key: choose(options, properties.get(key)) for key, options in value.items()}
        return {key: each for key, each in chosen.items() if each is not None}
    if isinstance(value, list):
        items = schema.get("items") if isinstance(schema, dict) else None
        return [resolve(item, items) for item in value]
    return value


def build(function: dict[str, Any]) -> Tool:
    return Tool.define(
        name=function["name"].replace(".", "_")[:64],
        description=function["description"] or "Do it.",
        parameters=translate(function["parameters"]),
        effect="read",
        roles={EVERYONE},
        handler=lambda args: args,
    )


@pytest.fixture(scope="module")
def data(request: pytest.FixtureRequest) -> Path:
    return download(request, "bfcl-eval==2026.3.23") / "bfcl_eval" / "data"


def rows(data: Path, name: str) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    file = f"BFCL_v4_{name}.json"
    answers = {
        answer["id"]: answer["ground_truth"]
        for answer in map(json.loads, (data / "possible_answer" / file).read_text().splitlines())
    }
    for row in map(json.loads, (data / file).read_text().splitlines()):
        yield row, answers[row["id"]]


@pytest.fixture(scope="module")
def calls(data: Path) -> tuple[list[Gold], int, list[str]]:
    """Every gold call, how many schemas there are, and those of which no tool can be made."""
    golds: list[Gold] = []
    impossible: list[str] = []
    schemas = 0
    for name in SETS:
        for row, answer in rows(data, name):
            tools: dict[str, tuple[Tool, dict[str, Any]]] = {}
            for function in row["function"]:
                schemas += 1
                try:
                    tools[function["name"]] = (build(function), translate(function["parameters"]))
                except ToolDefinitionError as error:
                    impossible.append(f"{row['id']} {function['name']}: {error}")
            for place, call in enumerate(answer):
                ((called, options),) = call.items()
                if called not in tools:
                    impossible.append(f"{row['id']}.{place} {called}")
                    continue
                made, raw = tools[called]
                properties = raw.get("properties", {})
                chosen = {key: choose(values, properties.get(key)) for key, values in options.items()}
                arguments = {key: value for key, value in chosen.items() if value is not None}
                golds.append(Gold(f"{row['id']}.{place}", made, raw, arguments))
    return golds, schemas, impossible


NOT_OF_THEIR_OWN_SCHEMA = frozenset(
    """
    parallel_multiple_21.1 parallel_multiple_94.0 live_simple_71-35-0.0 live_simple_106-63-0.0 live_simple_112-68-0.0
    live_multiple_87-38-4.0 live_multiple_152-58-6.0 live_multiple_507-149-4.0 live_multiple_552-153-1.0
    live_multiple_595-158-1.0 live_multiple_596-158-2.0 live_multiple_731-167-2.0 live_multiple_733-167-4.0
    live_multiple_735-167-6.0 live_multiple_750-169-5.0 live_multiple_756-169-11.0 live_multiple_835-178-10.0
    live_multiple_871-182-8.0 live_multiple_947-197-0.0 live_multiple_964-207-0.0 live_parallel_multiple_2-2-0.1
    """.split()  # noqa: SIM905 - a list of names reads better so
)
"""Gold calls of which a value or a missing argument contradicts the row's own schema."""

UNDECLARED = frozenset(
    {"parallel_multiple_12.1", "parallel_multiple_26.1", "live_multiple_189-83-0.0", "live_multiple_862-181-3.0"}
)
"""Gold calls with an argument that the row's own schema does not name."""


def good(calls: tuple[list[Gold], int, list[str]]) -> list[Gold]:
    return [gold for gold in calls[0] if gold.id not in NOT_OF_THEIR_OWN_SCHEMA | UNDECLARED]


def taken(gold: Gold, arguments: dict[str, Any]) -> bool:
    return isinstance(gold.tool.reader.read(json.dumps(arguments)), Arguments)


def holds(whole: Any, part: Any) -> bool:
    """Whether all of a part stands in a whole."""
    if isinstance(part, dict):
        return all(name in whole and holds(whole[name], value) for name, value in part.items())
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(holds, whole, part))
    return bool(whole == part)


def test_every_schema_makes_a_tool(calls: tuple[list[Gold], int, list[str]]) -> None:
    golds, schemas, impossible = calls

    assert (len(golds), schemas, impossible) == (3_152, 6_226, [])
    assert len({json.dumps(gold.raw, sort_keys=True) for gold in golds}) > 900


def test_a_gold_call_is_taken_unless_it_contradicts_its_own_schema(calls: tuple[list[Gold], int, list[str]]) -> None:
    contradict = {gold.id for gold in calls[0] if not jsonschema_rs.is_valid(gold.raw, gold.arguments)}
    refused = {gold.id for gold in calls[0] if not taken(gold, gold.arguments)}

    assert contradict == NOT_OF_THEIR_OWN_SCHEMA
    assert refused == NOT_OF_THEIR_OWN_SCHEMA | UNDECLARED


def test_what_was_taken_is_taken_again_as_it_was_written(calls: tuple[list[Gold], int, list[str]]) -> None:
    for gold in good(calls):
        read = gold.tool.reader.read(json.dumps(gold.arguments))
        assert isinstance(read, Arguments)
        again = gold.tool.reader.read(read.text)
        assert isinstance(again, Arguments)
        assert again.text == read.text, gold.id
        assert holds(read.json, gold.arguments), "defaults apart, it is what was sent"


def test_a_gold_call_without_a_required_argument_is_refused(calls: tuple[list[Gold], int, list[str]]) -> None:
    count = 0
    for gold in good(calls):
        for name in gold.raw.get("required", []):
            count += 1
            assert not taken(gold, {key: value for key, value in gold.arguments.items() if key != name}), gold.id

    assert count > 4_000


def test_a_gold_call_with_one_more_argument_is_refused(calls: tuple[list[Gold], int, list[str]]) -> None:
    for gold in good(calls):
        assert not taken(gold, {**gold.arguments, "evil": 2}), gold.id


WRONG: dict[str, tuple[Any, ...]] = {
    "string": (5, True, None, ["a"], {"a": 1}),
    "integer": ("zz", "5", True, 5.5, None, [5]),
    "number": ("zz", "5", True, None, [5]),
    "boolean": ("true", 1, None),
    "array": ("zz", {"a": 1}, None, 5),
    "object": ("zz", ["a"], None, 5),
}


def test_a_gold_call_with_an_argument_of_another_type_is_refused(calls: tuple[list[Gold], int, list[str]]) -> None:
    count = 0
    for gold in good(calls):
        for name in gold.arguments:
            for value in WRONG.get(gold.raw["properties"][name].get("type", "any"), ()):
                count += 1
                assert not taken(gold, {**gold.arguments, name: value}), (gold.id, name, value)

    assert count > 30_000


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, GEMINI], ids=lambda dialect: dialect.name)
def test_a_gold_call_as_a_provider_would_make_it_is_taken(
    calls: tuple[list[Gold], int, list[str]], dialect: Dialect
) -> None:
    strict = 0
    for gold in good(calls):
        compiled = compile_schema(gold.tool.spec.input_schema, dialect, strict=True)
        assert compiled.strictness is not Strictness.REFUSED
        sent = gold.arguments
        if compiled.strictness is Strictness.STRICT:
            strict += 1
            sent = spell_out(compiled.schema, gold.arguments)
            assert jsonschema_rs.is_valid(dict(compiled.schema), sent), gold.id
        read = gold.tool.reader.read(compiled.restore(json.dumps(sent)))
        assert isinstance(read, Arguments), (gold.id, read)
        assert holds(read.json, gold.arguments), gold.id

    assert strict > 2_500 or dialect is GEMINI, strict


def spell_out(schema: Any, value: Any) -> Any:
    """Arguments with null for every property that a strict schema requires and the call leaves out."""
    if isinstance(schema, dict) and "anyOf" in schema and isinstance(value, dict | list):
        schema = next((arm for arm in schema["anyOf"] if arm.get("type") != "null"), schema)
    if isinstance(value, dict) and isinstance(schema, dict):
        properties = schema.get("properties", {})
        given = {key: spell_out(properties.get(key), inner) for key, inner in value.items()}
        return given | {key: None for key in schema.get("required", ()) if key not in given}
    if isinstance(value, list) and isinstance(schema, dict):
        return [spell_out(schema.get("items"), item) for item in value]
    return value
