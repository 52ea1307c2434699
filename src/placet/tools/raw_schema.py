"""A JSON Schema that somebody else wrote, made into the schema of a tool's arguments.

- The root is closed unless the schema itself says what else may come. Objects below it that
  name their properties are closed too, unless they stand in a combination (`allOf`, `$ref`
  beside other keywords ...), of which no part knows what the others take.
- Defaults of properties are filled in, so that what an approver reads is what will run.
- A whole number where an integer is wanted is written as one: 5.0 and 5 are the same call.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Final

from placet.values.json import is_array, is_mapping, is_object

_STATED: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_COMBINED: Final = frozenset({
    "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas",
    "dependencies",
})  # fmt: skip
_OLD: Final = ("draft-03", "draft-04", "draft-06", "draft-07")
"""Drafts that do not know `unevaluatedProperties`."""


def close_root(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object, closed."""
    closed = _close_below(schema)
    closed.setdefault("properties", {})
    if _STATED & schema.keys():
        return closed
    if not _COMBINED & schema.keys():
        closed["additionalProperties"] = False
    elif not any(draft in str(schema.get("$schema", "")) for draft in _OLD):
        closed["unevaluatedProperties"] = False
    else:
        named: dict[str, Any] = {name: {} for name in _names(schema, schema, set())}
        closed["properties"] = named | closed["properties"]
        closed["additionalProperties"] = False
        if "$ref" in closed:  # beside which old drafts see nothing
            closed["allOf"] = [*closed.get("allOf", []), {"$ref": closed.pop("$ref")}]
    return closed


def _close_below(schema: Mapping[str, Any]) -> dict[str, Any]:
    closed = dict(schema)
    properties = closed.get("properties")
    if is_mapping(properties):
        closed["properties"] = {name: _close_object(inner) for name, inner in properties.items()}
    if is_mapping(closed.get("items")):
        closed["items"] = _close_object(closed["items"])
    return closed


def _close_object(schema: Any) -> Any:
    if not is_mapping(schema) or _COMBINED & schema.keys():
        return schema
    closed = _close_below(schema)
    if "properties" in closed and not _STATED & schema.keys():
        closed["additionalProperties"] = False
    return closed


def _names(root: Mapping[str, Any], schema: Any, seen: set[int]) -> Iterator[str]:
    """Yield the properties that some part of a combination names."""
    if not is_mapping(schema) or id(schema) in seen:
        return
    seen.add(id(schema))
    yield from schema.get("properties", {})
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        yield from _names(root, _resolve(root, reference), seen)
    for key in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(key, ()):
            yield from _names(root, part, seen)
    for key in ("if", "then", "else", "not"):
        yield from _names(root, schema.get(key), seen)
    for part in schema.get("dependencies", {}).values():
        yield from _names(root, part, seen)


def _resolve(root: Mapping[str, Any], reference: str) -> Any:
    place: Any = root
    for part in reference.removeprefix("#").split("/")[1:]:
        place = place.get(part.replace("~1", "/").replace("~0", "~")) if is_mapping(place) else None
    return place


def needs_settling(schema: Any) -> bool:
    """Return whether there is anything to settle in arguments of this schema."""
    if not is_mapping(schema):
        return False
    inner = [*schema.get("properties", {}).values(), schema.get("items")]
    return "default" in schema or _wants_integer(schema) or any(needs_settling(part) for part in inner)


def settle(schema: Any, value: Any) -> Any:
    """Return valid arguments with defaults filled in and whole numbers written as such; they are changed in place."""
    if not is_mapping(schema):
        return value
    if is_object(value):
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                value[name] = settle(inner, value[name])
            elif is_mapping(inner) and "default" in inner:
                value[name] = copy.deepcopy(inner["default"])
    elif is_array(value):
        return [settle(schema.get("items"), item) for item in value]
    elif isinstance(value, float) and value.is_integer() and _wants_integer(schema):
        return int(value)
    return value


def _wants_integer(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    return kinds == "integer" or (is_array(kinds) and "integer" in kinds and "number" not in kinds)
