"""What would fail in the same ways as the public failures: on each wire, streamed and whole."""

import json
from typing import Any

import pytest

from tests.models.dialects import DIALECTS, Dialect
from tests.models.runs import both, call, calling, on_each_wire, results_over_wire
from tests.models.test_public_failures_run import build_tool
from tests.models.wire import WireServer

RATE = "def get_rate(city: str, days: int = 1) -> str"
NAMES = "def tag(names: list[str]) -> str"
OSLO = {"city": "Oslo", "days": 1}
TEXT = '{"city": "Oslo"}'


def case(label: str, arguments: object, *expected: dict[str, Any], source: str = RATE, name: str = "") -> Any:
    return pytest.param(source, name or source[4:].partition("(")[0], arguments, list(expected), id=label)


CASES = [
    # exactly one object, whatever stands around it on the wire
    case("blank", " \n\t", {}, source="def ping() -> str"),
    case("blanks around", f"\n {TEXT} \n", OSLO),
    case("no arguments, as an object", {}, {}, source="def ping() -> str"),
    case("null in quotes", '"null"', source="def ping() -> str"),
    case("an empty text in quotes", '""', {}, source="def ping() -> str"),
    case("an end token after blanks", f"{TEXT}\n<|im_end|>\n", OSLO),
    case("a whole number written as a float", '{"city": "Oslo", "days": 3.0}', {"city": "Oslo", "days": 3}),
    case("an end token within a text", '{"city": "Oslo<|im_end|>"}', {"city": "Oslo<|im_end|>", "days": 1}),
    # one level of quotes around what cannot be text
    case("a list in quotes", '{"names": "[\\"a\\", \\"b\\"]"}', {"names": ["a", "b"]}, source=NAMES),
    case("an object in quotes", '{"q": "{\\"a\\": 1}"}', {"q": {"a": 1}}, source="def tag(q: dict[str, int]) -> str"),
    case(
        "a list in quotes, or null", '{"names": "[]"}', {"names": []}, source="def tag(names: list[str] | None) -> str"
    ),
    case(
        "a list in quotes where a text may stand",
        '{"names": "[]"}',
        {"names": "[]"},
        source="def tag(names: list[str] | str) -> str",
    ),
    case("a list in two levels of quotes", json.dumps({"names": json.dumps(json.dumps(["a"]))}), source=NAMES),
    case("an object in quotes for a list", '{"names": "{}"}', source=NAMES),
    case("a number in quotes in a list in quotes", '{"sizes": "[\\"1\\"]"}', source="def tag(sizes: list[int]) -> str"),
    case("a key twice in quotes", '{"q": "{\\"a\\": 1, \\"a\\": 2}"}', source="def tag(q: dict[str, int]) -> str"),
    case("words for a list", '{"names": "a, b"}', source=NAMES),
    # never repaired
    case("two levels of quotes", json.dumps(json.dumps(TEXT))),
    case("a quoted number", '"5"'),
    case("a number", "5"),
    case("a list of objects", f"[{TEXT}]"),
    case("a list, as a value", ["Oslo"]),
    case("false, as a value", False, source="def ping() -> str"),
    case("single quotes", "{'city': 'Oslo'}"),
    case("a comma at the end", '{"city": "Oslo",}'),
    case("a comment", '{"city": "Oslo" /* the capital */}'),
    case("names without quotes", '{city: "Oslo"}'),
    case("a brace missing", '{"city": "Oslo"'),
    case("a brace too many", '{"city": "Oslo"}}'),
    case("a fence of code", f"```json\n{TEXT}\n```"),
    case("a mark of the byte order", f"\ufeff{TEXT}"),
    case("Python's True", '{"confirm": True}', source="def wipe(confirm: bool) -> str"),
    case("a line end within a text", '{"city": "Os\nlo"}'),
    case("half of a character", '{"city": "\\ud83d"}'),
    case("a tag after it", f"{TEXT}</tool_call>"),
    case("two end tokens", f"{TEXT}<|eot_id|><|eot_id|>"),
    case("two objects, in two lines", f"{TEXT}\n{TEXT}"),
    case("an empty object, then one", "{}" + TEXT),
    case("an object in quotes, then one", json.dumps(TEXT) + TEXT),
    case("nested a thousand times", '{"a":' * 1_000 + "1" + "}" * 1_000),
    case("nested in quotes", json.dumps("[" * 5_000)),
    case("NaN", '{"x": NaN}', source="def heat(x: float = 1.0) -> str"),
    # never coerced
    case("a number in quotes", '{"city": "Oslo", "days": "3"}'),
    case("a broken number", '{"city": "Oslo", "days": 3.5}'),
    case("a boolean for a number", '{"city": "Oslo", "days": true}'),
    case("yes in quotes", '{"confirm": "yes"}', source="def wipe(confirm: bool) -> str"),
    case("1 for true", '{"confirm": 1}', source="def wipe(confirm: bool) -> str"),
    case("a number for a text", '{"city": 5}'),
    # nothing that was not declared
    case("an unknown argument", '{"city": "Oslo", "limit": 5}'),
    case("arguments within arguments", f'{{"arguments": {TEXT}}}'),
    case("something for a tool without arguments", '{"random_string": "x"}', source="def ping() -> str"),
    case("one key twice, deep inside", '{"q": {"a": 1, "a": 2}}', source="def tag(q: dict[str, int]) -> str"),
    case("one key twice, once escaped", '{"amount": 1, "\\u0061mount": 2}', source="def pay(amount: int) -> str"),
    case("one key twice, within quotes", json.dumps('{"sum": 1, "sum": 2}'), source="def pay(sum: int) -> str"),
    # names match exactly, beside two known prefixes
    case("a name with blanks", TEXT, name=" get_rate "),
    case("a name in capitals", TEXT, name="Get_Rate"),
    case("a name with a hyphen", TEXT, name="get-rate"),
    case("a name with parentheses", TEXT, name="get_rate()"),
    case("a name with a token of a template", TEXT, name="get_rate<|channel|>commentary"),
    case("a known prefix twice", TEXT, name="functions.functions.get_rate"),
    case("an unknown prefix", TEXT, name="tools.get_rate"),
    case("a known prefix alone", TEXT, name="functions."),
    case("a known prefix before no tool", TEXT, name="functions.get_rates"),
    case("a letter that only looks the same", TEXT, name="get_r\u0430te"),
    case(
        "calls within a call",
        '{"tool_uses": [{"recipient_name": "functions.get_rate", "parameters": {"city": "Oslo"}}]}',
        name="multi_tool_use.parallel",
    ),
]


