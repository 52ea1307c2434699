"""Tools in the form of each provider, and the limits of one request."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from placet.tools.provider_schema import Strictness
from placet.tools.tool import Tool, tool
from placet.tools.wire_tools import WireTool, compile_tools
from placet.values.principal import EVERYONE


class Found(BaseModel):
    name: str


def made(name: str = "look", optional: int = 0, unions: int = 0, **options: Any) -> Tool:
    parts = [f"u{n}: int | str" for n in range(unions)] + [f"o{n}: int = 0" for n in range(optional)]
    names: dict[str, Any] = {"Found": Found}
    exec(f"def f({', '.join(parts)}) -> Found: ...", names)  # noqa: S102 - a signature of any length
    options = {"effect": "read", "roles": {EVERYONE}, **options}
    look: Callable[..., Found] = names["f"]
    return tool(name=name, description="Look.", **options)(look)


def entry(form: str, *, strict: bool = False, **options: Any) -> Any:
    return compile_tools([made(**options).spec], form, strict=strict)[0].entry


EMPTY = {"type": "object", "properties": {}, "additionalProperties": False}


def test_openai_chat() -> None:
    assert entry("openai-chat") == {
        "type": "function",
        "function": {"name": "look", "description": "Look.", "parameters": EMPTY},
    }
    assert entry("openai-chat", strict=True)["function"]["strict"] is True


@pytest.mark.parametrize("strict", [True, False])
def test_openai_responses_always_says_whether_it_is_strict(strict: bool) -> None:
    said = entry("openai-responses", strict=strict)

    assert (said["type"], said["name"], said["strict"]) == ("function", "look", strict)


def test_anthropic() -> None:
    assert entry("anthropic") == {"name": "look", "description": "Look.", "input_schema": EMPTY}
    assert entry("anthropic", strict=True)["strict"] is True


@pytest.mark.parametrize(
    ("options", "read_only", "destructive", "open_world"),
    [
        ({"effect": "read"}, True, False, False),
        ({"effect": "read", "open_world": True}, True, False, True),
        ({"effect": "write", "waiver": "why"}, False, False, False),
        ({"effect": "destructive", "waiver": "why"}, False, True, False),
    ],
)
def test_mcp_says_all_four_hints_and_what_comes_back(
    options: dict[str, Any], read_only: bool, destructive: bool, open_world: bool
) -> None:
    said = entry("mcp", **options)

    assert said["annotations"] == {
        "readOnlyHint": read_only,
        "destructiveHint": destructive,
        "idempotentHint": read_only,
        "openWorldHint": open_world,
    }
    assert said["inputSchema"] == EMPTY
    assert said["outputSchema"]["properties"] == {"name": {"type": "string"}}


def test_plain_json_schema() -> None:
    assert entry("json-schema") == {"name": "look", "description": "Look.", "parameters": EMPTY}


def strict_names(tools: list[Tool], form: str = "anthropic") -> list[str]:
    compiled = compile_tools([each.spec for each in tools], form, strict=True)
    assert [wire.name for wire in compiled] == [each.name for each in tools], "in the order of the toolset"
    return [wire.name for wire in compiled if wire.compiled.strictness is Strictness.STRICT]


RISKS: list[dict[str, Any]] = [
    {"name": "read"},
    {"name": "call", "open_world": True},
    {"name": "write", "effect": "write", "waiver": "why"},
    {"name": "destroy", "effect": "destructive", "waiver": "why"},
]


@pytest.mark.parametrize(
    ("kept", "names"),
    [(4, "read call write destroy"), (3, "call write destroy"), (2, "write destroy"), (1, "destroy")],
)
def test_the_least_risky_tools_lose_strict_first(kept: int, names: str) -> None:
    costly = [made(optional=24 // kept, **options) for options in RISKS]

    assert strict_names(costly) == names.split()


def test_no_more_than_twenty_tools_are_strict_in_one_request() -> None:
    many = [made(f"t{n}") for n in range(25)]

    assert len(strict_names(many)) == 20
    assert len(strict_names(many, "openai-chat")) == 25


def test_no_more_than_sixteen_unions_are_strict_in_one_request() -> None:
    assert strict_names([made("a", unions=12), made("b", unions=10), made("c", unions=6)]) == ["b", "c"]


def test_who_loses_strict_says_why_and_keeps_the_full_schema() -> None:
    wires = compile_tools([made("a", unions=17).spec], "anthropic", strict=True)

    (wire,) = wires
    assert isinstance(wire, WireTool)
    assert wire.compiled.strictness is Strictness.RELAXED
    assert "no room" in wire.compiled.reason
    assert "strict" not in wire.entry
    assert wire.compiled.schema == made("a", unions=17).spec.input_schema
