"""JSON Schema 2020-12 of Python types: what a model is told, and what an output is declared to be."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import PydanticOmit, core_schema

from placet.errors import ToolDefinitionError
from placet.values.json import is_array, is_mapping, is_object

DECIMAL_TEXT: Final = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""A decimal number as text, without look-around: strict wires refuse it."""

_SUBSCHEMAS: Final = frozenset({
    "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPS: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})


class ToolJsonSchema(GenerateJsonSchema):
    """Pydantic's generator, with bytes as base64 and decimals without look-around, and no titles."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as pydantic declares it
    """A default that cannot be written down is refused when the tool is defined; a hidden one is left out."""

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        """Return the schema of bytes: they travel as base64 text."""
        del schema
        return {"type": "string", "contentEncoding": "base64"}

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Return the schema of an exact decimal: a number, or a text of digits."""
        made = super().decimal_schema(schema)
        for part in (made, *made.get("anyOf", ())):
            if part.get("type") == "string":
                part["pattern"] = DECIMAL_TEXT
        return made

    def field_is_present(self, field: Any) -> bool:
        """Return whether a field can be said: what a dataclass sets itself cannot be sent."""
        return super().field_is_present(field) and not (self.mode == "validation" and field.get("init") is False)

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return that fields have no titles: they say nothing that the name does not."""
        del schema
        return False


def subschemas(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield each schema that stands directly in a schema; never an enum's or a default's value."""
    for key, value in schema.items():
        if key in _SUBSCHEMAS and is_mapping(value):
            yield value
        elif key in _LISTS and is_array(value):
            yield from value
        elif key in _MAPS and is_mapping(value):
            yield from value.values()


def schema_of(adapter: TypeAdapter[Any], mode: JsonSchemaMode, tool: str) -> dict[str, Any]:
    """Return the JSON Schema of a type, closed, with its root spelled out.

    Raises:
        ToolDefinitionError: The type has no JSON Schema.
    """
    try:
        schema = adapter.json_schema(mode=mode, by_alias=True, schema_generator=ToolJsonSchema)
    except (PydanticInvalidForJsonSchema, PydanticOmit, TypeError, ValueError) as error:
        msg = f"tool {tool!r} uses a type that cannot go over a wire: {str(error).partition(chr(10))[0]}"
        raise ToolDefinitionError(msg) from error
    closed: dict[str, Any] = close(inline_root(schema))
    return closed


def inline_root(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with its root spelled out where it is only a reference (recursive types)."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
        return schema
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    return {**schema["$defs"][reference.removeprefix("#/$defs/")], **rest}


def close(schema: Any) -> Any:
    """Return the schema with every object closed that names its properties and does not say otherwise."""
    if is_array(schema):
        return [close(item) for item in schema]
    if not is_object(schema):
        return schema
    closed: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in _MAPS and is_object(value):
            closed[key] = {name: close(item) for name, item in value.items()}
        elif key in _SUBSCHEMAS or key in _LISTS:
            closed[key] = close(value)
        else:
            closed[key] = value
    if "properties" in closed:
        closed.setdefault("additionalProperties", False)
    elif closed.get("type") == "object" and "additionalProperties" not in closed:
        closed["additionalProperties"] = False
        closed["properties"] = {}
    return closed
