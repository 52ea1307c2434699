"""Roots of schemas that are a choice or a combination of forms, which no provider takes."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from placet.tools.schema_parts import definition
from placet.values.json import JsonObject, is_mapping

ROOT_FORMS: Final = ("$ref", "anyOf", "oneOf", "allOf", "not", "enum", "if", "then", "else", "unevaluatedProperties")
"""What no provider takes at the root of a schema."""


def relax(full: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """Return a schema without what no provider takes at its root, and what is lost with it.

    What the forms of a root name as their properties stays, so that the model is told of it.
    """
    said: Any = full
    if not any(key in said for key in ROOT_FORMS):
        return said, ()
    properties: dict[str, Any] = {}
    required: set[str] = set()
    for arm, sure in root_arms(said):
        for name, inner in arm.get("properties", {}).items():
            properties.setdefault(name, inner)
        if sure:
            required.update(arm.get("required", ()))
    relaxed = {key: value for key, value in said.items() if key not in ROOT_FORMS}
    relaxed["properties"] = properties
    relaxed["required"] = [name for name in properties if name in required]
    lost = tuple(f"arguments: {key}" for key in ROOT_FORMS if key in said and key != "unevaluatedProperties")
    return relaxed, lost


def root_arms(root: Any) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Yield each part of a root that names properties, and whether it always holds."""
    pending: list[tuple[Any, bool]] = [(root, True)]
    seen: set[int] = set()
    while pending:
        schema, sure = pending.pop(0)
        if not is_mapping(schema) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema, sure
        reference = schema.get("$ref")
        if isinstance(reference, str):
            pending.append((definition(root, reference), sure))
        pending += [(arm, sure) for arm in schema.get("allOf", ())]
        for key in ("anyOf", "oneOf"):
            pending += [(arm, False) for arm in schema.get(key, ())]
