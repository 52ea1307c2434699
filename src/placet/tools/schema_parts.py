"""Parts of a JSON Schema, read: the types it names, and what its references point to."""

from collections.abc import Mapping
from typing import Any

from placet.values.json import is_array, is_mapping


def names_type(schema: Mapping[str, Any], kind: str) -> bool:
    """Return whether a schema names a type, alone or among others."""
    kinds = schema.get("type")
    return kinds == kind or (is_array(kinds) and kind in kinds)


def definitions(root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the definitions of a schema by name, from `$defs` or, as older drafts have it, `definitions`."""
    found = root.get("$defs", root.get("definitions"))
    return found if is_mapping(found) else {}


def definition_name(reference: str) -> str:
    """Return the name of the definition to which a reference points."""
    return reference.removeprefix("#/$defs/").removeprefix("#/definitions/")


def definition(root: Mapping[str, Any], reference: str) -> Any:
    """Return the definition to which a reference of a schema points, or None."""
    return definitions(root).get(definition_name(reference))