@pytest.mark.parametrize("streamed", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["whole", "streamed"])
@on_each_wire
@pytest.mark.parametrize(("source", "name", "arguments", "expected"), CASES)
async def test_a_call_runs_exactly_as_said_or_not_at_all(
    wire: WireServer, dialect: Dialect, source: str, name: str, arguments: object, expected: list[Any], streamed: bool
) -> None:
    built = build_tool(source)
    said = {"id": "c1", "function": {"name": name, "arguments": arguments}}
    replies = calling(dialect, said, streamed=streamed)

    ((text, is_error),) = await results_over_wire(wire, dialect, built.tool, replies=replies, streamed=streamed)

    assert built.received == expected
    assert is_error is (not expected)
    assert text.strip()


@pytest.mark.parametrize("identity", ["", None, "call_" + "x" * 200, "call:0/1", "кол", "a b", "0"])
@both
@on_each_wire
async def test_any_id_will_do(wire: WireServer, dialect: Dialect, identity: str | None, streamed: bool) -> None:
    """Whatever the server makes of ids, call and result meet, and no id keeps the next request from being taken."""
    built = build_tool(RATE)
    said = {"id": identity, "function": {"name": "get_rate", "arguments": TEXT}}
    replies = calling(dialect, said, streamed=streamed)

    told = await results_over_wire(wire, dialect, built.tool, replies=replies, streamed=streamed)

    assert built.received == [OSLO]
    assert len(told) == 1


@both
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
async def test_null_stands_for_a_default_only_where_the_schema_on_the_wire_says_so(
    wire: WireServer, dialect: Dialect, streamed: bool
) -> None:
    """Strict schemas have no optional arguments, so there null is how a model leaves one out."""
    built = build_tool(RATE)
    replies = calling(dialect, call("c1", "get_rate", '{"city": "Oslo", "days": null}'), streamed=streamed)

    await results_over_wire(wire, dialect, built.tool, replies=replies, streamed=streamed)

    strict = '"strict": true' in json.dumps(wire.last["tools"])
    assert built.received == ([OSLO] if strict else [])
    assert strict is (dialect.name == "responses")
