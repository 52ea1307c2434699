"""Arguments as a model wrote them for a provider's schema, made into what the tool's own schema wants."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from placet.tools.schema_parts import definition, names_type
from placet.values.json import Json, is_array, is_mapping, is_object


def restore(root: Any, value: dict[str, Any]) -> Json:
    """Return the arguments with what was left out as null left out, and numbers of enums as numbers.

    Args:
        root: The tool's own schema.
        value: What the model wrote, parsed.
    """
    return _restore(root, root, value)


def _arms(root: Any, schema: Any, seen: tuple[str, ...] = ()) -> list[Mapping[str, Any]]:
    if not is_mapping(schema):
        return []
    arms: list[Mapping[str, Any]] = [schema]
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        arms += _arms(root, definition(root, reference), (*seen, reference))
    for key in ("anyOf", "oneOf", "allOf"):
        for arm in schema.get(key, ()):
            arms += _arms(root, arm, seen)
    return arms


def _takes_null(arms: Sequence[Mapping[str, Any]]) -> bool:
    def nullable(arm: Mapping[str, Any]) -> bool:
        return (
            names_type(arm, "null")
            or (None in arm.get("enum", ()))
            or (arm.get("const", 0) is None)
            or not arm.keys() - {"description", "default"}
        )

    return any(nullable(arm) for arm in arms)


def _restore(root: Any, schema: Any, value: Any) -> Json:
    arms = _arms(root, schema)
    if is_object(value):
        restored: dict[str, Json] = {}
        for name, inner in value.items():
            holders = [arm for arm in arms if name in arm.get("properties", {})]
            schemas = [arm["properties"][name] for arm in holders]
            optional = bool(holders) and all(name not in arm.get("required", ()) for arm in holders)
            if inner is None and optional and not any(_takes_null(_arms(root, one)) for one in schemas):
                continue
            restored[name] = _restore(root, {"anyOf": schemas}, inner) if schemas else inner
        return restored
    if is_array(value):
        items = [arm["items"] for arm in arms if "items" in arm]
        return [_restore(root, {"anyOf": items}, item) for item in value]
    if isinstance(value, str):
        return _restore_enum(arms, value)
    return value  # type: ignore[no-any-return]  # parsed from JSON


def _restore_enum(arms: Sequence[Mapping[str, Any]], value: str) -> Json:
    options = [
        option for arm in arms for option in arm.get("enum", [arm["const"]] if "const" in arm else [])
    ]  # fmt: skip
    if value in options or any(names_type(arm, "string") and "enum" not in arm and "const" not in arm for arm in arms):
        return value
    for option in options:
        if not isinstance(option, str) and json.dumps(option) == value:
            restored: Json = option
            return restored
    return value
