"""What the embedded model is told of a tool."""

import json
from typing import Any

from placet.models.local_tools import present_tools
from placet.values.json import JsonObject
from placet.values.tool import Effect, ToolSpec, VisibleTools

SCHEMA: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "pattern": "^c[0-9]+$", "minLength": 2, "description": "Whose."},
        "status": {
            "anyOf": [{"type": "string", "enum": ["paid", "sent"]}, {"type": "null"}],
            "default": None,
            "description": "In this state.",
        },
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "anything": True,
    },
    "required": ["id"],
}
LIST = ToolSpec(
    name="list_orders",
    description="List the orders\nof one. Use when no number is given.",
    effect=Effect.READ,
    input_schema=SCHEMA,
    progress={"pt-BR": "listando {?id}os pedidos de {id}{/id}…"},
)


def present(language: str, spec: ToolSpec = LIST) -> dict[str, Any]:
    (tool,) = json.loads(present_tools(VisibleTools((spec,)), language))
    return dict(tool)


def test_a_tool_is_described_by_its_first_sentence_and_by_its_own_words_in_the_language() -> None:
    assert present("pt-BR")["description"] == "List the orders of one. listando os pedidos de"


def test_where_the_tool_has_no_words_of_the_language_the_sentence_stands_alone() -> None:
    assert present("ro")["description"] == "List the orders of one."


def test_of_a_parameter_only_type_choices_and_description_are_told() -> None:
    told = present("en")["parameters"]

    assert told["properties"] == {
        "id": {"type": "string", "description": "Whose."},
        "status": {"type": "string", "enum": ["paid", "sent"], "description": "In this state."},
        "either": {},
        "anything": {},
    }
    assert told["required"] == ["id"]


def test_a_tool_without_parameters_is_told() -> None:
    bare = ToolSpec(name="ping", description="Answer.", effect=Effect.READ, input_schema={"type": "object"})

    assert present("en", bare)["parameters"] == {"type": "object", "properties": {}}


def test_each_language_is_written_once() -> None:
    tools = VisibleTools((LIST,))

    assert present_tools(tools, "ro") is present_tools(tools, "ro")
    assert present_tools(tools, "ro") != present_tools(tools, "pt-BR")
