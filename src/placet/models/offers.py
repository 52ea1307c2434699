"""Offers: what a model may call and how it is to answer, written for one wire, once.

A provider that keeps models to a schema ("strict") takes a subset of JSON Schema, in which
what is optional is null. So the arguments come back in the provider's form, and are brought
into the tool's own; the full validation runs in any case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from placet.models.history import write_json
from placet.ports import ModelAnswer
from placet.tools.dialects import FORMS
from placet.tools.provider_schema import CompiledSchema, Strictness, compile_schema
from placet.tools.wire_tools import compile_tools
from placet.values.call import ToolCall
from placet.values.json import JsonObject
from placet.values.tool import VisibleTools

_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of one set of roles, as one wire is told of them.

    Attributes:
        content: A JSON array.
        names: Of the tools.
        compiled: What became of their schemas, by name.
    """

    content: bytes
    names: frozenset[str]
    compiled: Mapping[str, CompiledSchema]

    def restore(self, answer: ModelAnswer) -> ModelAnswer:
        """Return an answer with the arguments of its calls as the tools' own schemas want them."""
        if not any(call.name in self.compiled for call in answer.calls):
            return answer
        return replace(answer, calls=tuple(self._restore_call(call) for call in answer.calls))

    def _restore_call(self, call: ToolCall) -> ToolCall:
        compiled = self.compiled.get(call.name)
        text = compiled.restore(call.arguments) if compiled is not None else call.arguments
        if text == call.arguments:
            return call
        note = "what was left out as null was left out"
        return replace(call, arguments=text, note=f"{call.note}; {note}" if call.note else note)


def offer_tools(tools: VisibleTools, form: str, *, strict: bool) -> Offer:
    """Return tools as a wire is told of them; compiled once for each set of roles.

    Args:
        tools: What the principal may see.
        form: Of the wire: `"openai-chat"`, `"openai-responses"` or `"anthropic"`.
        strict: Whether the provider is asked to keep to the schemas.

    Raises:
        ToolDefinitionError: The provider cannot be told of a tool.
    """
    key = f"{form}:{'strict' if strict else 'relaxed'}"
    offer: Offer | None = tools.wire.get(key)
    if offer is None:
        compiled = compile_tools(tools.specs, form, strict=strict)
        offer = tools.wire[key] = Offer(
            write_json([tool.entry for tool in compiled]),
            frozenset(tool.name for tool in compiled),
            {
                tool.name: tool.compiled
                for tool in compiled
                if tool.compiled.strictness is Strictness.STRICT and tool.compiled.schema != tool.compiled.full
            },
        )
    return offer


class OutputForms:
    """Structured output as one wire is asked for it; each schema compiled once.

    Args:
        form: Of the wire.
        strict: Whether the provider is asked to keep to the schema.
    """

    def __init__(self, form: str, *, strict: bool) -> None:
        self._dialect = FORMS[form].dialect if strict else None  # else the server gets the full schema
        self._strict = strict
        self._kept: dict[int, tuple[JsonObject, CompiledSchema]] = {}

    def compile(self, schema: JsonObject) -> CompiledSchema:
        """Return the schema as the wire takes it."""
        kept = self._kept.get(id(schema))
        if kept is None or kept[0] is not schema:
            while len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)))
            kept = self._kept[id(schema)] = (schema, compile_schema(schema, self._dialect, strict=self._strict))
        return kept[1]

    def restore(self, answer: ModelAnswer, schema: JsonObject | None) -> ModelAnswer:
        """Return an answer with its words, if they are JSON, as the full schema wants them."""
        if schema is None or not answer.text:
            return answer
        compiled = self.compile(schema)
        if compiled.strictness is not Strictness.STRICT:
            return answer
        text = compiled.restore(answer.text)
        return answer if text == answer.text else replace(answer, text=text)


def describe_output(schema: JsonObject) -> str:
    """Return what the prompt says where the provider cannot be held to a schema."""
    return f"{SCHEMA_RULE}{write_json(schema).decode()}"


def json_schema_format(compiled: CompiledSchema) -> dict[str, Any]:
    """Return a schema as OpenAI's wires are asked for structured output by it."""
    return {"name": "output", "schema": compiled.schema, "strict": compiled.strictness is Strictness.STRICT}


SCHEMA_RULE: Final = "Answer with one JSON object and nothing else. It must match this JSON Schema:\n"
