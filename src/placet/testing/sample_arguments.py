"""Arguments that a schema may accept, made up from the schema alone."""

from collections.abc import Mapping
from typing import Any

from placet.values.json import is_mapping


def sample(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that a schema may accept: simple ones, its required names alone."""
    definitions = schema.get("$defs", {})
    properties = schema.get("properties", {})
    return {name: _sample(properties.get(name, {}), definitions, 0) for name in schema.get("required", [])}


def takes_object(form: Any, definitions: Mapping[str, Any], depth: int = 0) -> bool:
    """Return whether the schema of an argument says that it takes objects of other forms than its own."""
    if not is_mapping(form) or depth > 8:
        return False
    if "$ref" in form:
        return takes_object(definitions.get(str(form["$ref"]).rsplit("/", 1)[-1]), definitions, depth + 1)
    if any(takes_object(one, definitions, depth + 1) for key in ("anyOf", "oneOf") for one in form.get(key, ())):
        return True
    kinds = form.get("type")
    if form.get("additionalProperties") is False:
        return False
    return kinds == "object" or (isinstance(kinds, list) and "object" in kinds)


def _sample(form: Any, definitions: Mapping[str, Any], depth: int) -> Any:  # noqa: C901, PLR0911, PLR0912 - one line for each kind of schema
    if not is_mapping(form) or depth > 8:
        return "x"
    if "default" in form:
        return form["default"]
    for key in ("const", "enum", "examples"):
        if key in form:
            return form[key] if key == "const" else form[key][0]
    if "$ref" in form:
        return _sample(definitions.get(str(form["$ref"]).rsplit("/", 1)[-1], {}), definitions, depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in form:
            return _sample(form[key][0], definitions, depth + 1)
    match form.get("type"):
        case "integer" | "number":
            return _number(form)
        case "boolean":
            return True
        case "array":
            return [_sample(form.get("items", {}), definitions, depth + 1)] * int(form.get("minItems", 1))
        case "object":
            properties = form.get("properties", {})
            return {name: _sample(properties.get(name), definitions, depth + 1) for name in form.get("required", [])}
        case "null":
            return None
        case _:
            return _text(form)


def _number(form: Mapping[str, Any]) -> Any:
    low = form.get("minimum", form.get("exclusiveMinimum", 0))
    return low + 1 if "maximum" not in form or low + 1 <= form["maximum"] else low


def _text(form: Mapping[str, Any]) -> str:
    formats = {
        "date": "2026-11-29",
        "date-time": "2026-11-29T12:00:00Z",
        "time": "12:00:00Z",
        "email": "ana@shop.example",
        "uuid": "8b1e1f0e-0000-4000-8000-000000000001",
        "uri": "https://shop.example/",
        "duration": "PT90S",
    }
    text = formats.get(str(form.get("format")), "text")
    return text.ljust(int(form.get("minLength", 0)), "x")[: int(form.get("maxLength", 1000))]
